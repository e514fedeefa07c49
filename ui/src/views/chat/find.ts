// Finds a text in the messages of one conversation: which messages have it, and where in a text it is. Pure.
import type { MessageHit } from "../../platform/generated/MessageHit";
import type { Entry } from "../../state/transcript";

/** Returns the stored messages that are loaded and have the text, in the order of the conversation. */
export function loadedMatches(entries: readonly Entry[], query: string): number[] {
  return entries
    .filter(
      (entry) =>
        (entry.kind === "user" || entry.kind === "assistant") &&
        Number.isFinite(entry.seq) &&
        rangesIn(entry.text, query).length > 0,
    )
    .map(({ seq }) => seq);
}

/** Joins the matches that are loaded and those that the host found, in the order of the conversation. */
export function joinMatches(loaded: readonly number[], hits: readonly MessageHit[]): number[] {
  return [...new Set([...loaded, ...hits.map(({ seq }) => seq)])].sort((a, b) => a - b);
}

/** Returns the match after or before the present one, round the ends. Without a present one: the newest. */
export function stepMatch(
  matches: readonly number[],
  current: number | null,
  step: 1 | -1,
): number | null {
  if (matches.length === 0) return null;
  const at = current === null ? -1 : matches.indexOf(current);
  if (at < 0) return matches.at(-1)!;
  return matches[(at + step + matches.length) % matches.length]!;
}

/** Returns the places of the text in another one, in any case; of its words if the text as a whole is not there, but each word is. */
export function rangesIn(text: string, query: string): [number, number][] {
  const folded = fold(text);
  const wanted = fold(query.trim());
  if (wanted === "") return [];
  const whole = placesOf(folded, wanted);
  if (whole.length > 0) return whole;
  const words = wanted.split(/\s+/u).map((word) => placesOf(folded, word));
  if (words.length < 2 || words.some((places) => places.length === 0)) return [];
  return words.flat().sort(([a], [b]) => a - b);
}

/** Lower case that keeps the length, so that places stay. */
const fold = (text: string): string =>
  [...text]
    .map((letter) => {
      const lower = letter.toLowerCase();
      return lower.length === letter.length ? lower : letter;
    })
    .join("");

function placesOf(text: string, wanted: string): [number, number][] {
  const places: [number, number][] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length))
    places.push([at, at + wanted.length]);
  return places;
}
