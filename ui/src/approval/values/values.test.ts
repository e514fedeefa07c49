// Values of unknown JSON as names and values, and long ids in short.
import { expect, test } from "vitest";
import { hasParts, isLongId, MOST, shortId, shownValue } from "./values";

const text = (value: unknown): string => {
  const shown = shownValue(value);
  return shown.kind === "text" ? shown.text : shown.kind;
};

test("single values are texts, and short lists of them are one line", () => {
  expect([2, true, null, "", "two", [], {}, ["a", 1]].map(text)).toEqual([
    "2",
    "Yes",
    "–",
    "–",
    "two",
    "–",
    "–",
    "a, 1",
  ]);
});

test("an object is shown by its names, also one inside a text", () => {
  const rows = [{ name: "quantity", value: 2 }];
  expect(shownValue({ quantity: 2 })).toEqual({ kind: "rows", rows, left: 0 });
  expect(shownValue('{"quantity":2}')).toEqual({ kind: "rows", rows, left: 0 });
  expect(shownValue("{not JSON")).toEqual({ kind: "text", text: "{not JSON" });
  expect([hasParts('{"a":1}'), hasParts([1]), hasParts("a"), hasParts(1)]).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test("entries with the same few names are a table", () => {
  const lines = [{ name: "Brook Pace", sizes: ["42", "43"] }, { name: "Ridge Runner" }];
  expect(shownValue(lines)).toEqual({ kind: "table", columns: ["name", "sizes"], lines, left: 0 });
  for (const other of [[{ a: 1 }], [{ a: {} }, { a: 1 }], [{ a: 1 }, 2], [{}, {}]])
    expect(text(other)).toBe("list");
});

test("what is left out is counted", () => {
  const many = Array.from({ length: MOST + 3 }, (_, n) => n);
  expect(shownValue(many)).toMatchObject({ kind: "list", left: 3 });
  expect(shownValue(Object.fromEntries(many.map((n) => [`n${n}`, n])))).toMatchObject({ left: 3 });
  expect(text([{ a: 1 }])).toBe("list");
  expect(shownValue({ a: 1 }, 9)).toEqual({ kind: "text", text: '{"a":1}' });
});

test("a long id is shown by its beginning and its end", () => {
  const hash = "4d7c7f87224b2376fcd02f6511990f761d9ee338d7d53b3096d71b414c3cab9a";
  expect(shortId(hash)).toBe("4d7c7f87…ab9a");
  expect(shortId("session_01a22e91482d77a9848882eb8f4651ec")).toBe("session_01a22e91…51ec");
  expect(shortId("5f0c1f0e-8f1c-4c1d-9b53-0d9c2f3a1b77")).toBe("5f0c1f0e…1b77");
  for (const plain of ["cart.addItem", "AUR-TR1002-BLK-43", "12345678", "decade", ""])
    expect([isLongId(plain), shortId(plain)]).toEqual([false, plain]);
});
