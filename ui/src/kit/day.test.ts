// Days as people write them, and the field that takes them.
import { render } from "svelte/server";
import { expect, test } from "vitest";
import { dayOf } from "./day";
import TextField from "./TextField.svelte";

test("a day is read with the year first, or with points and the day first", () => {
  expect(["2026-11-30", "2026/11/30", "20261130", " 2026-1-5 ", "30.11.2026"].map(dayOf)).toEqual([
    "2026-11-30",
    "2026-11-30",
    "2026-11-30",
    "2026-01-05",
    "2026-11-30",
  ]);
});

test("a text that could be two days, or is none, is no day", () => {
  const texts = ["", "11/12/2026", "2026-11-31", "2026-13-01", "202611301", "2026-1130", "soon"];
  expect(texts.map(dayOf)).toEqual(texts.map(() => ""));
});

test("a field for a day says in which form it is written, and not today in pale letters", () => {
  const { body } = render(TextField, { props: { label: "Since", type: "date", value: "" } });
  expect(body).toMatch(/<input[^>]*type="text"[^>]*placeholder="YYYY-MM-DD"/);
  expect(body).toContain('aria-label="Choose a day"');
});
