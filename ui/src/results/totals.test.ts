// Totals of results: those of the host, and exact sums of what adds up.
import { render } from "svelte/server";
import { describe, expect, test } from "vitest";
import type { DataResult } from "../platform/generated/DataResult";
import type { ResultContent } from "../platform/generated/ResultContent";
import { CITY, CLICKS, column, RATE, result, SPEND } from "./chart/testing";
import DataGrid from "./grid/DataGrid.svelte";
import { gridOf, gridTotals } from "./grid/result";
import { LocalRows } from "./grid/rows.svelte";
import ResultTable from "./ResultTable.svelte";
import { noTotalText, totalsOf } from "./totals";

const values = (content: ResultContent) =>
  totalsOf(content)?.rows.map((row) => row.map(({ value, why }) => why ?? value)) ?? null;
const tableOf = (content: ResultContent): string =>
  render(ResultTable, { props: { content, caption: "Cities", tool: "t" } }).body;
const texts = (html: string): string =>
  html
    .replace(/<!--.*?-->/g, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();

const cities: ResultContent = result(
  [CITY, SPEND, CLICKS, RATE],
  [
    ["Falun", 0.1, 2, 0.5],
    ["Turku", 0.2, 3, 0.25],
    ["Oslo", null, 1, null],
  ],
);

describe("sums", () => {
  test("what adds up is added exactly, and a ratio is not", () => {
    expect(values(cities)).toEqual([[null, "0.3", "6", "ratio"]]);
    expect(totalsOf(cities)?.label).toBe("Total, 3 rows");
    expect(totalsOf(cities)?.rows[0]?.[1]?.unit).toBe("EUR");
  });
  test("a part of the rows, one row and rows without a figure that adds up have none", () => {
    expect(values({ ...cities, total: 4 })).toBeNull();
    expect(values({ ...cities, rows: cities.rows.slice(0, 1), total: 1 })).toBeNull();
    expect(values(result([CITY, RATE], [["a", 1] as never, ["b", 2] as never]))).toBeNull();
    const plain = column("Stock", "measure", "number");
    expect(values(result([CITY, plain], [["a", 1] as never, ["b", 2] as never]))).toBeNull();
  });
  test("amounts in several currencies have a row for each", () => {
    const rows = [
      ["Falun", { value: 5, unit: "SEK" }, 1],
      ["Turku", { value: 4, unit: "EUR" }, 2],
      ["Gävle", { value: 7, unit: "SEK" }, 3],
    ];
    const content = result([CITY, SPEND, CLICKS], rows);
    expect(values(content)).toEqual([
      [null, "12", "4"],
      [null, "4", "2"],
    ]);
    expect(gridOf(content).totals?.rows).toEqual([
      [null, "12", "SEK", "4"],
      [null, "4", "EUR", "2"],
    ]);
  });
  test("texts, very many units and numbers that may have lost digits are not added, and the cell says why", () => {
    const two = (one: unknown, other: unknown) =>
      values(
        result([CITY, SPEND, CLICKS], [["a", one, 1] as never, ["b", other, 2] as never]),
      )![0]![1];
    expect(two(1, "on request")).toBe("texts");
    expect(two(1, "Infinity")).toBe("texts");
    expect(two(1, 12345678901234.568)).toBe("digits");
    const many = Array.from({ length: 9 }, (_, at) => ["c", { value: 1, unit: `U${at}` }, 1]);
    expect(values(result([CITY, SPEND, CLICKS], many as never))).toEqual([[null, "units", "9"]]);
    expect(two(1e308, 1e308)).toBe(`2${"0".repeat(308)}`);
  });
});

describe("totals of the host", () => {
  const given: ResultContent = {
    ...cities,
    total: 900,
    totals: [[{ value: null }, { value: 7.5, unit: "EUR" }, { value: null }, { value: 0.4 }]],
  };
  test("they are shown as they are, also if rows are missing, and say that they are of all rows", () => {
    expect(values(given)).toEqual([[null, 7.5, "none", 0.4]]);
    expect(totalsOf(given)?.label).toBe("Total, all rows");
    expect(texts(tableOf(given))).toContain("Total, all rows 7.50 – 40.0%");
    expect(tableOf(given)).toContain('title="This figure has no total."');
  });
  test("totals without a value are none", () => {
    expect(values({ ...given, totals: [[{ value: null }, { value: null }]] })).toBeNull();
  });
});

test("a table ends with its totals, and an empty cell says why it is empty", () => {
  const html = tableOf(cities);
  expect(texts(html)).toContain("Total, 3 rows 0.30 6 –");
  expect(html).toContain(`title="${noTotalText("ratio")}"`);
});

test("a long table keeps its totals at the lower edge, and a screen reader is told them", () => {
  const { columns, rows, totals } = gridOf(cities);
  const { body } = render(DataGrid, {
    props: { rows: new LocalRows(columns, rows), caption: "Cities", totals },
  });
  expect(body).toContain('aria-rowcount="5"');
  expect(body).toMatch(/aria-rowindex="5"/);
  expect(texts(body)).toContain("Total, 3 rows, Spend: 0.30, Clicks: 6, CTR: –");
  expect(body).toMatch(/aria-describedby="[^"]*-totals"/);
});

test("totals of a query keep all digits, and stand beside their currency", () => {
  const answer: DataResult = {
    columns: [
      { name: "currency", type: "text", role: "dimension", format: "text" },
      {
        name: "spend",
        type: "decimal",
        role: "measure",
        format: "money",
        unit: { at: "/0" },
        adds_up: true,
      },
    ],
    rows: [
      ["EUR", "12345678901234567.25"],
      ["EUR", 0.5],
      ["SEK", 3],
    ],
    row_count: 3,
    query: "",
    sql: "",
    definitions: {},
    definition_state: "approved",
    data_version: "",
    notes: [],
  };
  expect(gridTotals(answer)?.rows).toEqual([
    ["EUR", "12345678901234567.75"],
    ["SEK", "3"],
  ]);
  expect(gridTotals({ ...answer, row_count: 9 })).toBeNull();
  expect(gridTotals({ ...answer, row_count: 9, totals: [["EUR", 8]] })?.rows).toEqual([["EUR", 8]]);
});
