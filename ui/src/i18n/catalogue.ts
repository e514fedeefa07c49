// The texts of the window by language, from `messages/LANG` at the root of the tree: `language.json` describes the
// language, `window/AREA.json` has the texts of a part of the window, and `host.json` the sentences of
// the host.
// A new language is a new folder.
import type enApproval from "../../../messages/en/window/approval.json";
import type enAudit from "../../../messages/en/window/audit.json";
import type enChat from "../../../messages/en/window/chat.json";
import type enData from "../../../messages/en/window/data.json";
import type enLayers from "../../../messages/en/window/layers.json";
import type enMapping from "../../../messages/en/window/mapping.json";
import type enMemory from "../../../messages/en/window/memory.json";
import type enModel from "../../../messages/en/window/model.json";
import type enPrivacy from "../../../messages/en/window/privacy.json";
import type enRemembered from "../../../messages/en/window/remembered.json";
import type enResults from "../../../messages/en/window/results.json";
import type enServers from "../../../messages/en/window/servers.json";
import type enSettings from "../../../messages/en/window/settings.json";
import type enShell from "../../../messages/en/window/shell.json";
import type enTools from "../../../messages/en/window/tools.json";
import type { Message } from "./plural";

export type MessageKey =
  | keyof typeof enApproval
  | keyof typeof enAudit
  | keyof typeof enChat
  | keyof typeof enData
  | keyof typeof enLayers
  | keyof typeof enMapping
  | keyof typeof enMemory
  | keyof typeof enModel
  | keyof typeof enPrivacy
  | keyof typeof enRemembered
  | keyof typeof enResults
  | keyof typeof enServers
  | keyof typeof enSettings
  | keyof typeof enShell
  | keyof typeof enTools;

/** A language that the window speaks. */
export interface Language {
  tag: string;
  /** Its own name. */
  name: string;
  /** Whether nobody who speaks it has read its texts yet. */
  draft: boolean;
}

type Texts = Partial<Record<string, Message>>;

/** The language whose texts are used where another one has none. */
export const FALLBACK = "en";

const descriptions = import.meta.glob<{ name: string; draft?: boolean }>(
  "../../../messages/*/language.json",
  { eager: true, import: "default" },
);
const areas = import.meta.glob<Texts>("../../../messages/*/window/*.json", {
  eager: true,
  import: "default",
});
const hosts = import.meta.glob<Partial<Record<string, string>>>("../../../messages/*/host.json", {
  eager: true,
  import: "default",
});

// The names and sentences of the packs that ship.
const packs = import.meta.glob<Texts>("../../../tools/*/messages/*.json", {
  eager: true,
  import: "default",
});

/** The folder of a file, which is the tag of its language. */
const tagOf = (path: string): string => path.split("/messages/")[1]?.split("/")[0] ?? "";

/** All languages, the fallback first. */
export const languages: readonly Language[] = Object.entries(descriptions)
  .map(([path, { name, draft = false }]) => ({ tag: tagOf(path), name, draft }))
  .sort((a, b) => Number(b.tag === FALLBACK) - Number(a.tag === FALLBACK));

/** The files of a language: the texts of each part of the window. */
export const partsOf = (tag: string): Texts[] =>
  Object.entries(areas)
    .filter(([path]) => tagOf(path) === tag)
    .map(([, texts]) => texts);

const catalogues = new Map(
  languages.map(({ tag }) => [tag, Object.assign({}, ...partsOf(tag)) as Texts]),
);
/** Sentences that Rust says in English, by language. They are their own keys. */
const sentences = new Map(
  languages.map(({ tag }) => {
    const ofPacks = Object.entries(packs).filter(([path]) => path.endsWith(`/${tag}.json`));
    const ofHost = Object.entries(hosts).filter(([path]) => tagOf(path) === tag);
    const texts = [...ofPacks, ...ofHost].flatMap(([, texts]) => Object.entries(texts));
    return [
      tag,
      new Map(texts.filter((text): text is [string, string] => typeof text[1] === "string")),
    ];
  }),
);

/** The texts of a language, by key. */
export const textsOf = (tag: string): Texts => catalogues.get(tag) ?? {};

/** All sentences of a language with their English forms. */
export const sentencesOf = (tag: string): [string, string][] => [...(sentences.get(tag) ?? [])];

/** A sentence of Rust in a language; undefined if the language lacks it. */
export const sentenceOf = (tag: string, english: string): string | undefined =>
  sentences.get(tag)?.get(english);

/** The language of a tag such as `sv-SE`; the fallback for a language without texts. */
export function languageOf(tag: string): string {
  const first = tag.toLowerCase().split("-")[0];
  return languages.find((language) => language.tag === first)?.tag ?? FALLBACK;
}
