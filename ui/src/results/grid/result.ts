// The content of a result as columns and rows of a long table. Pure.
import type { ContentColumn } from "../../platform/generated/ContentColumn";
import type { DataColumn } from "../../platform/generated/DataColumn";
import type { DataResult } from "../../platform/generated/DataResult";
import type { DataType } from "../../platform/generated/DataType";
import type { ResultCell } from "../../platform/generated/ResultCell";
import type { ResultContent } from "../../platform/generated/ResultContent";
import { t } from "../../i18n/index.svelte";
import { isNumeric, wordsOf } from "../content";
import { contentColumns, unitOfCell } from "../query/result";
import { noTotalText, totalsOf, totalsOfTable, type TotalCell, type Totals } from "../totals";
import type { Cell } from "./cells";

const TYPES: Record<ContentColumn["format"], DataType> = {
  text: "text",
  number: "decimal",
  money: "decimal",
  percent: "decimal",
  day: "day",
  moment: "moment",
  flag: "flag",
};

/** Returns the type of values that are written in a format. */
export const typeOf = (format: ContentColumn["format"]): DataType => TYPES[format];

/** A longer text does not name a kind. */
const LONGEST = 200;

/** Returns the kind of a result, which has no text of the conversation in it, because it is kept with the settings. */
export function kindOf(tool: string, { columns }: ResultContent): string {
  const kinds = columns.map(({ role, format }) => `${role} ${format}`);
  return `${tool} (${columns.length}): ${kinds.join(", ")}`.slice(0, LONGEST);
}

/** Returns what tells a result from others while the window is open: where it is from, its columns and its question. */
export function lookName(
  tool: string,
  caption: string,
  { columns, computed }: ResultContent,
): string {
  const kinds = columns.map(({ label, role, format }) => [label, role, format]);
  // An answer that is computed again is of another moment.
  const asked = computed?.asked.query;
  return JSON.stringify([tool, caption, kinds, asked ? { ...asked, as_of: null } : null]);
}

/** Returns the units of a column's cells, each once. */
function unitsOf(content: ResultContent, at: number): string[] {
  return [...new Set(content.rows.flatMap((row) => row[at]?.unit ?? []))];
}

/** The rows with totals of a long table. */
export interface GridTotals {
  /** Says which rows they are the totals of. */
  label: string;
  /** The cells of each row, one for each column. */
  rows: Cell[][];
  /** Why a cell has no total, at the same places; null where nothing is missing. */
  reasons: (string | null)[][];
}

/** A result as a long table. */
export interface GridContent {
  columns: DataColumn[];
  rows: Cell[][];
  totals: GridTotals | null;
}

/** The place of a column's cells in the result: the values of a column, or their units. */
interface Origin {
  at: number;
  isUnit: boolean;
}

/** Returns the columns, and where their cells are. A column with several units has a column of units after it, so that rows with different
 *  currencies stay apart. */
function columnsOf(content: ResultContent): { columns: DataColumn[]; origins: Origin[] } {
  const columns: DataColumn[] = [];
  const origins: Origin[] = [];
  content.columns.forEach((column, at) => {
    const units = unitsOf(content, at);
    columns.push(columnOf(column, at, units));
    origins.push({ at, isUnit: false });
    if (units.length < 2) return;
    columns.push({
      name: `${at} unit`,
      type: "text",
      role: "dimension",
      format: "text",
      label: { en: t("grid.unit_of", { column: wordsOf(column.label) }) },
    });
    origins.push({ at, isUnit: true });
  });
  return { columns, origins };
}

/** Returns a column of a long table. Two columns can have the same heading, so their names are numbers. */
function columnOf(column: ContentColumn, at: number, units: readonly string[]): DataColumn {
  const { format, role, label, compared } = column;
  const isAmount = isNumeric(column);
  return {
    name: String(at),
    type: typeOf(format),
    role: isAmount ? "measure" : role === "measure" ? "dimension" : role,
    format,
    label,
    // The figures were computed, so they are rounded for the reader.
    of: String(at),
    ...(units.length === 1 && { unit: units[0]! }),
    ...(compared && { compared }),
  };
}

/** Returns a result as a long table. */
export function gridOf(content: ResultContent): GridContent {
  const { columns, origins } = columnsOf(content);
  const cells = (row: ResultContent["rows"][number]): Cell[] =>
    origins.map(({ at, isUnit }) => (isUnit ? row[at]?.unit : row[at]?.value) ?? null);
  const totals = totalsOf(content);
  return { columns, rows: content.rows.map(cells), totals: totals && placed(totals, origins) };
}

function placed({ rows, label }: Totals, origins: readonly Origin[]): GridTotals {
  const reason = (row: TotalCell[], { at, isUnit }: Origin): string | null => {
    const why = isUnit ? null : (row[at]?.why ?? null);
    return why && noTotalText(why);
  };
  return {
    label,
    rows: rows.map((row) =>
      origins.map(({ at, isUnit }) => (isUnit ? row[at]?.unit : row[at]?.value) ?? null),
    ),
    reasons: rows.map((row) => origins.map((origin) => reason(row, origin))),
  };
}

/** Returns the totals of a result of a query, whose columns are those of a long table. */
export function gridTotals(result: DataResult): GridTotals | null {
  const { columns } = result;
  const exact = (rows: DataResult["rows"]): ResultCell[][] =>
    rows.map((row) =>
      columns.map((column, at) => {
        const unit = unitOfCell(column, row);
        return { value: row[at] ?? null, ...(unit !== null && { unit }) };
      }),
    );
  const isComplete = result.more === undefined && result.row_count <= result.rows.length;
  const totals = totalsOfTable(
    {
      columns: contentColumns(columns),
      rows: exact(result.rows),
      totals: exact(result.totals ?? []),
    },
    isComplete,
  );
  const origins = columns.map((_, at) => ({ at, isUnit: false }));
  return totals && placed({ ...totals, rows: totals.rows.map(withUnits(columns)) }, origins);
}

/** Returns a function that writes the units of totals into the columns that have the units of the rows. */
const withUnits =
  (columns: readonly DataColumn[]) =>
  (row: TotalCell[]): TotalCell[] => {
    const cells = [...row];
    columns.forEach(({ unit }, at) => {
      if (typeof unit !== "object") return;
      const place = Number(unit.at.slice(1));
      const own = row[at]?.unit;
      if (own !== undefined && cells[place]) cells[place] = { value: own, why: null };
    });
    return cells;
  };
