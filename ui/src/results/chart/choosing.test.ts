// The shape of a result decides which charts fit it, and which one is drawn.
import { describe, expect, test } from "vitest";
import type { ResultContent } from "../../platform/generated/ResultContent";
import { chooseChart, isChartFirst } from "./choosing";
import {
  CITY,
  CLICKS,
  column,
  DAY,
  dayAfter,
  DEVICE,
  GROWTH,
  HOUR,
  RATE,
  result,
  SPEND,
  type Value,
} from "./testing";

const many = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));
const days = (count: number, ...measures: number[]): Value[][] =>
  many(count, (at) => [dayAfter(at), ...measures.map((value) => value + at)]);
const cities = (count: number, ...measures: number[]): Value[][] =>
  many(count, (at) => [`City ${at}`, ...measures.map((value) => value + at)]);
const crossed = (count: number, names: number): Value[][] =>
  many(count, (at) => many(names, (name): Value[] => [dayAfter(at), `City ${name}`, at])).flat();
const weekday = column("Weekday", "time", "number");
const dayOfMonth = column("Day of month", "dimension", "number");
const id = column("Account", "dimension", "number");

interface Case {
  name: string;
  content: ResultContent;
  /** The charts that fit, the one that is drawn first; empty if none fits. */
  kinds: string;
  along?: number | null;
  by?: number[];
}

const CASES: Case[] = [
  { name: "a day with a figure", content: result([DAY, SPEND], days(1, 5)), kinds: "" },
  { name: "a week of days", content: result([DAY, SPEND], days(7, 5)), kinds: "columns lines" },
  { name: "a month of days", content: result([DAY, SPEND], days(30, 5)), kinds: "lines columns" },
  { name: "a year of days", content: result([DAY, SPEND], days(365, 5)), kinds: "lines" },
  {
    name: "few days with long gaps",
    content: result([DAY, SPEND], [...days(5, 1), [dayAfter(200), 4]]),
    kinds: "lines",
  },
  {
    name: "three months",
    content: result(
      [DAY, SPEND],
      ["2026-08-01", "2026-09-01", "2026-10-01"].map((day) => [day, 1]),
    ),
    kinds: "columns lines",
  },
  {
    name: "a month of days, declared as columns",
    content: result([DAY, SPEND], days(30, 5), { chart: "columns" }),
    kinds: "columns lines",
  },
  {
    name: "names, declared as lines, which need a time",
    content: result([CITY, SPEND], cities(5, 1), { chart: "lines" }),
    kinds: "bars columns",
  },
  {
    name: "two measures over time",
    content: result([DAY, SPEND, CLICKS], days(30, 5, 900)),
    kinds: "lines columns points",
  },
  {
    name: "times and a dimension",
    content: result([DAY, CITY, CLICKS], crossed(12, 3)),
    kinds: "lines columns",
    along: 0,
    by: [1],
  },
  {
    name: "times and two dimensions",
    content: result(
      [DAY, CITY, DEVICE, CLICKS],
      crossed(4, 3).flatMap(([day, city, value]) => [
        [day!, city!, "Mobile", value!],
        [day!, city!, "Desktop", value!],
      ]),
    ),
    kinds: "lines columns",
    along: 0,
    by: [1, 2],
  },
  {
    name: "times with a dimension that has one value",
    content: result([DAY, CITY, CLICKS], crossed(9, 1)),
    kinds: "lines columns",
    by: [],
  },
  {
    name: "the same day twice",
    content: result(
      [DAY, SPEND],
      [
        ["2026-10-01", 1],
        ["2026-10-01", 2],
        ["2026-10-02", 2],
      ],
    ),
    kinds: "",
  },
  {
    name: "hours of a day",
    content: result(
      [HOUR, CLICKS],
      many(24, (at) => [`2026-10-01T${String(at).padStart(2, "0")}:00:00`, at]),
    ),
    kinds: "lines columns",
  },
  {
    name: "days of the week",
    content: result(
      [weekday, CLICKS],
      many(7, (at) => [at + 1, at]),
    ),
    kinds: "columns lines",
  },
  { name: "five names", content: result([CITY, SPEND], cities(5, 1)), kinds: "bars columns" },
  { name: "forty names", content: result([CITY, SPEND], cities(40, 1)), kinds: "bars" },
  {
    name: "names with two measures",
    content: result([CITY, SPEND, CLICKS], cities(5, 1, 4)),
    kinds: "bars columns points",
  },
  {
    name: "names with a key beside them",
    content: result([id, CITY, SPEND], many(5, (at) => [1000 + at * 77, `City ${at}`, at]).slice()),
    kinds: "bars columns",
    along: 1,
  },
  {
    name: "two dimensions",
    content: result(
      [DEVICE, CITY, CLICKS],
      cities(6, 1).flatMap(([city, value]) => [
        ["Mobile", city!, value!],
        ["Desktop", city!, value!],
      ]),
    ),
    kinds: "bars columns",
    along: 1,
    by: [0],
  },
  {
    name: "three dimensions that are needed together",
    content: result(
      [CITY, DEVICE, column("Kind", "dimension", "text"), CLICKS],
      ["a", "b"].flatMap((city) =>
        ["x", "y"].flatMap((device) => ["1", "2"].map((kind) => [city, device, kind, 1])),
      ),
    ),
    kinds: "",
  },
  {
    name: "the same name twice",
    content: result(
      [CITY, SPEND],
      [
        ["Oslo", 1],
        ["Oslo", 2],
      ],
    ),
    kinds: "",
  },
  {
    name: "days of the month as numbers",
    content: result(
      [dayOfMonth, CLICKS],
      many(31, (at) => [at + 1, at]),
    ),
    kinds: "columns bars",
  },
  { name: "one figure", content: result([SPEND], [[5]]), kinds: "" },
  { name: "figures of one row", content: result([SPEND, CLICKS], [[5, 6]]), kinds: "" },
  {
    name: "two measures without names",
    content: result(
      [SPEND, CLICKS],
      many(9, (at) => [at, at * at]),
    ),
    kinds: "points",
    along: null,
  },
  {
    name: "one measure without names",
    content: result(
      [CLICKS],
      many(9, (at) => [at]),
    ),
    kinds: "",
  },
  { name: "names alone", content: result([CITY], [["a"], ["b"]]), kinds: "" },
  { name: "no rows", content: result([DAY, SPEND], []), kinds: "" },
  {
    name: "a measure of texts",
    content: result(
      [CITY, SPEND],
      [
        ["a", "on request"],
        ["b", "NaN"],
      ],
    ),
    kinds: "",
  },
  {
    name: "a measure without values",
    content: result(
      [CITY, SPEND],
      [
        ["a", null],
        ["b", null],
      ],
    ),
    kinds: "",
  },
  {
    name: "two measures, one of them in two units, which have no common axis",
    content: result(
      [CITY, SPEND, CLICKS],
      ["EUR", "EUR", "SEK", "SEK"].map((unit, at) => [`City ${at}`, { value: 5, unit }, at]),
    ),
    kinds: "bars columns",
  },
  {
    name: "a list with two days, which are properties",
    content: result(
      [CITY, CLICKS, DAY, column("Last", "time", "day")],
      cities(5, 1).map(([city, value], at) => [city!, value!, dayAfter(at), dayAfter(at + 5)]),
    ),
    kinds: "bars columns",
    along: 0,
  },
  {
    name: "changes",
    content: result(
      [CITY, GROWTH],
      [
        ["a", 0.1],
        ["b", -0.1],
      ],
    ),
    kinds: "bars columns",
  },
  {
    name: "texts that look like days and are none",
    content: result(
      [DAY, RATE],
      ["2026-13-45", "2026-99-99", "x"].map((day) => [day, 0.1]),
    ),
    kinds: "columns lines",
  },
];

describe("the charts that fit", () => {
  test.each(CASES)("$name: $kinds", ({ content, kinds, along, by }) => {
    const choice = chooseChart(content);
    expect(choice?.kinds.join(" ") ?? "").toBe(kinds);
    if (along !== undefined) expect(choice?.along).toBe(along);
    if (by !== undefined) expect(choice?.by).toEqual(by);
  });
  test("10,000 columns are looked at in time", () => {
    const columns = [CITY, ...many(9_999, () => CLICKS)];
    const row = (name: string): Value[] => [name, ...many(9_999, (at) => at)];
    const choice = chooseChart(result(columns, [row("a"), row("b"), row("c")]));
    expect(choice?.measures).toHaveLength(9_999);
  });
});

test("a chart comes first for series, and for answers to a query with one name in each row", () => {
  const answer = { state: "approved" as const };
  const one = result([CITY, SPEND], cities(5, 1), answer);
  expect(isChartFirst("table", one)).toBe(true);
  expect(isChartFirst("table", result([CITY, SPEND], cities(5, 1)))).toBe(false);
  expect(isChartFirst("series", result([CITY, SPEND], cities(5, 1)))).toBe(true);
  const two = result([DAY, CITY, DEVICE, SPEND], [], answer);
  two.rows = result(
    two.columns,
    many(4, (at) => [dayAfter(at), `c${at % 2}`, `d${at}`, 1]),
  ).rows;
  expect(isChartFirst("table", two)).toBe(false);
  expect(isChartFirst("records", one)).toBe(false);
});
