// Drilling down: the conditions of a row, what it can be divided by, and the query behind it.
import { expect, test } from "vitest";
import type { DataColumn } from "../../platform/generated/DataColumn";
import type { MetricQuery } from "../../platform/generated/MetricQuery";
import type { Cell } from "../grid/cells";
import { foundColumn } from "../../views/data/testing";
import {
  conditionsOf,
  dividedQuery,
  divisionsOf,
  isDrillable,
  nextDay,
  plainQuery,
  type DrillSource,
  type Rows,
} from "./drill";

const source = (kind: "day" | "moment" = "day"): DrillSource => ({
  definitions: {
    source: "ads",
    time: { column: "Day" },
    dimensions: { campaign: { column: "Campaign" }, device: { column: "Device" } },
  },
  source: { columns: [foundColumn("Day", { kind })] },
});
const columns: DataColumn[] = [
  { name: "week", type: "day", role: "time", format: "day" },
  { name: "campaign", type: "text", role: "dimension", format: "text", of: "campaign" },
  { name: "spend", type: "decimal", role: "measure", format: "money", of: "spend" },
];
const query: MetricQuery = {
  source: "ads",
  measures: ["spend"],
  by: [{ time: "week" }, "campaign"],
  where: [{ device: ["Mobile"] }],
  period: { last: { days: 30 } },
  order: [{ by: "spend" }],
  limit: 5,
  compare: { to: "previous" },
};
const rows: Cell[][] = [
  ["2026-12-28", "Brand", 10],
  ["2026-12-28", null, 5],
];
const result: Rows = { query, columns, rows };

test("a row is selected by the values of its groups, and a time by its days", () => {
  expect(conditionsOf(result, 0, source())).toEqual([
    { Day: { ">=": "2026-12-28", "<": "2027-01-04" } },
    { campaign: ["Brand"] },
  ]);
  expect(conditionsOf(result, 1, source("moment"))).toEqual([
    { Day: { ">=": "2026-12-28T00:00:00", "<": "2027-01-04T00:00:00" } },
    { campaign: [null] },
  ]);
});

test("the next time begins where the calendar says", () => {
  const next = (grain: Parameters<typeof nextDay>[1]) => nextDay("2026-11-01", grain);
  expect(["day", "week", "month", "quarter", "year"].map((one) => next(one as never))).toEqual([
    "2026-11-02",
    "2026-11-08",
    "2026-12-01",
    "2027-02-01",
    "2027-11-01",
  ]);
  expect([next("weekday"), next("hour")]).toEqual([null, null]);
});

test("all other groups are those that are not listed, unless a group has that name itself", () => {
  const top = { ...query, by: ["campaign"], top: { n: 2, others: true } };
  const own = columns.slice(1);
  const listed: Cell[][] = [
    ["Brand", 10],
    [null, 5],
    ["Other", 3],
  ];
  const others = { query: top, columns: own, rows: listed };
  expect(conditionsOf(others, 2, source())).toEqual([{ campaign: { not: ["Brand", null] } }]);
  const twice = { ...others, rows: [...listed, ["Other", 1]] };
  expect(conditionsOf(twice, 2, source())).toBeNull();
});

test("rows that no conditions select cannot be opened", () => {
  const without = (change: Partial<MetricQuery>) => ({ columns, query: { ...query, ...change } });
  expect(isDrillable(result)).toBe(true);
  for (const change of [
    { rows: true },
    { pivot: "campaign" },
    { by: [{ time: "weekday" as const }] },
    { by: [{ define: { column: "x" }, as: "campaign" }] },
    { by: ["unknown"] },
    { top: { n: 2, per: ["campaign"] } },
  ])
    expect(isDrillable(without(change as Partial<MetricQuery>))).toBe(false);
});

test("a row is divided by what its query does not fix yet, without what holds for its own rows only", () => {
  const conditions = conditionsOf(result, 0, source())!;
  const used = { measure: "clicks", running: true, as: "sum" };
  const plain = plainQuery({ ...query, measures: ["spend", used] }, conditions, source());
  expect(plain).toEqual({
    source: "ads",
    measures: ["spend", { measure: "clicks", as: "sum" }],
    where: [...query.where!, ...conditions],
    period: query.period,
  });
  expect(divisionsOf(plain, source())).toEqual([
    { time: "month" },
    { time: "week" },
    { time: "day" },
  ]);
  expect(divisionsOf(query, source())[0]).toEqual({ dimension: "campaign" });
  expect(dividedQuery(plain, { dimension: "device" })).toEqual({
    ...plain,
    by: [{ dimension: "device" }],
    order: [{ by: "spend", descending: true }],
    limit: 200,
  });
  expect(dividedQuery(plain, { time: "day" }).order).toBeUndefined();
});

test("a condition on figures of the result is not asked of the parts of one row", () => {
  const drilled = source();
  drilled.definitions.measures = { spend: { sum: "Spend" } };
  const where = [{ spend: { ">": 1000 } }, { spend_growth: { "<": 0 } }, { device: ["Mobile"] }];
  const either = { or: [{ spend: { ">": 1 } }, { device: ["Tablet"] }] };
  const moment = { moment: "2026-12-30T12:00:00", zone: "Europe/Stockholm" };
  const asked: MetricQuery = { ...query, where: [...where, either], as_of: moment };
  const plain = plainQuery(asked, [{ campaign: ["Brand"] }], drilled);
  expect(plain.where).toEqual([{ device: ["Mobile"] }, { campaign: ["Brand"] }]);
  expect(plain.as_of).toEqual(moment);
});
