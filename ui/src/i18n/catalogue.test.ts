// Every language has the keys and variables of English, and no key twice. A draft may lack keys.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { FALLBACK, languageOf, languages, partsOf, textsOf } from "./catalogue";
import { formatPoint, setLanguage, setTimeZone } from "./index.svelte";
import { format, safeTag, type Message } from "./plural";

const variables = (message: Message): string[] => {
  const texts = typeof message === "string" ? [message] : Object.values(message);
  return [...new Set(texts.flatMap((text) => [...text.matchAll(/\{(\w+)\}/g)].map((m) => m[1]!)))]
    .filter((name) => name !== "count")
    .sort();
};

const ROOT = join(import.meta.dirname, "..");

interface Use {
  file: string;
  key: string;
  /** The variables that are written beside the text. */
  names: string[];
}

/** Returns the names of the members of an object literal; null if the literal includes another object. */
function memberNames(source: string): string[] | null {
  let depth = 0;
  let member = "";
  const members: string[] = [];
  for (const c of source) {
    if ("({[".includes(c)) depth += 1;
    else if (")}]".includes(c)) depth -= 1;
    if (depth === 0) break;
    if (depth === 1 && c === ",") {
      members.push(member);
      member = "";
    } else if (depth > 1 || c !== "{") member += c;
  }
  const names = [...members, member].map((text) => text.trim()).filter((text) => text !== "");
  if (names.some((name) => name.startsWith("..."))) return null;
  return names.map((name) => /^\w+/.exec(name)?.[0] ?? "");
}

/** Returns each use of a text with the variables that are written beside it. */
function usesOf(file: string): Use[] {
  const source = readFileSync(join(ROOT, file), "utf8");
  return [...source.matchAll(/\bt\(\s*"([\w.]+)"\s*(\)|,\s*\{)/g)].flatMap((found) => {
    const [whole, key, end] = found;
    const start = found.index + whole.length - 1;
    const names = end === ")" ? [] : memberNames(source.slice(start));
    return key && names ? [{ file, key, names }] : [];
  });
}

describe("catalogue", () => {
  test("each use of a text fills its variables", () => {
    const files = readdirSync(ROOT, { recursive: true, encoding: "utf8" }).filter((name) =>
      /(?<!\.test)\.(ts|svelte)$/.test(name),
    );
    const uses = files.flatMap(usesOf);
    expect(uses.length).toBeGreaterThan(500);
    const unfilled = uses.flatMap(({ file, key, names }) =>
      variables(textsOf(FALLBACK)[key] ?? "")
        .filter((name) => !names.includes(name))
        .map((name) => `${file}: ${key} {${name}}`),
    );
    expect(unfilled).toEqual([]);
  });

  test("every language has the keys of English, and a draft has no further keys", () => {
    const keys = Object.keys(textsOf(FALLBACK));
    expect(languages.length).toBeGreaterThan(1);
    for (const { tag, draft } of languages) {
      const own = Object.keys(textsOf(tag));
      expect([tag, own.filter((key) => !keys.includes(key))]).toEqual([tag, []]);
      const missing = keys.filter((key) => !own.includes(key));
      if (!draft) expect([tag, missing]).toEqual([tag, []]);
    }
  });
  test("no key is defined in two parts", () => {
    for (const { tag } of languages) {
      const keys = partsOf(tag).flatMap((part) => Object.keys(part));
      expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([]);
    }
  });
  test("all languages use the same variables", () => {
    for (const { tag } of languages)
      for (const [key, message] of Object.entries(textsOf(tag)))
        expect([tag, key, variables(message!)]).toEqual([
          tag,
          key,
          variables(textsOf(FALLBACK)[key]!),
        ]);
  });
  test("a tag without texts falls back to English", () => {
    expect(["sv-SE", "en-GB", "fi", "sv"].map(languageOf)).toEqual(["sv", "en", "en", "sv"]);
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
