// Which charts fit a result, by the roles, formats and values of its columns. Pure: it knows no component and no library.
import type { ChartKind } from "../../platform/generated/ChartKind";
import type { ContentColumn } from "../../platform/generated/ContentColumn";
import type { ResultCell } from "../../platform/generated/ResultCell";
import type { ResultContent } from "../../platform/generated/ResultContent";
import type { ShapeName } from "../../platform/generated/ShapeName";
import { isNumeric } from "../content";
import { millisOf, withGaps } from "./times";

/** The view that a person chooses: a chart, or the rows themselves. */
export type ChartView = ChartKind | "table";

/** The drawn columns, by their numbers. */
export interface Choice {
  /** The charts that fit. The first one is drawn if nobody chose. */
  kinds: readonly ChartKind[];
  /** The column along which values are drawn; null if rows have no names. */
  along: number | null;
  /** The columns whose values are series of their own. */
  by: readonly number[];
  /** The columns with values. */
  measures: readonly number[];
}

/** More series than this cannot be told apart. */
export const MOST_SERIES = 8;
/** With more columns than this, each column would be too thin. */
const MOST_COLUMNS = 92;
/** Names of more columns than this do not fit below them. */
const MOST_NAMED_COLUMNS = 12;
/** With so few times, columns say more than a line. */
const FEW_TIMES = 7;
/** Fewer points than this say nothing about two measures. */
const LEAST_POINTS = 3;
/** With more columns of names and times than this, only a table says something. No query has so many. */
const MOST_NAMES = 60;
/** The most values of a small whole number with an order, such as the day of the month. */
const MOST_ORDERED = 31;

export type Row = readonly ResultCell[];

/** Returns the number in a cell. Null for texts, empty cells and numbers that no axis has room for. */
export function numberOf(cell: ResultCell | undefined): number | null {
  const value = cell?.value;
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** Returns the charts that fit. Null: a table or single figures say more. */
export function chooseChart(content: ResultContent): Choice | null {
  const { columns, rows } = content;
  if (rows.length < 2 || hasManyNames(columns)) return null;
  const measures = columns.flatMap((column, at) => (isMeasure(column, rows, at) ? [at] : []));
  if (measures.length === 0) return null;
  const placed = placesOf(columns, rows);
  if (!placed) return null;
  const kinds = kindsOf(content, { ...placed, measures });
  return kinds.length > 0 ? { kinds, ...placed, measures } : null;
}

/** Whether a chart is drawn before a person asks for it. Lists that are no answer to a query are read, and so are rows with several names. */
export function isChartFirst(shape: ShapeName, content: ResultContent): boolean {
  if (shape === "series") return true;
  if (hasManyNames(content.columns)) return false;
  const names = content.columns.filter(
    (column, at) => column.role === "dimension" && countValues(content.rows, at) > 1,
  );
  return shape === "table" && content.state !== undefined && names.length < 2;
}

const hasManyNames = (columns: readonly ContentColumn[]): boolean =>
  columns.filter(({ role }) => role !== "measure").length > MOST_NAMES;

function isMeasure(column: ContentColumn, rows: readonly Row[], at: number): boolean {
  return (
    column.role === "measure" && isNumeric(column) && rows.some((row) => numberOf(row[at]) !== null)
  );
}

/** Returns the value of a cell as a text that tells different values apart. */
export const keyOf = (cell: ResultCell | undefined): string => JSON.stringify(cell?.value ?? null);

function countValues(rows: readonly Row[], at: number): number {
  return new Set(rows.map((row) => keyOf(row[at]))).size;
}

/** Whether no two rows have the same values in these columns. */
function areUnique(rows: readonly Row[], columns: readonly number[]): boolean {
  const seen = new Set(rows.map((row) => columns.map((at) => keyOf(row[at])).join()));
  return seen.size === rows.length;
}

/** Returns along which column, and by which ones, each row has a place of its own. Null: rows would cover each other, and to add them up would
 *  make figures that nobody computed. */
function placesOf(
  columns: readonly ContentColumn[],
  rows: readonly Row[],
): Pick<Choice, "along" | "by"> | null {
  const of = (role: ContentColumn["role"]): number[] =>
    columns.flatMap((column, at) =>
      column.role === role && countValues(rows, at) > 1 ? [at] : [],
    );
  const [times, names] = [of("time"), of("dimension")];
  const time = times[0];
  // Several times are properties of a row, such as the first and the last day.
  if (time !== undefined && times.length === 1) return placesOverTime(rows, time, names);
  if (names.length === 0) return { along: null, by: [] };
  return placesByName(columns, rows, names);
}

function placesOverTime(
  rows: readonly Row[],
  time: number,
  names: readonly number[],
): Pick<Choice, "along" | "by"> | null {
  const choices = [[], ...names.map((name) => [name]), [...names]];
  const by = choices.find((by) => areUnique(rows, [time, ...by]));
  return by ? { along: time, by } : null;
}

function placesByName(
  columns: readonly ContentColumn[],
  rows: readonly Row[],
  names: readonly number[],
): Pick<Choice, "along" | "by"> | null {
  const alone = names.filter((at) => areUnique(rows, [at]));
  // A key beside a name says the same in a way that fewer people read.
  const named = alone.find((at) => columns[at]?.format === "text") ?? alone[0];
  if (named !== undefined) return { along: named, by: [] };
  for (const one of names) {
    for (const other of names) {
      if (one >= other || !areUnique(rows, [one, other])) continue;
      // The column with more values has more room along the axis.
      const swapped = countValues(rows, other) > countValues(rows, one);
      return swapped ? { along: other, by: [one] } : { along: one, by: [other] };
    }
  }
  return null;
}

function kindsOf(
  content: ResultContent,
  { along, by, measures }: Omit<Choice, "kinds">,
): ChartKind[] {
  const { columns, rows } = content;
  const points: ChartKind[] = canBePoints(rows, measures) ? ["points"] : [];
  if (along === null) return points;
  const places = countValues(rows, along);
  const series =
    by.length > 0 ? Math.min(MOST_SERIES, new Set(rows.map((row) => nameKey(row, by))).size) : 1;
  const fits =
    columns[along]?.role === "time"
      ? timeKinds(rows, along, places, series)
      : nameKinds(rows, along, places, series);
  const kinds = [...fits, ...points];
  const declared = content.chart;
  return declared && kinds.includes(declared)
    ? [declared, ...kinds.filter((kind) => kind !== declared)]
    : kinds;
}

/** Returns the values of several columns as one key. */
export const nameKey = (row: Row, columns: readonly number[]): string =>
  columns.map((at) => keyOf(row[at])).join();

function timeKinds(
  rows: readonly Row[],
  along: number,
  places: number,
  series: number,
): ChartKind[] {
  const isOnCalendar = isCalendar(rows, along);
  // Times without a row have a place, too.
  const slots = isOnCalendar ? withGaps(timesOf(rows, along)).length : places;
  if (slots * series > MOST_COLUMNS) return ["lines"];
  const isFew = slots <= FEW_TIMES || !isOnCalendar;
  return isFew && series < 4 ? ["columns", "lines"] : ["lines", "columns"];
}

function nameKinds(
  rows: readonly Row[],
  along: number,
  places: number,
  series: number,
): ChartKind[] {
  if (isOrdered(rows, along)) return ["columns", "bars"];
  return places <= MOST_NAMED_COLUMNS && series < 5 ? ["bars", "columns"] : ["bars"];
}

/** Whether two measures have enough rows with both, each in one unit. */
function canBePoints(rows: readonly Row[], measures: readonly number[]): boolean {
  const [x, y] = measures;
  if (x === undefined || y === undefined) return false;
  const both = rows.filter((row) => numberOf(row[x]) !== null && numberOf(row[y]) !== null);
  const units = (at: number): number => new Set(both.map((row) => row[at]?.unit)).size;
  return both.length >= LEAST_POINTS && units(x) === 1 && units(y) === 1;
}

/** Whether all times are days or moments. Others are days of the week, hours of the day and such. */
export function isCalendar(rows: readonly Row[], along: number): boolean {
  return rows.every(({ [along]: cell }) => {
    const value = cell?.value ?? null;
    return value === null || (typeof value === "string" && Number.isFinite(millisOf(value)));
  });
}

/** Returns the different times of rows in ascending order. */
export function timesOf(rows: readonly Row[], along: number): string[] {
  const values = rows.flatMap(({ [along]: cell }) => cell?.value ?? []);
  return [...new Set(values.map(String))].sort();
}

/** Whether all values are small whole numbers next to each other, such as the hours of a day, so that their order says something. */
export function isOrdered(rows: readonly Row[], along: number): boolean {
  const values = rows.map((row) => numberOf(row[along]));
  const whole = values.filter((value) => value !== null && Number.isInteger(value)) as number[];
  if (whole.length < values.length) return false;
  return Math.max(...whole) - Math.min(...whole) < MOST_ORDERED;
}
