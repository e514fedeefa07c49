// Single figures with their change: its direction, whether it is good, and points in place of percent.
import { render } from "svelte/server";
import { afterEach, expect, test } from "vitest";
import { setLanguage } from "../i18n/index.svelte";
import type { ContentColumn } from "../platform/generated/ContentColumn";
import type { ResultContent } from "../platform/generated/ResultContent";
import { withHeadings, wordsOf } from "./content";
import { figuresOf, toneOf } from "./figures";
import Figures from "./Figures.svelte";

afterEach(() => setLanguage("en"));

const column = (
  compared: ContentColumn["compared"],
  format: ContentColumn["format"],
  better?: ContentColumn["better"],
): ContentColumn => ({
  label: { en: "Cost per order" },
  role: "measure",
  format,
  ...(compared && { compared }),
  ...(better && { better }),
});
const content = (columns: ContentColumn[], values: (number | null)[]): ResultContent => ({
  columns,
  rows: [
    values.map((value, at) => ({ value, ...(columns[at]!.format === "money" && { unit: "EUR" }) })),
  ],
  total: 1,
});
const cost = content(
  [
    column("now", "money"),
    column("before", "money"),
    column("change", "money", "lower"),
    column("growth", "percent", "lower"),
  ],
  [12, 10, 2, 0.2],
);

test("the columns of a comparison are one figure with its change", () => {
  const [figure, ...rest] = figuresOf(cost);
  expect(rest).toEqual([]);
  expect(figure).toMatchObject({
    value: "12.00\u00a0EUR",
    before: "10.00\u00a0EUR",
    change: "+2.00\u00a0EUR",
    growth: "+20.0%",
    direction: 1,
    tone: "bad",
  });
});

test("a change is good by the definition of its measure, and neither good nor bad without one", () => {
  expect([toneOf(1, "higher"), toneOf(-1, "higher")]).toEqual(["good", "bad"]);
  expect([toneOf(1, "lower"), toneOf(-1, "lower")]).toEqual(["bad", "good"]);
  expect([toneOf(1, undefined), toneOf(0, "higher")]).toEqual(["none", "none"]);
});

test("the change of a percentage is in points", () => {
  const rate = content(
    [column("now", "percent"), column("before", "percent"), column("change", "percent")],
    [0.06, 0.04, 0.02],
  );
  expect(figuresOf(rate)[0]).toMatchObject({ value: "6.0%", change: "+2.0 pp", growth: null });
  setLanguage("sv");
  expect(figuresOf(rate)[0]?.change).toBe("+2,0 procentenheter");
});

test("a missing change is not shown, and figures without a comparison stand alone", () => {
  const missing = figuresOf(content(cost.columns, [12, null, null, null]))[0];
  expect(missing).toMatchObject({ before: "–", change: null, direction: 0, tone: "none" });
  const plain = figuresOf(
    content([column(undefined, "money"), column(undefined, "money")], [1, 2]),
  );
  expect(plain.map(({ value }) => value)).toEqual(["1.00\u00a0EUR", "2.00\u00a0EUR"]);
});

test("a change is said in words, too, and not by its colour alone", () => {
  const html = render(Figures, { props: { content: cost } }).body;
  const text = html
    .replace(/<!--.*?-->/g, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ");
  expect(text).toContain("+20.0% (+2.00 EUR) worse");
  expect(text).toContain("Before: 10.00 EUR");
});

test("the columns of a comparison have headings of their own in a table", () => {
  expect(withHeadings(cost).columns.map(({ label }) => wordsOf(label))).toEqual([
    "Cost per order",
    "Cost per order, before",
    "Cost per order, change",
    "Cost per order, change in %",
  ]);
  const named = {
    ...cost,
    columns: cost.columns.map((one, at) => ({ ...one, label: { en: `c${at}` } })),
  };
  expect(withHeadings(named).columns.map(({ label }) => wordsOf(label))).toEqual([
    "c0",
    "c1",
    "c2",
    "c3",
  ]);
  const plain = content([column(undefined, "money")], [1]);
  expect(withHeadings(plain)).toBe(plain);
});

test("a column without a heading of its own has its name in words", () => {
  const named = (name: string, role: ContentColumn["role"]): ContentColumn => ({
    name,
    label: { en: name },
    role,
    format: "text",
  });
  const { columns } = withHeadings({
    columns: [
      named("week", "time"),
      named("ad_group", "dimension"),
      named("cpc", "measure"),
      named("count(*)", "measure"),
      { ...named("spend", "measure"), label: { en: "Cost" } },
    ],
    rows: [],
    total: 0,
  });
  const headings = columns.map(({ label }) => wordsOf(label));
  expect(headings).toEqual(["Week", "Ad group", "CPC", "count(*)", "Cost"]);
});
