// A table as text for other programs: CSV files, and text for the clipboard. A text that a spreadsheet would take for a formula is marked
// with an apostrophe, so that no cell of somebody else's data is computed.
import { isNumeric } from "../../lib/decimal";
import type { DataColumn } from "../../platform/generated/DataColumn";
import { headingOf, isNumber, plainText, type Cell } from "./cells";

/** A sign that begins a formula, also in the width of East Asian letters. A tab or a line end before it is skipped by some programs. */
const FORMULA = /^[\t\r\n ]*[=+\-@＝＋－＠]|^[\t\r]/;
/** A formula after a sign that separates cells where decimals have a comma. There, a spreadsheet splits a line of this file at it. */
const SPLIT_FORMULA = /([;\t\r\n] *)([=+\-@＝＋－＠])/g;

/** Returns a text without anything that a spreadsheet would take for a formula. */
export function withoutFormula(text: string): string {
  const marked = text.replace(SPLIT_FORMULA, "$1'$2");
  return FORMULA.test(text) ? `'${marked}` : marked;
}

/** Returns a cell as text. Numbers are never marked, and what is only called a number is. */
function safe(value: Cell | undefined, column: DataColumn): string {
  const text = plainText(value);
  const isDigits = typeof value === "number" || (isNumber(column) && isNumeric(text));
  return isDigits ? text : withoutFormula(text);
}

// A semicolon or a tab separates cells for some spreadsheets, too.
const quoted = (text: string): string =>
  /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/** A CSV file that is made page by page. */
export class CsvFile {
  /** The number of cells that are marked, because they look like formulas. */
  marked = 0;

  constructor(private readonly columns: readonly DataColumn[]) {}

  /** Returns the line of headings. */
  head(): string {
    return `${this.columns.map((column) => quoted(withoutFormula(headingOf(column)))).join(",")}\r\n`;
  }

  rows(rows: readonly (readonly Cell[])[]): string {
    return rows.map((row) => `${this.cells(row).join(",")}\r\n`).join("");
  }

  private cells(row: readonly Cell[]): string[] {
    return this.columns.map((column, at) => {
      const text = safe(row[at], column);
      if (text !== plainText(row[at])) this.marked += 1;
      return quoted(text);
    });
  }
}

/** Returns rows for the clipboard, with tabs between cells. */
export function clipboardText(
  rows: readonly (readonly Cell[])[],
  columns: readonly DataColumn[],
  withHeadings: boolean,
): string {
  const flat = (text: string): string =>
    /["\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const head = withHeadings
    ? [columns.map((column) => flat(withoutFormula(headingOf(column)))).join("\t")]
    : [];
  const lines = rows.map((row) =>
    columns.map((column, at) => flat(safe(row[at], column))).join("\t"),
  );
  return [...head, ...lines].join("\n");
}
