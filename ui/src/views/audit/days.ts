// The entries of the list by their days, and what is the same for all of them.
import { dayOf, formatDate, t } from "../../i18n/index.svelte";
import type { AuditEntry } from "../../platform/generated/AuditEntry";
import { whoAsked } from "./entryWords";

export interface Day {
  /** Unlike that of any other part of the list. */
  day: string;
  label: string;
  entries: AuditEntry[];
}

function labelOf(day: string, now: Date): string {
  const yesterday = new Date(now);
  yesterday.setDate(now.getDate() - 1);
  const date = formatDate(day);
  if (day === dayOf(now)) return t("audit.day_today", { date });
  return day === dayOf(yesterday) ? t("audit.day_yesterday", { date }) : date;
}

/** Groups entries by the reader's days, in the order of the list. */
export function entriesByDay(entries: readonly AuditEntry[], now: Date): Day[] {
  const days: Day[] = [];
  for (const entry of entries) {
    const day = dayOf(new Date(entry.at));
    const known = days.find((one) => one.day === day);
    if (known) known.entries.push(entry);
    else days.push({ day, label: labelOf(day, now), entries: [entry] });
  }
  return days;
}

/** Returns who asked all entries and where; null if it is not the same for all that say it. */
export function commonAsker(entries: readonly AuditEntry[]): string | null {
  const all = new Set(entries.map(whoAsked).filter((who) => who !== ""));
  return all.size === 1 && entries.length > 1 ? [...all][0]! : null;
}
