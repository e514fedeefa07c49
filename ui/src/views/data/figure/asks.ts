// The figures that can be asked of a source, a column or a value, as metric queries and as questions. Each is made of definitions that the
// source has, so that the host can compute it. Pure.
import { t } from "../../../i18n/index.svelte";
import type { Definitions } from "../../../platform/generated/Definitions";
import type { FoundColumn } from "../../../platform/generated/FoundColumn";
import type { MetricQuery } from "../../../platform/generated/MetricQuery";
import type { SourceView } from "../../../platform/generated/SourceView";
import { wordsOf } from "../../../results/content";
import { plainName } from "../../../results/names";
import { measureOf } from "../columns/correction";

/** The periods that a figure can be divided into. */
export type Grain = "day" | "week" | "month";

/** A figure: a measure, by a dimension or by period, of all rows or of those with one value. */
export interface Ask {
  measure: string;
  by: { dimension: string } | { time: Grain } | null;
  where: { dimension: string; value: string } | null;
}

/** The measure that every source has: the number of its rows. */
const ROWS = "rows";
/** The most rows of a figure. */
const MOST = 500;
/** A longer span is divided into weeks, and a much longer one into months. */
const DAYS = 31;
const WEEKS = 190;
/** The most figures that a source offers at first. */
const OFFERED = 6;
/** A value that ends like this may be cut, so that no row would have it. */
const CUT = "…";

const entriesOf = <T>(known: Partial<Record<string, T>> | undefined): [string, T][] =>
  Object.entries(known ?? {}) as [string, T][];

/** Returns the measures that matter most: sums of money, other sums, and then the others. */
function measuresOf({ measures }: Definitions): string[] {
  const rank = (measure: object): number => {
    if (!("sum" in measure)) return 2;
    return "unit" in measure && measure.unit === "money" ? 0 : 1;
  };
  return entriesOf(measures)
    .map(([name, measure]) => ({ name, rank: rank(measure) }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ name }) => name);
}

/** Returns the dimension whose values are those of a column. */
function dimensionOf({ dimensions }: Definitions, column: string): string | null {
  const found = entriesOf(dimensions).find(
    ([, dimension]) => "column" in dimension && dimension.column === column,
  );
  return found?.[0] ?? null;
}

/** Returns the dimensions in the order of the columns. An id is no name to group by. */
function dimensionsOf(definitions: Definitions, columns: readonly FoundColumn[]): string[] {
  return columns
    .filter(({ use, constant }) => use === "dimension" && constant === undefined)
    .map(({ name }) => dimensionOf(definitions, name))
    .filter((name) => name !== null);
}

/** Returns the period by which a figure of a source is divided; null if its rows have no days. */
function grainOf({ time }: Definitions, { days }: SourceView): Grain | null {
  if (!time) return null;
  if (!days) return "month";
  const count = (Date.parse(days.last) - Date.parse(days.first)) / 86_400_000 + 1;
  if (count <= DAYS) return "day";
  return count <= WEEKS ? "week" : "month";
}

/** Returns the first figures of a source: its main measures over time, and the first one by dimensions. */
export function asksOfSource(definitions: Definitions, source: SourceView): Ask[] {
  const measures = measuresOf(definitions).slice(0, 2);
  if (measures.length === 0) measures.push(ROWS);
  const grain = grainOf(definitions, source);
  const over: Ask[] = measures.map((measure) => ({
    measure,
    by: grain && { time: grain },
    where: null,
  }));
  const by: Ask[] = dimensionsOf(definitions, source.columns).map((dimension) => ({
    measure: measures[0]!,
    by: { dimension },
    where: null,
  }));
  return [...over, ...by].slice(0, OFFERED);
}

/** The most bars of a chart without time. */
const BARS = 12;

/** Returns the figures that a chart can show: the measures, the one that matters most first. */
export function measureChoices(definitions: Definitions): { value: string; label: string }[] {
  const measures = measuresOf(definitions);
  if (measures.length === 0) measures.push(ROWS);
  return measures.map((value) => ({
    value,
    label: wordsOf(definitions.measures?.[value]?.title) || titled(value),
  }));
}

/** Returns the figure of a chart: a measure over time, else by the first dimension, else alone. */
export function chartAsk(definitions: Definitions, source: SourceView, measure: string): Ask {
  const grain = grainOf(definitions, source);
  const [dimension] = dimensionsOf(definitions, source.columns);
  const by = grain ? { time: grain } : dimension === undefined ? null : { dimension };
  return { measure, by, where: null };
}

/** Returns the query of a chart, with the figure of all rows. Only the greatest bars are drawn, and all times. */
export function chartQuery(ask: Ask, source: string): MetricQuery {
  const isTime = ask.by !== null && "time" in ask.by;
  return {
    ...queryOf(ask, source),
    ...(ask.by && { totals: true }),
    limit: isTime ? MOST : BARS,
  };
}

/** Returns the figure of a column: of a measure over time or by the first dimension, and of a dimension the main measure by it. */
export function askOfColumn(
  definitions: Definitions,
  source: SourceView,
  column: FoundColumn,
): Ask | null {
  const main = measuresOf(definitions)[0] ?? ROWS;
  const grain = grainOf(definitions, source);
  const dimension = dimensionOf(definitions, column.name);
  const measure = measureOf(definitions, column.name);
  if (definitions.time?.column === column.name && grain)
    return { measure: main, by: { time: grain }, where: null };
  if (column.use === "dimension" && dimension !== null)
    return { measure: main, by: { dimension }, where: null };
  if (measure === null) return null;
  const [first] = dimensionsOf(definitions, source.columns);
  const by = grain ? { time: grain } : first === undefined ? null : { dimension: first };
  return { measure, by, where: null };
}

/** Returns the main measure of the rows with a value; null if the value is no name that can be asked for. */
export function askOfValue(
  definitions: Definitions,
  source: SourceView,
  column: FoundColumn,
  value: string,
): Ask | null {
  const dimension = dimensionOf(definitions, column.name);
  if (column.kind !== "text" || dimension === null || value.endsWith(CUT)) return null;
  const grain = grainOf(definitions, source);
  return {
    measure: measuresOf(definitions)[0] ?? ROWS,
    by: grain && { time: grain },
    where: { dimension, value },
  };
}

/** Returns the metric query of a figure: the greatest first, or in the order of time. */
export function queryOf({ measure, by, where }: Ask, source: string): MetricQuery {
  const isTime = by !== null && "time" in by;
  return {
    source,
    measures: [measure],
    ...(by && { by: [isTime ? { time: by.time } : by.dimension] }),
    ...(where && { where: [{ [where.dimension]: [where.value] }] }),
    ...(by && !isTime && { order: [{ by: measure, descending: true }] }),
    limit: MOST,
  };
}

/** A name of a definition as a reader says it. */
const spoken = (name: string): string =>
  name === ROWS ? t("ask.rows") : name.replaceAll("_", " ");

function partsOf({ measure, by, where }: Ask): string[] {
  const parts = [spoken(measure)];
  if (by && "time" in by) parts.push(t(`ask.by_${by.time}`));
  else if (by) parts.push(t("ask.by", { dimension: spoken(by.dimension) }));
  if (where) parts.push(t("ask.where", { dimension: spoken(where.dimension), value: where.value }));
  return parts;
}

/** A name as it begins a heading or an item of a list. */
const titled = (name: string): string => (name === ROWS ? t("ask.rows_title") : plainName(name));

/** Returns the heading of a figure, such as "Spend by day". */
export function figureTitle(ask: Ask): string {
  const [, ...rest] = partsOf(ask);
  return [titled(ask.measure), ...rest].join(" ");
}

/** Names a figure, such as "spend by campaign". */
export const titleOf = (ask: Ask): string => t("ask.title", { figure: partsOf(ask).join(" ") });

/** Returns the figure as a question, such as "Show spend by campaign in google_ads". */
export const questionOf = (ask: Ask, source: string): string =>
  t("ask.question", { figure: partsOf(ask).join(" "), source });
