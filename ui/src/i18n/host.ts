// The host's own sentences in the window's language. Rust words a failure, a notice or a check once, in English, for every
// client; here the same sentence has its Swedish form, with the same holes: `{host} did not answer in time.` A hole's content is
// worded too, so that a reason inside a sentence follows. What no sentence fits is shown as it came.
import swedish from "../messages/sv/host.json";
import { language } from "./index.svelte";

interface Sentence {
  holes: string[];
  shape: RegExp;
  /** Letters beside the holes: of two sentences that fit, the one that says more itself is meant. */
  weight: number;
  said: string;
}

const HOLE = /\{(\w+)\}/g;
const DEEPEST = 4;
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

function sentence([english, said]: [string, string]): Sentence {
  const parts = english.split(HOLE);
  const fixed = parts.filter((_, at) => at % 2 === 0);
  const holes = parts.filter((_, at) => at % 2 === 1);
  // A reason followed by more text consists of whole sentences; any other value is as short as
  // possible.
  const hole = (at: number): string =>
    at >= holes.length
      ? ""
      : holes[at] === "why" && fixed[at + 1]?.startsWith(" ")
        ? "([^]+[.!?])"
        : "([^]+?)";
  return {
    holes,
    shape: new RegExp(`^${fixed.map((text, at) => escaped(text) + hole(at)).join("")}$`),
    weight: fixed.join("").length,
    said,
  };
}

const exact = new Map(Object.entries(swedish));
let open: Sentence[] | undefined;
const sentences = (): Sentence[] =>
  (open ??= Object.entries(swedish)
    .filter(([english]) => english.includes("{"))
    .map(sentence)
    .sort((a, b) => b.weight - a.weight));

const sentencesOf = (text: string): string[] => text.split(/(?<=[.!?]) (?=\S)/);

function inSwedish(text: string, depth: number): string | null {
  const whole = exact.get(text);
  if (whole !== undefined) return whole;
  const parts = sentencesOf(text).map((part) => exact.get(part));
  if (parts.every((part) => part !== undefined)) return parts.join(" ");
  for (const { shape, holes, said } of sentences()) {
    const found = shape.exec(text);
    if (!found) continue;
    const values = new Map(holes.map((name, at) => [name, found[at + 1] ?? ""]));
    return said.replace(HOLE, (_, name: string) => followed(values.get(name) ?? "", depth + 1));
  }
  return null;
}

/** Several sentences one after the other, where they are no sentence together. */
function followed(text: string, depth: number): string {
  if (depth > DEEPEST) return text;
  const whole = inSwedish(text, depth);
  if (whole !== null) return whole;
  const parts = sentencesOf(text);
  return parts.length === 1 ? text : parts.map((part) => inSwedish(part, depth) ?? part).join(" ");
}

/** The name of a tool or pack: those that come with the app have a Swedish one, any other keeps its own. */
export function named(title: string): string {
  return language() === "sv" ? (exact.get(title) ?? title) : title;
}

/** A text of the host as the window shows it. */
export function worded(text: string): string {
  return language() === "sv" ? followed(text, 0) : text;
}
