// Which times of a result are not whole, by the question that it answers. Pure.
import type { Group } from "../../platform/generated/Group";
import type { ResultContent } from "../../platform/generated/ResultContent";
import type { TimeGrain } from "../../platform/generated/TimeGrain";
import { daysOf } from "../query/periods";

const HOUR = 3_600_000;
/** The grains with a length, in milliseconds or months. */
const LENGTHS: Partial<Record<TimeGrain, { millis: number } | { months: number }>> = {
  hour: { millis: HOUR },
  day: { millis: 24 * HOUR },
  week: { millis: 7 * 24 * HOUR },
  month: { months: 1 },
  quarter: { months: 3 },
  year: { months: 12 },
};

/** Returns whether a time is not whole: it is not over at the moment of the question, or a period of days begins or ends within it. */
export function partialTimes(content: ResultContent): (start: string) => boolean {
  const query = content.computed?.asked.query;
  const groups = (query?.by ?? []).filter(
    (group): group is Group & { time: TimeGrain } => typeof group !== "string" && "time" in group,
  );
  const length = groups.length === 1 ? LENGTHS[groups[0]!.time] : undefined;
  if (!query?.as_of || !length) return () => false;
  const now = millisOf(query.as_of.moment);
  // The words of a question say the days of a relative period.
  const part = content.computed?.asked.parts?.find(({ at }) => at === "/period");
  const days = part ? daysOf(part.text) : null;
  const period: { from?: string | null; to?: string | null } =
    query.period && ("from" in query.period || "to" in query.period)
      ? query.period
      : query.period && days
        ? { from: days.from, to: days.to }
        : {};
  const first = period.from ? millisOf(period.from) : -Infinity;
  const end = period.to ? millisOf(period.to) + 24 * HOUR : Infinity;
  return (start) => {
    const begin = millisOf(start);
    const over = endOf(begin, length);
    return (begin <= now && now < over) || begin < first || over > end;
  };
}

/** Both are in the time of the source, so that their zone is of no matter. */
function millisOf(time: string): number {
  return Date.parse(time.length === 10 ? `${time}T00:00:00Z` : `${time.replace(/Z$/, "")}Z`);
}

function endOf(begin: number, length: { millis: number } | { months: number }): number {
  if ("millis" in length) return begin + length.millis;
  const date = new Date(begin);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + length.months, date.getUTCDate());
}
