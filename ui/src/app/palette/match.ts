// Finds what a person typed in a name: the beginnings of its words, in order, or a part of it. Pure.

/** Where a text contains what was typed. */
export interface Match {
  /** Lower is better. The whole part counts the words that one word of the query is spread over, the rest how late they stand. */
  score: number;
  /** The found parts, as positions of UTF-16 units, in order and apart from each other. */
  parts: readonly (readonly [number, number])[];
}

/** The beginning of a long name that is searched. */
const MOST = 300;
/** A shorter text is found in the middle of too many words. */
const LEAST_INSIDE = 3;

interface Word {
  at: number;
  text: string;
}

/** Returns a letter without case and accents, with the same number of units. */
function plain(letter: string): string {
  const base = letter.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  return base.length === letter.length ? base : letter.toLowerCase().slice(0, letter.length);
}

const simplified = (text: string): string => Array.from(text, plain).join("");

function wordsOf(text: string): Word[] {
  return [...text.matchAll(/[\p{L}\p{N}]+/gu)].map((found) => ({
    at: found.index,
    text: found[0],
  }));
}

/** Returns beginnings of words that make up the term, in order; null if there are none. As few words as possible are used. */
function inWords(term: string, words: readonly Word[]): [number, number][] | null {
  const known = new Map<string, [number, number][] | null>();
  const find = (from: number, first: number): [number, number][] | null => {
    if (from === term.length) return [];
    const key = `${from} ${first}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    let best: [number, number][] | null = null;
    for (let at = first; at < words.length; at += 1) {
      const word = words[at]!;
      let length = 0;
      while (from + length < term.length && term[from + length] === word.text[length]) length += 1;
      for (; length > 0; length -= 1) {
        const rest = find(from + length, at + 1);
        if (rest && (best === null || rest.length + 1 < best.length))
          best = [[word.at, word.at + length], ...rest];
      }
    }
    known.set(key, best);
    return best;
  };
  return find(0, 0);
}

/** Joins parts that overlap or touch. */
function joined(parts: [number, number][]): [number, number][] {
  const result: [number, number][] = [];
  for (const [start, end] of parts.sort((a, b) => a[0] - b[0])) {
    const last = result.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else result.push([start, end]);
  }
  return result;
}

/** Returns where a name contains all words of a query; null if it lacks one. An empty query is in every name. */
export function matchName(query: string, name: string): Match | null {
  const text = simplified(name.slice(0, MOST));
  const words = wordsOf(text);
  const terms = simplified(query).split(/\s+/u).filter(Boolean);
  const parts: [number, number][] = [];
  let score = 0;
  for (const term of terms) {
    const found = inWords(term, words);
    const inside = found ? -1 : text.indexOf(term);
    if (found) score += found.length - 1 + (found[0]?.[0] ?? 0) / (2 * MOST);
    else if (inside >= 0 && term.length >= LEAST_INSIDE) score += 4;
    else return null;
    parts.push(...(found ?? [[inside, inside + term.length] as [number, number]]));
  }
  return { score, parts: joined(parts) };
}

/** Splits a name into its found and other parts, for marks. */
export function piecesOf(name: string, parts: Match["parts"]): { text: string; found: boolean }[] {
  const pieces: { text: string; found: boolean }[] = [];
  let at = 0;
  for (const [start, end] of parts) {
    if (start > at) pieces.push({ text: name.slice(at, start), found: false });
    pieces.push({ text: name.slice(start, end), found: true });
    at = end;
  }
  if (at < name.length) pieces.push({ text: name.slice(at), found: false });
  return pieces;
}
