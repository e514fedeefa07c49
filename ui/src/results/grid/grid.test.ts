// Long tables: what is read and drawn, how rows are sorted, and how they leave the window.
import { render } from "svelte/server";
import { afterEach, expect, test, vi } from "vitest";
import { setLanguage, setTimeZone } from "../../i18n/index.svelte";
import type { DataColumn } from "../../platform/generated/DataColumn";
import type { ResultContent } from "../../platform/generated/ResultContent";
import type { DataResult } from "../../platform/generated/DataResult";
import {
  gridText,
  headingOf,
  nextOrder,
  rowTexts,
  sortedRows,
  unitOf,
  widthsOf,
  type Cell,
} from "./cells";
import { forgetOthers, keepChosen, storedChosen } from "./chosen";
import { clipboardText, CsvFile } from "./csv";
import DataGrid from "./DataGrid.svelte";
import { GridState } from "./grid.svelte";
import { gridOf, kindOf } from "./result";
import ResultGrid from "./ResultGrid.svelte";
import { LocalRows, PagedRows, type GridRows, type ReadPage } from "./rows.svelte";
import { copyRows, fileName, saveRows } from "./saving";

/** A signal that lets everything go on. */
const go = new AbortController().signal;
const host = vi.hoisted(() => ({ saved: null as { name: string; content: Uint8Array } | null }));
vi.mock("../../platform", async (original) => ({
  ...(await original<typeof import("../../platform")>()),
  platform: () => ({
    saveFile: (name: string, content: Uint8Array) => {
      host.saved = { name, content };
      return Promise.resolve(`/home/${name}`);
    },
  }),
}));

const column = (
  name: string,
  type: DataColumn["type"],
  rest: Partial<DataColumn> = {},
): DataColumn => ({ name, type, role: "dimension", format: "text", ...rest });
const campaign = column("Campaign", "text");
const id = column("Campaign ID", "whole");
const day = column("Day", "day", { role: "time", format: "day" });
const cost = column("Cost", "decimal", { role: "measure", format: "money", unit: "EUR" });
const columns = [campaign, id, day, cost];

const result = (rows: Cell[][], rest: Partial<DataResult> = {}): DataResult => ({
  columns,
  rows,
  row_count: rows.length,
  query: "",
  sql: "",
  definitions: {},
  definition_state: "approved",
  data_version: "",
  notes: [],
  ...rest,
});
const row = (n: number): Cell[] => [`C${n}`, n, "2026-11-01", n / 4];
const plain = (text: string): string => text.replace(/\u00a0/g, " ");

afterEach(() => {
  setLanguage("en");
  setTimeZone("system");
});

test("a cell shows all digits of a stored number, and numbers that are names have no groups", () => {
  expect(gridText("12345678901234567.25", cost)).toBe("12,345,678,901,234,567.25");
  expect(gridText(4, cost)).toBe("4.00");
  expect(gridText(20260001, id)).toBe("20260001");
  expect(gridText(null, cost)).toBe("–");
  expect(gridText(1.23456, { ...cost, of: "cpa" })).toBe("1.23");
  expect(gridText(0.0044, { ...cost, of: "cpc" })).toBe("0.0044");
  setLanguage("sv");
  expect(plain(gridText(1234.5, cost))).toBe("1 234,50");
});

test("a moment is written as the reader's language does, and its order and copies are those of the stored text", () => {
  const at = column("At", "moment", { role: "time", format: "moment" });
  const stored = "2026-11-01T13:45:00";
  expect(gridText(stored, at)).toMatch(/^Nov 1, 2026, 1:45:00\sPM$/);
  // Without a zone, it is the same wherever the reader is.
  setTimeZone("America/New_York");
  expect(gridText(stored, at)).toMatch(/^Nov 1, 2026, 1:45:00\sPM$/);
  expect(gridText("2026-12-01T13:45:00Z", at)).toMatch(/^Dec 1, 2026, 8:45:00\sAM$/);
  setTimeZone("system");
  setLanguage("sv");
  expect(gridText(stored, at)).toMatch(/^1 nov\.? 2026\D+13:45:00$/);
  // No digit is lost: a date keeps three after the second.
  expect(gridText(`${stored}.25`, at)).toMatch(/13:45:00[.,]25$/);
  expect(gridText(`${stored}.123456`, at)).toBe("2026-11-01 13:45:00.123456");
  const rows: Cell[][] = [["2026-11-10T09:00:00"], [stored], ["2026-02-01T09:00:00"]];
  const sorted = sortedRows(rows, [at], { by: "At", descending: false }).flat();
  expect(sorted).toEqual(["2026-02-01T09:00:00", stored, "2026-11-10T09:00:00"]);
  expect(clipboardText([[stored]], [at], false)).toBe(stored);
  expect(new CsvFile([at]).rows([[stored]])).toBe(`${stored}\r\n`);
});

test("a unit is said once: percentages have their sign in each cell", () => {
  const rate = column("CTR", "decimal", { role: "measure", format: "percent", unit: "percent" });
  expect([unitOf(cost), unitOf(rate), gridText(0.125, rate)]).toEqual(["EUR", null, "12.50%"]);
});

test("rows are sorted by their exact values, empty cells last in both directions", () => {
  const rows: Cell[][] = [
    ["b", 1, null, "10000000000000000.1"],
    ["a", 2, null, null],
    ["c", 3, null, 9],
    ["d", 4, null, "10000000000000000.2"],
  ];
  const names = (order: Parameters<typeof sortedRows>[2]): Cell[] =>
    sortedRows(rows, columns, order).map((one) => one[0] ?? null);
  expect(names({ by: "Cost", descending: true })).toEqual(["d", "b", "c", "a"]);
  expect(names({ by: "Cost", descending: false })).toEqual(["c", "b", "d", "a"]);
  expect(names(null)).toEqual(["b", "a", "c", "d"]);
});

test("a heading sorts amounts from the greatest, texts from the first, and the third time not at all", () => {
  const down = { by: "Cost", descending: true };
  const up = { by: "Cost", descending: false };
  expect(nextOrder(cost, null)).toEqual(down);
  expect(nextOrder(cost, down)).toEqual(up);
  expect(nextOrder(cost, up)).toBeNull();
  expect(nextOrder(campaign, down)).toEqual({ by: "Campaign", descending: false });
});

test("the widths of columns follow their texts, and have a limit", () => {
  const widths = widthsOf(columns, [rowTexts(["x".repeat(100), 1, "2026-11-01", 1], columns)]);
  expect(widths[0]).toBe(56);
  expect(widths[3]).toBeLessThan(20);
});

test("columns become wider with the rows that come into view, and a number is never cut", () => {
  const rows = new LocalRows(
    columns,
    Array.from({ length: 1000 }, (_, n) => [
      "x",
      n,
      null,
      n < 500 ? 1 : "123456789012345678901234567890.25",
    ]),
  );
  const grid = new GridState(rows);
  grid.widen();
  const before = grid.widths.shown[3]!;
  grid.scrollTop = 28 * 900;
  grid.widen();
  expect(grid.widths.shown[3]).toBeGreaterThan(40);
  grid.scrollTop = 0;
  grid.widen();
  expect(grid.widths.shown[3]).toBeGreaterThan(before);
});

test("a result of a conversation is a table whose rows keep their currencies", () => {
  const content: ResultContent = {
    columns: [
      { label: { en: "City" }, role: "dimension", format: "text" },
      { label: { en: "Spend" }, role: "measure", format: "money" },
    ],
    rows: [
      [{ value: "Falun" }, { value: 5, unit: "SEK" }],
      [{ value: "Turku" }, { value: 4, unit: "EUR" }],
    ],
    total: 2,
  };
  const found = gridOf(content);
  expect(found.columns.map(headingOf)).toEqual(["City", "Spend", "Unit of Spend"]);
  expect(found.rows).toEqual([
    ["Falun", 5, "SEK"],
    ["Turku", 4, "EUR"],
  ]);
  const same = gridOf({ ...content, rows: [content.rows[0]!] });
  expect(same.columns[1]).toMatchObject({ unit: "SEK", role: "measure", type: "decimal" });
  const { body } = render(ResultGrid, {
    props: { content, caption: "Cities", tool: "data.measure" },
  });
  expect(body).toContain('aria-rowcount="3"');
});

test("only the pages in view are read, once each, and the host sorts", async () => {
  const asked: Parameters<ReadPage>[0][] = [];
  const rows = new PagedRows((page) => {
    asked.push(page);
    const found = Array.from({ length: page.limit }, (_, at) => row(page.offset + at));
    return Promise.resolve(result(found, { row_count: 100_000 }));
  });
  rows.open();
  await vi.waitFor(() => expect(rows.total).toBe(100_000));
  const grid = new GridState(rows);
  grid.scrollTop = 28 * 50_000;
  grid.showDrawn();
  grid.showDrawn();
  await vi.waitFor(() => expect(rows.row(50_010)?.[0]).toBe("C50010"));
  expect(asked.map(({ offset }) => offset)).toEqual([0, 49_500, 50_000]);
  expect(rows.row(10_000)).toBeNull();
  grid.sortBy(3);
  await vi.waitFor(() => expect(asked.at(-1)?.order).toEqual({ by: "Cost", descending: true }));
});

test("a long scroll keeps only some pages, and a page that failed can be read again", async () => {
  let isBroken = false;
  let count = 0;
  const rows = new PagedRows(({ offset }) => {
    count += 1;
    if (isBroken) return Promise.reject(new Error("stopped"));
    return Promise.resolve(result([row(offset)], { row_count: 100_000 }));
  });
  for (let page = 0; page < 60; page += 1) {
    rows.show(page * 500, page * 500 + 20);
    await vi.waitFor(() => expect(rows.row(page * 500)).not.toBeNull(), { interval: 1 });
  }
  expect(rows.row(0)).toBeNull();
  isBroken = true;
  rows.show(0, 20);
  await vi.waitFor(() => expect(rows.error?.message).toBe("stopped"));
  isBroken = false;
  rows.show(0, 20);
  rows.retry();
  await vi.waitFor(() => expect(rows.row(0)).not.toBeNull());
  expect(rows.error).toBeNull();
  expect(count).toBeGreaterThan(61);
});

test("a page that the host cuts because its rows are long is read to its end", async () => {
  const asked: number[] = [];
  const rows = new PagedRows(({ offset, limit }) => {
    asked.push(offset);
    const found = Array.from({ length: Math.min(limit, 200) }, (_, at) => row(offset + at));
    return Promise.resolve(result(found, { row_count: 100_000 }));
  });
  rows.open();
  await vi.waitFor(() => expect(rows.row(499)?.[0]).toBe("C499"));
  expect(asked).toEqual([0, 200, 400]);
  const saved = await saveRows(rows, "csv", "ads", go, () => {});
  expect(saved.rows).toBe(100_000);
});

test("rows that a database did not count are read to their end, and are all saved", async () => {
  const all = 1_234;
  const rows = new PagedRows(({ offset, limit }) => {
    // The host sends at most 400 rows at once, and counts none after them.
    const count = Math.max(0, Math.min(limit, 400, all - offset));
    const found = Array.from({ length: count }, (_, at) => row(offset + at));
    const end = offset + count;
    return Promise.resolve(
      result(found, { row_count: end, ...(end < all && { more: String(end) }) }),
    );
  });
  rows.open();
  await vi.waitFor(() => expect(rows.total).toBe(501));
  expect(rows.isOpenEnded).toBe(true);
  const { body } = render(DataGrid, { props: { rows, caption: "orders" } });
  expect(body).toContain("more than 500 rows");
  expect(body).toContain('aria-rowcount="-1"');
  expect((await saveRows(rows, "csv", "orders", go, () => {})).rows).toBe(all);
  rows.show(490, 501);
  await vi.waitFor(() => expect(rows.total).toBe(1_001));
  rows.show(1_000, 1_001);
  await vi.waitFor(() => expect([rows.total, rows.isOpenEnded]).toEqual([all, false]));
  expect(rows.row(1_233)?.[0]).toBe("C1233");
  rows.show(0, 20);
  expect(rows.total).toBe(all);
});

test("a table whose rows were not counted says so while it is sorted, also if that fails", async () => {
  let isGone = false;
  const rows = new PagedRows(({ limit }) =>
    isGone
      ? Promise.reject(new Error("gone"))
      : Promise.resolve(
          result(
            Array.from({ length: limit }, (_, at) => row(at)),
            { row_count: limit, more: String(limit) },
          ),
        ),
  );
  rows.open();
  await vi.waitFor(() => expect(rows.total).toBe(501));
  isGone = true;
  rows.sort({ by: "id", descending: true });
  const shown = () => render(DataGrid, { props: { rows, caption: "orders" } }).body;
  expect(shown()).toContain("more than 500 rows");
  await vi.waitFor(() => expect(rows.error).not.toBeNull());
  expect(shown()).toContain("more than 500 rows");
});

test("a table that is read again does not say that it has no rows", async () => {
  let answer: () => Promise<DataResult> = () => Promise.reject(new Error("stopped"));
  const rows = new PagedRows(() => answer());
  const shown = () => render(DataGrid, { props: { rows, caption: "ads" } }).body;
  rows.open();
  await vi.waitFor(() => expect(rows.error).not.toBeNull());
  expect(shown()).not.toContain("There are no rows.");
  answer = () => Promise.resolve(result([]));
  rows.retry();
  expect(shown()).not.toContain("There are no rows.");
  await vi.waitFor(() => expect(shown()).toContain("There are no rows."));
  answer = () => Promise.resolve(result([row(1)]));
  rows.begin();
  expect(shown()).not.toContain("There are no rows.");
  await vi.waitFor(() => expect(shown()).toContain("1 row"));
});

test("rows of two states are never saved together", async () => {
  let version = "v1";
  const rows = new PagedRows(({ offset }) =>
    Promise.resolve(result([row(offset)], { row_count: 1, data_version: version })),
  );
  rows.open();
  await vi.waitFor(() => expect(rows.total).toBe(1));
  version = "v2";
  await expect(saveRows(rows, "csv", "ads", go, () => {})).rejects.toThrow(
    "The rows changed meanwhile",
  );
  await vi.waitFor(() => expect(rows.row(0)).not.toBeNull());
  expect((await saveRows(rows, "csv", "ads", go, () => {})).rows).toBe(1);
});

test("a file that is being written can be stopped, and nothing is saved then", async () => {
  const stop = new AbortController();
  const rows = new LocalRows(
    columns,
    Array.from({ length: 25_000 }, (_, n) => row(n)),
  );
  host.saved = null;
  const saving = saveRows(rows, "xlsx", "ads", stop.signal, () => stop.abort());
  await expect(saving).rejects.toThrow();
  expect(host.saved).toBeNull();
});

test("a workbook says which cells it does not hold as they are", async () => {
  const rows = new LocalRows(columns, [["=1+1", 1, null, "12345678901234567.89"], row(2)]);
  const seen: number[] = [];
  const saved = await saveRows(rows, "xlsx", "ads", go, (done) => seen.push(done));
  expect(saved).toMatchObject({ path: "/home/ads.xlsx", rows: 2, asText: 1, marked: 0, cut: 0 });
  expect(seen).toEqual([2]);
  expect(String.fromCharCode(...host.saved!.content.slice(0, 2))).toBe("PK");
});

test("keys move, select, sort and scroll", () => {
  const grid = new GridState(
    new LocalRows(
      columns,
      Array.from({ length: 1000 }, (_, n) => row(n)),
    ),
  );
  const press = (key: string, rest = {}) =>
    grid.press({ key, ctrlKey: false, metaKey: false, shiftKey: false, ...rest });
  expect(press("ArrowDown")).toEqual({ isUsed: true, scrollTo: null });
  expect(press("End", { ctrlKey: true }).scrollTo).toBeCloseTo(1000 * 28 - 400, 0);
  expect(grid.selection.active).toEqual({ row: 999, column: 3 });
  press("Home", { ctrlKey: true });
  press("ArrowUp");
  press("Enter");
  expect(grid.rows.order).toEqual({ by: "Campaign", descending: false });
  press("a", { ctrlKey: true });
  expect(grid.area).toEqual({ firstRow: 0, lastRow: 1000, firstColumn: 0, lastColumn: 4 });
  expect(press("x").isUsed).toBe(false);
});

test("the totals are reached by keys, and are part of no selection", () => {
  const totals = { rows: [row(9)], label: "Total", reasons: [] };
  const rows = new LocalRows(columns, [row(1), row(2)]);
  const grid = new GridState(rows, null, null, totals);
  const press = (key: string, rest = {}) =>
    grid.press({ key, ctrlKey: false, metaKey: false, shiftKey: false, ...rest });
  press("ArrowDown");
  expect(press("ArrowDown")).toEqual({ isUsed: true, scrollTo: null });
  expect([grid.selection.active.row, grid.area]).toEqual([2, null]);
  press("ArrowUp", { shiftKey: true });
  expect(grid.area).toMatchObject({ firstRow: 1, lastRow: 2 });
  press("ArrowDown", { shiftKey: true });
  expect(grid.selection.active.row, "a selection stops at the last row").toBe(1);
  press("End", { ctrlKey: true });
  expect(grid.selection.active).toEqual({ row: 2, column: 3 });
});

test("the width of a column is changed with keys or the pointer, and remembered for its table", () => {
  const gridFor = (table: string | null): GridState => {
    const grid = new GridState(new LocalRows(columns, [row(1)]), table);
    grid.widen();
    return grid;
  };
  const grid = gridFor("ads");
  const press = (key: string, shiftKey = false) =>
    grid.press({ key, ctrlKey: false, metaKey: false, shiftKey });
  const before = grid.widths.shown[1]!;
  press("ArrowRight");
  press("ArrowUp");
  press("ArrowRight", true);
  press("ArrowRight", true);
  expect(grid.widths.shown[1]).toBe(before + 4);
  expect(grid.selection.active).toEqual({ row: -1, column: 1 });
  grid.widths.choose(0, 1);
  expect(grid.widths.shown[0]).toBe(4);
  expect(grid.widths.whole).toBe(grid.widths.shown.reduce((sum, width) => sum + width, 0));
  // Rows that need more room change no width that a person chose.
  expect(gridFor("ads").widths.shown.slice(0, 2)).toEqual([4, before + 4]);
  expect(gridFor("other").widths.shown[1]).toBe(before);
  expect(gridFor(null).widths.shown[1]).toBe(before);
  press("Delete");
  expect([grid.widths.shown[1], gridFor("ads").widths.shown[1]]).toEqual([before, before]);
});

test("widths of a source that is gone are forgotten, and those of results stay", () => {
  const kept = { "data.query (1): measure number": { "0": 9 } };
  let changes = 0;
  keepChosen({ ads: { Cost: 30 }, shop: { Net: 20 }, ...kept }, () => (changes += 1));
  forgetOthers(["shop", "new"]);
  forgetOthers(["shop", "new"]);
  expect(storedChosen()).toEqual({ shop: { Net: 20 }, ...kept });
  expect(changes).toBe(1);
  keepChosen({}, () => {});
});

test("tables without a chosen width give way to others", () => {
  keepChosen({ ads: { Cost: 30 } }, () => {});
  for (let at = 0; at < 500; at += 1) new GridState(new LocalRows(columns, []), `other ${at}`);
  expect(storedChosen()).toEqual({ ads: { Cost: 30 } });
  keepChosen({}, () => {});
});

test("the kind of a result has no text of it, in any language", () => {
  const content: ResultContent = {
    title: { en: "Secret title" },
    columns: [
      { label: { en: "Secret client" }, role: "dimension", format: "text" },
      { label: { en: "Spend" }, role: "measure", format: "money" },
    ],
    rows: [],
    total: 0,
  };
  expect(kindOf("data.measure", content)).toBe("data.measure (2): dimension text, measure money");
  const wide = { ...content, columns: Array.from({ length: 300 }, () => content.columns[1]!) };
  expect(kindOf("data.measure", wide).length).toBe(200);
});

test("a table with many columns draws only those in view", () => {
  const wide = Array.from({ length: 200 }, (_, at) => column(`Column ${at}`, "text"));
  const rows = new LocalRows(wide, [wide.map(({ name }) => name)]);
  const grid = new GridState(rows);
  grid.widen();
  expect(grid.drawnColumns.first).toBe(0);
  expect(grid.drawnColumns.last).toBeLessThan(40);
  grid.scrollLeft = grid.widths.starts[150]! * grid.characterWidth;
  expect(grid.drawnColumns.first).toBe(146);
  expect(grid.drawnColumns.last).toBeLessThan(200);
  grid.scrollLeft = 1e9;
  expect(grid.drawnColumns).toEqual({ first: 196, last: 200 });
  const { body } = render(DataGrid, { props: { rows, caption: "Wide" } });
  expect(body.match(/role="columnheader"/g)!.length).toBeLessThan(40);
  expect(body.match(/role="gridcell"/g)!.length).toBeLessThan(40);
});

test("a table is a grid with all its rows counted, and only some of them drawn", () => {
  const rows = new LocalRows(
    columns,
    Array.from({ length: 100_000 }, (_, n) => row(n)),
  );
  const { body } = render(DataGrid, { props: { rows, caption: "Rows of ads" } });
  expect(body).toContain('aria-rowcount="100001"');
  expect(body.match(/role="row"/g)!.length).toBeLessThan(60);
  expect(body).toMatch(/role="columnheader"[^>]*aria-sort="none"/);
  expect(body).toContain("100,000 rows");
  expect(body).toMatch(/aria-activedescendant="[^"]+-0-0"/);
});

test("a text that a spreadsheet would compute is marked, and numbers are not", () => {
  const rows: Cell[][] = [
    ["=1+1", 5, "2026-11-01", -2.5],
    ['say "hi", you', 6, null, "0.10"],
  ];
  const file = new CsvFile(columns);
  expect(file.head()).toBe("Campaign,Campaign ID,Day,Cost\r\n");
  expect(file.rows(rows)).toBe(`'=1+1,5,2026-11-01,-2.5\r\n"say ""hi"", you",6,,0.10\r\n`);
  expect(file.marked).toBe(1);
  expect(clipboardText([["@x", 1, null, 2]], columns, true)).toBe(
    "Campaign\tCampaign ID\tDay\tCost\n'@x\t1\t\t2",
  );
});

test("a formula is marked wherever a spreadsheet could find one, and nothing else is", () => {
  const file = new CsvFile([campaign, cost]);
  const cellOf = (text: string): string => file.rows([[text, null]]).replace(/,\r\n$/, "");
  expect(cellOf("＝1+1")).toBe("'＝1+1");
  expect(cellOf(" \t-2+3")).toBe(`"' \t'-2+3"`);
  // Where decimals have a comma, a spreadsheet splits lines at semicolons.
  expect(cellOf("Sizes;=cmd|x")).toBe(`"Sizes;'=cmd|x"`);
  expect(cellOf("two\r\n=1")).toBe(`"two\r\n'=1"`);
  expect(cellOf("a=b+c; d-e, 5")).toBe(`"a=b+c; d-e, 5"`);
  expect(file.marked).toBe(4);
  // A text in a column of numbers is no number.
  expect(file.rows([["x", "=1+1"]])).toBe("x,'=1+1\r\n");
  expect(file.rows([["x", "-12345678901234567.89"]])).toBe("x,-12345678901234567.89\r\n");
  expect(file.rows([["x", "-3.0000000000000004e-7"]])).toBe("x,-3.0000000000000004e-7\r\n");
});

test("more cells than the clipboard takes are not copied in part, and the table says so", async () => {
  const one = row(1);
  const rows = new LocalRows(
    columns,
    Array.from({ length: 500_001 }, () => one),
  );
  const area = { firstRow: 0, lastRow: 500_001, firstColumn: 0, lastColumn: 3 };
  expect(await copyRows(rows, null)).toBe("too_many");
  // Fewer columns leave room for more rows. This clipboard takes nothing.
  await expect(copyRows(rows, area)).rejects.toThrow();
  let read = 0;
  const uncounted = {
    columns,
    isOpenEnded: true,
    total: 501,
    read: (_: number, limit: number) => {
      read += limit;
      return Promise.resolve(Array.from({ length: limit }, () => one));
    },
  } as unknown as GridRows;
  expect(await copyRows(uncounted, null)).toBe("too_many");
  expect(read).toBeLessThan(600_000);
  const grid = new GridState(rows);
  await grid.copy(true);
  expect(grid.copied).toBe("too_many");
});

test("all rows are saved as CSV in the order that is shown", async () => {
  const rows = new LocalRows(columns, [row(1), row(2)]);
  rows.sort({ by: "Cost", descending: true });
  const saved = await saveRows(rows, "csv", "ads: a/b", go, () => {});
  expect(saved).toEqual({
    path: "/home/ads_ a_b.csv",
    rows: 2,
    cut: 0,
    asText: 0,
    marked: 0,
  });
  expect(new TextDecoder("utf-8", { ignoreBOM: true }).decode(host.saved!.content)).toBe(
    "\ufeffCampaign,Campaign ID,Day,Cost\r\nC2,2,2026-11-01,0.5\r\nC1,1,2026-11-01,0.25\r\n",
  );
  expect(fileName("../..")).toBe("_..");
});
