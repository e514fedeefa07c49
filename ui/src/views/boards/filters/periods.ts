// The periods that a board offers, and periods in words. Relative ones move with the calendar. Pure.
import { formatDate, t } from "../../../i18n/index.svelte";
import type { MessageKey } from "../../../i18n/index.svelte";
import type { Period } from "../../../platform/generated/Period";

/** The relative periods by the names of their choices. */
export const PERIODS = {
  last_7: { last: { days: 7 } },
  last_30: { last: { days: 30 } },
  last_90: { last: { days: 90 } },
  // A plan is for a whole month, and so are its verdicts.
  whole_month: { this: "month" },
  this_month: { to_date: "month" },
  last_month: { previous: "month" },
  this_quarter: { to_date: "quarter" },
  last_quarter: { previous: "quarter" },
  this_year: { to_date: "year" },
  last_year: { previous: "year" },
  all: {},
} as const satisfies Record<string, Period>;

export type PeriodName = keyof typeof PERIODS;
/** A choice: a relative period, days, that each tile has its own, or a period from elsewhere. */
export type PeriodChoice = PeriodName | "own" | "days" | "other";

export const PERIOD_NAMES = Object.keys(PERIODS) as PeriodName[];

const isRange = (period: Period): period is { from?: string | null; to?: string | null } =>
  "from" in period || "to" in period;

/** Returns which choice a period is. */
export function choiceOf(period: Period | undefined): PeriodChoice {
  if (!period) return "own";
  const written = JSON.stringify(period);
  const known = PERIOD_NAMES.find((name) => JSON.stringify(PERIODS[name]) === written);
  return known ?? (isRange(period) ? "days" : "other");
}

/** Returns the days of a period that has fixed ones; empty texts for open ends. */
export function daysOf(period: Period | undefined): { from: string; to: string } {
  if (!period || !isRange(period)) return { from: "", to: "" };
  return { from: period.from ?? "", to: period.to ?? "" };
}

/** Returns the period of two days, or null if they are none: both are empty, or the end is before the beginning. */
export function periodOfDays(from: string, to: string): Period | null {
  if (from === "" && to === "") return null;
  if (from !== "" && to !== "" && from > to) return null;
  return { ...(from !== "" && { from }), ...(to !== "" && { to }) };
}

/** Returns a period in words. */
export function periodText(period: Period | undefined): string {
  const choice = choiceOf(period);
  if (choice === "days") {
    const { from, to } = daysOf(period);
    return `${from && formatDate(from)} – ${to && formatDate(to)}`.trim();
  }
  if (choice === "other" && period) return writtenPeriod(period);
  return t(`boards.period_${choice}` satisfies MessageKey);
}

/** Returns a period that no choice offers, as queries write it. */
function writtenPeriod(period: Period): string {
  const [name, value] = Object.entries(period as Record<string, unknown>)[0] ?? ["", ""];
  if (typeof value !== "object" || value === null) return String(value);
  const span = Object.entries(value).map(([unit, count]) => `${String(count)} ${unit}`);
  return `${name.replaceAll("_", " ")} ${span.join(" ")}`;
}
