// Every sentence that Rust shows to a person has a Swedish one. The test reads the sources, so that
// a new one cannot be forgotten.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import swedish from "../messages/sv/host.json";
import { named, worded } from "./host";
import { setLanguage } from "./index.svelte";

const ROOT = join(import.meta.dirname, "../../..");
/** Rooms whose sentences reach the window. `csign` speaks English; the offline model and the shop have both languages themselves. */
const ROOMS = [
  "audit",
  "contract",
  "engine",
  "host",
  "mcp",
  "models",
  "packs",
  "policy",
  "secrets",
  "store",
].map((room) => `src-tauri/crates/${room}/src`);
/** Texts for models or for authors of packs, texts in both languages, and programs for tests. */
const ELSEWHERE =
  /offline|texts?\.rs|args\.rs|prompt\.rs|tests?\.rs|\/dev\.rs|toolkit|entities\.rs|instructions\.rs|history\.rs|route\.rs|results\.rs|evaluate|packs\/src\/(check|load|shape|files|instructions|templates|scaffold)|verify|sign_in\.rs/;
/** Texts that are not sentences for a person, and two that the catalogue contains in all forms. */
const OTHER = new Set([
  "Answer the user now, in text.",
  "Gives the answer.",
  "The supervisor asks again: see the new supervisor_instruction.",
  "Read for a preview.",
  "The server {server} {what}.",
  "Rule {} {verb} {}.",
]);

const holes = (text: string): string =>
  text
    .replaceAll("{{", "⦃")
    .replaceAll("}}", "⦄")
    .replace(/\{[^{}]*\}/g, "{}")
    .replaceAll("⦃", "{")
    .replaceAll("⦄", "}");

function sources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".rs"))
    .map((name) => `${folder}/${name}`)
    .filter((name) => !ELSEWHERE.test(name));
}

function sentencesOf(file: string): string[] {
  const text = (readFileSync(join(ROOT, file), "utf8").split("#[cfg(test)]")[0] ?? "").replace(
    /^\s*\/\/.*$/gm,
    "",
  );
  const literals = [...text.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map((found) => found[1] ?? "");
  return literals
    .map((literal) =>
      literal
        .replace(/\\u\{(\w+)\}/g, (_, hex: string) => String.fromCodePoint(parseInt(hex, 16)))
        .replaceAll('\\"', '"'),
    )
    .filter(
      (literal) =>
        /^[A-Z“"`{].*[a-z]{2}.* .*[.!?]$|^[A-Z][a-z]+ [a-z].* [a-z]+.*[.!?]$/.test(literal) &&
        !literal.includes("\\"),
    );
}

afterEach(() => setLanguage("en"));

test("every sentence of the host has a Swedish one", () => {
  const known = new Set(Object.keys(swedish).map(holes));
  const missing = [...ROOMS, "src-tauri/desktop", "tools/campaign-portfolio-pacing/src"]
    .flatMap(sources)
    .flatMap((file) =>
      sentencesOf(file)
        .filter(
          (sentence) =>
            !known.has(holes(sentence)) &&
            !OTHER.has(sentence) &&
            /[A-Za-z]{3}/.test(sentence.replace(/\{[^{}]*\}/g, "")),
        )
        .map((sentence) => `${file}: ${sentence}`),
    );
  expect(missing).toEqual([]);
});

test("the tools that come with the app have Swedish names, and others keep their own", () => {
  const folders = readdirSync(join(ROOT, "tools"), { withFileTypes: true }).filter(
    (entry) =>
      entry.isDirectory() && readdirSync(join(ROOT, "tools", entry.name)).includes("pack.json"),
  );
  expect(folders.length).toBeGreaterThan(1);
  setLanguage("sv");
  for (const { name } of folders) {
    const pack = JSON.parse(readFileSync(join(ROOT, "tools", name, "pack.json"), "utf8")) as {
      title: string;
      tools: { tools: { title: string }[] };
    };
    for (const title of [pack.title, ...pack.tools.tools.map((tool) => tool.title)])
      expect(named(title), title).not.toBe(title);
  }
  expect(named("Show the invoice")).toBe("Show the invoice");
  setLanguage("en");
  expect(named("Show cart")).toBe("Show cart");
});

test("both forms have the same holes", () => {
  const names = (text: string): string[] =>
    [...text.matchAll(/\{(\w+)\}/g)].map((found) => found[1] ?? "").sort();
  for (const [english, said] of Object.entries(swedish))
    expect(names(said), english).toEqual(names(english));
});

test("a sentence keeps its values, and what is inside it follows", () => {
  expect(worded("The name example.org cannot be resolved.")).toBe(
    "The name example.org cannot be resolved.",
  );
  setLanguage("sv");
  expect(worded("The name example.org cannot be resolved.")).toBe(
    "Namnet example.org går inte att hitta.",
  );
  expect(worded("ledger needs the key LEDGER_KEY, and the keyring is locked.")).toBe(
    "ledger behöver nyckeln LEDGER_KEY, och nyckelringen är låst.",
  );
  expect(
    worded(
      "The server shop is not running. It has just stopped. It is started again with the next call.",
    ),
  ).toBe("Servern shop kör inte. Den har just stannat. Den startas igen vid nästa anrop.");
  expect(
    worded("acme kunde inte svara: No connection to acme. Offline model svarar i stället."),
  ).toBe("acme kunde inte svara: Ingen anslutning till acme. Offlinemodell svarar i stället.");
});

test("two sentences that are worded together are found together", () => {
  setLanguage("sv");
  expect(worded("It changed since it was proposed. Look at the new proposal.")).toBe(
    "Det har ändrats sedan det föreslogs. Se på det nya förslaget.",
  );
  for (const [english, said] of Object.entries(swedish).filter(([text]) => !text.includes("{")))
    expect(worded(english)).toBe(said);
});

test("what the host did not write is left alone", () => {
  setLanguage("sv");
  expect(worded("Totally unknown words.")).toBe("Totally unknown words.");
  expect(worded("")).toBe("");
});
