// The order in which the entries of a conversation are shown. An answer stands before the cards that it explains, so that a
// "yes" or a figure is read first. Pure.
import { isDrawn } from "../../../packs/registry";
import type { Entry } from "../../../state/transcript";

/** Returns the entries with each answer moved before the cards that precede it in its turn. */
export function readingOrder(entries: readonly Entry[]): Entry[] {
  const ordered: Entry[] = [];
  /** The place of the first card since the last answer or question. */
  let firstCard: number | null = null;
  for (const entry of entries) {
    if (entry.kind === "assistant" && firstCard !== null && ordered[firstCard]?.turn === entry.turn)
      ordered.splice(firstCard, 0, entry);
    else ordered.push(entry);
    if (entry.kind === "assistant" || entry.kind === "user") firstCard = null;
    else if (isCard(entry)) firstCard ??= ordered.length - 1;
  }
  return ordered;
}

const isCard = (entry: Entry): boolean =>
  entry.kind === "tool" && entry.result?.outcome === "ok" && isDrawn(entry.result.view);

/** Returns the keys of the last texts of all turns whose question is among the entries. */
export function lastTexts(entries: readonly Entry[]): Set<string> {
  const asked = new Set<string>();
  const last = new Map<string, string>();
  for (const { kind, turn, key } of entries) {
    if (kind === "user") asked.add(turn);
    else if (kind === "assistant" && asked.has(turn)) last.set(turn, key);
  }
  return new Set(last.values());
}

/** Returns the keys of the answers that are followed by a notice of their turn, which says why they are incomplete. */
export function explainedAnswers(entries: readonly Entry[]): Set<string> {
  const found = new Set<string>();
  entries.forEach((entry, index) => {
    const next = entries[index + 1];
    if (entry.kind === "assistant" && next?.kind === "notice" && next.turn === entry.turn)
      found.add(entry.key);
  });
  return found;
}
