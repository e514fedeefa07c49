// Every sentence that Rust shows to a person has a Swedish translation. The test reads the sources, so that no new sentence can be
// forgotten.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { FilledText } from "../platform/generated/FilledText";
import { sentencesOf } from "./catalogue";
import { named, worded, wordedError, wordedHint } from "./host";
import { setLanguage } from "./index.svelte";

const ROOT = join(import.meta.dirname, "../../..");
const swedish = Object.fromEntries(sentencesOf("sv").filter(([key]) => !/^[a-z0-9_]+$/.test(key)));
/** The crates whose sentences reach the window. `csign` speaks English; the offline model and the shop have both languages themselves. */
const ROOMS = [
  "analytics",
  "audit",
  "contract",
  "embedding",
  "engine",
  "files",
  "host",
  "mcp",
  "models",
  "packs",
  "policy",
  "secrets",
  "shared-sessions",
  "store",
  "tabular",
].map((room) => `src-tauri/crates/${room}/src`);
/** Files that are left out: texts for models or for authors of packs, texts in both languages, and programs for tests. */
const ELSEWHERE =
  /offline|texts?\.rs|args\.rs|prompt\.rs|tests?\.rs|\/dev\.rs|toolkit|entities\.rs|instructions\.rs|history\.rs|route\.rs|route_tool\.rs|abilities\.rs|results\.rs|evaluat|packs\/src\/(check|load|shape|files|instructions|templates|scaffold)|report\/words\.rs|verify|(serve|database)\/server\.rs|sign_in\.rs|calibration\.rs/;
/** Texts that are not sentences for a person. */
const OTHER = new Set([
  "Answer the user now, in text.",
  "Gives the answer.",
  "The supervisor asks again: see the new supervisor_instruction.",
  "Read for a preview.",
]);

const HOLE = /\{(\w+)\}/g;

function sources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".rs"))
    .map((name) => `${folder}/${name}`);
}

interface Literal {
  file: string;
  text: string;
  /** Whether the text stands in `text!(…)`. */
  isText: boolean;
}

function literalsOf(file: string): Literal[] {
  const source = (readFileSync(join(ROOT, file), "utf8").split("#[cfg(test)]")[0] ?? "").replace(
    /^\s*\/\/.*$/gm,
    "",
  );
  return [...source.matchAll(/"((?:[^"\\]|\\[^])*)"/g)].map((found) => ({
    text: (found[1] ?? "")
      .replace(/\\\n\s*/g, "")
      .replace(/\\u\{(\w+)\}/g, (_, hex: string) => String.fromCodePoint(parseInt(hex, 16)))
      .replaceAll('\\"', '"'),
    file,
    isText: /\btext!\(\s*$/.test(source.slice(0, found.index)),
  }));
}

const isSentence = ({ text, file }: Literal): boolean =>
  !ELSEWHERE.test(file) &&
  /^[A-Z“"`{].*[a-z]{2}.* .*[.!?]$|^[A-Z][a-z]+ [a-z].* [a-z]+.*[.!?]$/.test(text) &&
  !text.includes("\\") &&
  !OTHER.has(text) &&
  /[A-Za-z]{3}/.test(text.replace(/\{[^{}]*\}/g, ""));

const literals = [
  ...ROOMS,
  "src-tauri/desktop",
  "tools/campaign-portfolio-pacing/src",
  "tools/data/server/src",
]
  .flatMap(sources)
  .flatMap(literalsOf);

/** Returns a text as the host sends it. */
const text = (key: string, params: FilledText["params"]): FilledText => ({
  key,
  params,
  text: key.replace(HOLE, (_, name: string) => {
    const value = params[name];
    return typeof value === "object" ? value.text : String(value);
  }),
});

afterEach(() => setLanguage("en"));

test("every sentence of the host has a Swedish translation", () => {
  const known = new Set(Object.keys(swedish));
  const missing = literals
    .filter((literal) => isSentence(literal) && !known.has(literal.text))
    .map(({ file, text }) => `${file}: ${text}`);
  expect(missing).toEqual([]);
});

test("a sentence with placeholders is a `text!`, so that it is sent with its key and values", () => {
  const composed = literals
    .filter((literal) => isSentence(literal) && !literal.isText && /\{\w*\}/.test(literal.text))
    .map(({ file, text }) => `${file}: ${text}`);
  expect(composed).toEqual([]);
});

test("every text with placeholders has a Swedish translation", () => {
  const known = new Set(Object.keys(swedish));
  const missing = literals
    .filter(
      ({ text, isText }) => isText && /[a-z]{2}/.test(text.replace(HOLE, "")) && !known.has(text),
    )
    .map(({ file, text }) => `${file}: ${text}`);
  expect(missing).toEqual([]);
});

test("tools that come with the app have Swedish names, and other tools keep their names", () => {
  const folders = readdirSync(join(ROOT, "tools"), { withFileTypes: true }).filter(
    (entry) =>
      entry.isDirectory() && readdirSync(join(ROOT, "tools", entry.name)).includes("pack.json"),
  );
  expect(folders.length).toBeGreaterThan(1);
  setLanguage("sv");
  for (const { name } of folders) {
    const pack = JSON.parse(readFileSync(join(ROOT, "tools", name, "pack.json"), "utf8")) as {
      title: string;
      description: string;
      tools?: { tools: { title: string }[] };
    };
    for (const title of [
      pack.title,
      pack.description,
      ...(pack.tools?.tools ?? []).map((tool) => tool.title),
    ])
      expect(named(title), title).not.toBe(title);
  }
  expect(named("Show the invoice")).toBe("Show the invoice");
  setLanguage("en");
  expect(named("Show cart")).toBe("Show cart");
});

test("a sentence and its translation have the same placeholders", () => {
  const names = (text: string): string[] =>
    [...text.matchAll(/\{(\w+)\}/g)].map((found) => found[1] ?? "").sort();
  for (const [english, said] of Object.entries(swedish))
    expect(names(said), english).toEqual(names(english));
});

test("a translated sentence keeps its values, and sentences inside it are translated", () => {
  const name = text("The name {host} cannot be resolved.", { host: "example.org" });
  expect(worded(name)).toBe("The name example.org cannot be resolved.");
  setLanguage("sv");
  expect(worded(name)).toBe("Namnet example.org går inte att hitta.");
  const key = { who: "ledger", variable: "LEDGER_KEY", error: "the keyring is locked" };
  expect(worded(text("{who} needs the key {variable}, and {error}.", key))).toBe(
    "ledger behöver nyckeln LEDGER_KEY, och nyckelringen är låst.",
  );
  const why = text("{s0} {s1}", {
    s0: "It has just stopped.",
    s1: "It is started again with the next call.",
  });
  expect(worded(text("The server {server} is not running. {why}", { server: "shop", why }))).toBe(
    "Servern shop kör inte. Den har just stannat. Den startas igen vid nästa anrop.",
  );
  expect(
    worded(
      text("{from} kunde inte svara: {why} {to} svarar i stället.", {
        from: "acme",
        why: text("No connection to {host}.", { host: "acme" }),
        to: "Offline model",
      }),
    ),
  ).toBe("acme kunde inte svara: Ingen anslutning till acme. Offlinemodell svarar i stället.");
  expect(worded(text("It lists more than {most} tools.", { most: 500 }))).toContain("500");
});

test("an amount in a sentence has the signs of the language", () => {
  const sum = { text: "1,951.25 EUR", digits: "1951.25", places: 2, unit: "EUR" };
  const said = text("It is {sum}.", { sum });
  expect(worded(said)).toBe("It is 1,951.25 EUR.");
  setLanguage("sv");
  expect(worded(said)).toBe("It is 1\u00a0951,25\u00a0EUR.");
  setLanguage("de");
  expect(worded(said)).toBe("It is 1.951,25\u00a0EUR.");
});

test("names of the data stay as they are, and days are written as the language does", () => {
  const name = (names: Record<string, string>) => ({ text: "Yes", names });
  const days = { text: "1–31 Oct", from: "2026-10-01", to: "2026-10-31" };
  const said = text("{name}: {month} ({days})", {
    name: name({}),
    month: { ...days, text: "Oct 2026", form: "month" },
    days: { ...days, form: "without_year" },
  });
  expect(worded(said)).toBe("Yes: Oct 2026 (1–31 Oct)");
  setLanguage("sv");
  expect(worded(said)).toBe("Yes: okt. 2026 (1–31 okt.)");
  expect(worded(text("by {name}", { name: name({ sv: "Kostnad" }) }))).toBe("per Kostnad");
});

test("two sentences that are sent as one text are translated", () => {
  setLanguage("sv");
  expect(worded("It changed since it was proposed. Look at the new proposal.")).toBe(
    "Det har ändrats sedan det föreslogs. Se på det nya förslaget.",
  );
  for (const [english, said] of Object.entries(swedish).filter(([text]) => !text.includes("{")))
    expect(worded(english)).toBe(said);
});

test("an error is translated by the key of its sentence, unless the sentence was changed", () => {
  setLanguage("sv");
  const error = {
    contract_version: "1.0",
    code: "llm_error",
    message: "No connection to acme.",
    retryable: true,
    details: {
      hint: "Try again in 3 seconds.",
      texts: {
        message: { key: "No connection to {host}.", params: { host: "acme" } },
        hint: { key: "Try again in {seconds} seconds.", params: { seconds: 3 } },
      },
    },
  } as const;
  expect(wordedError(error)).toBe("Ingen anslutning till acme.");
  expect(wordedHint(error)).toBe("Försök igen om 3 sekunder.");
  expect(wordedError({ ...error, message: "No connection." })).toBe("No connection.");
  const away = { ...error, message: "The audit log could not be opened." };
  expect(wordedError(away)).toBe(swedish["The audit log could not be opened."]);
  expect(wordedHint({ ...error, details: {} })).toBe("");
});

test("text that the host did not write stays unchanged", () => {
  setLanguage("sv");
  expect(worded("Totally unknown words.")).toBe("Totally unknown words.");
  expect(worded("The name example.org cannot be resolved.")).toBe(
    "The name example.org cannot be resolved.",
  );
  expect(worded("")).toBe("");
});
