// Content is drawn once: an error in one place, and rows of a card not again in the answer.
import { describe, expect, test } from "vitest";
import { itemOf, viewOf } from "../../../state/testing";
import type { ItemBody } from "../../../platform/generated/ItemBody";
import { emptyTranscript, openTranscript, type Entry } from "../../../state/transcript";
import { areFigures, isShown, reportedErrors, rowsOfCards } from "./once";

type ToolResult = Extract<ItemBody, { kind: "tool_result" }>;
const MESSAGE = "The shop needs the key SHOP_KEY, which is not stored.";

function entriesOf(result: Partial<ToolResult>, answer: string): Entry[] {
  const state = emptyTranscript("s");
  const call = { call: "c1", tool: "t" };
  const items = [
    itemOf(1, { kind: "user_message", text: "hello" }),
    itemOf(2, { kind: "tool_call", ...call, title: "T", effect: "read_only", arguments: {} }),
    itemOf(3, {
      kind: "tool_result",
      ...call,
      outcome: "ok",
      summary: "",
      data: null,
      view: { shape: "plain" },
      untrusted: false,
      duration_ms: 1,
      ...result,
    }),
    itemOf(4, { kind: "assistant_text", text: answer, blocks: [], partial: false }),
  ];
  openTranscript(state, viewOf(items));
  return state.entries;
}

describe("errors of calls", () => {
  const failed = {
    outcome: "error" as const,
    error: {
      contract_version: "1",
      code: "tool_error" as never,
      message: MESSAGE,
      retryable: false,
      details: {},
    },
  };
  test("an error is not shown by the call when the answer reports it, also with escaped characters", () => {
    const told = `I could not do that: ${MESSAGE.replace("_", "\\_")} Enter it.`;
    expect(reportedErrors(entriesOf(failed, told)).size).toBe(1);
  });
  test("an error is shown by the call when the answer says something else", () => {
    expect(reportedErrors(entriesOf(failed, "I could not do that.")).size).toBe(0);
  });
});

describe("rows of a card", () => {
  const pacing = {
    insights: { daily_trend: [{ spend: 5663.4 }, { spend: 408 }] },
    rollups: { campaigns_total: [{ display_name: "Spring", campaign_name: "NW | Spring" }] },
  };
  const card = (view: string, data: unknown) =>
    [...rowsOfCards(entriesOf({ view: { shape: "named", view }, data }, "")).values()][0]!;
  const rows = (...rows: string[][]) => ({ head: [], rows });

  test("a card covers a table of the same days or campaigns, and no other table", () => {
    const shown = card("pacing", pacing);
    expect(isShown(rows(["Nov 17", "5,663 USD", "+3.0%"], ["Nov 16", "408,00 USD"]), shown)).toBe(
      true,
    );
    expect(isShown(rows(["NW | Spring", "Fernhill", "1 USD"]), shown)).toBe(true);
    expect(isShown(rows(["Nov 17", "5,663 USD"], ["Total", "6,071 USD"]), shown)).toBe(false);
    expect(isShown(rows(), shown)).toBe(false);
  });
  test("a card covers a bullet list of the same figures, and no list with another figure", () => {
    const budget = {
      portfolio_budget: 129366.82,
      spent_budget: 65240.15,
      should_have_spent: 73653.4,
    };
    const data = {
      date_range: { start: "2026-11-01", end: "2026-11-30" },
      insights: { budget_status: budget, daily_pacing: { actual_daily_rate: 3823.59 } },
    };
    const shown = card("pacing", data);
    const spent = "Spent 65,240 USD of 129,367 USD (50.4%); 73,653 USD was planned to date";
    expect(areFigures([spent, "Per day 3 824 USD"], shown)).toBe(true);
    expect(areFigures(["Förbrukat 65 240 USD av 129 367 USD (50,4 %)"], shown)).toBe(true);
    expect(areFigures([spent, "Raise it to 4,000 USD"], shown)).toBe(false);
    expect(areFigures([spent, "Look at the campaigns"], shown)).toBe(false);
    expect(areFigures([], shown)).toBe(false);
  });
  test("a card covers a list of the same products, and a comparison of them", () => {
    const shown = card("product_cards", { items: [{ name: "Trail 2" }, { name: "Trail 20" }] });
    expect(isShown(rows(["Trail 2 – 1 349 SEK"], ["Trail 20, 42"]), shown)).toBe(true);
    expect(isShown(rows(["Trail 3 – 1 349 SEK"]), shown)).toBe(false);
    expect(isShown({ head: ["", "Trail 2", "Trail 20"], rows: [["Price", "1", "2"]] }, shown)).toBe(
      true,
    );
  });
  test("a card covers a table of the same things if the shape of its result names them", () => {
    const parsed = {
      columns: [{ label: { en: "Station" }, role: "dimension", format: "text" }],
      rows: [[{ value: "Kiruna" }], [{ value: "Ystad" }]],
      total: 2,
    };
    const entries = entriesOf({ view: { shape: "table" }, parsed }, "");
    const shown = [...rowsOfCards(entries).values()][0]!;
    expect(isShown(rows(["Kiruna", "-12"], ["Ystad", "4"]), shown)).toBe(true);
    expect(isShown(rows(["Falun", "-3"]), shown)).toBe(false);
  });
  test("a turn without a card covers no table", () => {
    expect(rowsOfCards(entriesOf({}, "")).size).toBe(0);
  });
});
