// Finds content that a turn shows twice, so that it is drawn once: errors of calls that the answer or a notice reports, and
// tables and lists of an answer whose rows a card shows. Pure.
import { viewOf } from "../../../packs/registry";
import { shownRows } from "../../../results/content";
import type { ShownRows } from "../../../results/shown";
import type { Entry, ToolResult } from "../../../state/transcript";

/** Returns the keys of calls whose error another entry of their turn reports. */
export function reportedErrors(entries: readonly Entry[]): Set<string> {
  const found = new Set<string>();
  for (const entry of entries) {
    if (entry.kind !== "tool") continue;
    const message = entry.result?.error?.message;
    if (message && entries.some((other) => other.turn === entry.turn && reports(other, message)))
      found.add(entry.key);
  }
  return found;
}

function reports(entry: Entry, message: string): boolean {
  if (entry.kind === "notice")
    return entry.level === "error" && (entry.error?.message ?? entry.text) === message;
  // Markdown escapes characters of the message.
  return entry.kind === "assistant" && plain(entry.text).includes(plain(message));
}

const plain = (text: string): string => text.replaceAll("\\", "").replace(/\s+/g, " ").trim();

/** Returns the rows that the cards of each turn show, by turn. */
export function rowsOfCards(entries: readonly Entry[]): Map<string, ShownRows> {
  const found = new Map<string, ShownRows>();
  for (const entry of entries) {
    if (entry.kind !== "tool" || entry.result?.outcome !== "ok") continue;
    const names = namesOf(entry.result);
    if (names.length === 0) continue;
    found.set(entry.turn, { names: [...(found.get(entry.turn)?.names ?? []), ...names] });
  }
  return found;
}

function namesOf(result: ToolResult): string[] {
  const own = viewOf(result.view);
  const shown = own ? own.shown?.(result) : shownRows(result);
  return shown?.names ?? [];
}

/** A table or a numbered list of an answer, as the texts of its cells or of its items. */
export interface Listing {
  head: string[];
  rows: string[][];
}

/** Whether a card shows each row of a listing. A comparison has products in its columns, so names in the head count as rows. */
export function isShown({ head, rows }: Listing, card: ShownRows): boolean {
  const columns = head.slice(1).filter((cell) => cell !== "");
  if (columns.length > 1 && columns.every((cell) => names(cell, card))) return true;
  return rows.length > 0 && rows.every(([first = ""]) => names(first, card));
}

const names = (text: string, { names }: ShownRows): boolean =>
  names.some(
    (name) => text === name || text.startsWith(`${name} –`) || text.startsWith(`${name},`),
  );
