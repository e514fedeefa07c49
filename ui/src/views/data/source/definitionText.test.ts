// Definitions in words, in each kind that a file can have.
import { beforeEach, expect, test } from "vitest";
import { setLanguage } from "../../../i18n/index.svelte";
import type { DefinitionRisk } from "../../../platform/generated/DefinitionRisk";
import type { DefinitionView } from "../../../platform/generated/DefinitionView";
import type { Definitions } from "../../../platform/generated/Definitions";
import { conditionText, definitionText } from "./definitionText";

const DEFINITIONS: Definitions = {
  source: "ads",
  dimensions: {
    campaign: { column: "Campaign", key: "campaign_id", synonyms: { sv: ["kampanj"] } },
    brand: { when: { campaign: { contains: "brand" } } },
    size: { bins: { of: "Cost", edges: [10, 1000] } },
  },
  measures: {
    spend: {
      sum: "Cost",
      unit: "money",
      currency: "GBP",
      better: "lower",
      settles_after: "30 days",
      synonyms: { en: ["cost"], file: ["cost"] },
    },
    cost_per_click: { ratio: ["spend", "clicks"], unit: "money" },
    mobile_clicks: { of: "clicks", where: [{ device: ["Mobile", "Tablet"] }] },
    spread: { count: "rows" },
  },
  joins: { plan: { on: { campaign_id: "id" }, unmatched: "leave_out" } },
  spread: { until: "End", total: ["Budget"] },
};

const view = (name: string, risks: DefinitionRisk[] = []): DefinitionView => ({
  name,
  hash: "",
  risks,
  is_approved: false,
  written: "",
  title: name === "cost_per_click" ? { en: "CPC" } : {},
});
const said = (name: string, risks?: DefinitionRisk[]): string => {
  const { part, name: title, text, facts } = definitionText(view(name, risks), DEFINITIONS);
  return [part, title, text, ...facts].join(" | ");
};

beforeEach(() => setLanguage("en"));

test("a figure says how it is found, with all its conditions, and what else is known", () => {
  const spend = said("spend");
  expect(spend).toMatch(/^figures \| Spend \| sum of Cost \| .*GBP/);
  expect(spend).toContain(" | The last 30 days may still change | Also called: cost");
  expect(said("cost_per_click")).toMatch(/^figures \| CPC \| Spend ÷ Clicks/);
  expect(said("mobile_clicks")).toBe(
    "figures | Mobile clicks | Clicks, only where device is Mobile or Tablet",
  );
});

test("groups and relations are said in words, too", () => {
  expect(said("campaign")).toMatch(
    /^groups \| Campaign \| .*campaign_id.* \| Also called: kampanj$/,
  );
  expect(said("brand")).toBe("groups | Brand | Yes where campaign contains brand, otherwise no");
  expect(said("size")).toMatch(/^groups \| Size \| .*Cost.*10.*1,000/);
  expect(said("join:plan", ["join"])).toBe(
    "relations | plan | Belongs to plan where campaign_id equals id | Rows without a match are left out",
  );
});

test("a measure with the name of another part stays a measure", () => {
  expect(said("spread")).toBe("figures | Spread | number of rows");
  expect(said("spread", ["spread"])).toBe(
    "relations | Amounts by day | Budget is divided over the days until End",
  );
});

test("conditions are said with all their tests", () => {
  const texts = [
    { or: [{ device: null }, { not: { city: { starts: ["A", "B"] } } }] },
    { cost: { ">": 1, "<=": 2000 } },
    { label: { empty: false } },
    { id: { in: {} } },
  ].map(conditionText);
  expect(texts).toEqual([
    "device is nothing or not (city begins with A or B)",
    "cost is above 1 and cost is at most 2,000",
    "label has a value",
    "id is decided by another question",
  ]);
});
