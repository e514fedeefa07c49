// Decisions in words.
import { beforeEach, expect, test } from "vitest";
import { setLanguage } from "../../../i18n/index.svelte";
import type { ImportDecisions } from "../../../platform/generated/ImportDecisions";
import { decisionTexts, readLine } from "./decisions";

const NONE: ImportDecisions = { sheets: [], columns: {}, skip_rejected: false, answers: {} };
const decisions: ImportDecisions = {
  ...NONE,
  sheets: ["October", "November"],
  account: "Shop",
  currency: "EUR",
  date_order: "day_first",
  mode: "key",
  columns: { Clicks: { use: "dimension", kind: "text" }, "#4": { unit: "percent" } },
  answers: { vanished: "keep" },
};

beforeEach(() => setLanguage("en"));

test("each decision is named, and answers about one file are not", () => {
  expect(decisionTexts(decisions)).toEqual([
    "Sheets: October, November",
    "Account: Shop",
    "Currency: EUR",
    "Update by key",
    "day first",
    "Clicks: name, Text",
    "Column 4: Percent",
  ]);
  expect(decisionTexts({ ...NONE, skip_rejected: true })).toEqual([
    "lines that cannot be read are left out",
  ]);
});

test("an account from the path is shown with the pattern of the path", () => {
  const pattern = "clients/{account}/*.csv";
  expect(decisionTexts({ ...NONE, account: "acme", account_from_path: pattern })).toEqual([
    "Account acme from the path, by clients/{account}/*.csv",
  ]);
  const given = { ...NONE, account_from_path: pattern };
  expect(decisionTexts({ ...given, account: "acme" }, given)).toEqual([]);
});

test("only what was decided earlier is left when the decisions of this file are taken away", () => {
  const now = { ...NONE, currency: "SEK", columns: { Clicks: {} } };
  expect(decisionTexts(decisions, now)).toEqual([
    "Sheets: October, November",
    "Account: Shop",
    "Update by key",
    "day first",
    "Column 4: Percent",
  ]);
  expect(decisionTexts(decisions, decisions)).toEqual([]);
});

test("a line is its number, an empty field is none, and any other text is refused", () => {
  expect(["3", " 12 ", "", " "].map(readLine)).toEqual([3, 12, undefined, undefined]);
  expect(["0", "-1", "2.5", "three", "1e99"].map(readLine)).toEqual([null, null, null, null, null]);
});
