// One glance at an import: its facts in the order in which they are shown. Only what is not zero and needs a look has a colour. Pure.
import type { DayRange } from "../../../platform/generated/DayRange";
import type { DaySpan } from "../../../platform/generated/DaySpan";
import type { FoundColumn } from "../../../platform/generated/FoundColumn";
import type { ImportChange } from "../../../platform/generated/ImportChange";
import type { TableReport } from "../../../platform/generated/TableReport";
import { isZero, minus } from "../../../lib/decimal";

/** A report, with the change of the source. */
export interface Found {
  report: TableReport;
  change?: ImportChange;
}

export type Tone = "plain" | "info" | "warn" | "danger";

/** A number of an import. */
export interface Count {
  id: "new" | "changed" | "vanished" | "left_out" | "rejected" | "unused";
  count: number;
  tone: Tone;
}

const total = (parts: readonly { count: number }[]): number =>
  parts.reduce((sum, { count }) => sum + count, 0);

/** Returns the columns of the file that are of no use for figures. */
export function unusedColumns(report: TableReport): FoundColumn[] {
  return report.columns.filter(({ use, is_added }) => use === "other" && !is_added);
}

/** Returns the numbers of an import. */
export function countsOf({ report, change }: Found): Count[] {
  const tones: Record<Count["id"], Tone> = {
    new: "info",
    changed: "info",
    vanished: "warn",
    left_out: "info",
    rejected: "danger",
    unused: "info",
  };
  const counts: [Count["id"], number][] = [
    ...(change
      ? ([
          ["new", change.new_rows],
          ["changed", change.changed_rows],
          ["vanished", change.vanished_rows],
        ] as [Count["id"], number][])
      : []),
    ["left_out", total(report.left_out)],
    ["rejected", total(report.rejected)],
    ["unused", unusedColumns(report).length],
  ];
  return counts.map(([id, count]) => ({ id, count, tone: count === 0 ? "plain" : tones[id] }));
}

/** The sums of a column in the file and in the source. */
export interface SumLine {
  column: string;
  currency: string | null;
  /** The sum of the rows that are stored. */
  inFile: string | null;
  /** The number of the file's own total line; null if it has none. */
  stated: string | null;
  /** Whether the total line agrees; null if there is none. */
  agrees: boolean | null;
  before: string | null;
  after: string | null;
  /** `after` without `before`; null if it is zero. */
  difference: string | null;
  /** The part of `before` whose rows are no longer in the file; null if it is zero. */
  vanished: string | null;
}

const unlessZero = (digits: string | null | undefined): string | null =>
  digits === null || digits === undefined || isZero(digits) ? null : digits;

/** Returns the sums, one line for each column and currency. */
export function sumsOf({ report, change }: Found): SumLine[] {
  const lines = new Map<string, SumLine>();
  const lineOf = (column: string, currency: string | undefined): SumLine => {
    const key = `${column}\u0000${currency ?? ""}`;
    const known = lines.get(key);
    if (known) return known;
    const line: SumLine = {
      column,
      currency: currency ?? null,
      inFile: null,
      stated: null,
      agrees: null,
      before: null,
      after: null,
      difference: null,
      vanished: null,
    };
    lines.set(key, line);
    return line;
  };
  for (const { column, currency, sum } of report.sums) lineOf(column, currency).inFile = sum;
  for (const { column, stated, agrees } of report.file_total?.columns ?? []) {
    // A total line has one number for a column, whatever the currencies are.
    const own = report.sums.filter((sum) => sum.column === column);
    const line = lineOf(column, own.length === 1 ? own[0]!.currency : undefined);
    [line.stated, line.agrees] = [stated, agrees];
  }
  for (const sum of change?.sums ?? []) {
    const line = lineOf(sum.column, sum.currency);
    [line.before, line.after] = [sum.before, sum.after];
    line.difference = unlessZero(minus(sum.after, sum.before));
    line.vanished = unlessZero(sum.vanished);
  }
  return [...lines.values()];
}

/** Whether the file's own total line agrees with its rows; null if it has none. */
export function totalsAgree(report: TableReport): boolean | null {
  if (!report.file_total || report.file_total.columns.length === 0) return null;
  return report.file_total.columns.every(({ agrees }) => agrees);
}

/** Returns the range that an import speaks for: the stated one, or that of its rows. */
export function rangeOf({ report, change }: Found): DayRange | null {
  const days = change?.scope.days ?? report.stated_range ?? report.days;
  return days ? { first: days.first, last: days.last } : null;
}

/** Returns the number of days of a range. */
export function lengthOf({ first, last }: DayRange): number {
  const day = (text: string): number => Date.parse(`${text}T00:00:00Z`) / 86_400_000;
  return Math.round(day(last) - day(first)) + 1;
}

/** A part of the strip of days. `start` and `size` are parts of the whole strip. */
export interface Stretch {
  start: number;
  size: number;
}

export interface Strip {
  first: string;
  last: string;
  /** The days that the source had before. */
  before: Stretch | null;
  /** The range of the file. */
  file: Stretch;
  /** Days within the range that have no row. */
  gaps: Stretch[];
}

/** Returns the strip of days of an import, beside the days that the source had. Null if the rows have no days. */
export function stripOf(found: Found, before: DaySpan | null): Strip | null {
  const range = rangeOf(found);
  if (!range) return null;
  const first = before && before.first < range.first ? before.first : range.first;
  const last = before && before.last > range.last ? before.last : range.last;
  const whole = lengthOf({ first, last });
  const stretch = (part: DayRange): Stretch => ({
    start: (lengthOf({ first, last: part.first }) - 1) / whole,
    size: lengthOf(part) / whole,
  });
  const { days } = found.report;
  const edges: DayRange[] = [];
  // A stated range can begin before the first row and end after the last one.
  if (days && days.first > range.first)
    edges.push({ first: range.first, last: dayBeside(days.first, -1) });
  if (days && days.last < range.last)
    edges.push({ first: dayBeside(days.last, 1), last: range.last });
  return {
    first,
    last,
    before: before && stretch(before),
    file: stretch(range),
    gaps: [...edges, ...found.report.gaps].map(stretch),
  };
}

function dayBeside(day: string, by: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + by * 86_400_000).toISOString().slice(0, 10);
}

/** Returns the accounts and other values that fix the scope of an import. */
export function scopeValues({ report, change }: Found): { column: string; values: string[] }[] {
  const found = Object.entries(change?.scope.values ?? {}).map(([column, values]) => ({
    column,
    values,
  }));
  if (found.length > 0 || report.stated_account === undefined) return found;
  return [{ column: "", values: [report.stated_account] }];
}
