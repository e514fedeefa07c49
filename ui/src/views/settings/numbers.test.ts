// Numbers of the settings: what is written can be read again in each language, and large values are also told in a larger unit.
import { beforeEach, expect, test } from "vitest";
import { languageSet, setLanguage } from "../../i18n/index.svelte";
import { boundText, inLargerUnit, readNumber, unitText, writeNumber, writtenIn } from "./numbers";

beforeEach(() => setLanguage("en"));
const plain = (text: string | null): string | null => text?.replace(/\s/g, " ") ?? null;

test("a number that is written is read as the same number in every language", async () => {
  for (const tag of ["en", "sv", "de"]) {
    setLanguage(tag);
    await languageSet();
    for (const value of [0, 7, 1000, 16_000, 4_000_000_000, 0.5, 0.0005, 1234.5])
      expect([tag, value, readNumber(writeNumber(value))]).toEqual([tag, value, value]);
  }
});

test("groups and both decimal signs are understood", async () => {
  expect(["16,000", "16000", "1,5", "1.5", "1,234.5"].map(readNumber)).toEqual([
    16000, 16000, 1.5, 1.5, 1234.5,
  ]);
  setLanguage("de");
  await languageSet();
  expect(["16.000", "16000", "1,5", "1.5", "0.125"].map(readNumber)).toEqual([
    16000, 16000, 1.5, 1.5, 0.125,
  ]);
});

test("a text that is no number is not read as one", () => {
  expect(["", "ten", "1.2.3", "-", "1e3"].map((text) => Number.isNaN(readNumber(text)))).toEqual([
    true,
    true,
    true,
    true,
    true,
  ]);
});

test("a large value is told in a larger unit, and a small one is not", () => {
  const told = [
    inLargerUnit(90, "seconds"),
    inLargerUnit(600, "seconds"),
    inLargerUnit(86_400, "seconds"),
    inLargerUnit(20_000, "megabytes"),
    inLargerUnit(500, "megabytes"),
    inLargerUnit(36_500, "days"),
    inLargerUnit(200_000, "characters"),
  ];
  expect(told.map(plain)).toEqual([
    null,
    "10 minutes",
    "24 hours",
    "20 GB",
    null,
    "100 years",
    null,
  ]);
});

test("zero has a meaning of its own", () => {
  expect([
    unitText(0, "dollars", "no limit"),
    unitText(1, "messages", "no limit"),
    unitText(600, "seconds", null),
    unitText(3, "none", null),
  ]).toEqual(["US dollars (no limit)", "message", "seconds (10 minutes)", ""]);
});

test("a time of whole minutes, hours or days is written in them, and other values as they are", () => {
  const sizes = [600, 90, 3600, 86_400, 0].map((value) => writtenIn(value, "seconds"));
  expect(sizes).toEqual([
    { unit: "minutes", size: 60 },
    { unit: "seconds", size: 1 },
    { unit: "hours", size: 3600 },
    { unit: "days", size: 86_400 },
    { unit: "seconds", size: 1 },
  ]);
  expect(writtenIn(600, "tokens")).toEqual({ unit: "tokens", size: 1 });
  expect([boundText(5, "seconds"), boundText(3600, "seconds"), boundText(1000, "tokens")]).toEqual([
    "5 seconds",
    "1 hour",
    "1,000",
  ]);
});
