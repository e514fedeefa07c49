// Each line of a preview shows its change.
import { expect, test } from "vitest";
import type { PreviewState } from "../platform/generated/PreviewState";
import { marks } from "./mark";

/** Returns a cart with a line for each name; a star in the name marks the line. */
function cart(...lines: string[]): PreviewState {
  const rows = lines.map((line) => ({
    label: line.replace("*", ""),
    quantity: "1",
    amount: "5.00",
    changed: line.endsWith("*"),
  }));
  return { rows, total: "" };
}

function both(before: PreviewState, after: PreviewState) {
  const preview = { summary: "", before, after };
  return [marks(preview, "before"), marks(preview, "after")];
}

test("a line on one side only is added or removed, and a line that differs between both sides is changed", () => {
  expect(both(cart("boots"), cart("boots", "shoes*"))).toEqual([[null], [null, "added"]]);
  expect(both(cart("boots*", "shoes"), cart("shoes"))).toEqual([["removed", null], [null]]);
  expect(both(cart("boots*"), cart("boots*"))).toEqual([["changed"], ["changed"]]);
  expect(both(cart(), cart("shoes*"))).toEqual([[], ["added"]]);
});

test("a second line with the same label is added", () => {
  expect(both(cart("shoes"), cart("shoes", "shoes*"))).toEqual([[null], [null, "added"]]);
});
