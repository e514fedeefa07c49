// Shows characters that a reader would not see, or that reorder text: controls, zero-width marks,
// direction overrides, unusual spaces. Pure.
import { read, write, type Node } from "./edit/json";
import { HIDDEN } from "../platform/generated/hidden";

export interface Piece {
  text: string;
  /** The code point of a hidden character, e.g. `U+202E`; not set for ordinary text. */
  code?: string;
}

const escape = (point: number): string => `\\u{${point.toString(16)}}`;
const HIDDEN_CHARACTER = new RegExp(
  `[${HIDDEN.map(([first, last]) => `${escape(first)}-${escape(last)}`).join("")}]`,
  "gu",
);

/** Splits a text into plain pieces and hidden characters. With `laidOut`, line feeds are layout that we added and no part of the text. */
export function pieces(text: string, laidOut = false): Piece[] {
  const out: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN_CHARACTER)) {
    if (laidOut && match[0] === "\n") continue;
    if (match.index > from) out.push({ text: text.slice(from, match.index) });
    const point = match[0].codePointAt(0) ?? 0;
    out.push({ text: match[0], code: `U+${point.toString(16).toUpperCase().padStart(4, "0")}` });
    from = match.index + match[0].length;
  }
  if (from < text.length) out.push({ text: text.slice(from) });
  return out;
}

export interface ArgumentRow {
  name: string;
  value: string;
  /** Whether the value is JSON that was formatted here, so that its line feeds are layout. Line feeds inside its texts are escaped. */
  laidOut: boolean;
}

/** Returns the arguments of a call by name, each as the text to show; null if the canonical text is not an object. Numbers keep their digits. */
export function argumentRows(canonical: string): ArgumentRow[] | null {
  let call: Node;
  try {
    call = read(canonical);
  } catch {
    return null;
  }
  if (call.kind !== "object") return null;
  return call.members.map(({ name, value }) =>
    value.kind === "string"
      ? { name, value: value.text, laidOut: false }
      : { name, value: write(value, "  "), laidOut: true },
  );
}
