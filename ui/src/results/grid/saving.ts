// Writes all rows of a table to the clipboard or to a file that the user chooses. Knows no component.
import { copyLater } from "../../kit/clipboard";
import { platform } from "../../platform";
import { rowTexts, widthsOf, type Cell } from "./cells";
import { clipboardText, CsvFile } from "./csv";
import type { GridRows } from "./rows.svelte";
import type { Area } from "./selection";

/** The most rows of a sheet, the headings included. */
const MOST_ROWS = 1_048_576;
/** The rows that are read at once. */
const PAGE = 10_000;

/** Cells that a file does not hold as they are. */
export interface Changed {
  /** The number of texts that were cut, because a cell cannot hold them. */
  cut: number;
  /** The number of amounts that are texts, because a spreadsheet would round them. */
  asText: number;
  /** The number of texts that are marked, because a spreadsheet would compute them. */
  marked: number;
}

/** How a table was saved. */
export interface Saved extends Changed {
  /** The path; null if the user chose none. */
  path: string | null;
  rows: number;
}

export type FileKind = "csv" | "xlsx";

/** The most cells that are copied. More would take the memory of the window and of the program that they are pasted into. */
export const MOST_CELLS = 2_000_000;

/** How a copy ended. */
export type Copied = "done" | "failed" | "too_many";

/** Whether a file of this kind can hold the rows. */
export const canHold = (kind: FileKind, rows: number): boolean =>
  kind === "csv" || rows < MOST_ROWS;

/** Returns the pages of all rows. Fails when the signal says so. */
async function* pagesOf(
  rows: GridRows,
  signal: AbortSignal,
  onprogress: (done: number) => void,
): AsyncGenerator<Cell[][]> {
  let offset = 0;
  // Rows that nobody counted end with an empty page.
  while (rows.isOpenEnded || offset < rows.total) {
    signal.throwIfAborted();
    const page = await rows.read(offset, PAGE);
    if (page.length === 0) return;
    yield page;
    // The host may send fewer rows than asked for, if they are long.
    offset += page.length;
    onprogress(offset);
  }
}

/** Saves all rows in the present order. Fails when the signal says so; nothing is saved then. */
export async function saveRows(
  rows: GridRows,
  kind: FileKind,
  title: string,
  signal: AbortSignal,
  onprogress: (done: number) => void,
): Promise<Saved> {
  let count = 0;
  const pages = pagesOf(rows, signal, (done) => {
    count = done;
    onprogress(done);
  });
  const { content, changed } =
    kind === "csv" ? await csvOf(pages, rows) : await workbookOf(pages, rows, title);
  signal.throwIfAborted();
  const path = await platform().saveFile(`${fileName(title)}.${kind}`, content);
  return { path, rows: count, ...changed };
}

interface FileContent {
  content: Uint8Array;
  changed: Changed;
}

async function csvOf(pages: AsyncIterable<Cell[][]>, { columns }: GridRows): Promise<FileContent> {
  const file = new CsvFile(columns);
  // The mark at the beginning tells spreadsheets that the text is UTF-8.
  const parts = ["\ufeff", file.head()];
  for await (const page of pages) parts.push(file.rows(page));
  const content = new TextEncoder().encode(parts.join(""));
  return { content, changed: { cut: 0, asText: 0, marked: file.marked } };
}

async function workbookOf(
  pages: AsyncIterable<Cell[][]>,
  rows: GridRows,
  title: string,
): Promise<FileContent> {
  const { columns } = rows;
  const first = (await rows.read(0, 100)).map((row) => rowTexts(row, columns));
  // Most people save no workbook, so its library is loaded now.
  const { writeWorkbook } = await import("./xlsx");
  return writeWorkbook(pages, columns, widthsOf(columns, first), title);
}

// eslint-disable-next-line no-control-regex -- these characters cannot be in a name
const NO_NAME = /[\u0000-\u001f<>:"/\\|?*]/g;

/** Returns a text that can be the name of a file. */
export function fileName(title: string): string {
  return title.replace(NO_NAME, "_").replace(/^\.+/, "").slice(0, 100) || "data";
}

/** Fails a copy of rows that nobody counted, as soon as they are too many. */
class TooMany extends Error {}

/** Copies an area of cells, or all rows with their headings if the area is null. Too many cells are not copied in part. `shown` are the places of
 *  the columns that are shown, which the area counts. Hidden ones are not copied. */
export async function copyRows(
  rows: GridRows,
  area: Area | null,
  shown: readonly number[] = rows.columns.map((_, at) => at),
): Promise<Copied> {
  const places = area ? shown.slice(area.firstColumn, area.lastColumn) : shown;
  const columns = places.map((at) => rows.columns[at]!);
  const most = Math.floor(MOST_CELLS / Math.max(1, columns.length));
  const asked = area ? area.lastRow - area.firstRow : rows.total;
  if (asked > most) return "too_many";
  const text = async (): Promise<string> => {
    const found: Cell[][] = [];
    const last = area?.lastRow ?? (rows.isOpenEnded ? Infinity : rows.total);
    let offset = area?.firstRow ?? 0;
    while (offset < last) {
      const page = await rows.read(offset, Math.min(PAGE, last - offset));
      if (page.length === 0) break;
      found.push(...page);
      offset += page.length;
      if (found.length > most) throw new TooMany();
    }
    const cells = found.map((row) => places.map((at) => row[at] ?? null));
    return clipboardText(cells, columns, area === null);
  };
  try {
    return (await copyLater(text())) ? "done" : "failed";
  } catch (cause) {
    if (cause instanceof TooMany) return "too_many";
    throw cause;
  }
}
