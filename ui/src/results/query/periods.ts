// Periods that a person can choose by their name. Pure.
import type { Days } from "../../platform/generated/Days";
import type { Param } from "../../platform/generated/Param";
import type { Period } from "../../platform/generated/Period";
import type { QueryPart } from "../../platform/generated/QueryPart";

/** The periods that are offered, in the order of the list. `range` is from a day to a day. */
export const PERIODS = [
  "all",
  "today",
  "yesterday",
  "last_7_days",
  "last_30_days",
  "this_week",
  "last_week",
  "this_month",
  "last_month",
  "this_quarter",
  "last_quarter",
  "this_year",
  "last_year",
  "range",
] as const;
export type PeriodName = (typeof PERIODS)[number];

/** A period as it is chosen: its name, and the days of a range. A missing day is open. */
export interface ChosenPeriod {
  name: PeriodName;
  from: string;
  to: string;
}

const NAMED: Record<Exclude<PeriodName, "all" | "range">, Period> = {
  today: { this: "day" },
  yesterday: { previous: "day" },
  last_7_days: { last: { days: 7 } },
  last_30_days: { last: { days: 30 } },
  this_week: { this: "week" },
  last_week: { previous: "week" },
  this_month: { this: "month" },
  last_month: { previous: "month" },
  this_quarter: { this: "quarter" },
  last_quarter: { previous: "quarter" },
  this_year: { this: "year" },
  last_year: { previous: "year" },
};

/** Returns the period that a person chose; null for all days. */
export function periodOf({ name, from, to }: ChosenPeriod): Period | null {
  if (name === "all") return null;
  if (name !== "range") return NAMED[name];
  if (from === "" && to === "") return null;
  return { ...(from !== "" && { from }), ...(to !== "" && { to }) };
}

/** Whether a range ends before it begins. */
export const isBackwards = ({ name, from, to }: ChosenPeriod): boolean =>
  name === "range" && from !== "" && to !== "" && from > to;

/** Returns a period as the form has it: its name if it has one there, else its days as the words of the query say them. */
export function chosenPeriod(
  period: Period | undefined,
  part: QueryPart | undefined,
): ChosenPeriod {
  const days = part ? daysOf(part.text) : null;
  const range = { from: days?.from ?? "", to: days?.to ?? "" };
  if (period === undefined) return { name: "all", ...range };
  if ("from" in period || "to" in period)
    return { name: "range", from: period.from ?? "", to: period.to ?? "" };
  const written = JSON.stringify(period);
  const named = Object.entries(NAMED).find(([, one]) => JSON.stringify(one) === written);
  return { name: named ? (named[0] as PeriodName) : "range", ...range };
}

/** Returns the days that a text says; null if it says none. */
export function daysOf(text: Param): Days | null {
  if (typeof text !== "object") return null;
  if ("form" in text) return text;
  if (!("params" in text)) return null;
  for (const value of Object.values(text.params)) {
    const days = daysOf(value);
    if (days) return days;
  }
  return null;
}
