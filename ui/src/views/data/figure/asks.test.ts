// The figures that a source, a column and a value offer, as queries and as questions.
import { render } from "svelte/server";
import { beforeEach, expect, test, vi } from "vitest";
import { setLanguage } from "../../../i18n/index.svelte";
import type { Definitions } from "../../../platform/generated/Definitions";
import { COLUMNS, sourceOf, textsOf } from "../testing";
import {
  askOfColumn,
  askOfValue,
  asksOfSource,
  chartAsk,
  chartQuery,
  figureTitle,
  measureChoices,
  queryOf,
  questionOf,
  titleOf,
} from "./asks";
import FigurePart from "./FigurePart.svelte";

vi.mock("../../../platform", async (original) => ({
  ...(await original<typeof import("../../../platform")>()),
  call: () => Promise.reject(new Error("There is no host.")),
}));

const DEFINITIONS: Definitions = {
  source: "ads",
  time: { column: "Day" },
  dimensions: {
    campaign: { column: "Campaign" },
    campaign_id: { column: "Campaign ID" },
    brand: { when: { campaign: { contains: "brand" } } },
  },
  measures: {
    clicks: { sum: "Clicks" },
    cpc: { ratio: ["spend", "clicks"] },
    spend: { sum: "Cost", unit: "money" },
  },
};
const SOURCE = sourceOf("ads");
const column = (name: string) => COLUMNS.find((one) => one.name === name)!;
const titles = (definitions: Definitions, source = SOURCE): string[] =>
  asksOfSource(definitions, source).map(titleOf);

beforeEach(() => setLanguage("en"));

test("a source offers its main measures over time, and the first by dimensions", () => {
  expect(titles(DEFINITIONS)).toEqual([
    "Show spend by day",
    "Show clicks by day",
    "Show spend by campaign",
  ]);
  const days = { first: "2026-01-01", last: "2026-11-30", days: 300 };
  expect(titles(DEFINITIONS, sourceOf("ads", { days }))[0]).toBe("Show spend by month");
});

test("a source without definitions offers the number of its rows", () => {
  expect(titles({ source: "ads" })).toEqual(["Show number of rows"]);
  expect(queryOf(asksOfSource({ source: "ads" }, SOURCE)[0]!, "ads")).toEqual({
    source: "ads",
    measures: ["rows"],
    limit: 500,
  });
});

test("a column offers what can be computed with it, and nothing else", () => {
  const shown = COLUMNS.map((one) => {
    const ask = askOfColumn(DEFINITIONS, SOURCE, one);
    return ask && titleOf(ask);
  });
  expect(shown).toEqual([
    "Show spend by day",
    "Show spend by campaign",
    null,
    "Show spend by day",
    "Show clicks by day",
    null,
  ]);
});

test("a value becomes a filter, unless it is cut or no name", () => {
  const ask = askOfValue(DEFINITIONS, SOURCE, column("Campaign"), "Brand")!;
  expect(queryOf(ask, "ads")).toEqual({
    source: "ads",
    measures: ["spend"],
    by: [{ time: "day" }],
    where: [{ campaign: ["Brand"] }],
    limit: 500,
  });
  expect(questionOf(ask, "ads")).toBe("Show spend by day where campaign is Brand in ads");
  expect(askOfValue(DEFINITIONS, SOURCE, column("Campaign"), "Long…")).toBeNull();
  expect(askOfValue(DEFINITIONS, SOURCE, column("Campaign ID"), "17")).toBeNull();
  expect(askOfValue(DEFINITIONS, SOURCE, column("Labels"), "x")).toBeNull();
});

test("the greatest value of a dimension comes first", () => {
  const ask = askOfColumn(DEFINITIONS, SOURCE, column("Campaign"))!;
  expect(queryOf(ask, "ads").order).toEqual([{ by: "spend", descending: true }]);
  expect(questionOf(ask, "ads")).toBe("Show spend by campaign in ads");
});

test("a question for the chat is offered only where the assistant answers it", () => {
  const ask = asksOfSource(DEFINITIONS, SOURCE)[0]!;
  const page = (isAnswered: boolean): string =>
    textsOf(
      render(FigurePart, { props: { ask, source: "ads", isAnswered, onclose: () => {} } }).body,
    );
  expect(page(true)).toContain("Ask in chat");
  expect(page(false)).not.toContain("Ask in chat");
});

test("the chart of a source has its main measure over time, with the figure of all rows", () => {
  expect(measureChoices(DEFINITIONS).map(({ label }) => label)).toEqual(["Spend", "Clicks", "CPC"]);
  const ask = chartAsk(DEFINITIONS, SOURCE, "spend");
  expect(figureTitle(ask)).toBe("Spend by day");
  expect(chartQuery(ask, "ads")).toEqual({
    source: "ads",
    measures: ["spend"],
    by: [{ time: "day" }],
    totals: true,
    limit: 500,
  });
});

test("without days, the chart has the greatest values of the first dimension", () => {
  const { time: _time, ...timeless } = DEFINITIONS;
  const ask = chartAsk(timeless, SOURCE, "spend");
  expect(figureTitle(ask)).toBe("Spend by campaign");
  expect(chartQuery(ask, "ads")).toMatchObject({ by: ["campaign"], totals: true, limit: 12 });
  const [choice] = measureChoices({ source: "ads" });
  expect(figureTitle(chartAsk({ source: "ads" }, SOURCE, choice!.value))).toBe("Number of rows");
});
