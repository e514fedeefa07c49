// The host's own sentences in the window's language. A sentence with values comes as key and params: the key is the English
// sentence with named holes, and it is looked up as it is. A sentence without values is its own key. A param is looked up too,
// so a reason inside a sentence follows. A text without an entry stays English.
import swedish from "../messages/sv/host.json";
import type { AgentError } from "../platform/generated/AgentError";
import type { FilledText } from "../platform/generated/FilledText";
import type { Param } from "../platform/generated/Param";
import type { Text } from "../platform/generated/Text";
import { language } from "./index.svelte";

type Shown = (value: Param) => string;

const HOLE = /\{(\w+)\}/g;
const catalogue = new Map(Object.entries(swedish));

function filled({ key, params }: FilledText, said: string | undefined, shown: Shown): string {
  return (said ?? key).replace(HOLE, (hole, name: string) => {
    const value = params[name];
    return value === undefined ? hole : shown(value);
  });
}

function inEnglish(text: Param): string {
  return typeof text === "object" ? text.text : String(text);
}

function inSwedish(text: Param): string {
  if (typeof text === "number") return String(text);
  if (typeof text === "string") return catalogue.get(text) ?? text;
  return filled(text, catalogue.get(text.key), inSwedish);
}

/** The name of a tool or pack: those that come with the app have a Swedish one, any other keeps its own. */
export function named(title: string): string {
  return language() === "sv" ? (catalogue.get(title) ?? title) : title;
}

/** A text of the host as the window shows it. */
export function worded(text: Text): string {
  return language() === "sv" ? inSwedish(text) : inEnglish(text);
}

/** A sentence of an error with its key and params. Without those of this sentence, the sentence alone. */
function textOf(error: AgentError, member: "message" | "hint", sentence: string): Text {
  const texts = error.details["texts"] as Partial<Record<string, FilledText>> | undefined;
  const kept = texts?.[member];
  return kept && filled(kept, undefined, inEnglish) === sentence
    ? { ...kept, text: sentence }
    : sentence;
}

/** The message of an error as the window shows it. */
export function wordedError(error: AgentError): string {
  return worded(textOf(error, "message", error.message));
}

/** What to do about an error as the window shows it; empty if the host did not say. */
export function wordedHint(error: AgentError): string {
  const hint = error.details["hint"];
  return typeof hint === "string" ? worded(textOf(error, "hint", hint)) : "";
}
