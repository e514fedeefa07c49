// Size, age and state of sources in words, their order and the search.
import { beforeEach, expect, test } from "vitest";
import { setLanguage, setTimeZone } from "../../../i18n/index.svelte";
import { sourceOf } from "../testing";
import {
  ageOf,
  computedText,
  fitsSearch,
  freshText,
  nextSourceOrder,
  settlesText,
  sizeText,
  sortedSources,
  type SortKey,
} from "./facts";

const NOON = new Date("2026-11-02T12:00:00Z");

beforeEach(() => {
  setLanguage("en");
  setTimeZone("UTC");
});

test("a size has the unit that people read it in", () => {
  expect([0, 999, 1000, 15_400, 1_540_000, 9_960_000_000].map(sizeText)).toEqual([
    "0 bytes",
    "999 bytes",
    "1 kB",
    "15 kB",
    "1.5 MB",
    "10 GB",
  ]);
});

test("a source without rows of its own says what it is computed from", () => {
  expect(computedText(sourceOf("ads"))).toBe("");
  const pacing = { ...sourceOf("pacing"), computed_from: ["ads", "budgets"] };
  expect(computedText(pacing)).toBe("Computed from ads and budgets");
});

test("the age is that of the last day, in the reader's zone", () => {
  const source = sourceOf("ads");
  expect(freshText(source, NOON)).toBe("2 days old");
  expect(ageOf(source, new Date("2026-11-02T23:30:00Z"))).toBe(2);
  setTimeZone("Asia/Tokyo");
  expect(ageOf(source, new Date("2026-11-02T23:30:00Z"))).toBe(3);
  setTimeZone("UTC");
  expect(freshText(source, new Date("2026-10-31T08:00:00Z"))).toBe("Up to today");
  expect(freshText(source, new Date("2026-10-01T08:00:00Z"))).toBe("Ends in the future");
});

test("rows without days have the age of their import, and those of a database are live", () => {
  const source = sourceOf("ads", { days: undefined as never });
  expect(freshText(source, new Date("2026-11-30T12:00:00Z"))).toBe("Imported 3 hr. ago");
  expect(freshText(sourceOf("ads", { days: undefined as never, imports: [] }), NOON)).toBe("–");
  const kind = {
    at: "database",
    address: "postgres://h",
    driver: "postgresql",
    table: "t",
  } as const;
  expect(freshText(sourceOf("orders", { kind }), NOON)).toBe("Live");
  expect(settlesText(source)).toBe("");
  expect(settlesText(sourceOf("ads", { settles_after: 1 }))).toBe(
    "The last 1 day may still change",
  );
});

test("sources are sorted by each heading; those without a value come last in both directions", () => {
  const list = [
    sourceOf("b", { rows: 5, status: "ready", bytes: 10 }),
    sourceOf("c", { rows: undefined as never, status: "damaged", bytes: undefined as never }),
    sourceOf("a", { rows: 9, status: "to_approve", bytes: 2 }),
  ];
  const names = (by: SortKey, descending = false): string =>
    sortedSources(list, { by, descending })
      .map(({ name }) => name)
      .join("");
  expect([names("name"), names("name", true)]).toEqual(["abc", "cba"]);
  expect([names("rows"), names("rows", true)]).toEqual(["bac", "abc"]);
  expect([names("size"), names("size", true)]).toEqual(["abc", "bac"]);
  expect(names("status")).toBe("cab");
  expect(names("days")).toBe("abc");
  expect(nextSourceOrder("rows", { by: "name", descending: false })).toEqual({
    by: "rows",
    descending: true,
  });
  expect(nextSourceOrder("rows", { by: "rows", descending: true }).descending).toBe(false);
});

test("a search finds names, files and columns by all its words", () => {
  const source = sourceOf("google_ads");
  for (const words of ["", "GOOGLE", "november", "campaign id", "ads cost"])
    expect(fitsSearch(source, words)).toBe(true);
  for (const words of ["meta", "google meta"]) expect(fitsSearch(source, words)).toBe(false);
});
