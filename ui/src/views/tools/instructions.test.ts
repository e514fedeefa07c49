// Instructions of tools: the same ones are shown once, a search finds their words, and usual limits are told once.
import { expect, test } from "vitest";
import type { InstructionsView } from "../../platform/generated/InstructionsView";
import { fits, joinSame, lastUsed, usualLimits } from "./instructions";

function view(tool: string, place: string | null, last_used: string | null): InstructionsView {
  const sections = [{ title: "Figures", keywords: ["total"], score: 0, chosen: false }];
  return {
    tool,
    title: tool,
    state: place === null ? "missing" : "found",
    place,
    problems: [],
    sections: place === null ? [] : sections,
    whole: false,
    characters: 0,
    last_used,
  };
}

test("tools with the same instructions stand together, and those without any last", () => {
  const views = [
    view("hold", null, null),
    view("query", "data.md", "2026-11-01T10:00:00Z"),
    view("chart", "data.md", "2026-11-02T10:00:00Z"),
    view("cart", "shop.md", null),
  ];
  const joined = joinSame(views);
  expect(joined.map(({ tools }) => tools)).toEqual([["query", "chart"], ["cart"], ["hold"]]);
  expect(lastUsed(views, ["query", "chart"])).toBe("2026-11-02T10:00:00Z");
  expect(lastUsed(views, ["cart"])).toBe("");
});

test("a search finds all of its words in any order, and an empty one finds everything", () => {
  expect(fits("TOTAL chart", ["Draw a chart", "total"])).toBe(true);
  expect(fits("total cart", ["Draw a chart", "total"])).toBe(false);
  expect(fits("", [])).toBe(true);
});

test("the limits of most specialists are the usual ones", () => {
  const [few, usual] = [
    { rounds: 5, calls_per_round: 3 },
    { rounds: 6, calls_per_round: 3 },
  ];
  expect(usualLimits([few, usual, usual])).toEqual(usual);
  expect(usualLimits([])).toBeNull();
});
