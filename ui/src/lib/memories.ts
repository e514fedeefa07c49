// Estimates what memories add to a prompt, by the rules of the engine: a text is cut, and four characters are one token.
import type { MemoryEntry } from "../platform/generated/MemoryEntry";

/** The longest text of a memory in a prompt. */
const MOST = 1_200;
/** The characters before each text: its kind and date. */
const PREFIX = 26;

export function promptTokens(memories: readonly Pick<MemoryEntry, "text">[]): number {
  const characters = memories.map(({ text }) => Math.min([...text].length, MOST) + PREFIX);
  return Math.ceil(characters.reduce((sum, one) => sum + one, 0) / 4);
}
