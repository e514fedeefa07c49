// Finding in a conversation: which messages have a text, the way from one to the next, and where the text is.
import { expect, test } from "vitest";
import type { MessageHit } from "../../platform/generated/MessageHit";
import { itemOf, viewOf } from "../../state/testing";
import { emptyTranscript, openTranscript } from "../../state/transcript";
import { joinMatches, loadedMatches, rangesIn, stepMatch } from "./find";

const hit = (seq: number): MessageHit => ({
  session: "s",
  title: "",
  item: `i${seq}`,
  seq,
  at: "",
  from_user: true,
  snippet: [],
});

test("messages that are loaded and messages that the host found are joined in order", () => {
  const state = emptyTranscript("s");
  openTranscript(
    state,
    viewOf([
      itemOf(7, { kind: "user_message", text: "Spend by week" }),
      itemOf(8, { kind: "assistant_text", text: "The spend is 5.", partial: false }),
      itemOf(9, { kind: "notice", level: "info", code: "x", text: "spend" }),
    ]),
  );
  const loaded = loadedMatches(state.entries, "SPEND");
  expect(loaded).toEqual([7, 8]);
  expect(joinMatches(loaded, [hit(8), hit(2)])).toEqual([2, 7, 8]);
});

test("the search begins at the newest message and goes round the ends", () => {
  const matches = [2, 7, 8];
  expect(stepMatch(matches, null, -1)).toBe(8);
  expect([stepMatch(matches, 8, 1), stepMatch(matches, 2, -1)]).toEqual([2, 8]);
  expect([stepMatch(matches, 7, 1), stepMatch(matches, 7, -1)]).toEqual([8, 2]);
  expect([stepMatch(matches, 5, 1), stepMatch([], 5, 1)]).toEqual([8, null]);
});

test("a text is found in any case, or each of its words", () => {
  expect(rangesIn("Spend, SPEND and spending", "spend")).toEqual([
    [0, 5],
    [7, 12],
    [17, 22],
  ]);
  expect(rangesIn("spend by week, by day", "week spend")).toEqual([
    [0, 5],
    [9, 13],
  ]);
  expect(rangesIn("spend by day", "week spend")).toEqual([]);
  expect([rangesIn("İstanbul x", "x"), rangesIn("a", " ")]).toEqual([[[9, 10]], []]);
});
