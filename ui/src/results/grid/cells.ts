// Cells of a data result: as a reader sees them, and as other programs read them. Numbers with many digits arrive as text and stay exact.
import { formatDate, formatMoment, formatNumber, t } from "../../i18n/index.svelte";
import { compareDecimals, isNumeric, placesFor } from "../../lib/decimal";
import type { DataColumn } from "../../platform/generated/DataColumn";
import { hugeFormat, wordsOf } from "../content";
import { withUnit } from "../units";

export type Cell = string | number | boolean | null;

/** A column of stored rows. All of its numbers have the same decimal places, so that their points stand below each other. */
export interface StoredColumn extends DataColumn {
  places?: number;
}

/** The order of rows. */
export interface GridOrder {
  by: string;
  descending: boolean;
}

/** How a person wants to see the numbers of a column. A member that is absent follows from the column. */
export interface NumberLook {
  /** The number of decimal places. */
  digits?: number;
  /** Whether large numbers are short, such as 1.2K. */
  isCompact?: boolean;
  isPercent?: boolean;
}

const NONE = "–";

/** Whether the values are numbers, which are aligned at the right. */
export function isNumber({ type }: DataColumn): boolean {
  return type === "whole" || type === "decimal" || type === "float";
}

/** Whether a column has amounts or counts. Other numbers are names, such as years and ids. */
export function isAmount(column: DataColumn): boolean {
  return isNumber(column) && column.role === "measure";
}

/** Returns the heading of a column. */
export function headingOf(column: DataColumn): string {
  return wordsOf(column.label) || column.name;
}

/** Returns the unit of a column that has the same one in all rows. Percentages have their sign in each cell. */
export function unitOf({ unit, format }: DataColumn): string | null {
  return typeof unit === "string" && format !== "percent" ? unit : null;
}

/** Returns the unit that is written after a heading; null if there is none, or the heading says it itself. */
export function unitAfter(column: DataColumn): string | null {
  const unit = unitOf(column);
  return withUnit(headingOf(column), unit) === headingOf(column) ? null : unit;
}

/** Returns a number with all its digits in the reader's format. */
export function exactNumber(
  digits: string | number,
  options: Intl.NumberFormatOptions = {},
): string {
  // Intl formats decimal digits in a text exactly, which the type of `formatNumber` does not say.
  return formatNumber(digits as number, { maximumFractionDigits: 20, ...options });
}

/** Returns the decimal places of an amount. */
function placesOf(
  value: string | number,
  column: StoredColumn,
  isPercent: boolean,
  { digits, isCompact }: NumberLook,
): Intl.NumberFormatOptions {
  if (digits !== undefined) return { minimumFractionDigits: digits, maximumFractionDigits: digits };
  if (isCompact) return { minimumFractionDigits: 0, maximumFractionDigits: 1 };
  // Computed figures are rounded for the reader. Stored ones are shown as they are.
  const isStored = column.of === undefined;
  if (isPercent) return { minimumFractionDigits: 2, maximumFractionDigits: isStored ? 20 : 2 };
  const most = isStored ? 20 : placesFor(value);
  const least = Math.max(column.format === "money" ? 2 : 0, column.places ?? 0);
  return { minimumFractionDigits: least, maximumFractionDigits: Math.max(least, most) };
}

function amountText(value: string | number, column: DataColumn, look: NumberLook): string {
  const isPercent = look.isPercent ?? column.format === "percent";
  const options: Intl.NumberFormatOptions = {
    ...placesOf(value, column, isPercent, look),
    ...(look.isCompact && { notation: "compact" }),
    ...hugeFormat(value),
  };
  if (!isPercent) return exactNumber(value, options);
  // The difference of two percentages is in points.
  if (column.compared === "change")
    return t("results.points", { points: exactNumber(Number(value) * 100, options) });
  return exactNumber(value, { style: "percent", ...options });
}

const PLAIN: NumberLook = {};

/** Returns a cell as a reader sees it. */
export function gridText(
  value: Cell | undefined,
  column: DataColumn,
  look: NumberLook = PLAIN,
): string {
  if (value === null || value === undefined || value === "") return NONE;
  if (typeof value === "boolean") return t(value ? "common.yes" : "common.no");
  if (isNumber(column) && (typeof value === "number" || isNumeric(value)))
    return isAmount(column) ? amountText(value, column, look) : String(value);
  if (column.type === "day") return formatDate(String(value));
  if (column.type === "moment") return formatMoment(String(value));
  return String(value);
}

/** Returns a cell as another program reads it: digits with a point, days as 2026-11-30. */
export function plainText(value: Cell | undefined): string {
  if (value === null || value === undefined) return "";
  return String(value);
}

/** Compares two cells of a column. Empty cells are compared by `sortedRows`. */
function compareCells(one: Cell, other: Cell, column: DataColumn): number {
  if (isNumber(column)) return compareDecimals(String(one), String(other));
  const [a, b] = [String(one), String(other)];
  return a < b ? -1 : Number(a > b);
}

/** Returns the rows in an order. Empty cells come last, and equal rows keep their order. */
export function sortedRows(
  rows: readonly Cell[][],
  columns: readonly DataColumn[],
  order: GridOrder | null,
): Cell[][] {
  const at = columns.findIndex(({ name }) => name === order?.by);
  const column = columns[at];
  if (!order || !column) return [...rows];
  const isEmpty = (row: Cell[]): boolean => row[at] === null || row[at] === "";
  return [...rows].sort((one, other) => {
    const missing = Number(isEmpty(one)) - Number(isEmpty(other));
    if (missing !== 0 || isEmpty(one)) return missing;
    const compared = compareCells(one[at] ?? null, other[at] ?? null, column);
    return order.descending ? -compared : compared;
  });
}

/** Returns the next order when a heading is chosen: numbers begin with the greatest, texts with the first; the third time, the rows are as they came. */
export function nextOrder(column: DataColumn, now: GridOrder | null): GridOrder | null {
  const first = isAmount(column);
  if (now?.by !== column.name) return { by: column.name, descending: first };
  return now.descending === first ? { by: column.name, descending: !first } : null;
}

const WIDEST = 56;
/** No number that a database keeps exactly needs more room. */
const WIDEST_NUMBER = 120;

/** Returns the texts of a row. */
export function rowTexts(row: readonly Cell[], columns: readonly DataColumn[]): string[] {
  return columns.map((column, at) => gridText(row[at], column));
}

/** Returns the width of each column in characters, from its heading and the texts of some rows. A long text is cut, and an exact number never. */
export function widthsOf(
  columns: readonly DataColumn[],
  rows: readonly (readonly (string | undefined)[])[],
): number[] {
  return columns.map((column, at) => {
    const texts = rows.map((row) => (row[at] ?? "").length);
    // The heading has room for its unit, for the sign of the order, and for the button of its menu.
    const heading = withUnit(headingOf(column), unitOf(column)).length + 5;
    const width = Math.max(6, heading, ...texts) + 3;
    return Math.min(isNumber(column) ? WIDEST_NUMBER : WIDEST, width);
  });
}
