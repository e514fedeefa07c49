// The texts of times below an axis, which are shorter than those of the table.
import { formatDate } from "../../i18n/index.svelte";
import { areMonths, areOfOneDay, areOfYears } from "./times";

/** Returns the texts of times in ascending order. */
export function timeLabels(times: readonly string[]): string[] {
  const isOfYears = areOfYears(times);
  const year = isOfYears ? { year: "numeric" as const } : {};
  if (areMonths(times))
    return times.map((time) => label(time, { month: "short", year: "numeric" }));
  if (areOfOneDay(times))
    return times.map((time) => label(time, { hour: "numeric", minute: "2-digit" }));
  const hasHours = times.some((time) => time.length > 10);
  const hours = hasHours ? { hour: "numeric" as const } : {};
  return times.map((time) => label(time, { day: "numeric", month: "short", ...year, ...hours }));
}

/** Returns a time in a form. A moment without a zone has the time that is stored. */
function label(time: string, options: Intl.DateTimeFormatOptions): string {
  if (time.length === 10) return formatDate(time, options);
  const hasZone = /(Z|[+-]\d{2}:?\d{2})$/.test(time.slice(10));
  return hasZone
    ? formatDate(time, options)
    : formatDate(`${time}Z`, { ...options, timeZone: "UTC" });
}
