// Times along an axis: their places in milliseconds, and the times without a row between them. Pure.
const MINUTE = 60_000;
const DAY = 86_400_000;
/** The steps between times that tell a gap from times that simply differ. */
const STEPS = [1, 5, 10, 15, 30, 60, 24 * 60, 7 * 24 * 60].map((minutes) => minutes * MINUTE);
/** The same in months. */
const MONTHS = [1, 3, 12];
/** With more times than this, a gap has one place instead of one for each missing time. */
const MOST_FILLED = 1_000;

/** A day, or a moment without a zone. */
const LOCAL = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?)?$/;

/** Returns a day or moment as milliseconds. One without a zone is read as UTC, because only distances count. NaN for other texts. */
export function millisOf(time: string): number {
  if (!/^\d{4}-\d{2}-\d{2}/.test(time)) return NaN;
  if (!LOCAL.test(time)) return Date.parse(time);
  return Date.parse(time.length === 10 ? `${time}T00:00:00Z` : `${time}Z`);
}

function textOf(millis: number, length: number): string {
  return new Date(millis).toISOString().slice(0, length);
}

const monthOf = (time: string): number =>
  Number(time.slice(0, 4)) * 12 + Number(time.slice(5, 7)) - 1;

/** Moves a time by one step. */
export type Step = (time: string) => string;

/** Returns the step between times in ascending order, such as a week. Null if they do not follow a calendar. */
export function stepOf(times: readonly string[]): Step | null {
  const first = times[0];
  if (first === undefined || times.length < 2) return null;
  if (times.some((time) => time.length !== first.length || !LOCAL.test(time))) return null;
  const pairs = times.slice(1).map((time, at): [string, string] => [times[at]!, time]);
  const days = new Set(times.map((time) => time.slice(7)));
  if (days.size === 1) {
    const months = pairs.map(([one, other]) => monthOf(other) - monthOf(one));
    const step = Math.min(...months);
    if (MONTHS.includes(step) && months.every((count) => count % step === 0))
      return (time) => {
        const month = monthOf(time) + step;
        const year = String(Math.floor(month / 12)).padStart(4, "0");
        return `${year}-${String((month % 12) + 1).padStart(2, "0")}${time.slice(7)}`;
      };
  }
  const apart = pairs.map(([one, other]) => millisOf(other) - millisOf(one));
  const step = Math.min(...apart);
  if (!STEPS.includes(step) || apart.some((millis) => millis % step !== 0)) return null;
  return (time) => textOf(millisOf(time) + step, time.length);
}

/** Returns times in ascending order with those that are missing between them, so that a gap is seen as one. */
export function withGaps(times: readonly string[]): string[] {
  const step = stepOf(times);
  if (!step) return [...times];
  const most = Math.max(MOST_FILLED, times.length);
  return fill(times, step, most) ?? fill(times, step, null)!;
}

/** Returns all times with the missing ones; null if they are more than `most`. Without it, each gap has one time. */
function fill(times: readonly string[], step: Step, most: number | null): string[] | null {
  const filled: string[] = [];
  for (const [at, time] of times.entries()) {
    filled.push(time);
    const next = times[at + 1];
    if (next === undefined) break;
    for (let missing = step(time); missing < next; missing = step(missing)) {
      filled.push(missing);
      if (most === null) break;
      if (filled.length > most) return null;
    }
  }
  return filled;
}

/** Whether all times are first days of months. */
export const areMonths = (times: readonly string[]): boolean =>
  times.length > 1 && times.every((time) => time.endsWith("-01"));

/** Whether the times lie in more than one year. */
export function areOfYears(times: readonly string[]): boolean {
  return new Set(times.map((time) => time.slice(0, 4))).size > 1;
}

/** Whether all times are on one day. */
export function areOfOneDay(times: readonly string[]): boolean {
  return times.length > 1 && new Set(times.map((time) => time.slice(0, 10))).size === 1;
}

/** Returns the milliseconds where the slot of each place begins, and where the last one ends. */
export function slotsOf(places: readonly number[]): number[] {
  const between = places.slice(1).map((place, at) => (places[at]! + place) / 2);
  const first = places[0] ?? 0;
  const last = places.at(-1) ?? 0;
  const before = between.length > 0 ? between[0]! - first : DAY / 2;
  const after = between.length > 0 ? last - between.at(-1)! : DAY / 2;
  return [first - before, ...between, last + after];
}
