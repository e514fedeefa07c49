// The texts of the window by language, from `messages/LANG` at the root of the tree: `language.json` describes the
// language, `window/AREA.json` has the texts of a part of the window, and `host.json` the sentences of
// the host. English is a part of the page, and the texts of another language are loaded when it is chosen.
// A new language is a new folder.
import type enAlerts from "../../../messages/en/window/alerts.json";
import type enApproval from "../../../messages/en/window/approval.json";
import type enAudit from "../../../messages/en/window/audit.json";
import type enBoards from "../../../messages/en/window/boards.json";
import type enChat from "../../../messages/en/window/chat.json";
import type enData from "../../../messages/en/window/data.json";
import type enLayers from "../../../messages/en/window/layers.json";
import type enMapping from "../../../messages/en/window/mapping.json";
import type enMemory from "../../../messages/en/window/memory.json";
import type enModel from "../../../messages/en/window/model.json";
import type enPrivacy from "../../../messages/en/window/privacy.json";
import type enProfile from "../../../messages/en/window/profile.json";
import type enRemembered from "../../../messages/en/window/remembered.json";
import type enResults from "../../../messages/en/window/results.json";
import type enRules from "../../../messages/en/window/rules.json";
import type enServers from "../../../messages/en/window/servers.json";
import type enSettings from "../../../messages/en/window/settings.json";
import type enShell from "../../../messages/en/window/shell.json";
import type enSources from "../../../messages/en/window/sources.json";
import type enTools from "../../../messages/en/window/tools.json";
import type { Message } from "./plural";

export type MessageKey =
  | keyof typeof enAlerts
  | keyof typeof enApproval
  | keyof typeof enAudit
  | keyof typeof enBoards
  | keyof typeof enChat
  | keyof typeof enData
  | keyof typeof enLayers
  | keyof typeof enMapping
  | keyof typeof enMemory
  | keyof typeof enModel
  | keyof typeof enPrivacy
  | keyof typeof enProfile
  | keyof typeof enRemembered
  | keyof typeof enResults
  | keyof typeof enRules
  | keyof typeof enServers
  | keyof typeof enSettings
  | keyof typeof enShell
  | keyof typeof enSources
  | keyof typeof enTools;

/** A language of the window. */
export interface Language {
  tag: string;
  /** The language's name in the language itself. */
  name: string;
  /** Whether no speaker of the language has checked its texts yet. */
  draft: boolean;
}

type Texts = Partial<Record<string, Message>>;

/** The language whose texts are used if another language lacks them. */
export const FALLBACK = "en";

const descriptions = import.meta.glob<{ name: string; draft?: boolean }>(
  "../../../messages/*/language.json",
  { eager: true, import: "default" },
);
const english = import.meta.glob<Texts>("../../../messages/en/window/*.json", {
  eager: true,
  import: "default",
});
/** The files of all other languages, with the names and sentences of the packs that ship. They are loaded when their language is chosen. */
const others = import.meta.glob<Texts>(
  [
    "../../../messages/*/window/*.json",
    "../../../messages/*/host.json",
    "../../../tools/*/messages/*.json",
    "!../../../messages/en/**",
    "!../../../tools/*/messages/en.json",
  ],
  { import: "default" },
);

/** Returns the tag of a file's language, which is the name of its folder, or of the file itself for a pack. */
const tagOf = (path: string): string =>
  (path.split("/messages/")[1]?.split("/")[0] ?? "").replace(/\.json$/, "");

/** All languages, the fallback first. */
export const languages: readonly Language[] = Object.entries(descriptions)
  .map(([path, { name, draft = false }]) => ({ tag: tagOf(path), name, draft }))
  .sort((a, b) => Number(b.tag === FALLBACK) - Number(a.tag === FALLBACK));

/** The texts of a language. */
interface Catalogue {
  /** The texts of each part of the window. */
  parts: readonly Texts[];
  /** The texts of all parts, by key. */
  texts: Texts;
  /** The translations of Rust's English sentences, which are their own keys. */
  sentences: ReadonlyMap<string, string>;
}

function catalogueOf(parts: readonly Texts[], translations: readonly Texts[]): Catalogue {
  const sentences = translations.flatMap((texts) => Object.entries(texts));
  return {
    parts,
    texts: Object.assign({}, ...parts) as Texts,
    sentences: new Map(
      sentences.filter((text): text is [string, string] => typeof text[1] === "string"),
    ),
  };
}

/** The languages whose texts are here. */
const catalogues = new Map<string, Catalogue>([
  [FALLBACK, catalogueOf(Object.values(english), [])],
]);

/** Whether the texts of a language are here. */
export const hasTexts = (tag: string): boolean => catalogues.has(tag);

/** Loads the texts of a language. Fails if a file cannot be loaded; the language then has no texts. */
export async function loadTexts(tag: string): Promise<void> {
  if (hasTexts(tag)) return;
  const files = await Promise.all(
    Object.entries(others)
      .filter(([path]) => tagOf(path) === tag)
      .map(async ([path, load]) => ({ path, texts: await load() })),
  );
  const textsOfFiles = (isMeant: (path: string) => boolean): Texts[] =>
    files.filter(({ path }) => isMeant(path)).map(({ texts }) => texts);
  const isPart = (path: string): boolean => path.includes("/window/");
  const isHost = (path: string): boolean => path.endsWith("/host.json");
  const packs = textsOfFiles((path) => !isPart(path) && !isHost(path));
  // A sentence of the host counts before one of a pack.
  catalogues.set(tag, catalogueOf(textsOfFiles(isPart), [...packs, ...textsOfFiles(isHost)]));
}

/** Returns the files of a language: the texts of each part of the window. */
export const partsOf = (tag: string): readonly Texts[] => catalogues.get(tag)?.parts ?? [];

/** Returns the texts of a language, by key. */
export const textsOf = (tag: string): Texts => catalogues.get(tag)?.texts ?? {};

/** Returns all sentences of a language with their English forms. */
export const sentencesOf = (tag: string): [string, string][] => [
  ...(catalogues.get(tag)?.sentences ?? []),
];

/** Returns a sentence of Rust in a language; undefined if the language lacks it. */
export const sentenceOf = (tag: string, english: string): string | undefined =>
  catalogues.get(tag)?.sentences.get(english);

/** Returns the language of a tag such as `sv-SE`; the fallback for a language without texts. */
export function languageOf(tag: string): string {
  const first = tag.toLowerCase().split("-")[0];
  return languages.find((language) => language.tag === first)?.tag ?? FALLBACK;
}
