// The lines around an answer: corrected calls, and its origin.
import { render } from "svelte/server";
import { beforeEach, expect, test } from "vitest";
import { setLanguage } from "../../../i18n/index.svelte";
import type { ItemBody } from "../../../platform/generated/ItemBody";
import { itemOf, viewOf } from "../../../state/testing";
import {
  emptyTranscript,
  openTranscript,
  type Entry,
  type ToolEntry,
} from "../../../state/transcript";
import CorrectedLine from "./CorrectedLine.svelte";
import ProvenanceLine from "./ProvenanceLine.svelte";
import { corrections } from "./corrected";
import { isEmpty, provenances } from "./provenance";

beforeEach(() => setLanguage("en"));

const PROMPT = "The arguments of Search do not fit: /limit is required";

function entriesOf(...bodies: ItemBody[]): Entry[] {
  const state = emptyTranscript("s");
  openTranscript(state, viewOf(bodies.map((body, index) => itemOf(index + 1, body))));
  return state.entries;
}

const call = (id: string, tool: string): ItemBody => ({
  kind: "tool_call",
  call: id,
  tool,
  title: tool,
  effect: "read_only",
  arguments: { q: id },
});

function result(
  id: string,
  tool: string,
  code: "invalid_input" | "tool_http_error" | null,
): ItemBody {
  const error = code && {
    contract_version: "1.0",
    code,
    message: PROMPT,
    retryable: false,
    details: {},
  };
  return {
    kind: "tool_result",
    call: id,
    tool,
    outcome: error ? "error" : "ok",
    summary: error ? PROMPT : "2 found",
    data: null,
    ...(error && { error }),
    view: { shape: "plain" },
    untrusted: false,
    duration_ms: 1,
  };
}

const answer = (more: Partial<Extract<ItemBody, { kind: "assistant_text" }>> = {}): ItemBody => ({
  kind: "assistant_text",
  text: "Done.",
  partial: false,
  ...more,
});
const question: ItemBody = { kind: "user_message", text: "q" };

test("a refused call that the model repeated correctly is a corrected call, and other refused calls stay failures", () => {
  const entries = entriesOf(
    question,
    call("a", "Search"),
    result("a", "Search", "invalid_input"),
    call("b", "Search"),
    result("b", "Search", null),
    call("c", "Cart"),
    result("c", "Cart", "invalid_input"),
    call("d", "Stock"),
    result("d", "Stock", "tool_http_error"),
    call("e", "Stock"),
    result("e", "Stock", null),
  );
  expect([...corrections(entries, null)]).toEqual([["call:a", "corrected"]]);
  // The model may still make the other call again.
  expect([...corrections(entries, "t")]).toEqual([
    ["call:a", "corrected"],
    ["call:c", "correcting"],
  ]);
  expect([...corrections(entries, "another")]).toEqual([["call:a", "corrected"]]);
});

test("a corrected call is one line, with the refusal in its details", () => {
  const entry = entriesOf(question, call("a", "Search"), result("a", "Search", "invalid_input"))[1];
  const { body } = render(CorrectedLine, {
    props: { entry: entry as ToolEntry, how: "corrected" },
  });
  const [line, details] = body.split("</summary>");
  expect(line).toContain("Corrected: Search");
  expect(line).not.toContain(PROMPT);
  expect(details).toContain(PROMPT);
});

test("each answer has the sources since the previous answer, and the last answer has the held-back values", () => {
  const counts = [{ kind: "email" as const, count: 2 }];
  const redaction: ItemBody = { kind: "redaction", level: "basic", counts };
  const entries = entriesOf(
    question,
    redaction,
    call("a", "Search"),
    result("a", "Search", null),
    answer({ text: "First." }),
    call("b", "Stock"),
    result("b", "Stock", null),
    answer({ agent: "Shopping", remembered: ["m1"] }),
    redaction,
    question,
    answer(),
  );
  const { byAnswer, inLines } = provenances(entries);
  const [first, second, last] = entries
    .filter(({ kind }) => kind === "assistant")
    .map(({ key }) => byAnswer.get(key)!);
  expect(first!.sources.map(({ tool }) => tool)).toEqual(["Search"]);
  expect(second!.sources.map(({ tool }) => tool)).toEqual(["Stock"]);
  expect([first!.heldBack, second!.heldBack]).toEqual([counts, counts]);
  expect([isEmpty(last!), inLines.size]).toEqual([true, 2]);
  const { body } = render(ProvenanceLine, { props: { provenance: second! } });
  const text = body
    .split("</summary>")[0]!
    .replace(/<[^>]*>/g, "")
    .trim();
  expect(text).toBe("Shopping · 1 source · Remembered 1 · 2 values were held back from the model");
});

test("held-back values without an answer keep their line", () => {
  const counts = [{ kind: "email" as const, count: 1 }];
  const entries = entriesOf(question, { kind: "redaction", level: "basic", counts });
  expect(provenances(entries).inLines.size).toBe(0);
});
