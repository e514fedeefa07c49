// An answer is read before the cards that it explains.
import { expect, test } from "vitest";
import { itemOf, viewOf } from "../../../state/testing";
import type { ItemBody } from "../../../platform/generated/ItemBody";
import { emptyTranscript, openTranscript, type Entry } from "../../../state/transcript";
import { explainedAnswers, readingOrder } from "./order";

const question = (text: string): ItemBody => ({ kind: "user_message", text });
const answer = (text: string, partial = false): ItemBody => ({
  kind: "assistant_text",
  text,
  blocks: [],
  partial,
});
const result = (call: string, view: string): ItemBody => ({
  kind: "tool_result",
  call,
  tool: call,
  outcome: "ok",
  summary: "",
  data: null,
  view: view === "plain" ? { shape: "plain" } : { shape: "named", view },
  untrusted: false,
  duration_ms: 1,
});

function entriesOf(...bodies: ItemBody[]): Entry[] {
  const state = emptyTranscript("s");
  openTranscript(state, viewOf(bodies.map((body, index) => itemOf(index + 1, body))));
  return state.entries;
}
const names = (entries: readonly Entry[]): string[] =>
  entries.map((entry) =>
    entry.kind === "tool" ? entry.tool : "text" in entry ? (entry.text as string) : entry.kind,
  );

test("an answer is shown before the cards of its turn, and after calls without a card", () => {
  const entries = entriesOf(
    question("q"),
    result("route", "plain"),
    result("cart", "cart"),
    result("products", "product_cards"),
    answer("Yes."),
  );
  expect(names(readingOrder(entries))).toEqual(["q", "route", "Yes.", "cart", "products"]);
});

test("each answer of a turn moves before its own cards only", () => {
  const entries = entriesOf(
    question("q"),
    answer("I look."),
    result("a", "cart"),
    answer("First."),
    result("b", "plain"),
    answer("Second."),
  );
  expect(names(readingOrder(entries))).toEqual(["q", "I look.", "First.", "a", "b", "Second."]);
});

test("a notice after an answer explains it, also when the answer has moved", () => {
  const entries = entriesOf(question("q"), result("a", "cart"), answer("Half", true), {
    kind: "notice",
    level: "info",
    code: "turn_cancelled",
    text: "Stopped.",
  });
  const half = entries.find((entry) => entry.kind === "assistant")!;
  expect(explainedAnswers(entries)).toEqual(new Set([half.key]));
  expect(names(readingOrder(entries))).toEqual(["q", "Half", "a", "Stopped."]);
});
