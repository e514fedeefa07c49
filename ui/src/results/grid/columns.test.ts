// The columns of a table as a person wants them: the menu, hidden columns, numbers in another format, and what leaves the window.
import { render } from "svelte/server";
import { beforeEach, expect, test, vi } from "vitest";
import type { DataColumn } from "../../platform/generated/DataColumn";
import type { Cell } from "./cells";
import { gridText } from "./cells";
import { columnActions, isMenuKey } from "./columnMenu";
import DataGrid from "./DataGrid.svelte";
import { GridState } from "./grid.svelte";
import { LocalRows } from "./rows.svelte";
import { copyRows, saveRows } from "./saving";

const out = vi.hoisted(() => ({ copied: "", saved: "" }));
vi.mock("../../kit/clipboard", () => ({
  copyLater: async (text: Promise<string>) => {
    out.copied = await text;
    return true;
  },
}));
vi.mock("../../platform", async (original) => ({
  ...(await original<typeof import("../../platform")>()),
  platform: () => ({
    saveFile: (name: string, content: Uint8Array) => {
      out.saved = new TextDecoder().decode(content);
      return Promise.resolve(name);
    },
  }),
}));

const column = (
  name: string,
  type: DataColumn["type"],
  rest: Partial<DataColumn> = {},
): DataColumn => ({ name, type, role: "dimension", format: "text", ...rest });
const measure = (name: string, format: DataColumn["format"], rest: Partial<DataColumn> = {}) =>
  column(name, "decimal", { role: "measure", format, of: name, ...rest });
const columns = [
  column("City", "text"),
  measure("Spend", "money", { unit: "EUR" }),
  measure("Rate", "percent"),
  measure("Part", "number"),
];
const cells: Cell[][] = [
  ["Falun", 1234.5, 0.25, 0.5],
  ["Turku", 99, 0.125, -0.25],
];

let tables = 0;
const gridOf = (kept: string | null = null): GridState =>
  new GridState(new LocalRows(columns, cells), null, kept);
const names = (grid: GridState, at: number): string[] =>
  columnActions(grid, at).map(({ name }) => name);
const choose = (grid: GridState, at: number, name: string): void =>
  columnActions(grid, at)
    .find((action) => action.name === name)!
    .run();
const chosen = (grid: GridState, at: number): string[] =>
  columnActions(grid, at)
    .filter(({ checked }) => checked)
    .map(({ name }) => name);
const texts = (grid: GridState, at: number): (string | undefined)[] =>
  grid.lines.map((line) => line.texts?.[at]);

beforeEach(() => {
  [out.copied, out.saved] = ["", ""];
  tables += 1;
});

test("the menu of a column sorts both ways and not at all, and says which one holds", () => {
  const grid = gridOf();
  expect(chosen(grid, 0)).toEqual(["Unsorted"]);
  choose(grid, 1, "Ascending");
  expect(grid.rows.order).toEqual({ by: "Spend", descending: false });
  expect(texts(grid, 0)).toEqual(["Turku", "Falun"]);
  expect([chosen(grid, 1), chosen(grid, 0)]).toEqual([["Ascending", "Automatic"], []]);
  choose(grid, 1, "Descending");
  expect(chosen(grid, 1)[0]).toBe("Descending");
  choose(grid, 1, "Unsorted");
  expect(grid.rows.order).toBeNull();
});

test("a hidden column leaves the table until all are shown, and one column stays", () => {
  const grid = gridOf();
  grid.choose({ row: 0, column: 3 }, false);
  choose(grid, 1, "Hide column (files keep it)");
  expect(grid.columns.map(({ name }) => name)).toEqual(["City", "Rate", "Part"]);
  expect([grid.hiddenCount, grid.said]).toEqual([1, "Hidden: Spend"]);
  expect(grid.selection.active.column).toBeLessThan(3);
  expect(texts(grid, 1)).toEqual(["25.00%", "12.50%"]);
  expect(names(grid, 0)).toContain("Show 1 hidden column");
  grid.hide(1);
  grid.hide(1);
  expect(names(grid, 0)).not.toContain("Hide column (files keep it)");
  grid.hide(0);
  expect(grid.columns).toHaveLength(1);
  choose(grid, 0, "Show 3 hidden columns");
  expect([grid.hiddenCount, grid.columns.length]).toEqual([0, 4]);
});

test("numbers are written as a person chose, with the unit of their column", () => {
  const grid = gridOf();
  expect(names(grid, 0)).not.toContain("Automatic");
  choose(grid, 1, "0 decimals");
  expect(texts(grid, 1)).toEqual(["1,235", "99"]);
  expect(chosen(grid, 1)).toEqual(["Unsorted", "0 decimals"]);
  choose(grid, 1, "Short numbers, such as 1.2K");
  expect(texts(grid, 1)).toEqual(["1K", "99"]);
  choose(grid, 1, "Automatic");
  expect(texts(grid, 1)).toEqual(["1.2K", "99"]);
  const rows = new LocalRows(columns, cells);
  const { body } = render(DataGrid, { props: { rows, caption: "Cities" } });
  expect(body).toMatch(/Spend[^a-z]*<span class="unit[^>]*>\(EUR\)/);
});

test("parts of a whole are percentages or numbers, and amounts are not", () => {
  const grid = gridOf();
  const PERCENT = "As a percentage";
  expect([1, 2, 3].map((at) => names(grid, at).includes(PERCENT))).toEqual([false, true, true]);
  choose(grid, 2, PERCENT);
  choose(grid, 3, PERCENT);
  expect([texts(grid, 2)[1], texts(grid, 3)]).toEqual(["0.125", ["50.00%", "-25.00%"]]);
  choose(grid, 3, "1 decimal");
  expect(texts(grid, 3)).toEqual(["50.0%", "-25.0%"]);
});

test("the change of a percentage is in points in a long table, too", () => {
  const change = measure("Change", "percent", { compared: "change" });
  expect(gridText(0.02, change)).toBe("2.00 pp");
  expect(gridText(0.02, change, { digits: 0 })).toBe("2 pp");
  expect(gridText(0.02, measure("Growth", "percent", { compared: "growth" }))).toBe("2.00%");
});

test("the look of a result is kept while the window is open, and that of another one is not", () => {
  const grid = gridOf(`one ${tables}`);
  grid.hide(1);
  grid.sort({ by: "City", descending: true });
  const again = gridOf(`one ${tables}`);
  expect([again.hiddenCount, texts(again, 0)]).toEqual([1, ["Turku", "Falun"]]);
  expect(gridOf(`other ${tables}`).hiddenCount).toBe(0);
  expect(gridOf(null).hiddenCount).toBe(0);
});

test("a copy has the shown columns, a file has all of them, and the table says so", async () => {
  const kept = `copied ${tables}`;
  const grid = gridOf(kept);
  grid.hide(1);
  expect(await copyRows(grid.rows, null, grid.places)).toBe("done");
  expect(out.copied).toBe("City\tRate\tPart\nFalun\t0.25\t0.5\nTurku\t0.125\t-0.25");
  const area = { firstRow: 0, lastRow: 1, firstColumn: 1, lastColumn: 3 };
  await copyRows(grid.rows, area, grid.places);
  expect(out.copied).toBe("0.25\t0.5");
  await saveRows(grid.rows, "csv", "cities", new AbortController().signal, () => {});
  expect(out.saved).toContain("City,Spend,Rate,Part\r\nFalun,1234.5,0.25,0.5");
  const { body } = render(DataGrid, { props: { rows: grid.rows, caption: "Cities", kept } });
  expect(body).toContain("1 column hidden");
  expect(body).toContain("Copies have the shown columns; CSV and XLSX have all.");
  expect(body).toMatch(/<button[^>]*>(?:<[^>]*>|\s)*Show all/);
});

test("the keys that open a menu elsewhere open that of a column", () => {
  const key = (key: string, rest = {}) =>
    isMenuKey({ key, shiftKey: false, altKey: false, ...rest });
  expect([
    key("ContextMenu"),
    key("F10", { shiftKey: true }),
    key("ArrowDown", { altKey: true }),
  ]).toEqual([true, true, true]);
  expect([key("F10"), key("ArrowDown"), key("Enter")]).toEqual([false, false, false]);
});

test("each heading sorts by a click, and has a button that opens its menu", () => {
  const rows = new LocalRows(columns, cells);
  const { body } = render(DataGrid, { props: { rows, caption: "Cities" } });
  expect(body).toContain('title="Sort by Spend"');
  expect(body).toMatch(/aria-haspopup="menu" aria-label="Menu of Spend"/);
});
