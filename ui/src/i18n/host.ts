// The host's own sentences in the window's language. A sentence with values comes as key and params: the key is the English
// sentence with named holes, and it is looked up as it is. A sentence without values is its own key. A param is looked up too,
// so a reason inside a sentence follows. A text without an entry stays English.
import type { AgentError } from "../platform/generated/AgentError";
import type { FilledText } from "../platform/generated/FilledText";
import type { Param } from "../platform/generated/Param";
import type { Text } from "../platform/generated/Text";
import { FALLBACK, sentenceOf } from "./catalogue";
import { language } from "./index.svelte";

type Shown = (value: Param) => string;

const HOLE = /\{(\w+)\}/g;

function filled({ key, params }: FilledText, said: string | undefined, shown: Shown): string {
  return (said ?? key).replace(HOLE, (hole, name: string) => {
    const value = params[name];
    return value === undefined ? hole : shown(value);
  });
}

function inEnglish(text: Param): string {
  return typeof text === "object" ? text.text : String(text);
}

function translated(text: Param): string {
  if (typeof text === "number") return String(text);
  if (typeof text === "string") return sentenceOf(language(), text) ?? text;
  return filled(text, sentenceOf(language(), text.key), translated);
}

/** The name of a tool or pack: those that come with the app are translated, any other keeps its own. */
export function named(title: string): string {
  return sentenceOf(language(), title) ?? title;
}

/** A text of the host as the window shows it. */
export function worded(text: Text): string {
  return language() === FALLBACK ? inEnglish(text) : translated(text);
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

/** The hint of an error as the window shows it; empty if the host gave none. */
export function wordedHint(error: AgentError): string {
  const hint = error.details["hint"];
  return typeof hint === "string" ? worded(textOf(error, "hint", hint)) : "";
}
