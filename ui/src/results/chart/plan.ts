// The contents of a chart of a result: its places, series and axes, and the text of each point in the reader's language. Texts are those of the
// table. Each part that is left out has a sentence that says so.
import { formatNumber, t } from "../../i18n/index.svelte";
import type { Better } from "../../platform/generated/Better";
import type { ChartKind } from "../../platform/generated/ChartKind";
import type { ContentColumn } from "../../platform/generated/ContentColumn";
import type { ResultCell } from "../../platform/generated/ResultCell";
import type { ResultContent } from "../../platform/generated/ResultContent";
import { cellText, countRows, leftColumns, numberText, wordsOf } from "../content";
import { axisOf } from "./axis";
import { planPoints } from "./points";
import {
  isCalendar,
  isOrdered,
  keyOf,
  MOST_SERIES,
  nameKey,
  numberOf,
  timesOf,
  type Choice,
  type Row,
} from "./choosing";
import { figureName, figuresOf, type Figure } from "./figures";
import { cleanText, listNames, sumOf } from "./text";
import { millisOf, withGaps } from "./times";
import { partialTimes } from "./partial";
import { timeLabels } from "./timeLabels";
import type { Panel, Place, Plan, Series } from "./types";

/** The most bars that have a name of their own. */
const MOST_BARS = 10;
/** The most charts of one result. */
const MOST_PANELS = 4;
/** Values of two columns share a scale if the greatest ones differ by no more than this factor. */
const FARTHEST = 20;
/** The name that the host gives to the row of all other groups. */
const OTHER = "Other";

/** Returns what a chart of a result shows. */
export function planOf(content: ResultContent, choice: Choice, kind: ChartKind): Plan {
  const plan = kind === "points" ? planPoints(content, choice) : planPanels(content, choice, kind);
  const [shown, total] = [content.rows.length, countRows(content)];
  const cut = t("results.cut", { shown: formatNumber(shown), total: formatNumber(total) });
  const columns = leftColumns(content);
  const notes = [...(total > shown ? [cut] : []), ...(columns === null ? [] : [columns])];
  return { ...plan, notes: [...notes, ...plan.notes] };
}

interface Frame {
  content: ResultContent;
  choice: Choice;
  along: number;
  column: ContentColumn;
  isTime: boolean;
  isOnCalendar: boolean;
  /** Whether bars are sorted and limited. */
  isRanked: boolean;
  rows: Map<string, Map<string, Row>>;
  places: Place[];
}

function planPanels(content: ResultContent, choice: Choice, kind: ChartKind): Plan {
  const notes: string[] = [];
  const frame = frameOf(content, choice, kind, notes);
  const drafts = draftsOf(frame, notes);
  const panels = panelsOf(frame, drafts, kind, notes);
  noteTexts(content, choice, notes);
  const keys = panels.map(({ places }) => places.map(({ key }) => key).join());
  const isShared = keys.every((key) => key === keys[0]);
  const stops = isShared ? sharedStops(panels) : ownStops(panels);
  const places = isShared ? (panels[0]?.places ?? []) : panels.flatMap((panel) => panel.places);
  if (panels.some(({ places }) => places.some(({ isPartial }) => isPartial)))
    notes.push(t("results.chart_partial"));
  if (panels.some(({ better }) => better)) notes.push(t("results.chart_better"));
  return {
    kind,
    panels,
    points: null,
    isOnCalendar: frame.isOnCalendar,
    stops,
    opens: places.map(({ opens }) => opens),
    notes: [...new Set(notes)],
    summary: panels.map(summaryOf).join(" "),
  };
}

function frameOf(content: ResultContent, choice: Choice, kind: ChartKind, notes: string[]): Frame {
  const along = choice.along!;
  const column = content.columns[along]!;
  const isTime = column.role === "time";
  const isOnCalendar = isTime && isCalendar(content.rows, along);
  const rows = new Map<string, Map<string, Row>>();
  let timeless = 0;
  for (const row of content.rows) {
    if (isTime && (row[along]?.value ?? null) === null) {
      timeless += 1;
      continue;
    }
    const place = keyOf(row[along]);
    const series = rows.get(place) ?? new Map<string, Row>();
    series.set(nameKey(row, choice.by), row);
    rows.set(place, series);
  }
  if (timeless > 0) notes.push(t("results.chart_timeless", { count: timeless }));
  const isRanked = !isTime && kind !== "lines" && !isOrdered(content.rows, along);
  const frame = { content, choice, along, column, isTime, isOnCalendar, isRanked, rows };
  return { ...frame, places: placesOf(frame) };
}

function placesOf(frame: Omit<Frame, "places">): Place[] {
  const { content, along, column, isOnCalendar, rows } = frame;
  const isPartial = isOnCalendar ? partialTimes(content) : () => false;
  const cells: ResultCell[] = isOnCalendar
    ? withGaps(timesOf(content.rows, along)).map((value) => ({ value }))
    : [...rows.values()].map((series) => [...series.values()][0]![along] ?? { value: null });
  if (!isOnCalendar && cells.every((cell) => numberOf(cell) !== null) && !frame.isRanked)
    cells.sort((one, other) => numberOf(one)! - numberOf(other)!);
  const labels = isOnCalendar ? timeLabels(cells.map(({ value }) => String(value))) : null;
  return cells.map((cell, index) => {
    const key = keyOf(cell);
    const name = cleanText(cellText(cell, column));
    return {
      key,
      name,
      label: labels?.[index] ?? name,
      at: isOnCalendar ? millisOf(String(cell.value)) : index,
      isPartial: isPartial(String(cell.value)),
      opens: rows.has(key) ? { values: new Map([[along, cell.value]]), title: name } : "gap",
    };
  });
}

/** The figures of a panel. */
interface Draft {
  figures: Figure[];
  /** Whether all values of its columns are in it. */
  isWhole: boolean;
}

/** Returns which figures are drawn together: those of one unit, format and size, or those of one column if another column has series. */
function draftsOf({ content, choice }: Frame, notes: string[]): Draft[] {
  const drafts: Draft[] = [];
  const left = new Set<string>();
  for (const at of choice.measures) {
    const figures = figuresOf(content, at);
    for (const figure of figures) {
      const shared = drafts.find(
        (draft) => choice.by.length === 0 && draft.isWhole && canShare(draft, figure),
      );
      if (shared && figures.length === 1) shared.figures.push(figure);
      else if (drafts.length < MOST_PANELS)
        drafts.push({ figures: [figure], isWhole: figures.length === 1 });
      else left.add(figureName(figure));
    }
  }
  if (left.size > 0) notes.push(t("results.chart_not_drawn", { names: listNames([...left]) }));
  return drafts;
}

const isChange = ({ better, compared }: ContentColumn): boolean =>
  better !== undefined || compared === "change" || compared === "growth";

function canShare({ figures }: Draft, figure: Figure): boolean {
  const first = figures[0]!;
  const sizes = [...figures, figure].map(({ greatest }) => greatest);
  return (
    figures.length < MOST_SERIES &&
    first.unit === figure.unit &&
    first.column.format === figure.column.format &&
    // A change has a scale and colours of its own.
    !isChange(first.column) &&
    !isChange(figure.column) &&
    Math.max(...sizes) <= FARTHEST * Math.min(...sizes)
  );
}

/** A series before its places are chosen. */
interface Line {
  name: string;
  figure: Figure;
  key: string;
}

/** Returns the panels. All of them have the order of the first one, so that a place is found again. */
function panelsOf(
  frame: Frame,
  drafts: readonly Draft[],
  kind: ChartKind,
  notes: string[],
): Panel[] {
  let order: Place[] | null = null;
  return drafts.map((draft) => {
    const heading = figureName(draft.figures[0]!);
    const say = (note: string): void => {
      notes.push(drafts.length > 1 ? `${heading}: ${note}` : note);
    };
    const lines = linesOf(frame, draft, say);
    if (!frame.isRanked) return panelOf(frame, draft, lines, { places: frame.places, others: [] });
    const ranked = draft.isWhole && order ? order : rankedPlaces(frame, draft, lines);
    if (draft.isWhole) order ??= ranked;
    return panelOf(frame, draft, lines, chosenPlaces(frame, draft, ranked, kind, say));
  });
}

function panelOf(
  frame: Frame,
  draft: Draft,
  lines: readonly Line[],
  { places, others }: { places: Place[]; others: Others },
): Panel {
  const series = lines.map((line) => seriesOf(frame, line, places, others));
  const values = series.flatMap(({ values }) => values.filter((value) => value !== null));
  const [first] = draft.figures;
  const isNamed = lines.length > 1 && frame.choice.by.length === 0;
  return {
    heading: isNamed ? (first!.unit ?? "") : figureName(first!),
    measure: frame.choice.by.length > 0 ? cleanText(wordsOf(first!.column.label)) : null,
    places,
    series,
    axis: axisOf([0, ...values], first!.column),
    better: first!.column.better ?? null,
    firstStop: 0,
  };
}

function linesOf(frame: Frame, { figures }: Draft, say: (note: string) => void): Line[] {
  const { choice, content } = frame;
  if (choice.by.length === 0)
    return figures.map((figure) => ({
      name: cleanText(wordsOf(figure.column.label)),
      figure,
      key: "",
    }));
  const figure = figures[0]!;
  const sizes = new Map<string, { name: string; size: number }>();
  for (const row of content.rows) {
    const value = valueOf(row, figure);
    if (value === null) continue;
    const key = nameKey(row, choice.by);
    const known = sizes.get(key) ?? { name: seriesName(row, content, choice.by), size: 0 };
    sizes.set(key, { ...known, size: known.size + Math.abs(value) });
  }
  const ranked = [...sizes].sort(([, one], [, other]) => other.size - one.size);
  const left = ranked.slice(MOST_SERIES).map(([, { name }]) => name);
  if (left.length > 0) say(t("results.chart_not_drawn", { names: listNames(left) }));
  return ranked.slice(0, MOST_SERIES).map(([key, { name }]) => ({ key, name, figure }));
}

function seriesName(row: Row, { columns }: ResultContent, by: readonly number[]): string {
  const names = by.map((at) => cellText(row[at] ?? { value: null }, columns[at]!));
  return cleanText(names.join(" · "));
}

/** Returns the value of a row in the unit of a figure. */
function valueOf(row: Row | undefined, { at, unit }: Figure): number | null {
  const cell = row?.[at];
  return (cell?.unit ?? null) === unit ? numberOf(cell) : null;
}

const rowOf = (frame: Frame, place: Place, key: string): Row | undefined =>
  frame.rows.get(place.key)?.get(key);

/** The places that are one bar. */
type Others = readonly Place[];

/** Returns places with the greatest value first. Those without a value come last, and the row of all other groups after them. */
function rankedPlaces(frame: Frame, draft: Draft, lines: readonly Line[]): Place[] {
  const isNamed = frame.choice.by.length === 0;
  const deciding = isNamed ? lines.slice(0, 1) : lines;
  const sizes = new Map(
    frame.places.map((place) => [
      place,
      sumOf(deciding.map(({ figure, key }) => valueOf(rowOf(frame, place, key), figure))),
    ]),
  );
  // Rows in another unit have no place here.
  const own = frame.places.filter((place) => draft.isWhole || sizes.get(place) !== null);
  const compare = (one: Place, other: Place): number => {
    const rest = Number(isRest(one)) - Number(isRest(other));
    const [a, b] = [sizes.get(one) ?? null, sizes.get(other) ?? null];
    if (rest !== 0 || a === b) return rest;
    return a === null ? 1 : b === null ? -1 : b - a;
  };
  return own.sort(compare);
}

const isRest = ({ key }: Place): boolean => key === JSON.stringify(OTHER);

/** Returns the places of a panel, the greatest ones first. Many bars are the first ones and, if values add up, one for the others. */
function chosenPlaces(
  frame: Frame,
  draft: Draft,
  places: readonly Place[],
  kind: ChartKind,
  say: (note: string) => void,
): { places: Place[]; others: Others } {
  const [named, rest] = [places.filter((place) => !isRest(place)), places.filter(isRest)];
  if (kind !== "bars" || named.length <= MOST_BARS) return { places: [...places], others: [] };
  const [first, left] = [named.slice(0, MOST_BARS), named.slice(MOST_BARS)];
  const { content } = frame;
  // Rows that are not here belong to the others, too.
  const isComplete = countRows(content) <= content.rows.length;
  if (!isComplete || !draft.figures.every(({ column }) => column.adds_up)) {
    say(t("results.chart_left", { count: left.length }));
    return { places: [...first, ...rest], others: [] };
  }
  say(t("results.chart_others", { count: left.length }));
  const name = t("results.chart_other");
  const other: Place = {
    key: "",
    name,
    label: name,
    at: MOST_BARS,
    isPartial: false,
    opens: "others",
  };
  return { places: [...first, other], others: [...left, ...rest] };
}

function seriesOf(frame: Frame, line: Line, places: readonly Place[], others: Others): Series {
  const { figure, key, name } = line;
  const value = (place: Place): number | null =>
    place.key === ""
      ? sumOf(others.map((one) => valueOf(rowOf(frame, one, key), figure)))
      : valueOf(rowOf(frame, place, key), figure);
  const text = (place: Place): string => {
    const sum = place.key === "" ? value(place) : null;
    if (sum !== null) return numberText(sum, figure.unit, figure.column);
    const cell = rowOf(frame, place, key)?.[figure.at];
    // A cell in another unit belongs to another panel.
    const isOwn =
      cell !== undefined && (cell.value === null || (cell.unit ?? null) === figure.unit);
    return cleanText(cellText(isOwn ? cell : { value: null }, figure.column));
  };
  return { name, values: places.map(value), texts: places.map(text) };
}

/** Says how many values are texts, which have no place on an axis. */
function noteTexts({ rows }: ResultContent, { measures }: Choice, notes: string[]): void {
  const isText = (cell: ResultCell | undefined): boolean =>
    cell !== undefined && cell.value !== null && cell.value !== "" && numberOf(cell) === null;
  const count = rows.reduce((sum, row) => sum + measures.filter((at) => isText(row[at])).length, 0);
  if (count > 0) notes.push(t("results.chart_texts", { count }));
}

function placeLine({ name, isPartial }: Place): string {
  return isPartial ? `${name} (${t("results.chart_not_whole")})` : name;
}

/** Returns the values at a place, each with its name. */
function valueLines({ series, better, measure }: Panel, at: number, several: boolean): string[] {
  return series.map(({ name, texts, values }) => {
    const label = several && measure !== null ? `${measure} · ${name}` : name;
    const word = better ? changeWord(values[at] ?? 0, better) : "";
    return `${label}: ${texts[at] ?? ""}${word}`;
  });
}

function changeWord(value: number, better: Better): string {
  if (value === 0) return "";
  const isGood = value > 0 === (better === "higher");
  return ` (${t(isGood ? "results.chart_good" : "results.chart_bad")})`;
}

function sharedStops(panels: Panel[]): string[][] {
  const places = panels[0]?.places ?? [];
  return places.map((place, at) => [
    placeLine(place),
    ...panels.flatMap((panel) => valueLines(panel, at, panels.length > 1)),
  ]);
}

/** Numbers the places of each panel on their own. */
function ownStops(panels: Panel[]): string[][] {
  const stops: string[][] = [];
  for (const panel of panels) {
    panel.firstStop = stops.length;
    panel.places.forEach((place, at) => {
      stops.push([placeLine(place), ...valueLines(panel, at, true)]);
    });
  }
  return stops;
}

function summaryOf(panel: Panel): string {
  const { places, series, measure } = panel;
  const shown = series.flatMap(({ values, texts }) =>
    values.flatMap((value, at) => (value === null ? [] : [{ value, text: texts[at]! }])),
  );
  // The first bars may be those of another measure, and have no value here.
  const sorted = shown.sort((one, other) => one.value - other.value);
  const names = listNames(series.map(({ name }) => name));
  return t("results.chart_summary", {
    names: measure === null ? names : `${measure}: ${names}`,
    from: places[0]?.name ?? "",
    to: places.at(-1)?.name ?? "",
    min: sorted[0]?.text ?? "–",
    max: sorted.at(-1)?.text ?? "–",
  });
}
