// Translates the host's sentences. A sentence with values arrives as a key and parameters; the key is the English sentence with named
// placeholders. A sentence without values is its own key. Parameters are looked up too, so that a reason inside a sentence is also
// translated; amounts and days have the form of the language, and names of the data stay as they are. A text without an entry stays English.
import { isDecimal } from "../lib/decimal";
import type { AgentError } from "../platform/generated/AgentError";
import type { Amount } from "../platform/generated/Amount";
import type { GivenName } from "../platform/generated/GivenName";
import type { FilledText } from "../platform/generated/FilledText";
import type { Param } from "../platform/generated/Param";
import type { Text } from "../platform/generated/Text";
import { FALLBACK, sentenceOf } from "./catalogue";
import { formatDays, formatNumber, language } from "./index.svelte";

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

/** Returns an amount with the signs of the language. */
function amountText({ digits, places, unit, text }: Amount): string {
  if (!isDecimal(digits)) return text;
  const options = { minimumFractionDigits: places, maximumFractionDigits: 20 };
  // Intl formats decimal digits in a text exactly, which the type of `formatNumber` does not say.
  const amount = formatNumber(digits as unknown as number, options);
  return unit === undefined ? amount : `${amount}\u00a0${unit}`;
}

/** Returns a name of the data in the language. It is never looked up, because it may be the name of something else. */
function nameText({ text, names }: GivenName): string {
  return names[language()] ?? text;
}

function translated(text: Param): string {
  if (typeof text === "number") return String(text);
  if (typeof text === "string") return sentenceOf(language(), text) ?? text;
  if ("digits" in text) return amountText(text);
  if ("names" in text) return nameText(text);
  if ("form" in text) return formatDays(text.from, text.to, text.form);
  return filled(text, sentenceOf(language(), text.key), translated);
}

/** Returns the name of a tool or pack. Names that come with the app are translated, any other name is kept. */
export function named(title: string): string {
  return sentenceOf(language(), title) ?? title;
}

/** Returns a text of the host as the window shows it. */
export function worded(text: Text): string {
  return language() === FALLBACK ? inEnglish(text) : translated(text);
}

/** Returns a sentence of an error with its key and parameters, or the sentence alone if they belong to another sentence. */
function textOf(error: AgentError, member: "message" | "hint", sentence: string): Text {
  const texts = error.details["texts"] as Partial<Record<string, FilledText>> | undefined;
  const kept = texts?.[member];
  return kept && filled(kept, undefined, inEnglish) === sentence
    ? { ...kept, text: sentence }
    : sentence;
}

/** Returns the message of an error as the window shows it. */
export function wordedError(error: AgentError): string {
  return worded(textOf(error, "message", error.message));
}

/** Returns the hint of an error as the window shows it; empty if the host gave none. */
export function wordedHint(error: AgentError): string {
  const hint = error.details["hint"];
  return typeof hint === "string" ? worded(textOf(error, "hint", hint)) : "";
}
