// Reads the tables and lists of rendered blocks, and hides those that a card of the turn shows.
import type { ShownRows } from "../../../results/shown";
import { isShown, type Listing } from "./once";

const textOf = (element: Element): string => element.textContent.replace(/\s+/g, " ").trim();

function listingOf(block: Element): Listing | null {
  const table = block.querySelector("table");
  if (table) {
    const rows = [...table.rows].map((row) => [...row.cells].map(textOf));
    return { head: rows[0] ?? [], rows: rows.slice(1) };
  }
  const list = block.querySelector(":scope > ol");
  return list && { head: [], rows: [...list.children].map((item) => [textOf(item)]) };
}

function repeatsCard(block: Element, card: ShownRows): boolean {
  const listing = listingOf(block);
  return listing !== null && isShown(listing, card);
}

/** Hides blocks that repeat the card, with a remark about omitted rows below them. Returns whether any block repeats it. */
export function hideRepeated(root: Element, card: ShownRows | null, open: boolean): boolean {
  let before = false;
  let any = false;
  for (const block of root.children) {
    const repeats: boolean =
      card !== null && (repeatsCard(block, card) || (before && textOf(block).startsWith("…")));
    (block as HTMLElement).hidden = repeats && !open;
    before = repeats;
    any ||= repeats;
  }
  return any;
}
