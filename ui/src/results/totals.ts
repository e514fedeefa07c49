// The totals of a result: those that the host computed, or else exact sums of the columns whose values add up, if all rows are here. Ratios
// and averages are never added. Pure but for the language.
import { t, type MessageKey } from "../i18n/index.svelte";
import { isNumeric as isDigits, significantDigits, sumOfDecimals } from "../lib/decimal";
import type { ContentColumn } from "../platform/generated/ContentColumn";
import type { ResultCell } from "../platform/generated/ResultCell";
import type { ResultContent } from "../platform/generated/ResultContent";
import { countRows, isNumeric } from "./content";

/** Why a figure has no total. */
export type NoTotal = "ratio" | "none" | "texts" | "units" | "digits";

/** A cell of a row with totals. */
export interface TotalCell extends ResultCell {
  /** Why there is no total; null for a total, and for what has none, such as a name. */
  why: NoTotal | null;
}

export interface Totals {
  /** One row, or one for each unit. */
  rows: TotalCell[][];
  /** The name of the rows, which says what they are the total of. */
  label: string;
}

/** The parts of a result that totals are made of. */
type Table = Pick<ResultContent, "columns" | "rows" | "totals">;
type Row = readonly ResultCell[];

/** Numbers with more digits may have lost some on their way. */
const MOST_DIGITS = 15;
/** The most rows with totals. */
const MOST_UNITS = 8;
const EMPTY: TotalCell = { value: null, why: null };

/** Returns the sentence that says why a figure has no total. */
export const noTotalText = (why: NoTotal): string => t(`results.total_${why}` satisfies MessageKey);

/** Returns the totals of a result; null if no figure has one. */
export function totalsOf(content: ResultContent): Totals | null {
  const isComplete = countRows(content) <= content.rows.length;
  return totalsOfTable(content, isComplete);
}

/** Returns the totals of rows, which are all rows of a result if it is complete. */
export function totalsOfTable(table: Table, isComplete: boolean): Totals | null {
  const computed = (table.totals ?? []).filter(hasValue);
  if (computed.length > 0) {
    const rows = computed.map((row) => table.columns.map((column, at) => given(column, row[at])));
    return { rows, label: t("results.total_all") };
  }
  // One row is its own total, and a part of the rows has none.
  if (!isComplete || table.rows.length < 2) return null;
  const rows = rowsByUnit(table).map((own) =>
    table.columns.map((column, at) => summed(column, own, at)),
  );
  const isSummed = rows.some((row) => row.some(({ value }) => value !== null));
  const label = t("results.total_rows", { count: table.rows.length });
  return isSummed ? { rows, label } : null;
}

const hasValue = (row: Row): boolean => row.some(({ value }) => value !== null && value !== "");
const isFigure = (column: ContentColumn): boolean => column.role === "measure" && isNumeric(column);

function given(column: ContentColumn, cell: ResultCell | undefined): TotalCell {
  const isMissing = cell === undefined || cell.value === null || cell.value === "";
  if (isMissing) return isFigure(column) ? { value: null, why: "none" } : EMPTY;
  return { ...cell, why: null };
}

/** Returns the rows of each unit, if the values of a column that adds up have several. */
function rowsByUnit({ columns, rows }: Table): Row[][] {
  const unitsOf = (at: number): Set<string> => new Set(rows.map((row) => row[at]?.unit ?? ""));
  const split = columns.findIndex((column, at) => column.adds_up && unitsOf(at).size > 1);
  const units = split < 0 ? [] : [...unitsOf(split)];
  // So many units are no table of totals. The cells say that they differ.
  if (units.length < 2 || units.length > MOST_UNITS) return [[...rows]];
  return units.map((unit) => rows.filter((row) => (row[split]?.unit ?? "") === unit));
}

function summed(column: ContentColumn, rows: readonly Row[], at: number): TotalCell {
  if (!isFigure(column)) return EMPTY;
  if (!column.adds_up) return { value: null, why: "ratio" };
  const cells = rows
    .map((row) => row[at])
    .filter((cell) => cell !== undefined && cell.value !== null && cell.value !== "");
  const units = new Set(cells.map((cell) => cell!.unit ?? ""));
  if (units.size > 1) return { value: null, why: "units" };
  const values = cells.map((cell) => cell!.value);
  if (values.some((value) => !isDigits(String(value)))) return { value: null, why: "texts" };
  if (values.some(isRounded)) return { value: null, why: "digits" };
  const value = sumOfDecimals(values.map(String));
  const unit = [...units][0] ?? "";
  return { value, ...(unit !== "" && { unit }), why: null };
}

/** Whether a number may have lost digits. Those of a text are all there. */
const isRounded = (value: ResultCell["value"]): boolean =>
  typeof value === "number" && significantDigits(String(value)) > MOST_DIGITS;
