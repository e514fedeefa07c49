// Specialists named with @ in the message field.
import { expect, test } from "vitest";
import { fitting, mentionAt, withName } from "./mention";

const agents = [
  { id: "a", name: "Alma", enabled: true },
  { id: "b", name: "Åke Berg", enabled: true },
  { id: "c", name: "Alva", enabled: false },
];

test("a name is typed after an @ that begins a word", () => {
  expect(mentionAt("@", 1)).toEqual({ at: 0, typed: "" });
  expect(mentionAt("ask @al today", 7)).toEqual({ at: 4, typed: "al" });
  for (const text of ["", "al", "me@example", "@al today", "@@"])
    expect(mentionAt(text, text.length)).toBeNull();
});

test("specialists that may answer and fit the typed text are offered", () => {
  const ids = (typed: string): string[] => fitting(agents, typed).map(({ id }) => id);
  expect([ids(""), ids("AL"), ids("å"), ids("b"), ids("x")]).toEqual([
    ["a", "b"],
    ["a"],
    ["b"],
    ["b"],
    [],
  ]);
});

test("the chosen name replaces the typed text", () => {
  expect(withName("ask @al today", { at: 4, typed: "al" }, "Alma")).toEqual({
    text: "ask @Alma today",
    caret: 10,
  });
  expect(withName("@", { at: 0, typed: "" }, "Åke Berg")).toEqual({
    text: "@Åke Berg ",
    caret: 10,
  });
});
