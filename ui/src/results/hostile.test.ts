// Results that do harm elsewhere: markup, numbers without end, very many columns, names from right to left, and very long ones.
import { render } from "svelte/server";
import { describe, expect, test } from "vitest";
import type { ContentColumn } from "../platform/generated/ContentColumn";
import type { ResultContent } from "../platform/generated/ResultContent";
import { chooseChart, isChartFirst } from "./chart/choosing";
import { viewOf } from "./chart/drawing";
import { planOf } from "./chart/plan";
import { specOf } from "./chart/spec";
import { CITY, CLICKS, column, RATE, result, SPEND, THEME, type Value } from "./chart/testing";
import { cellText } from "./content";
import Figures from "./Figures.svelte";
import { gridText, widthsOf } from "./grid/cells";
import { GridState } from "./grid/grid.svelte";
import { gridOf } from "./grid/result";
import ResultGrid from "./grid/ResultGrid.svelte";
import { LocalRows } from "./grid/rows.svelte";
import Records from "./Records.svelte";
import ResultTable from "./ResultTable.svelte";
import { totalsOf } from "./totals";

const MARKUP = `<img src=x onerror="alert(1)"></td></svg><script>alert(2)</script>`;
const RIGHT_TO_LEFT = "حملة (brand) \u202e1";
const LONG = "Donaudampfschifffahrt".repeat(95);
const NUMBERS: Value[] = [1e308, -1.7976931348623157e308, 5e-324, "NaN", "Infinity", "1e999", null];

const many = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));
const props = (content: ResultContent) => ({ content, caption: "List", tool: "t" });
const drawn = (content: ResultContent): string[] => [
  render(ResultTable, { props: props(content) }).body,
  render(ResultGrid, { props: props(content) }).body,
  render(Records, { props: { content } }).body,
  render(Figures, { props: { content } }).body,
];

describe("names", () => {
  const named = (name: string): ResultContent => ({
    ...result([{ ...CITY, label: { en: name } }, SPEND], [
      [name, { value: 3, unit: name }],
      ["b", { value: 2, unit: name }],
    ] as never),
    title: { en: name },
  });
  test("markup is text in headings, cells, units, totals and charts", async () => {
    for (const body of drawn(named(MARKUP))) {
      expect(body).not.toMatch(/<img|<script/);
      expect(body).toContain("&lt;img");
    }
    const content = named(MARKUP);
    const plan = planOf(content, chooseChart(content)!, "bars");
    const svg = await viewOf(specOf(plan, THEME, { width: 700 })).toSVG();
    expect(svg).not.toMatch(/<img|<script|<\/td>/);
  });
  test("a name from right to left is kept to itself", () => {
    const content = named(RIGHT_TO_LEFT);
    for (const body of drawn(content)) expect(body).toContain("حملة");
    const plan = planOf(content, chooseChart(content)!, "bars");
    const name = plan.panels[0]!.places[0]!.name;
    // It is isolated, and a sign that turns what follows is gone.
    expect(name).toMatch(/^\u2068.*\u2069$/u);
    expect(name).not.toContain("\u202e");
    expect(plan.opens[0]).toMatchObject({ values: new Map([[0, RIGHT_TO_LEFT]]) });
  });
  test("a very long name is cut in headings and has a limit in columns", () => {
    const body = render(ResultTable, { props: props(named(LONG)) }).body;
    const heading = /<th[^>]*><span>([^<]*)</.exec(body)![1]!;
    expect([heading.length, heading.at(-1)]).toEqual([120, "…"]);
    const { columns, rows } = gridOf(named(LONG));
    expect(
      widthsOf(
        columns,
        rows.map((row) => row.map(String)),
      )[0],
    ).toBeLessThanOrEqual(56);
  });
});

describe("numbers", () => {
  test("numbers that no place has room for are written as powers of ten", () => {
    expect(cellText({ value: 1e308, unit: "EUR" }, SPEND)).toBe("1E308\u00a0EUR");
    expect(cellText({ value: 1e308 }, RATE)).toBe("1E310%");
    const { columns } = gridOf(result([CITY, SPEND], [["a", 1]]));
    expect(gridText(1e308, columns[1]!)).toBe("1E308");
    expect(gridText("1e999", columns[1]!).length).toBeLessThan(20);
    expect(gridText("12345678901234567890123.25", columns[1]!)).toContain(",123.25");
  });
  test("texts such as NaN are texts, and nothing is drawn or added as a number that is none", async () => {
    const rows = NUMBERS.map((value, at): Value[] => [`c${at}`, value]);
    const content = result([CITY, CLICKS], rows);
    for (const body of drawn(content)) expect(body.length).toBeLessThan(40_000);
    expect(render(ResultTable, { props: props(content) }).body).toContain("Infinity");
    expect(totalsOf(content)).toBeNull();
    const choice = chooseChart(content)!;
    for (const kind of choice.kinds) {
      const plan = planOf(content, choice, kind);
      expect(plan.notes.join(" ")).toContain("are not numbers");
      const svg = await viewOf(specOf(plan, THEME, { width: 700 })).toSVG();
      expect(svg.replace(/aria-label="[^"]*"/g, "")).not.toMatch(/\bNaN[^<]*"|d="[^"]*Infinity/);
    }
  });
});

describe("10,000 columns", () => {
  const COUNT = 10_000;
  const wideOf = (columns: ContentColumn[]): ResultContent =>
    result(
      columns,
      many(12, (row) => columns.map((one, at) => (one.role === "measure" ? row + at : `v${row}`))),
    );
  const measures = wideOf([
    CITY,
    ...many(COUNT - 1, (at) => column(`M${at}`, "measure", "number", { adds_up: true })),
  ]);

  test("a table draws those in view from the beginning, with their totals", () => {
    const start = performance.now();
    // A table of so many columns is loaded as a long one.
    const body = render(ResultTable, { props: props(measures) }).body;
    expect(body).not.toContain("<td");
    const grid = render(ResultGrid, { props: props(measures) }).body;
    expect(grid).toContain('aria-colcount="10000"');
    expect(grid.match(/role="columnheader"/g)!.length).toBeLessThan(60);
    expect(grid.match(/role="gridcell"/g)!.length).toBeLessThan(1_000);
    expect(grid.length).toBeLessThan(400_000);
    expect(performance.now() - start).toBeLessThan(20_000);
  });
  test("the last column comes into view, and only texts in view are made", () => {
    const { columns, rows } = gridOf(measures);
    const grid = new GridState(new LocalRows(columns, rows));
    grid.widen();
    grid.scrollLeft = 1e9;
    expect(grid.drawnColumns.last).toBe(COUNT);
    expect(grid.drawnColumns.first).toBeGreaterThan(COUNT - 60);
    const { texts } = grid.lines[0]!;
    expect(texts?.[COUNT - 1]).toBe("9,999");
    expect(Object.keys(texts!).length).toBeLessThan(200);
  });
  test("records and figures have the first ones and say how many are left out", () => {
    for (const body of [Records, Figures].map(
      (one) => render(one, { props: { content: measures } }).body,
    )) {
      expect(body.length).toBeLessThan(200_000);
      expect(body).toContain("9,940 columns are left out.");
    }
  });
  test("very many names have no chart", () => {
    const names = wideOf(many(COUNT, (at) => column(`D${at}`, "dimension", "text")));
    const start = performance.now();
    expect(chooseChart(names)).toBeNull();
    expect(isChartFirst("table", { ...names, state: "approved" })).toBe(false);
    expect(performance.now() - start).toBeLessThan(2_000);
  });
  test("columns that the host left out are said in tables, records, figures and charts", () => {
    const content = {
      ...result([CITY, SPEND], [
        ["a", 1],
        ["b", 2],
      ] as never),
      all_columns: 75,
    };
    const said = "73 columns are left out.";
    for (const one of [ResultTable, Records, Figures])
      expect(render(one, { props: props(content) as never }).body).toContain(said);
    expect(planOf(content, chooseChart(content)!, "bars").notes).toContain(said);
  });
});
