// Both languages have the same keys, the same variables, and no key twice.
import { describe, expect, test } from "vitest";
import { catalogues, en, parts, sv } from "./catalogue";
import { formatPoint, setLanguage, setTimeZone } from "./index.svelte";
import { format, safeTag, type Message } from "./plural";

const variables = (message: Message): string[] => {
  const texts = typeof message === "string" ? [message] : Object.values(message);
  return [...new Set(texts.flatMap((text) => [...text.matchAll(/\{(\w+)\}/g)].map((m) => m[1]!)))]
    .filter((name) => name !== "count")
    .sort();
};

describe("catalogue", () => {
  test("both languages have the same keys", () => {
    expect(Object.keys(sv).sort()).toEqual(Object.keys(en).sort());
  });
  test("no key is defined in two parts", () => {
    for (const language of ["en", "sv"] as const) {
      const keys = parts[language].flatMap((part) => Object.keys(part));
      expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([]);
    }
  });
  test("both languages use the same variables", () => {
    for (const [key, message] of Object.entries(catalogues.en)) {
      expect([key, variables(catalogues.sv[key]!)]).toEqual([key, variables(message)]);
    }
  });
});

describe("format", () => {
  test("picks the plural form and fills variables", () => {
    const rules = new Intl.PluralRules("en");
    const number = new Intl.NumberFormat("en");
    const message = { one: "{count} row of {file}", other: "{count} rows of {file}" };
    expect(format(message, { count: 1, file: "a.csv" }, rules, number)).toBe("1 row of a.csv");
    expect(format(message, { count: 12000, file: "a.csv" }, rules, number)).toBe(
      "12,000 rows of a.csv",
    );
  });
  test("language tags that Intl refuses become English", () => {
    for (const tag of ["C", "POSIX", "", undefined, "C.UTF-8"]) expect(safeTag(tag)).toBe("en");
    expect(safeTag("sv_SE.UTF-8")).toBe("sv-SE");
  });
});

test("a point in time names another zone only if its clocks differ", () => {
  setLanguage("en-US");
  setTimeZone("Europe/Stockholm");
  const at = "2026-11-18T13:09:00-07:00";
  const now = new Date("2026-11-18T20:30:00Z");
  const plain = (text: string | null) => text?.replace(/\s/g, " ") ?? null;
  const { time, there } = formatPoint(at, "America/Denver", now);
  expect([time, there].map(plain)).toEqual(["9:09 PM", "1:09 PM"]);
  expect(formatPoint(at, "Europe/Berlin", now).there).toBeNull();
  expect(formatPoint(at, "Nowhere/Land", now).there).toBeNull();
  expect(plain(formatPoint(at, null, new Date("2026-11-20T08:00:00Z")).time)).toBe(
    "Nov 18, 2026, 9:09 PM",
  );
  expect(plain(formatPoint(at, "Asia/Tokyo", now).there)).toBe("Nov 19, 2026, 5:09 AM");
});
