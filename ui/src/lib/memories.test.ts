import { expect, test } from "vitest";
import { promptTokens } from "./memories";

test("each memory adds a bounded number of tokens to a prompt", () => {
  expect(promptTokens([])).toBe(0);
  expect(promptTokens([{ text: "x".repeat(14) }])).toBe(10);
  const longest = promptTokens([{ text: "x".repeat(1_200) }]);
  expect(promptTokens([{ text: "x".repeat(4_000) }])).toBe(longest);
  expect(promptTokens([{ text: "å😀" }])).toBe(7);
});
