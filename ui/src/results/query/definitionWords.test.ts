// Definitions in words: every kind of figure and group has some, and no word claims what the definition does not say.
import { beforeEach, expect, test } from "vitest";
import { setLanguage } from "../../i18n/index.svelte";
import type { Definitions } from "../../platform/generated/Definitions";
import type { Dimension } from "../../platform/generated/Dimension";
import type { Measure } from "../../platform/generated/Measure";
import { definitionWords } from "./definitionWords";

beforeEach(() => setLanguage("en"));

const definitions = (
  measures: Record<string, Measure>,
  dimensions: Record<string, Dimension> = {},
): Definitions => ({ source: "ads", measures, dimensions });
const measure = (one: Measure) => definitionWords("x", definitions({ x: one }));
const dimension = (one: Dimension) => definitionWords("x", definitions({}, { x: one }))?.formula;

test("a figure says how it is found, and how it is written", () => {
  expect(
    definitionWords(
      "spend",
      definitions({ spend: { sum: "Cost", unit: "money", currency: "EUR", better: "lower" } }),
    ),
  ).toEqual({ title: "Spend", formula: "sum of Cost", format: "in EUR, lower is better" });
  const titled = { sum: "Cost", title: { en: "Net spend" }, unit: "money" } as const;
  expect(measure({ ...titled, currency: { column: "Code" } })).toEqual({
    title: "Net spend",
    formula: "sum of Cost",
    format: "in the currency of Code",
  });
  // Amounts whose currency nobody said are not taken for those of another one.
  expect(measure(titled)?.format).toBe("amount, currency not known");
  const spend: Measure = { sum: "Cost", unit: "money", currency: "EUR" };
  const cpc: Measure = { ratio: ["spend", "clicks"], unit: "money" };
  expect(definitionWords("cpc", definitions({ spend, cpc }))?.format).toBe("in EUR");
  expect(measure({ of: "x", unit: "money" })?.format).toBe("amount, currency not known");
  expect(measure({ ratio: ["a", "b"], unit: "percent" })?.format).toBe("in percent");
  expect(measure({ sum: "Km", unit: "km" })?.format).toBe("in km");
});

test("every kind of figure has words", () => {
  const formula = (one: Measure) => measure(one)?.formula;
  expect(formula({ count: "rows" })).toBe("number of rows");
  expect(formula({ count: "Order" })).toBe("number of rows with Order");
  expect(formula({ distinct: "City" })).toBe("number of different values of City");
  expect(formula({ average: "Age" })).toBe("average of Age");
  expect(formula({ weighted: { column: "Rate", by: "Hours" } })).toBe(
    "average of Rate, weighted by Hours",
  );
  expect(formula({ last: { column: "Budget", per: [] } })).toBe("last value of Budget");
  expect(formula({ last: { column: "Budget", per: ["Campaign"] } })).toBe(
    "last value of Budget for each Campaign",
  );
  expect(formula({ least: "Age" })).toBe("lowest value of Age");
  expect(formula({ greatest: "Age" })).toBe("highest value of Age");
  expect(formula({ median: "Age" })).toBe("median of Age");
  expect(formula({ percentile: { column: "Age", at: 95 } })).toBe("percentile 95 of Age");
  expect(formula({ single: "Reach" })).toBe("Reach of a single row, never summed");
});

test("a figure of other figures names them as people do", () => {
  const others: Record<string, Measure> = {
    spend: { sum: "Cost", title: { en: "Net spend" } },
    cpc: { ratio: ["spend", "clicks"] },
    all: { plus: ["spend", "fees"] },
    rest: { minus: ["budget", "spend"] },
    brand: { of: "spend", where: [{ campaign: ["Brand", null] }, { city: { not: "Umeå" } }] },
    big: { of: "spend", where: [{ spend: { ">": 100 } }] },
  };
  const formulas = Object.keys(others).map(
    (name) => definitionWords(name, definitions(others))?.formula,
  );
  expect(formulas).toEqual([
    "sum of Cost",
    "Net spend ÷ Clicks",
    "Net spend + Fees",
    "Budget − Net spend",
    "Net spend, only rows with campaign: Brand, (empty); city: not Umeå",
    "Net spend, only rows that meet a condition",
  ]);
});

test("every kind of group has words", () => {
  expect(dimension({ column: "Campaign" })).toBe("values of Campaign");
  expect(dimension({ column: "Campaign", key: "Campaign ID" })).toBe(
    "values of Campaign, told apart by Campaign ID",
  );
  expect(dimension({ when: { city: "Umeå" } })).toBe("yes or no: city: Umeå");
  expect(dimension({ when: { or: [] } })).toBe("yes or no, by a condition");
  expect(dimension({ groups: { of: "Country", groups: { North: ["SE"] }, other: "Rest" } })).toBe(
    "groups of Country: North, Rest",
  );
  expect(dimension({ split: { of: "Name", by: "_", part: 2 } })).toBe(
    "part 2 of Name, split at “_”",
  );
  expect(dimension({ bins: { of: "Age", edges: [18, 65] } })).toBe(
    "ranges of Age, with edges at 18, 65",
  );
  expect(dimension({ first: { of: "Campaign", per: "Customer" } })).toBe(
    "first Campaign of each Customer",
  );
  expect(dimension({ lookup: { source: "shops", of: "City" } })).toBe("City of the source shops");
});

test("other parts of the definitions have words, and what is unknown has none", () => {
  const found = (name: string) => definitionWords(name, definitions({}))?.formula ?? null;
  expect(["rates", "spread", "join:plan", "gone"].map(found)).toEqual([
    "converted with rates",
    "amounts are divided over days",
    "figures of two sources",
    null,
  ]);
});
