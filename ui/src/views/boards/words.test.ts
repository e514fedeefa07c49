// Titles, filters and periods of boards in words.
import { beforeEach, expect, test } from "vitest";
import { setLanguage } from "../../i18n/index.svelte";
import { filterChoices } from "./filters/choices";
import { choiceOf, daysOf, periodOfDays, PERIODS, periodText } from "./filters/periods";
import { figuresOf, tileOf } from "./testing";
import { questionOf } from "./tile/question";
import { filterText, tileTitle, versionText } from "./words";

beforeEach(() => setLanguage("en"));

test("a tile without a title is named after its query", () => {
  expect(tileTitle(tileOf("a", { title: "Mine" }))).toBe("Mine");
  const query = { measures: ["spend", { measure: "clicks", as: "all_clicks" }] };
  expect(tileTitle(tileOf("a", { query }))).toBe("Spend, All clicks");
  const over = { ...query, by: [{ time: "week" as const }, "ad_group"] };
  expect(tileTitle(tileOf("a", { query: over }))).toBe("Spend, All clicks by week, ad group");
  const abbreviated = tileOf("a", { query: { measures: ["spend"], by: ["cpc"] } });
  expect(tileTitle(abbreviated)).toBe("Spend by CPC");
  const columns = figuresOf(over, []).columns.map((one) => ({ ...one, label: { en: "Cost" } }));
  expect(tileTitle(tileOf("a", { query: { measures: ["spend"] } }), columns)).toBe("Cost");
});

test("a filter is shown in words, and one from elsewhere as it is written", () => {
  expect(filterText({ ad_group: ["A", null, true] })).toBe("Ad group: A, (empty), Yes");
  expect(filterText({ spend: { ">": 5 } })).toBe('{"spend":{">":5}}');
});

test("a period is one of the choices, days, or as it is written", () => {
  for (const [name, period] of Object.entries(PERIODS)) expect(choiceOf(period)).toBe(name);
  expect([choiceOf(undefined), periodText(undefined)]).toEqual(["own", "Each tile's own"]);
  const days = periodOfDays("2026-11-01", "");
  expect([days, choiceOf(days!), daysOf(days!)]).toEqual([
    { from: "2026-11-01" },
    "days",
    { from: "2026-11-01", to: "" },
  ]);
  expect([periodOfDays("", ""), periodOfDays("2026-11-02", "2026-11-01")]).toEqual([null, null]);
  expect(periodText({ last: { weeks: 5 } })).toBe("last 5 weeks");
  expect(periodText({ month: "2026-10" })).toBe("2026-10");
});

test("the dimensions of several sources are offered once, with the values of all", () => {
  const definitions = { source: "a", dimensions: { device: { column: "Device" } } };
  const choices = filterChoices([
    { definitions, samples: { Device: ["Mobile", ""] } },
    { definitions: { ...definitions, source: "b" }, samples: { Device: ["Mobile", "Desktop"] } },
  ]);
  expect(choices).toEqual([{ name: "device", values: ["Mobile", "Desktop"] }]);
});

test("a tile becomes a question with its filters, period and source", () => {
  const tile = tileOf("a");
  const board = { filters: [{ device: ["Mobile"] }], period: PERIODS.last_7 };
  expect(questionOf(tile, null, board)).toBe(
    "Spend by campaign, Device: Mobile, Last 7 days, source ads",
  );
  expect(questionOf(tile, figuresOf(tile.query, []), board)).toBe("Spend by campaign, source ads");
});

test("the data version names each source if there are several", () => {
  expect(versionText("ab")).toBe("ab");
  expect(versionText({ ads: "ab", crm: null })).toBe("ads ab, crm –");
});
