// Finds content that a turn shows twice, so that it is drawn once: errors of calls that the answer or a notice reports, and
// tables and lists of an answer whose rows or figures a card shows. Pure.
import { list, num, obj, str } from "../../../lib/read";
import type { Entry, ToolEntry } from "../../../state/transcript";
import { readPacing, type Pacing } from "./pacing";

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

/** The content of a card: its rows as names, or as amounts for rows without a name, and its single figures. */
export interface CardRows {
  names: string[];
  amounts: number[];
  /** Digits of the figures, rounded as an answer may round them. */
  figures: Set<string>;
}

/** Returns the rows that the cards of each turn show, by turn. */
export function rowsOfCards(entries: readonly Entry[]): Map<string, CardRows> {
  const found = new Map<string, CardRows>();
  for (const entry of entries) {
    if (entry.kind !== "tool" || entry.result?.outcome !== "ok") continue;
    const rows = found.get(entry.turn) ?? { names: [], amounts: [], figures: new Set() };
    addRows(rows, entry);
    if (rows.names.length + rows.amounts.length + rows.figures.size > 0)
      found.set(entry.turn, rows);
  }
  return found;
}

function addRows(rows: CardRows, { result }: ToolEntry): void {
  const data = obj(result?.data);
  if (result?.view === "product_cards")
    rows.names.push(...list(data["items"]).flatMap((item) => str(item["name"]) ?? []));
  if (result?.view === "product") rows.names.push(...[str(data["name"]) ?? []].flat());
  if (result?.view !== "pacing") return;
  for (const campaign of list(obj(data["rollups"])["campaigns_total"]))
    rows.names.push(
      ...[str(campaign["display_name"]), str(campaign["campaign_name"])].filter((n) => n !== null),
    );
  for (const day of list(obj(data["insights"])["daily_trend"]))
    rows.amounts.push(...[num(day["spend"]) ?? []].flat());
  const pacing = readPacing(data);
  if (pacing) addFigures(rows.figures, pacing);
}

function addFigures(figures: Set<string>, pacing: Pacing): void {
  const add = (value: number | null, decimals: number[]): void => {
    if (value === null) return;
    for (const count of decimals) figures.add(Math.abs(value).toFixed(count).replace(".", ""));
  };
  const { budget, spent, due, variance, remaining, projection } = pacing;
  const rates = [pacing.targetRate, pacing.actualRate, pacing.requiredRate];
  for (const amount of [budget, spent, due, variance, remaining, projection, ...rates])
    add(amount, [0, 2]);
  for (const share of [pacing.spentShare, pacing.varianceShare, pacing.projectionShare])
    add(share === null ? null : share * 100, [0, 1]);
}

/** A table or a numbered list of an answer, as the texts of its cells or of its items. */
export interface Listing {
  head: string[];
  rows: string[][];
}

/** Whether a card shows each row of a listing. Products are compared in columns, so a head of names counts, too. */
export function isShown({ head, rows }: Listing, card: CardRows): boolean {
  const columns = head.slice(1).filter((cell) => cell !== "");
  if (columns.length > 1 && columns.every((cell) => names(cell, card))) return true;
  return (
    rows.length > 0 &&
    rows.every(([first = "", ...rest]) => names(first, card) || amounts(rest, card))
  );
}

/** Whether each item of a bullet list gives figures of the card, and no others. */
export function areFigures(items: readonly string[], { figures }: CardRows): boolean {
  return (
    items.length > 0 &&
    items.every((item) => {
      const numbers = item.match(/\d(?:[\d.,\s]*\d)?/g) ?? [];
      return (
        numbers.length > 0 && numbers.every((number) => figures.has(number.replace(/\D/g, "")))
      );
    })
  );
}

const names = (text: string, { names }: CardRows): boolean =>
  names.some(
    (name) => text === name || text.startsWith(`${name} –`) || text.startsWith(`${name},`),
  );

/** Whether the first amount of a row is one of the card's, whole or with decimals. */
function amounts(cells: readonly string[], card: CardRows): boolean {
  const digits = cells[0]?.replace(/\D/g, "") ?? "";
  return (
    digits !== "" &&
    card.amounts.some((amount) =>
      [amount.toFixed(0), amount.toFixed(2).replace(".", "")].includes(digits),
    )
  );
}
