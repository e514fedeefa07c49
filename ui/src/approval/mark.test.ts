// Each line of a preview shows its change.
import { expect, test } from "vitest";
import type { PreviewState } from "../platform/generated/PreviewState";
import { marks } from "./mark";

/** Lines by name; a star marks one. */
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

test("a line that is on one side alone is new or removed, one on both is changed", () => {
  expect(both(cart("boots"), cart("boots", "shoes*"))).toEqual([[null], [null, "added"]]);
  expect(both(cart("boots*", "shoes"), cart("shoes"))).toEqual([["removed", null], [null]]);
  expect(both(cart("boots*"), cart("boots*"))).toEqual([["changed"], ["changed"]]);
  expect(both(cart(), cart("shoes*"))).toEqual([[], ["added"]]);
});

test("a second line of the same name is new", () => {
  expect(both(cart("shoes"), cart("shoes", "shoes*"))).toEqual([[null], [null, "added"]]);
});
