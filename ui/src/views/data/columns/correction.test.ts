// Corrections of columns: the decision for the import, and the changed definitions.
import { expect, test } from "vitest";
import type { Definitions } from "../../../platform/generated/Definitions";
import { COLUMNS, foundColumn } from "../testing";
import {
  applied,
  choiceOf,
  correctionOf,
  definedCorrection,
  definitionName,
  isWhole,
  keysOf,
  lackOf,
  type Correction,
} from "./correction";

const cost = COLUMNS[3]!;
const correction = (rest: Partial<Correction>): Correction => ({
  ...correctionOf(cost, COLUMNS),
  ...rest,
});
const DEFINITIONS: Definitions = {
  source: "november",
  dimensions: { campaign: { column: "Campaign", key: "Campaign ID" } },
  measures: {
    spend: {
      sum: "Cost",
      unit: "money",
      currency: "EUR",
      synonyms: { sv: ["insats"] },
    },
    dearest: { greatest: "Cost" },
    clicks: { sum: "Clicks" },
    cpc: { ratio: ["spend", "clicks"] },
  },
};

test("a column that is not corrected keeps its use and unit", () => {
  expect(correctionOf(cost, COLUMNS)).toMatchObject({ use: "sum", unit: "money", currency: "EUR" });
  expect(correctionOf(foundColumn("CTR", { use: "ratio", unit: "percent" }), [])).toMatchObject({
    use: "average",
    unit: "percent",
  });
  expect(choiceOf(correctionOf(cost, COLUMNS), cost)).toEqual({ use: "sum", unit: "EUR" });
});

test("a column whose definition was changed begins with its definition", () => {
  const measures = {
    spend: {
      weighted: { column: "Cost", by: "Clicks" },
      unit: "money",
      currency: { column: "Code" },
    },
  };
  expect(definedCorrection({ source: "ads", measures }, cost, COLUMNS)).toMatchObject({
    use: "average",
    by: "Clicks",
    unit: "money",
    currency: "",
  });
  expect(definedCorrection(DEFINITIONS, cost, COLUMNS)).toMatchObject({
    use: "sum",
    currency: "EUR",
  });
  expect(definedCorrection({ source: "ads" }, cost, COLUMNS)).toEqual(correctionOf(cost, COLUMNS));
});

test("a number that is a name becomes text, so that leading zeros stay", () => {
  expect(choiceOf(correction({ use: "name" }), cost)).toEqual({ use: "dimension", kind: "text" });
  expect(choiceOf(correction({ use: "name" }), COLUMNS[1]!)).toEqual({ use: "dimension" });
});

test("a correction lacks the second column of a ratio, a currency code or a unit", () => {
  expect(lackOf(correction({ use: "ratio", of: "Cost" }))).toBe("ratio");
  expect(lackOf(correction({ currency: "EURO" }))).toBe("currency");
  expect(lackOf(correction({ unit: "named", unitName: " " }))).toBe("unit");
  expect(lackOf(correction({ use: "name", currency: "EURO" }))).toBeNull();
});

test("a weighted average replaces the sum of its column, and keeps its name, synonyms and unit", () => {
  const changed = applied(DEFINITIONS, cost, correction({ use: "average", by: "Clicks" }));
  expect(changed.measures).toEqual({
    ...DEFINITIONS.measures,
    spend: {
      weighted: { column: "Cost", by: "Clicks" },
      unit: "money",
      currency: "EUR",
      synonyms: { sv: ["insats"] },
    },
  });
});

test("a ratio uses the measures of its columns, and adds those that are missing", () => {
  const rate = foundColumn("Rate", { kind: "decimal", use: "ratio" });
  const { measures } = applied({ source: "november", measures: { spend: { sum: "Cost" } } }, rate, {
    ...correctionOf(rate, COLUMNS),
    use: "ratio",
    of: "Cost",
    by: "Clicks",
  });
  expect(measures).toEqual({
    spend: { sum: "Cost" },
    clicks: { sum: "Clicks" },
    rate: { ratio: ["spend", "clicks"] },
  });
});

test("a column that is a name has no measure, and can be grouped by", () => {
  const changed = applied(DEFINITIONS, cost, correction({ use: "name" }));
  expect(Object.keys(changed.measures!)).toEqual(["clicks", "cpc"]);
  expect(changed.dimensions).toEqual({
    ...DEFINITIONS.dimensions,
    cost: { column: "Cost" },
  });
});

test("last values are added up by the keys, and different values get a measure beside the dimension", () => {
  expect(keysOf(COLUMNS)).toEqual(["Campaign ID"]);
  const last = applied(DEFINITIONS, cost, correction({ use: "last" }));
  expect(last.measures!["spend"]).toMatchObject({ last: { column: "Cost", per: ["Campaign ID"] } });
  const id = COLUMNS[2]!;
  const counted = applied(DEFINITIONS, id, correctionOf(id, COLUMNS));
  expect(counted.measures!["campaign_id_count"]).toEqual({ distinct: "Campaign ID" });
  expect(counted.dimensions!["campaign_id"]).toEqual({ column: "Campaign ID" });
});

test("a column of currencies gives all amounts their currency, and a day becomes the time", () => {
  const code = foundColumn("Currency code");
  const changed = applied(DEFINITIONS, code, { ...correctionOf(code, []), use: "currency" });
  expect(changed.measures!["spend"]).toMatchObject({ currency: { column: "Currency code" } });
  const day = COLUMNS[0]!;
  expect(applied(DEFINITIONS, day, correctionOf(day, COLUMNS)).time).toEqual({ column: "Day" });
});

test("only simple corrections are said by the decisions of an import", () => {
  expect(isWhole(correction({ use: "sum" }))).toBe(true);
  expect(isWhole(correction({ use: "ratio" }))).toBe(false);
  expect(definitionName("Avg. CPC (€)")).toBe("avg_cpc");
  expect(definitionName("Kostnad för år")).toBe("kostnad_for_ar");
});
