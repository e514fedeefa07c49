// The profile of columns: how it is read, and its figures in words.
import { render } from "svelte/server";
import { beforeEach, expect, test, vi } from "vitest";
import { setLanguage } from "../../../i18n/index.svelte";
import type { ColumnProfile } from "../../../platform/generated/ColumnProfile";
import type { FoundColumn } from "../../../platform/generated/FoundColumn";
import { COLUMNS, foundColumn, textsOf } from "../testing";
import ProfileCard from "./ProfileCard.svelte";
import { ProfileState } from "./profile.svelte";
import { basisText, partsOf, rangesText, shareText, valueText } from "./words";

const host = vi.hoisted(() => ({
  asked: [] as string[][],
  answer: (_: string[]): unknown => ({}),
}));
vi.mock("../../../platform", async (original) => ({
  ...(await original<typeof import("../../../platform")>()),
  call: async (_: string, { columns }: { columns: string[] }) => {
    host.asked.push(columns);
    await Promise.resolve();
    return host.answer(columns);
  },
}));

const profileOf = (name: string, rest: Partial<ColumnProfile> = {}): ColumnProfile => ({
  name,
  kind: "text",
  empty: 0,
  distinct: 2,
  is_distinct_estimated: false,
  frequent: [],
  ranges: [],
  notes: [],
  ...rest,
});
const found = (names: string[], left: string[] = [], version = "v1") => ({
  columns: names.map((name) => profileOf(name)),
  left,
  rows: 60,
  basis: "all_rows" as const,
  version,
  notes: [],
});
const tooLong = (): Promise<never> => {
  const error = { code: "tool_timeout", message: "Too long.", retryable: true };
  // The host rejects with such an object.
  // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
  return Promise.reject({ ...error, details: { reason: "question_too_long" } });
};
const NAMES = Array.from({ length: 20 }, (_, at) => `c${at}`);

beforeEach(() => {
  host.asked = [];
  host.answer = found;
  setLanguage("en");
});

test("columns are read in parts, and those that are left are asked for again", async () => {
  host.answer = (columns) => {
    const names = columns;
    return found(names.slice(0, 8), names.slice(8));
  };
  const profile = new ProfileState("ads");
  await profile.read(NAMES);
  expect(host.asked.map((columns) => columns.length)).toEqual([12, 12, 4]);
  expect([...profile.columns.keys()]).toEqual(NAMES);
  expect(profile.isRunning).toBe(false);
  await profile.read(NAMES);
  expect(host.asked.length).toBe(3);
});

test("a column that takes too long is named, and the others are computed", async () => {
  host.answer = (columns) => (columns.includes("c1") ? tooLong() : found(columns));
  const profile = new ProfileState("ads");
  await profile.read(NAMES);
  expect([...profile.slow]).toEqual(["c1"]);
  expect(profile.columns.size).toBe(19);
  expect(profile.error).toBeNull();
});

test("another failure is shown, and what was read stays", async () => {
  host.answer = (columns) =>
    columns.includes("c0") ? found(columns) : Promise.reject(new Error("It is gone."));
  const profile = new ProfileState("ads");
  await profile.read(NAMES);
  expect(profile.error?.message).toBe("It is gone.");
  expect(profile.columns.size).toBe(12);
  host.answer = found;
  await profile.read(NAMES);
  expect([profile.error, profile.columns.size]).toEqual([null, 20]);
});

test("figures of two states of the rows do not stand beside each other", async () => {
  let version = "v1";
  host.answer = (columns) => found(columns, [], version);
  const profile = new ProfileState("ads");
  await profile.read(["a"]);
  version = "v2";
  await profile.read(["a", "b"]);
  expect([...profile.columns.keys()].sort()).toEqual(["a", "b"]);
  expect(host.asked).toEqual([["a"], ["b"], ["a"]]);
});

test("reading stops, and nothing is taken after that", async () => {
  const profile = new ProfileState("ads");
  const reading = profile.read(NAMES);
  profile.stop();
  await reading;
  expect([profile.columns.size, profile.isRunning, host.asked.length]).toEqual([0, false, 1]);
});

test("values are written as people read them, and ids stay as they are", () => {
  const cost = COLUMNS[3]!;
  const text = (value: string, column: FoundColumn): string =>
    valueText(value, column).replace(/\s/g, " ");
  expect(text("-1234567.50", cost)).toBe("-1,234,567.5");
  expect(text("12345678901234567890.10", cost)).toBe("12,345,678,901,234,567,890.1");
  expect(text("1e308", cost)).toBe("1E308");
  expect(text("0012", foundColumn("id", { kind: "whole", use: "id" }))).toBe("0012");
  expect(
    text("0.125", foundColumn("rate", { kind: "decimal", use: "ratio", unit: "percent" })),
  ).toBe("12.5%");
  expect(text("2026-11-01", COLUMNS[0]!)).toBe("Nov 1, 2026");
  expect(text("true", foundColumn("paid", { kind: "flag" }))).toBe("Yes");
});

test("a small share is not nothing, and nearly all is not all", () => {
  expect(shareText(0, 60)).toBe("0");
  expect(shareText(30, 60)).toBe("30 (50%)");
  expect(shareText(1, 1_000_000)).toBe("1 (about 0.1%)");
  expect(shareText(999_999, 1_000_000)).toBe("999,999 (about 99.9%)");
  expect(shareText(60, 60)).toBe("60 (100%)");
});

test("a last range with fewer days has a narrower bar", () => {
  const weeks = [
    { from: "2026-11-01", to: "2026-11-07" },
    { from: "2026-11-08", to: "2026-11-14" },
    { from: "2026-11-15", to: "2026-11-16" },
  ];
  expect(partsOf(COLUMNS[0]!, weeks)).toEqual([1, 1, 2 / 7]);
  expect(partsOf(COLUMNS[0]!, weeks.slice(0, 2))).toEqual([1, 1]);
  expect(partsOf(COLUMNS[3]!, [{ from: "0.00", to: "4.99" }])).toEqual([1]);
});

test("a sample is said", () => {
  const basis = { rows: 200_000, basis: "sample" as const, estimated_rows: 3e6, notes: [] };
  expect(basisText(basis)).toBe("Computed from a sample of 200,000 rows of about 3,000,000.");
  expect(basisText({ ...basis, basis: "first_rows" })).toContain("There are more.");
});

test("a card has the figures, the ranges in words, and hostile values as text", () => {
  const column = COLUMNS[3]!;
  const profile = profileOf("Cost", {
    kind: "decimal",
    empty: 6,
    distinct: 40,
    is_distinct_estimated: true,
    least: "0.00",
    greatest: "9.99",
    mean: "4.5",
    frequent: [
      { value: "<img src=x onerror=alert(1)>", rows: 3 },
      { value: "<img src=x onerror=alert(1)>", rows: 2 },
    ],
    ranges: [
      { from: "0.00", to: "4.99", rows: 50 },
      { from: "5.00", to: "9.99", rows: 4 },
    ],
    notes: ["The mean is not computed."],
  });
  expect(rangesText(profile, column)).toBe(
    "Values from 0 to 9.99. The most rows in one range: 50 from 0 to 4.99.",
  );
  const { body } = render(ProfileCard, {
    props: {
      column,
      profile,
      rows: 60,
      isSlow: false,
      isRunning: false,
      total: "750.00 EUR",
      ask: { measure: "spend", by: null, where: null },
      askOf: () => null,
      titleOf: () => "Show spend",
      onask: () => {},
      oncorrect: () => {},
    },
  });
  expect(body).not.toContain("<img");
  expect(body).toContain('role="img"');
  expect(body).toContain("Correct Cost");
  expect(textsOf(body)).toContain(
    "Decimal number · summed · EUR Empty 6 (10%) Different values about 40 Smallest 0.00 EUR Largest 9.99 EUR Mean 4.50 EUR Total 750.00 EUR",
  );
  expect(textsOf(body)).toContain("The mean is not computed. Show spend");
});

test("a slow column and one that is being computed say so", () => {
  const card = (isSlow: boolean, isRunning: boolean): string =>
    textsOf(
      render(ProfileCard, {
        props: {
          column: COLUMNS[1]!,
          profile: null,
          rows: 0,
          isSlow,
          isRunning,
          total: "",
          ask: null,
          askOf: () => null,
          titleOf: () => "",
          onask: () => {},
          oncorrect: null,
        },
      }).body,
    );
  expect(card(true, true)).toContain("The figures of this column take too long.");
  expect(card(false, true)).toContain("Text · name");
  expect(card(false, false)).toContain("First values: Brand · Shoes");
});
