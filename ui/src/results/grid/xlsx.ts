// A table as an XLSX workbook, written by the library hucre. This module chooses what a cell is: texts are never formulas, numbers that are
// names and numbers with more digits than a spreadsheet keeps are texts, and days are days. It is loaded when the first workbook is saved.
import { writeXlsxStream, type CellValue, type ColumnDef } from "hucre/xlsx";
import { isNumeric, significantDigits } from "../../lib/decimal";
import type { DataColumn } from "../../platform/generated/DataColumn";
import { headingOf, isAmount, plainText, type Cell } from "./cells";
import { withoutFormula } from "./csv";
import type { Changed } from "./saving";

/** The most characters of a cell. */
const MOST_TEXT = 32_767;
/** The most digits of a number. A spreadsheet sets all further ones to zero. */
const MOST_DIGITS = 15;
/** The format of texts. A cell with it stays a text when somebody edits it. */
const TEXT = "@";

/** Returns the format of a column's cells. */
function formatOf(column: DataColumn): string {
  if (column.type === "day") return "yyyy-mm-dd";
  if (column.type === "moment") return "yyyy-mm-dd hh:mm:ss";
  if (!isAmount(column)) return TEXT;
  if (column.format === "percent") return "0.00%";
  if (column.format === "money") return "#,##0.00";
  return column.type === "whole" ? "#,##0" : "General";
}

/** Returns the number of a day as spreadsheets count: days since 1899-12-30. Null before 1900-03-01, which they count differently. */
function serialOf(moment: string): number | null {
  const millis = Date.parse(moment.includes("T") ? `${moment}Z` : `${moment}T00:00:00Z`);
  const serial = (millis - Date.UTC(1899, 11, 30)) / 86_400_000;
  return Number.isFinite(serial) && serial >= 61 ? serial : null;
}

/** Whether a spreadsheet keeps all digits of an amount. Fractions in binary are exact in a workbook, whatever their digits are. */
function keepsDigits(value: string | number): boolean {
  // No number can hold a text such as 1e999.
  if (!Number.isFinite(Number(value))) return false;
  const isBinary = typeof value === "number" && !Number.isInteger(value);
  return isBinary || significantDigits(String(value)) <= MOST_DIGITS;
}

/** Returns a text in which a reader finds the same characters: workbooks have signs of their own for some of them. */
function escaped(text: string): string {
  return text
    .replace(/_x[0-9A-Fa-f]{4}_/g, (found) => `_x005F${found}`)
    .replace(/[\ufffe\uffff]/g, (found) => `_x${found.charCodeAt(0).toString(16).toUpperCase()}_`);
}

class Cells {
  readonly changed: Changed = { cut: 0, asText: 0, marked: 0 };
  private readonly formats: readonly string[];

  constructor(private readonly columns: readonly DataColumn[]) {
    this.formats = columns.map(formatOf);
  }

  /** Returns the columns with their headings. Texts in cells that are not formatted as texts are marked if they look like formulas. */
  definitions(widths: readonly number[]): ColumnDef[] {
    return this.columns.map((column, at) => ({
      header: this.text(headingOf(column), at),
      width: widths[at] ?? 10,
      numFmt: this.formats[at]!,
    }));
  }

  row(row: readonly Cell[]): CellValue[] {
    return this.columns.map((column, at) => this.value(row[at], column, at));
  }

  private value(value: Cell | undefined, column: DataColumn, at: number): CellValue {
    if (value === null || value === undefined || value === "") return null;
    if (typeof value === "boolean") return value;
    if (isAmount(column) && (typeof value === "number" || isNumeric(value))) {
      if (keepsDigits(value)) return Number(value);
      this.changed.asText += 1;
    } else if (column.type === "day" || column.type === "moment") {
      const serial = serialOf(String(value));
      if (serial !== null) return serial;
    }
    return this.text(plainText(value), at);
  }

  private text(text: string, at: number): string {
    const isText = this.formats[at] === TEXT || isNumeric(text);
    let shown = isText ? text : withoutFormula(text);
    if (shown !== text) this.changed.marked += 1;
    if (shown.length > MOST_TEXT) {
      this.changed.cut += 1;
      // A sign of two characters is not cut in half.
      shown = shown.slice(0, MOST_TEXT).replace(/[\ud800-\udbff]$/, "");
    }
    return escaped(shown);
  }
}

/** Returns a workbook with one sheet. The rows are read page by page. */
export async function writeWorkbook(
  pages: AsyncIterable<readonly (readonly Cell[])[]>,
  columns: readonly DataColumn[],
  widths: readonly number[],
  title: string,
): Promise<{ content: Uint8Array; changed: Changed }> {
  const cells = new Cells(columns);
  async function* rows(): AsyncGenerator<CellValue[]> {
    for await (const page of pages) for (const row of page) yield cells.row(row);
  }
  const stream = writeXlsxStream(rows(), {
    name: sheetName(title),
    columns: cells.definitions(widths),
    freezePane: { rows: 1 },
  });
  const content = new Uint8Array(await new Response(stream as BodyInit).arrayBuffer());
  return { content, changed: cells.changed };
}

/** Returns a text as the name of a sheet: at most 31 characters, none of a few signs, no apostrophe at its ends, and no reserved word. */
export function sheetName(title: string): string {
  const name = title
    .replace(/[[\]:*?/\\']/g, " ")
    .trim()
    .slice(0, 31)
    .trim();
  return name === "" || name.toLowerCase() === "history" ? "Data" : name;
}
