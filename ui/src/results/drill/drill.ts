// Drilling down: the query behind one row or place of a result, divided by another dimension. Pure.
import type { Condition } from "../../platform/generated/Condition";
import type { DataColumn } from "../../platform/generated/DataColumn";
import type { MetricQuery } from "../../platform/generated/MetricQuery";
import type { Order } from "../../platform/generated/Order";
import type { SourceDescription } from "../../platform/generated/SourceDescription";
import type { TimeGrain } from "../../platform/generated/TimeGrain";
import type { Cell } from "../grid/cells";
import { COMPARED, figureName, groupName } from "../query/change";
import { definedName } from "../query/choices";

/** A result whose rows can be drilled into. */
export interface Rows {
  query: MetricQuery;
  columns: readonly DataColumn[];
  rows: readonly (readonly Cell[])[];
}

/** A way to divide a row: by a dimension, or by the time. */
export type Division = { dimension: string } | { time: TimeGrain };

/** The source that decides what a row can be divided by. */
export type DrillSource = Pick<SourceDescription, "definitions" | "path"> & {
  source: Pick<SourceDescription["source"], "columns">;
};

type Group = NonNullable<MetricQuery["by"]>[number];

/** The most groups of a division. */
const MOST = 200;
/** The name that the host gives to all other groups. */
const OTHER = "Other";
const DAY = 86_400_000;

/** Returns the first day after a time that begins on a day; null if the grain has no calendar days. */
export function nextDay(first: string, grain: TimeGrain): string | null {
  const [year, month, day] = first.slice(0, 10).split("-").map(Number);
  if (year === undefined || month === undefined || day === undefined) return null;
  const date = (months: number, days: number): string =>
    new Date(Date.UTC(year, month - 1 + months, day) + days * DAY).toISOString().slice(0, 10);
  switch (grain) {
    case "day":
      return date(0, 1);
    case "week":
      return date(0, 7);
    case "month":
      return date(1, 0);
    case "quarter":
      return date(3, 0);
    case "year":
      return date(12, 0);
    default:
      return null;
  }
}

/** Whether the rows of a result stand for groups that conditions can name. */
export function isDrillable({ query, columns }: Pick<Rows, "query" | "columns">): boolean {
  if (query.rows || query.then || query.explain || query.pivot !== undefined) return false;
  if (query.measures.length === 0 || (query.top?.per ?? []).length > 0) return false;
  return (query.by ?? []).every((group) => {
    if (!columns.some(({ name }) => name === groupName(group))) return false;
    if (typeof group === "string" || "dimension" in group) return true;
    return "time" in group && nextDay("2026-01-01", group.time) !== null;
  });
}

/** The values that select rows, by the places of their columns. */
export type Values = ReadonlyMap<number, Cell>;

/** Returns the values of a row that are no figures. */
export function valuesOfRow(
  columns: readonly Pick<DataColumn, "role">[],
  row: readonly Cell[],
): Values {
  return new Map(
    columns.flatMap(({ role }, at) => (role === "measure" ? [] : [[at, row[at] ?? null] as const])),
  );
}

/** Whether values stand for all other groups of several rankings, which no condition selects. */
export function isOfOthers({ query, columns, rows }: Rows, values: Values): boolean {
  return (query.by ?? []).some((group) => {
    const at = columns.findIndex(({ name }) => name === groupName(group));
    const value = values.get(at);
    if (value === undefined || (typeof group === "object" && "time" in group)) return false;
    return valueCondition({ query, rows }, at, value, "") === null;
  });
}

/** Returns the conditions that the rows behind a row fulfil, or null if no conditions say it. */
export function conditionsOf(result: Rows, row: number, source: DrillSource): Condition[] | null {
  const values = valuesOfRow(result.columns, result.rows[row] ?? []);
  return conditionsOfValues(result, values, source);
}

/** Returns the conditions that rows with these values fulfil, or null if no conditions say it. Groups without a value have no condition. */
export function conditionsOfValues(
  result: Rows,
  values: Values,
  source: DrillSource,
): Condition[] | null {
  if (!isDrillable(result)) return null;
  const conditions: Condition[] = [];
  const groups = result.query.by ?? [];
  const isJudged = areJudgedAlone(result.query, groups.map(dimensionOf), source);
  for (const group of groups) {
    const at = result.columns.findIndex(({ name }) => name === groupName(group));
    const value = values.get(at);
    if (value === undefined || (isJudged && isVerdict(dimensionOf(group), source))) continue;
    const condition =
      typeof group === "object" && "time" in group
        ? timeCondition(value, group.time, source)
        : valueCondition(result, at, value, dimensionOf(group));
    if (!condition) return null;
    conditions.push(condition);
  }
  return conditions;
}

function dimensionOf(group: Group): string {
  if (typeof group === "string") return group;
  return "dimension" in group ? group.dimension : "";
}

const isVerdict = (name: string, { path }: DrillSource): boolean =>
  path?.verdicts.includes(name) ?? false;

/** Returns the place of the smallest thing among names; -1 if none of them is a thing. */
const smallest = (names: readonly string[], { path }: DrillSource): number =>
  Math.max(-1, ...names.map((name) => path?.things.indexOf(name) ?? -1));

/** Whether verdicts are those on things that are named: all rows of such a thing have the same one, and its parts have others. A count of smaller things is of those with the verdict. */
function areJudgedAlone(
  query: MetricQuery,
  names: readonly string[],
  source: DrillSource,
): boolean {
  const place = smallest(names, source);
  if (place < 0) return false;
  return !query.measures.some((used) => {
    const name = typeof used === "string" ? used : (used.measure ?? "");
    const measure = source.definitions.measures?.[name];
    return measure && "distinct" in measure && smallest([measure.distinct], source) > place;
  });
}

function valueCondition(
  { query, rows }: Pick<Rows, "query" | "rows">,
  at: number,
  value: Cell,
  dimension: string,
): Condition | null {
  if (!query.top?.others || value !== OTHER) return { [dimension]: [value] };
  // All other groups are those that are not listed.
  const listed = rows.map((one) => one[at] ?? null).filter((one) => one !== OTHER);
  const isOne = rows.length - listed.length === 1;
  return isOne ? { [dimension]: { not: [...new Set(listed)] } } : null;
}

function timeCondition(value: Cell, grain: TimeGrain, source: DrillSource): Condition | null {
  const time = source.definitions.time?.column;
  if (time === undefined) return null;
  if (value === null) return { [time]: [null] };
  const first = String(value).slice(0, 10);
  const next = nextDay(first, grain);
  if (next === null) return null;
  const isMoment = source.source.columns.find(({ name }) => name === time)?.kind === "moment";
  const written = (day: string): string => (isMoment ? `${day}T00:00:00` : day);
  // The period of the query stays, so that a week at its edge has no more days than before.
  return { [time]: { ">=": written(first), "<": written(next) } };
}

/** Returns the names that conditions fix to one value. */
const fixedNames = (conditions: readonly Condition[]): string[] =>
  conditions.flatMap((condition) =>
    Object.entries(condition).flatMap(([name, test]) =>
      Array.isArray(test) && test.length === 1 ? [name] : [],
    ),
  );

/** Returns what rows of a query are divided by first: the next smaller things, or the days of the smallest ones; else what is not in `taken`. */
export function nextDivision(
  query: MetricQuery,
  taken: readonly Division[],
  source: DrillSource,
): Division | undefined {
  const choices = divisionsOf(query, source);
  const isTaken = (choice: Division): boolean => taken.some((one) => isSame(one, choice));
  const free = choices.find((choice) => !isTaken(choice)) ?? choices[0];
  const { things, level } = source.path ?? { things: [], level: "" };
  if (things.length === 0) return free;
  const fixed = fixedNames(query.where ?? []);
  const place = smallest(fixed, source);
  const hasVerdict = fixed.some((name) => isVerdict(name, source));
  const names = place < 0 && hasVerdict ? [level] : things.slice(place + 1);
  const steps: Division[] = [...names.map((dimension) => ({ dimension })), { time: "day" }];
  const isOffered = (step: Division): boolean => choices.some((choice) => isSame(choice, step));
  return steps.find((step) => isOffered(step) && !("time" in step && isTaken(step))) ?? free;
}

/** Whether two divisions are the same. */
export const isSame = (one: Division | null, other: Division): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** Returns what rows of a query can be divided by: dimensions that no condition fixes to one value, and the time. */
export function divisionsOf(query: MetricQuery, source: DrillSource): Division[] {
  const { dimensions = {}, time } = source.definitions;
  const fixed = fixedNames(query.where ?? []);
  const free = Object.keys(dimensions).filter((name) => !fixed.includes(name));
  const grains: TimeGrain[] = time ? ["month", "week", "day"] : [];
  return [...free.map((dimension) => ({ dimension })), ...grains.map((grain) => ({ time: grain }))];
}

/** Whether a condition is about figures of the result, and not about single rows. */
function isAboutFigures(condition: Condition, query: MetricQuery, source: DrillSource): boolean {
  const { measures = {}, dimensions = {} } = source.definitions;
  const shown = query.measures.flatMap((used) => COMPARED.map((end) => figureName(used) + end));
  const isColumn = (name: string): boolean =>
    source.source.columns.some((one) => one.name.toLowerCase() === name.toLowerCase());
  const isFigure = (name: string): boolean => {
    if (shown.includes(name) || Object.hasOwn(measures, name)) return true;
    if (Object.hasOwn(dimensions, definedName("dimensions", name, source.definitions)))
      return false;
    if (isColumn(name)) return false;
    return Object.hasOwn(measures, definedName("measures", name, source.definitions));
  };
  const isAbout = (one: Condition): boolean =>
    Object.entries(one).some(([name, test]) => {
      if (name === "and" || name === "or") return (test as Condition[]).some(isAbout);
      return name === "not" ? isAbout(test as Condition) : isFigure(name);
    });
  return isAbout(condition);
}

/** Returns a query without what holds only for its own rows: order, limit, comparison, and figures over other rows. */
export function plainQuery(
  query: MetricQuery,
  conditions: readonly Condition[],
  drilled: DrillSource,
): MetricQuery {
  const { source, period, in_currency, as_of } = query;
  const measures = query.measures.map((used) => {
    if (typeof used === "string") return used;
    const { share_of: _s, running: _r, rolling: _o, per: _p, ...plain } = used;
    return plain;
  });
  // A condition on figures holds for the rows of the result, and not for the parts of one.
  const isJudged = areJudgedAlone(query, fixedNames(conditions), drilled);
  const isOwn = (one: Condition): boolean =>
    !isAboutFigures(one, query, drilled) &&
    !(isJudged && Object.keys(one).some((name) => isVerdict(name, drilled)));
  const where = [...(query.where ?? []).filter(isOwn), ...conditions];
  return {
    ...(source !== undefined && { source }),
    measures,
    ...(where.length > 0 && { where }),
    ...(period && { period }),
    ...(in_currency !== undefined && { in_currency }),
    ...(as_of && { as_of }),
  };
}

/** Returns a query whose rows are divided, the greatest ones first, or in their order if they are times. Smaller things have the verdicts that the larger ones of `before` have, in the same order. */
export function dividedQuery(
  plain: MetricQuery,
  by: Division,
  before?: MetricQuery,
  source?: DrillSource,
): MetricQuery {
  const first = plain.measures[0];
  if ("time" in by || first === undefined) return { ...plain, by: [by], limit: MOST };
  const isThing = source?.path?.things.includes(by.dimension) ?? false;
  const fixed = fixedNames(plain.where ?? []);
  const verdicts = (before?.by ?? [])
    .map(dimensionOf)
    .filter((name) => isThing && source && isVerdict(name, source) && !fixed.includes(name));
  const shown = [...verdicts, ...plain.measures.map(figureName)];
  const kept = verdicts.length > 0 ? (before?.order ?? []) : [];
  const order: Order[] = kept.filter((one) => shown.includes(one.by));
  if (order.length === 0) order.push({ by: figureName(first), descending: true });
  return { ...plain, by: [by, ...verdicts], order, limit: MOST };
}
