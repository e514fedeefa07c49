// A table as a workbook: what other programs read in its cells.
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readXlsx } from "hucre/xlsx";
import { expect, test } from "vitest";
import type { DataColumn } from "../../platform/generated/DataColumn";
import type { Cell } from "./cells";
import type { Changed } from "./saving";
import { sheetName, writeWorkbook } from "./xlsx";

const column = (
  name: string,
  type: DataColumn["type"],
  rest: Partial<DataColumn> = {},
): DataColumn => ({ name, type, role: "dimension", format: "text", ...rest });
const columns = [
  column("Campaign", "text"),
  column("Campaign ID", "whole"),
  column("Day", "day", { role: "time", format: "day" }),
  column("Cost", "decimal", { role: "measure", format: "money" }),
];

async function written(
  rows: Cell[][],
  title = "ads",
): Promise<{ content: Uint8Array; changed: Changed }> {
  async function* pages(): AsyncGenerator<Cell[][]> {
    await Promise.resolve();
    yield rows;
  }
  return writeWorkbook(pages(), columns, [10, 10, 10, 10], title);
}

/** Returns the text of a file in a workbook, unpacked by another program. */
function unzipped(content: Uint8Array, name: string): string {
  const path = join(mkdtempSync(join(tmpdir(), "xlsx-")), "book.xlsx");
  writeFileSync(path, content);
  const script =
    "import sys,zipfile;print(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]).decode())";
  return execFileSync("python3", ["-c", script, path, name]).toString();
}
const sheetOf = (content: Uint8Array): string => unzipped(content, "xl/worksheets/sheet1.xml");

/** Returns the attributes and the content of a cell. */
function cellOf(sheet: string, ref: string): string {
  return new RegExp(`<c r="${ref}"[^>]*?(?:/>|>.*?</c>)`, "s").exec(sheet)?.[0] ?? "";
}

test("a text that no number can hold stays a text", async () => {
  const { content, changed } = await written([["Brand", 1, null, "1e999"]]);
  expect(cellOf(sheetOf(content), "D2")).toContain("<t>1e999</t>");
  expect([changed.asText, changed.marked]).toEqual([1, 0]);
});

test("amounts are numbers, days are days, and ids are texts", async () => {
  const { content, changed } = await written([
    ["Brand", 17, "2026-11-30", -12.5],
    ["Shoes", "17", null, "0.10"],
  ]);
  const sheet = sheetOf(content);
  expect(cellOf(sheet, "A2")).toContain("<t>Brand</t>");
  expect(cellOf(sheet, "B2")).toContain("<t>17</t>");
  expect(cellOf(sheet, "C2")).toContain("<v>46356</v>");
  expect(cellOf(sheet, "D2")).toContain("<v>-12.5</v>");
  expect(cellOf(sheet, "D3")).toContain("<v>0.1</v>");
  expect(sheet).toContain('ySplit="1"');
  expect(unzipped(content, "xl/styles.xml")).toContain('formatCode="yyyy-mm-dd"');
  expect(changed).toEqual({ cut: 0, asText: 0, marked: 0 });
});

test("a number with more digits than a spreadsheet keeps is a text with all of them", async () => {
  const exact = "12345678901234567.89";
  const { content, changed } = await written([
    ["a", 1, "1899-01-01", exact],
    ["b", 1, null, "999999999999999"],
    ["c", 1, null, "-1234567890123456"],
    ["d", 1, null, "1000000000000000000.00"],
    ["e", 1, null, 0.1 + 0.2],
    ["f", "9007199254740993", null, 9007199254740991],
  ]);
  const sheet = sheetOf(content);
  expect(cellOf(sheet, "D2")).toContain(`<t>${exact}</t>`);
  expect(cellOf(sheet, "C2")).toContain("<t>1899-01-01</t>");
  expect(cellOf(sheet, "D3")).toContain("<v>999999999999999</v>");
  expect(cellOf(sheet, "D4")).toContain("<t>-1234567890123456</t>");
  expect(cellOf(sheet, "D5")).toContain("<v>1000000000000000000</v>");
  expect(cellOf(sheet, "D6")).toContain("<v>0.30000000000000004</v>");
  expect(cellOf(sheet, "B7")).toContain("<t>9007199254740993</t>");
  expect(cellOf(sheet, "D7")).toContain("<t>9007199254740991</t>");
  expect(changed.asText).toBe(3);
});

test("a text is never a formula, also when somebody edits its cell", async () => {
  const { content, changed } = await written([["=HYPERLINK(1)", 1, "@x", "=1+1"]]);
  const sheet = sheetOf(content);
  expect(sheet).not.toContain("<f");
  expect(cellOf(sheet, "A2")).toContain("<t>=HYPERLINK(1)</t>");
  // Cells whose column has another format than that of texts are marked.
  expect(cellOf(sheet, "C2")).toContain("<t>'@x</t>");
  expect(cellOf(sheet, "D2")).toContain("<t>'=1+1</t>");
  expect(changed.marked).toBe(2);
  const style = Number(/ s="(\d+)"/.exec(cellOf(sheet, "A2"))![1]);
  const styles = unzipped(content, "xl/styles.xml");
  const cellXfs = styles.slice(styles.indexOf("<cellXfs"), styles.indexOf("</cellXfs"));
  const own = [...cellXfs.matchAll(/<xf [^>]*numFmtId="(\d+)"/g)][style]![1]!;
  expect(own === "49" || styles.includes(`numFmtId="${own}" formatCode="@"`)).toBe(true);
});

test("every character is read again as it was written", async () => {
  const texts = ["<a> & \u0001 _x0001_ \ufffe", " a \n b ", "مرحبا", "𝕬 é ß å", "a\rb"];
  const { content } = await written(texts.map((text) => [text, null, null, null]));
  const book = await readXlsx(content);
  expect(book.sheets[0]!.rows.slice(1).map(([first]) => first)).toEqual(texts);
});

test("a text that is too long for a cell is cut and counted", async () => {
  const { content, changed } = await written([[`${"x".repeat(32_766)}𝕬`, null, null, null]]);
  expect(changed.cut).toBe(1);
  const book = await readXlsx(content);
  expect(book.sheets[0]!.rows[1]![0]).toBe("x".repeat(32_766));
});

test("a sheet has a name that spreadsheets accept", async () => {
  const { content } = await written([], "a/b:c*?[1]");
  expect((await readXlsx(content)).sheets[0]!.name).toBe("a b c   1");
  expect(["", "'x'", "History", "y".repeat(40)].map(sheetName)).toEqual([
    "Data",
    "x",
    "Data",
    "y".repeat(31),
  ]);
});

test("the library works while prototypes are frozen, as they are in the window", () => {
  const script = `
    for (const one of [Object, Array, Function, String, Number, Map, Set, Promise]) Object.freeze(one.prototype);
    const { writeXlsxStream } = await import("hucre/xlsx");
    const rows = Array.from({ length: 2000 }, (_, at) => ["constructor", at]);
    const stream = writeXlsxStream(rows, { name: "constructor", columns: [{ header: "toString" }, { header: "n" }] });
    console.log(new Uint8Array(await new Response(stream).arrayBuffer()).length > 1000);`;
  const out = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
    cwd: join(import.meta.dirname, "../../.."),
  });
  expect(out.toString().trim()).toBe("true");
});
