// Rules of alerts: the form that makes them and reads them again, and their words.
import { beforeEach, expect, test } from "vitest";
import { setLanguage } from "../../../i18n/index.svelte";
import type { Alert } from "../../../platform/generated/Alert";
import type { AlertRuleContent } from "../../../platform/generated/AlertRuleContent";
import type { Definitions } from "../../../platform/generated/Definitions";
import { contentOf, formOf, isWholeForm, KINDS, measuresOf, numberOf, proposal } from "./rule";
import { alertTitle, conditionText, figureText, ruleText, spanText } from "./words";

beforeEach(() => setLanguage("en"));

const definitions: Definitions = {
  source: "ads",
  dimensions: { campaign: { column: "Campaign" }, status: { column: "Status" } },
  measures: { clicks: { sum: "Clicks" }, spend: { sum: "Cost", unit: "money" } },
};
const form = { ...proposal(definitions, "Spend"), by: "campaign" };

/** A rule as the host sends it: with full names of measures and groups. */
function stored(content: AlertRuleContent): AlertRuleContent {
  const { query } = content;
  const measures = query.measures.map((measure) =>
    typeof measure === "string" ? { measure } : measure,
  );
  const by = query.by?.map((group) => (typeof group === "string" ? { dimension: group } : group));
  return { ...content, query: { ...query, measures, ...(by && { by }) } };
}

test("the proposal of a source watches its main figure against the week before", () => {
  expect(measuresOf(definitions)).toEqual(["spend", "clicks", "rows"]);
  expect(contentOf(proposal(definitions, "Spend"), null)).toEqual({
    name: "Spend",
    condition: { changed: { percent: 20, amount: 0 } },
    is_on: true,
    query: {
      source: "ads",
      measures: ["spend"],
      period: { last: { days: 7 } },
      compare: { to: "previous" },
    },
  });
});

test("each kind of rule is read again as it was written", () => {
  for (const kind of KINDS) {
    const content = contentOf({ ...form, kind }, null)!;
    expect(isWholeForm(stored(content))).toBe(true);
    expect(contentOf(formOf(stored(content)), stored(content).query)).toEqual(content);
  }
  const content = contentOf({ ...form, kind: "status", status: "status" }, null)!;
  expect(content.query.by).toEqual(["campaign", "status"]);
});

test("a rule with more than the form shows is not opened in it, and its filters stay", () => {
  const content = contentOf(form, null)!;
  const filtered = { ...content, query: { ...content.query, where: [{ status: ["on"] }] } };
  expect(isWholeForm(filtered)).toBe(true);
  expect(contentOf({ ...formOf(filtered), percent: "30" }, filtered.query)?.query.where).toEqual([
    { status: ["on"] },
  ]);
  const top = { ...content, query: { ...content.query, top: { n: 3 } } };
  expect(isWholeForm(top)).toBe(false);
});

test("a number that is missing or could be read both ways makes no rule", () => {
  expect(["1.5", "1,5", "10 000", "-2", "−2"].map(numberOf)).toEqual([1.5, 1.5, 10000, -2, -2]);
  for (const text of ["", "x", "1,000", "10,500", "1.2.3"]) expect(numberOf(text)).toBeNull();
  for (const change of [{ percent: "" }, { amount: "-1" }, { period: "0" }, { source: "" }])
    expect(contentOf({ ...form, ...change }, null)).toBeNull();
  expect(contentOf({ ...form, kind: "no_data", days: "1.5" }, null)).toBeNull();
});

test("rules and alerts are shown in words", () => {
  expect(ruleText(contentOf(form, null)!)).toBe(
    "Spend by campaign · ads · changes by at least 20 % and 0",
  );
  expect(conditionText({ no_data_for: { days: 1 } })).toBe("no data for 1 day");
  const alert: Alert = {
    id: "alert_1",
    rule: "rule_1",
    name: "Spend",
    group: [
      { dimension: "campaign", value: "Brand" },
      { dimension: "device", value: null },
    ],
    since: "2026-11-29",
    told_at: "2026-11-30T09:00:00Z",
    is_seen: false,
    figures: [
      {
        column: { name: "spend", type: "decimal", role: "measure", format: "money", unit: "EUR" },
        value: 12,
      },
    ],
    question: { source: "ads", measures: ["spend"] },
  };
  expect(alertTitle(alert)).toBe("Spend · Brand, (empty)");
  expect(figureText(alert.figures[0]!)).toMatch(/^spend: 12.* EUR$/);
  expect(spanText(alert)).toMatch(/^since /);
  expect(spanText({ ...alert, resolved_on: "2026-11-30" })).toContain("resolved on");
});
