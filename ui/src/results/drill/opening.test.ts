// Opening the rows behind parts of a drawn result: rows, bars and points, and those that are not opened and why.
import { render } from "svelte/server";
import { expect, test, vi } from "vitest";
import type { ContentColumn } from "../../platform/generated/ContentColumn";
import type { MetricQuery } from "../../platform/generated/MetricQuery";
import type { ResultContent } from "../../platform/generated/ResultContent";
import { foundColumn } from "../../views/data/testing";
import { figuresOf } from "../../views/boards/testing";
import { chooseChart } from "../chart/choosing";
import { openPlace } from "../chart/opening";
import { planOf } from "../chart/plan";
import ResultChart from "../chart/ResultChart.svelte";
import { CITY, CLICKS, DAY, dayAfter, result, SPEND, type Value } from "../chart/testing";
import ResultGrid from "../grid/ResultGrid.svelte";
import ResultTable from "../ResultTable.svelte";
import { Drill } from "./drill.svelte";
import { drillingOf, openingOfRow, startOfContent, startOfFigures, type Opening } from "./opening";

const host = vi.hoisted(() => ({ asked: [] as unknown[] }));
vi.mock("../../platform", async (original) => ({
  ...(await original<typeof import("../../platform")>()),
  call: (command: string, params: unknown) => {
    host.asked.push([command, params]);
    if (command === "source_describe") return Promise.resolve(SOURCE);
    return Promise.resolve({ columns: [], rows: [], row_count: 0, notes: [] });
  },
}));

const SOURCE = {
  definitions: {
    source: "ads",
    time: { column: "Day" },
    dimensions: { city: { column: "City" }, device: { column: "Device" } },
  },
  source: { columns: [foundColumn("Day", { kind: "day" })] },
};
const city: ContentColumn = { ...CITY, name: "city" };
const day: ContentColumn = { ...DAY, name: "day" };
const spend: ContentColumn = { ...SPEND, name: "spend" };
const clicks: ContentColumn = { ...CLICKS, name: "clicks" };

/** Returns an answer to a metric query. */
function answer(
  columns: ContentColumn[],
  rows: Value[][],
  query: Partial<MetricQuery>,
): ResultContent {
  const asked = { query: { measures: ["spend"], ...query }, source: "ads" };
  const computed = {
    asked,
    sql: "",
    definitions: {},
    data_version: "v",
    row_count: rows.length,
    notes: [],
  };
  return result(columns, rows, { computed });
}
/** Returns how an answer is opened, and what was opened. */
function drillingInto(content: ResultContent) {
  const opened: Opening[] = [];
  const drilling = drillingOf(startOfContent(content), (opening) => opened.push(opening));
  return { drilling: drilling!, opened };
}
const cities = (count: number): Value[][] =>
  Array.from({ length: count }, (_, at) => [`City ${at}`, 100 - at]);

test("a bar opens the rows of its name, and the sum of several bars does not", () => {
  const content = answer([city, spend], cities(12), { by: ["city"] });
  const plan = planOf(content, chooseChart(content)!, "bars");
  const { drilling, opened } = drillingInto(content);
  expect(openPlace(plan, 1, drilling)).toBeNull();
  expect(opened).toEqual([{ values: new Map([[0, "City 1"]]), title: "City 1" }]);
  expect(plan.stops[10]?.[0]).toBe("Other");
  expect(openPlace(plan, 10, drilling)).toContain("the sum of several groups");
  expect(opened).toHaveLength(1);
});

test("a time opens its rows, and a time without rows says that it has none", () => {
  const rows = [0, 1, 3].map((at): Value[] => [dayAfter(at), at + 1]);
  const content = answer([day, spend], rows, { by: [{ time: "day" }] });
  const plan = planOf(content, chooseChart(content)!, "columns");
  const { drilling, opened } = drillingInto(content);
  expect(openPlace(plan, 2, drilling)).toBe("There are no rows here.");
  expect(openPlace(plan, 3, drilling)).toBeNull();
  expect([...opened[0]!.values]).toEqual([[0, dayAfter(3)]]);
});

test("a place with several series opens all of them, and a point one row", () => {
  const rows = [0, 1].flatMap((at) =>
    ["Falun", "Turku"].map((name, own): Value[] => [dayAfter(at), name, at + own + 1]),
  );
  const content = answer([day, city, spend], rows, { by: [{ time: "day" }, "city"] });
  const lines = planOf(content, chooseChart(content)!, "lines");
  const { drilling, opened } = drillingInto(content);
  openPlace(lines, 1, drilling);
  expect([...opened[0]!.values]).toEqual([[0, dayAfter(1)]]);
  const both = answer(
    [city, spend, clicks],
    [
      ["a", 3, 1],
      ["b", 1, 2],
      ["c", 2, 3],
    ],
    { by: ["city"], measures: ["spend", "clicks"] },
  );
  const points = planOf(both, chooseChart(both)!, "points");
  const into = drillingInto(both);
  openPlace(points, 0, into.drilling);
  expect(into.opened).toEqual([{ values: new Map([[0, "b"]]), title: "b" }]);
});

test("the host's row of all others opens if it is one, and says why if it is not", () => {
  const rows: Value[][] = [
    ["Falun", 9],
    ["Other", 3],
  ];
  const top = { n: 1, others: true };
  const one = drillingInto(answer([city, spend], rows, { by: ["city"], top }));
  expect(one.drilling.refusal(new Map([[0, "Other"]]))).toBeNull();
  const dated = rows.flatMap(([name, value]) =>
    [0, 1].map((at): Value[] => [dayAfter(at), name!, value!]),
  );
  const several = answer([day, city, spend], dated, { by: [{ time: "day" }, "city"], top });
  const { drilling } = drillingInto(several);
  expect(drilling.refusal(openingOfRow(several, 2).values)).toContain("different groups");
  expect(drilling.refusal(openingOfRow(several, 0).values)).toBeNull();
});

test("results without a metric query, without groups or with other columns cannot be opened", () => {
  const open = () => {};
  const of = (content: ResultContent) => drillingOf(startOfContent(content), open);
  expect(of(result([city, spend], cities(3)))).toBeNull();
  expect(of(answer([spend], [[1]], {}))).toBeNull();
  expect(of(answer([city, spend], cities(3), { by: ["city"], pivot: "city" }))).toBeNull();
  expect(of(answer([CITY, spend], cities(3), { by: ["city"] }))).toBeNull();
  expect(of(answer([city, spend], cities(3), { by: ["city"] }))).not.toBeNull();
});

test("names of rows are buttons, and one of them in each row takes the focus", () => {
  const rows: Value[][] = [[dayAfter(0), "Falun", 9]];
  const content = answer([day, city, spend], rows, { by: [{ time: "day" }, "city"] });
  const { drilling } = drillingInto(content);
  const props = { content, caption: "Cities", tool: "t" };
  const { body } = render(ResultTable, { props: { ...props, drilling } });
  expect(body.match(/title="Drill down"/g)).toHaveLength(2);
  expect(body.match(/tabindex="-1" title="Drill down"/g)).toHaveLength(1);
  expect(render(ResultTable, { props }).body).not.toContain("Drill down");
  const grid = render(ResultGrid, { props: { ...props, ondrill: () => {} } }).body;
  expect(grid).toContain("Enter opens the rows behind a row.");
});

test("a chart that can be opened says so to a screen reader", () => {
  const content = answer([city, spend], cities(3), { by: ["city"] });
  const { drilling } = drillingInto(content);
  const props = { content, caption: "Cities" };
  const { body } = render(ResultChart, { props: { ...props, drilling } });
  expect(body).toMatch(/role="application" aria-roledescription="chart"/);
  expect(body).toContain("Enter opens the rows behind a value.");
  expect(render(ResultChart, { props }).body).toContain('role="img"');
});

test("a bar is divided at once by the first dimension that its query does not have", async () => {
  const content = answer([city, spend], cities(3), { by: ["city"] });
  host.asked = [];
  const drill = new Drill("Cities", startOfContent(content)!, openingOfRow(content, 1));
  await drill.open();
  expect(drill.levels.map(({ title }) => title)).toEqual(["Cities", "City 1"]);
  expect(host.asked).toEqual([
    ["source_describe", { name: "ads" }],
    [
      "source_measure",
      {
        query: {
          measures: ["spend"],
          where: [{ city: ["City 1"] }],
          by: [{ dimension: "device" }],
          order: [{ by: "spend", descending: true }],
          limit: 200,
        },
      },
    ],
  ]);
  const refused = new Drill("Cities", startOfContent(content)!, {
    values: new Map([[0, "x"]]),
    title: "x",
  });
  await refused.open();
  expect(refused.isRefused).toBe(false);
});

test("a tile is opened with the names that its query has for its columns", () => {
  const query: MetricQuery = { source: "ads", measures: ["spend"], by: ["campaign"] };
  const start = startOfFigures(figuresOf(query, [["Brand", 5]]));
  expect([start.source, start.rows]).toEqual(["ads", [["Brand", 5]]]);
  expect(drillingOf(start, () => {})).not.toBeNull();
});
