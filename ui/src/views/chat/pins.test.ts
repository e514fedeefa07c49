// The results that are shown beside a conversation.
import { expect, test } from "vitest";
import type { ResultView } from "../../platform/generated/ResultView";
import { itemOf } from "../../state/testing";
import { emptyTranscript, takeItems } from "../../state/transcript";
import { placesOf, titleOf } from "./pins";

const shown = (seq: number, tool: string, view: ResultView) =>
  itemOf(seq, {
    kind: "tool_result",
    call: `c${seq}`,
    tool,
    outcome: "ok",
    summary: "",
    data: { seq },
    view,
    untrusted: false,
    duration_ms: 1,
  });
const table: ResultView = { shape: "table", columns: [{ field: "a" }], pinned: true };
const cart: ResultView = { shape: "named", pack: "shop", view: "cart", pinned: true };

test("each tool has a place, tools with the same named view share one, and the newest place comes first", () => {
  const state = emptyTranscript("s");
  takeItems(state, [
    shown(1, "cart.add", cart),
    shown(2, "stations", table),
    shown(3, "cart.get", cart),
    shown(4, "rooms", table),
    shown(5, "stations", { ...table, pinned: false }),
  ]);
  expect(placesOf(state).map(({ place, result }) => [place, result?.call])).toEqual([
    ["tool rooms", "c4"],
    ["view cart", "c3"],
    ["tool stations", "c2"],
  ]);
});

test("a standing view comes last while it has no result", () => {
  expect(placesOf(null).map(({ place }) => place)).toEqual(["view cart"]);
  const state = emptyTranscript("s");
  takeItems(state, [shown(2, "stations", table)]);
  expect(placesOf(state).map(({ place, panel }) => [place, panel !== null])).toEqual([
    ["tool stations", false],
    ["view cart", true],
  ]);
  const result = placesOf(state)[0]!.result!;
  expect(titleOf(state, result)).toBe("stations");
  state.entries = [];
  expect(titleOf(state, result)).toBe("stations");
});
