// Choices about the columns of a file, and the options that follow from them.
import { expect, test } from "vitest";
import {
  askedFields,
  choicesOf,
  columnName,
  isUsable,
  missingFields,
  optionsOf,
  withField,
  type Choices,
} from "./choices";
import { surveyOf } from "./testing";

const CHOSEN: Choices = {
  fields: ["day", "campaign", "spend"],
  constants: { account: " Shop ", currency: "" },
  order: "day_first",
};
const names = (fields: { name: string }[]): string[] => fields.map(({ name }) => name);

test("the choices begin with the host's suggestions", () => {
  const survey = surveyOf();
  expect(choicesOf(survey)).toEqual({
    fields: ["day", "", ""],
    constants: { account: "", currency: "" },
    order: "",
  });
});

test("a field belongs to one column", () => {
  expect(withField(["day", "spend", ""], 2, "spend")).toEqual(["day", "", "spend"]);
  expect(withField(["day", "", ""], 1, "")).toEqual(["day", "", ""]);
});

test("required fields without a column are missing, unless another field replaces them", () => {
  const survey = surveyOf();
  expect(names(missingFields(survey, choicesOf(survey)))).toEqual(["campaign", "spend"]);
  const byId = { ...CHOSEN, fields: ["day", "campaign_id", "spend"] };
  expect(missingFields(survey, byId)).toEqual([]);
});

test("values are asked for only if the file lacks them", () => {
  expect(names(askedFields(surveyOf(), CHOSEN))).toEqual(["account", "currency"]);
  const withAccount = { ...CHOSEN, fields: ["day", "campaign", "account_id"] };
  expect(names(askedFields(surveyOf(), withAccount))).toEqual(["currency"]);
});

test("all fields are named, so that nothing else is recognised or remembered", () => {
  expect(optionsOf(surveyOf(), CHOSEN, true)).toEqual({
    columns: {
      day: "When",
      campaign: "What",
      spend: "How much",
      account: "",
      currency: "",
      campaign_id: "",
      account_id: "",
    },
    constants: { account: "Shop", currency: "" },
    date_order: "day_first",
    skip_rejected: true,
  });
});

test("the order of dates is sent only if the file leaves it open", () => {
  const dates = { is_ambiguous: false, order: "day_first" as const, example: "13/11/2026" };
  expect(optionsOf(surveyOf({ dates }), CHOSEN, false).date_order).toBeUndefined();
});

test("a column without a heading of its own is named by its number", () => {
  const columns = ["Cost", "", "Cost", "Day"].map((heading) => ({ heading, samples: [] }));
  expect(columns.map((_, at) => columnName(columns, at))).toEqual(["#1", "#2", "#3", "Day"]);
});

test("a currency is a code of three letters", () => {
  expect(["", "EUR", "kr", "EURO"].map((code) => isUsable("currency", code))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
