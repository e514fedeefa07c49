import { expect, test } from "vitest";
import { promptTokens } from "./memories";

test("what memories add to a prompt is bounded for each of them", () => {
  expect(promptTokens([])).toBe(0);
  expect(promptTokens([{ text: "x".repeat(14) }])).toBe(10);
  const longest = promptTokens([{ text: "x".repeat(1_200) }]);
  expect(promptTokens([{ text: "x".repeat(4_000) }])).toBe(longest);
  expect(promptTokens([{ text: "å😀" }])).toBe(7);
});
