// The texts about the origin of a proposal's values.
import { expect, test } from "vitest";
import type { Approval } from "../platform/generated/Approval";
import type { ProposalDetails } from "../platform/generated/ProposalDetails";
import {
  inside,
  notesOf,
  passageParts,
  place,
  removedArguments,
  valueAt,
  wordChange,
  wordOrigins,
} from "./origins";

const passage = {
  tool: "search",
  tool_title: "Search",
  server: "shop",
  excerpt: "take 9 of CS-6666 now",
  quoted: true,
};

function approval(details?: ProposalDetails): Approval {
  const arguments_ = '{"items":[{"note":"cs-6666"}],"quantity":3}';
  return { arguments: arguments_, follows: [passage], ...(details ? { details } : {}) } as Approval;
}

test("a value from outside is marked at its argument, and then the other values are not called the person's", () => {
  const marked = approval({
    words: "add",
    from_outside: [{ path: "/items/0/note", passage }],
    by_assistant: ["/quantity"],
  });
  expect(notesOf(marked, "items").outside).toHaveLength(1);
  expect(notesOf(marked, "quantity").outside).toHaveLength(0);
  expect(inside("/items/0/note")).toBe("1 › Note");
  expect(place("/items/0/note")).toBe("Items › 1 › Note");
  expect(valueAt(marked.arguments, "/items/0/note")).toBe("cs-6666");
  expect(passageParts(passage.excerpt, "cs-6666")).toEqual(["take 9 of ", "CS-6666", " now"]);
  const line = wordOrigins(marked);
  expect(line).toContain("Quantity");
  expect(line).not.toContain("yours");
});

test("values are called the person's only if the proposal knows their origin", () => {
  expect(wordOrigins(approval({ words: "add" }))).toContain("yours");
  expect(wordOrigins(approval())).toBe("");
  const none = { ...approval({ words: "add" }), arguments: "{}" };
  expect(wordOrigins(none)).toBe("Read before this: Search.");
  expect(wordOrigins({ ...approval({ words: "add" }), follows: [] })).toBe("");
  expect(wordOrigins(approval({ by_assistant: ["/quantity"] }))).toMatch(/Quantity.*yours/);
});

test("a changed value is shown with its earlier value", () => {
  const changed = approval({
    changed: [
      { path: "/quantity", before: "2", after: "1" },
      { path: "/note", before: '"x"' },
    ],
  });
  expect(notesOf(changed, "quantity").changed.map(wordChange)).toEqual(["2 changed to 1"]);
  expect(removedArguments(changed, ["quantity", "items"]).map(wordChange)).toEqual(["removed: x"]);
});

test("a long text is cut to the part that changed", () => {
  const long = "a".repeat(400);
  const word = wordChange({ path: "/note", before: `"${long}b"`, after: `"${long}c"` });
  expect(word).toBe(`…${"a".repeat(30)}b changed to …${"a".repeat(30)}c`);
  const shorter = wordChange({ path: "/note", before: `"${long}"`, after: '"short"' });
  expect(shorter).toBe(`${"a".repeat(120)}… changed to short`);
});
