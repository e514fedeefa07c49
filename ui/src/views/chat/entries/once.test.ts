// Content is drawn once: an error in one place, and rows of a card not again in the answer.
import { describe, expect, test } from "vitest";
import { itemOf, viewOf } from "../../../state/testing";
import type { ItemBody } from "../../../platform/generated/ItemBody";
import { emptyTranscript, openTranscript, type Entry } from "../../../state/transcript";
import { isShown, reportedErrors, rowsOfCards } from "./once";

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
  const card = (view: string, data: unknown) =>
    [...rowsOfCards(entriesOf({ view: { shape: "named", view }, data }, "")).values()][0]!;
  const rows = (...rows: string[][]) => ({ head: [], rows });

  test("a card covers a list of the same products, and a comparison of them", () => {
    const shown = card("product_cards", { items: [{ name: "Trail 2" }, { name: "Trail 20" }] });
    expect(isShown(rows(["Trail 2 – 1 349 SEK"], ["Trail 20, 42"]), shown)).toBe(true);
    expect(isShown(rows(["Trail 3 – 1 349 SEK"]), shown)).toBe(false);
    expect(isShown(rows(), shown)).toBe(false);
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
  test("a result whose view no pack has any more covers nothing, so that the answer is shown", () => {
    const gone = {
      view: { shape: "named" as const, pack: "campaign-portfolio-pacing", view: "pacing" },
      data: { rollups: { campaigns_total: [{ campaign_name: "Spring" }] } },
    };
    expect(rowsOfCards(entriesOf(gone, "| Spring | 1 |")).size).toBe(0);
  });
});
