// Changes of a question: each kind of part, and names that are gone.
import { expect, test } from "vitest";
import type { DataResult } from "../../platform/generated/DataResult";
import type { MetricQuery } from "../../platform/generated/MetricQuery";
import type { QueryPart } from "../../platform/generated/QueryPart";
import type { SourceDescription } from "../../platform/generated/SourceDescription";
import {
  askedNow,
  canRemove,
  canTotal,
  orderNames,
  placeOf,
  removePart,
  setCompare,
  setDimension,
  setGrain,
  setLimit,
  setMeasure,
  setOrder,
  setPeriod,
  setTop,
  setTotals,
  setValues,
  valuesOf,
} from "./change";
import { definedName, measureOptions, valueOptions } from "./choices";
import { addable, applied, draftOf, isComplete, newDraft, type Draft } from "./drafts";
import { chosenPeriod, daysOf, periodOf } from "./periods";
import { contentOfResult } from "./result";

const QUERY: MetricQuery = {
  measures: ["spend", { measure: "clicks", as: "c", where: [{ device: ["Mobile"] }] }],
  by: ["campaign", { time: "week" }],
  where: [{ account: ["Bluebell"] }],
  period: { month: "2026-10" },
  compare: { to: "previous" },
  order: [{ by: "spend_growth", descending: true }],
  limit: 20,
  as_of: { moment: "2026-11-30T09:00:00", zone: "Europe/Stockholm" },
};
const part = (kind: QueryPart["kind"], at: string): QueryPart => ({ kind, at, text: at });
const SOURCE = {
  definitions: {
    source: "ads",
    measures: {
      spend: { sum: "Cost", title: { en: "Ad spend" }, synonyms: { sv: ["insats"] } },
      clicks: { sum: "Clicks" },
    },
    dimensions: {
      account: { column: "Account name" },
      brand: { when: { campaign: { contains: "brand" } } },
    },
  },
  samples: { "Account name": ["Bluebell", "Fjord"] },
} as unknown as SourceDescription;

test("a pointer names a member and the place in its list", () => {
  expect(placeOf("/measures/1")).toEqual({ member: "measures", at: 1 });
  expect(placeOf("/period")).toEqual({ member: "period", at: 0 });
});

test("a question is asked at the present moment, and the given one stays as it is", () => {
  expect(askedNow(QUERY)).not.toHaveProperty("as_of");
  expect(QUERY.as_of).toBeDefined();
});

test("a figure is replaced with its conditions, and the order follows it", () => {
  const changed = setMeasure(QUERY, 0, "conversions");
  expect(changed.measures[0]).toBe("conversions");
  expect(changed.order).toEqual([{ by: "conversions_growth", descending: true }]);
  expect(setMeasure(QUERY, 1, "conversions").measures[1]).toEqual({
    measure: "conversions",
    where: [{ device: ["Mobile"] }],
  });
  const own: MetricQuery = { measures: [{ define: { ratio: ["a", "b"] }, as: "r" }] };
  expect(setMeasure(own, 0, "spend").measures).toEqual(["spend"]);
  expect(setMeasure(own, 1, "spend").measures).toHaveLength(2);
});

test("a figure that is taken away takes its order with it, and the last figure stays", () => {
  const changed = removePart(QUERY, "/measures/0");
  expect(changed.measures).toHaveLength(1);
  expect(changed).not.toHaveProperty("order");
  expect(canRemove(changed, "/measures/0")).toBe(false);
  expect(canRemove(QUERY, "/measures/0")).toBe(true);
});

test("a dimension and a grain are replaced, added and taken away", () => {
  expect(setDimension(QUERY, 0, "device").by).toEqual(["device", { time: "week" }]);
  // A new dimension stands before the time.
  expect(setDimension(QUERY, 2, "device").by).toEqual(["campaign", "device", { time: "week" }]);
  expect(setGrain(QUERY, 1, "month").by).toEqual(["campaign", { time: "month" }]);
  expect(setGrain({ measures: ["spend"] }, 0, "day").by).toEqual([{ time: "day" }]);
  const filled = { ...QUERY, fill: true, pivot: "week" };
  const changed = removePart(filled, "/by/1");
  expect(changed.by).toEqual(["campaign"]);
  expect(changed).not.toHaveProperty("fill");
  expect(changed).not.toHaveProperty("pivot");
  expect(removePart({ measures: ["spend"], by: ["campaign"] }, "/by/0")).toEqual({
    measures: ["spend"],
  });
});

test("a filter on a dimension stays if the rows are grouped by another one", () => {
  const query: MetricQuery = { ...QUERY, where: [{ campaign: ["A"] }] };
  expect(setDimension(query, 0, "device").where).toEqual([{ campaign: ["A"] }]);
});

test("the values of a filter are changed, and a filter without values is gone", () => {
  expect(setValues(QUERY, 0, "account", ["Bluebell", "Fjord"], false).where).toEqual([
    { account: ["Bluebell", "Fjord"] },
  ]);
  expect(setValues(QUERY, 1, "device", ["Mobile"], true).where).toEqual([
    { account: ["Bluebell"] },
    { device: { not: ["Mobile"] } },
  ]);
  expect(setValues(QUERY, 0, "account", [], false)).not.toHaveProperty("where");
});

test("only conditions that list values can be changed as such", () => {
  expect(valuesOf({ device: ["Mobile", null] })?.values).toEqual(["Mobile", null]);
  expect(valuesOf({ active: true })).toEqual({
    name: "active",
    values: [true],
    isOpposite: false,
  });
  expect(valuesOf({ device: { not: ["Mobile"] } })?.isOpposite).toBe(true);
  for (const other of [
    { spend: { ">": 5 } },
    { or: [{ device: ["Mobile"] }] },
    { not: { device: ["Mobile"] } },
    { a: ["x"], b: ["y"] },
    undefined,
  ])
    expect(valuesOf(other)).toBeNull();
});

test("a question without a period is not compared with the period before", () => {
  expect(setPeriod(QUERY, { this: "month" }).period).toEqual({ this: "month" });
  const all = setPeriod(QUERY, null);
  expect(all).not.toHaveProperty("period");
  expect(all).not.toHaveProperty("compare");
  expect(all).not.toHaveProperty("order");
  const values = { ...QUERY, compare: { values: { device: ["Mobile", "Desktop"] } } };
  expect(setPeriod(values, null).compare).toBeDefined();
});

test("a comparison that is taken away takes its figures with it", () => {
  const query: MetricQuery = {
    ...QUERY,
    order: [{ by: "spend" }, { by: "c_change" }],
    where: [{ account: ["Bluebell"] }, { spend_growth: { ">": 0.1 } }],
  };
  const changed = setCompare(query, null);
  expect(changed.order).toEqual([{ by: "spend" }]);
  expect(changed.where).toEqual([{ account: ["Bluebell"] }]);
  expect(setCompare(changed, { to: "last_year" }).compare).toEqual({ to: "last_year" });
});

test("order, limit and first groups are set", () => {
  expect(setOrder(QUERY, 1, "campaign", false).order?.[1]).toEqual({ by: "campaign" });
  expect(setLimit(QUERY, 5).limit).toBe(5);
  expect(setTop(QUERY, { n: 3, lowest: false, others: true }).top).toEqual({ n: 3, others: true });
  const ranked = { ...QUERY, top: { n: 3, of: "campaign", by: "spend" } };
  expect(setMeasure(ranked, 0, "clicks").top).toEqual({ n: 3, of: "campaign", by: "clicks" });
  expect(removePart(ranked, "/by/0")).not.toHaveProperty("top");
  expect(removePart(ranked, "/limit")).not.toHaveProperty("limit");
  expect(orderNames({ measures: ["shop.sales"], by: ["device", { time: "day" }] })).toEqual([
    "device",
    "day",
    "sales",
  ]);
});

test("a period is chosen by its name or as days, and one without a name shows its days", () => {
  const days = { text: "…", from: "2026-10-01", to: "2026-10-31", form: "full" as const };
  const text = { text: "x", key: "{period} ({days})", params: { period: "x", days } };
  const said: QueryPart = { kind: "period", at: "/period", text };
  expect(daysOf({ text: "x", key: "{a}", params: { a: text } })).toEqual(days);
  expect(chosenPeriod({ previous: "month" }, said).name).toBe("last_month");
  const month = chosenPeriod({ month: "2026-10" }, said);
  expect(month).toEqual({ name: "range", from: "2026-10-01", to: "2026-10-31" });
  expect(periodOf(month)).toEqual({ from: "2026-10-01", to: "2026-10-31" });
  expect(periodOf({ name: "range", from: "2026-10-01", to: "" })).toEqual({ from: "2026-10-01" });
  expect(periodOf({ name: "last_30_days", from: "", to: "" })).toEqual({ last: { days: 30 } });
  expect(chosenPeriod(undefined, said).name).toBe("all");
  expect(periodOf({ name: "all", from: "", to: "" })).toBeNull();
});

test("totals are asked for where rows are groups, and taken away again", () => {
  expect(canTotal(QUERY)).toBe(true);
  const asked = setTotals(QUERY);
  expect([asked.totals, canTotal(asked)]).toEqual([true, false]);
  expect(removePart(asked, "/totals")).toEqual(QUERY);
  expect(canTotal({ measures: ["spend"] })).toBe(false);
  expect(canTotal({ ...QUERY, rows: true })).toBe(false);
});

test("the form of a part has its present value, and makes the same question again", () => {
  const drafts = [
    part("measure", "/measures/0"),
    part("dimension", "/by/0"),
    part("grain", "/by/1"),
    part("filter", "/where/0"),
    part("comparison", "/compare"),
    part("order", "/order/0"),
    part("limit", "/limit"),
  ].map((one) => draftOf(one, QUERY, SOURCE));
  expect(drafts.map((draft) => draft?.kind)).toEqual([
    "measure",
    "dimension",
    "grain",
    "filter",
    "comparison",
    "order",
    "limit",
  ]);
  for (const draft of drafts) expect(applied(QUERY, draft as Draft)).toEqual(QUERY);
  expect(draftOf(part("source", "/source"), QUERY, SOURCE)).toBeNull();
});

test("a new part is complete once it says something", () => {
  const query: MetricQuery = { measures: ["spend"], period: { this: "month" } };
  expect(addable(query)).toEqual(["measure", "dimension", "grain", "filter", "comparison"]);
  expect(addable(QUERY)).not.toContain("limit");
  expect(addable({ measures: [], rows: true })).toEqual(["dimension", "filter", "limit"]);
  const filter = newDraft("filter", query);
  expect(isComplete(filter)).toBe(false);
  expect(applied(query, newDraft("comparison", query)).compare).toEqual({ to: "previous" });
  const count = { kind: "limit", count: 0 } as const;
  expect([isComplete(count), isComplete({ ...count, count: 5 })]).toEqual([false, true]);
  const period = { name: "range", from: "2026-10-02", to: "2026-10-01" } as const;
  expect(isComplete({ kind: "period", period })).toBe(false);
});

test("a source offers its measures by title, and the values of a dimension's column", () => {
  expect(measureOptions(SOURCE)).toEqual([
    { value: "spend", label: "Ad spend" },
    { value: "clicks", label: "clicks" },
  ]);
  expect(definedName("measures", "Insats", SOURCE.definitions)).toBe("spend");
  expect(valueOptions(SOURCE, "account", ["Fjord"])).toEqual(["Fjord", "Bluebell"]);
  expect(valueOptions(SOURCE, "brand", [])).toEqual([true, false]);
});

test("a result is drawn as the host draws it: units of each row, and digits as numbers", () => {
  const result: DataResult = {
    columns: [
      { name: "currency", type: "text", role: "dimension", format: "text" },
      {
        name: "spend_change",
        type: "decimal",
        role: "measure",
        format: "money",
        unit: { at: "/0" },
        label: { en: "Ad spend" },
        compared: "change",
        better: "lower",
      },
    ],
    rows: [
      ["EUR", "12345678901234.56"],
      ["SEK", null],
    ],
    row_count: 2,
    query: "h",
    sql: "SELECT",
    definitions: {},
    definition_state: "approved",
    data_version: "v",
    notes: [],
    asked: { query: { measures: ["spend"] } },
    record: 7,
  };
  const content = contentOfResult(result);
  expect(content.columns[1]).toEqual({
    name: "spend_change",
    label: { en: "Ad spend" },
    role: "measure",
    format: "money",
    compared: "change",
    better: "lower",
  });
  expect(content.rows[0]).toEqual([{ value: "EUR" }, { value: 12345678901234.56, unit: "EUR" }]);
  expect(content.rows[1]?.[1]).toEqual({ value: null, unit: "SEK" });
  expect(content.computed?.record).toBe(7);
});
