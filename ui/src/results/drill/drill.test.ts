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
  nextDivision,
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

/** A source with things that lie within one another, and verdicts on them. */
const judged: DrillSource = {
  definitions: {
    source: "plans",
    time: { column: "day" },
    dimensions: Object.fromEntries(
      ["at_risk", "client", "job", "part", "state"].map((name) => [name, { column: name }]),
    ),
    measures: { spend: { sum: "spend" }, jobs: { distinct: "job" } },
  },
  source: { columns: [foundColumn("day", { kind: "day" })] },
  path: { things: ["client", "job", "part"], level: "job", verdicts: ["state", "at_risk"] },
};
const worst: MetricQuery = {
  source: "plans",
  measures: ["spend"],
  by: ["client", "at_risk", "state"],
  where: [{ state: ["behind", "ahead"] }],
  order: [{ by: "at_risk", descending: true }, { by: "state" }, { by: "spend" }],
};
const judgedRows = (query: MetricQuery, row: Cell[]): Rows => ({
  query,
  columns: ["client", "at_risk", "state"].flatMap((name) =>
    (query.by ?? []).includes(name)
      ? [{ name, type: "text" as const, role: "dimension" as const, format: "text" as const }]
      : [],
  ),
  rows: [row],
});

test("a thing is divided into smaller ones with their own verdicts, and the smallest one into days", () => {
  const conditions = conditionsOf(judgedRows(worst, ["One", true, "behind"]), 0, judged)!;
  expect(conditions).toEqual([{ client: ["One"] }]);
  const plain = plainQuery(worst, conditions, judged);
  expect(plain.where).toEqual(conditions);
  const by = nextDivision(plain, [{ dimension: "client" }], judged)!;
  expect(by).toEqual({ dimension: "job" });
  const divided = dividedQuery(plain, by, worst, judged);
  expect(divided.by).toEqual([{ dimension: "job" }, "at_risk", "state"]);
  expect(divided.order).toEqual(worst.order);
  const fixed = (...names: string[]): MetricQuery => ({
    ...plain,
    where: names.map((name) => ({ [name]: ["x"] })),
  });
  expect(nextDivision(fixed("client", "job"), [], judged)).toEqual({ dimension: "part" });
  const smallest = fixed("client", "job", "part");
  const days = nextDivision(smallest, [], judged)!;
  expect(days).toEqual({ time: "day" });
  expect(dividedQuery(smallest, days, divided, judged).by).toEqual([days]);
  // The days were shown before.
  expect(nextDivision(smallest, [days], judged)).toEqual({ dimension: "at_risk" });
});

test("a row of a verdict alone is divided into the things that have it", () => {
  const query: MetricQuery = { ...worst, measures: ["jobs"], by: ["state"], where: [] };
  const conditions = conditionsOf(judgedRows(query, ["behind"]), 0, judged)!;
  expect(conditions).toEqual([{ state: ["behind"] }]);
  expect(nextDivision(plainQuery(query, conditions, judged), [], judged)).toEqual({
    dimension: "job",
  });
  // A number of smaller things is of those with the verdict.
  const counted: MetricQuery = { ...query, by: ["client", "state"] };
  expect(conditionsOf(judgedRows(counted, ["One", "behind"]), 0, judged)).toEqual([
    { client: ["One"] },
    { state: ["behind"] },
  ]);
});

test("a source without such things is divided by what is not shown yet", () => {
  const plain = { ...query, where: [] };
  const taken = [{ dimension: "campaign" }];
  expect(nextDivision(plain, taken, source())).toEqual({ dimension: "device" });
});
