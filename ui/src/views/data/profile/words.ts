// The figures of a profile in words. Pure.
import { formatDate, formatMoment, formatNumber, t } from "../../../i18n/index.svelte";
import { isDecimal, isNumeric } from "../../../lib/decimal";
import type { ColumnProfile } from "../../../platform/generated/ColumnProfile";
import type { FoundColumn } from "../../../platform/generated/FoundColumn";
import type { SourceProfile } from "../../../platform/generated/SourceProfile";
import { exactNumber } from "../../../results/grid/cells";
import { isCurrency } from "../columns/correction";

/** A number with more characters is written with an exponent. An exact decimal has at most 40. */
const LONGEST_NUMBER = 40;
const DAY = 86_400_000;

function numberText(value: string, column: FoundColumn, places: number): string {
  if (!isNumeric(value)) return value;
  // A number that is an id or a name has no groups of digits.
  if (column.use === "id" || column.use === "dimension") return value;
  if (value.length > LONGEST_NUMBER || /e/i.test(value))
    return exactNumber(value, { notation: "scientific", maximumFractionDigits: 16 });
  if (column.unit === "percent")
    return exactNumber(value, { style: "percent", maximumFractionDigits: places });
  return exactNumber(value, { maximumFractionDigits: places });
}

/** Returns a value as a reader sees it. */
export function valueText(value: string, column: FoundColumn, places = 20): string {
  switch (column.kind) {
    case "whole":
    case "decimal":
      return numberText(value, column, places);
    case "day":
      return formatDate(value);
    case "moment":
      return formatMoment(value);
    case "flag":
      return t(value === "true" ? "common.yes" : "common.no");
    case "text":
      return value;
  }
}

/** Returns a value with the unit of its column. An amount has two decimals at least. */
export function amountText(value: string, column: FoundColumn, places = 20): string {
  const { unit } = column;
  const isPlain = column.kind === "whole" || column.kind === "decimal";
  if (!isPlain || unit === undefined || unit === "percent") return valueText(value, column, places);
  const isLong = value.length > LONGEST_NUMBER || !isDecimal(value);
  const text =
    isLong || !isCurrency(unit)
      ? valueText(value, column, places)
      : exactNumber(value, { minimumFractionDigits: 2, maximumFractionDigits: places });
  return `${text}\u00a0${unit}`;
}

/** Returns a count with its part of all rows. */
export function shareText(count: number, rows: number): string {
  if (count === 0 || rows === 0) return formatNumber(count);
  const part = count / rows;
  // A small part is not nothing, and nearly all is not all.
  const shown = count < rows ? Math.min(Math.max(part, 0.001), 0.999) : 1;
  const percent = formatNumber(shown, { style: "percent", maximumFractionDigits: 1 });
  return t("profile.share", {
    count: formatNumber(count),
    percent: shown === part ? percent : t("profile.about", { value: percent }),
  });
}

/** Returns the number of different values, and that it is an estimate. */
export function distinctText({ distinct, is_distinct_estimated }: ColumnProfile): string {
  const count = formatNumber(distinct);
  return is_distinct_estimated ? t("profile.about", { value: count }) : count;
}

/** Says which rows count. */
export function basisText({
  rows,
  basis,
  estimated_rows,
}: Omit<SourceProfile, "columns" | "left">): string {
  switch (basis) {
    case "all_rows":
      return t("profile.all_rows", { count: rows });
    case "sample":
      return t("profile.sample", { count: rows, all: formatNumber(estimated_rows ?? rows) });
    case "first_rows":
      return t("profile.first_rows", { count: rows });
  }
}

/** Returns the ranges in one sentence: their span, and which has most rows. */
export function rangesText({ ranges }: ColumnProfile, column: FoundColumn): string {
  const [first, last] = [ranges[0], ranges.at(-1)];
  const most = ranges.reduce((one, other) => (other.rows > one.rows ? other : one), ranges[0]!);
  return t("profile.ranges_summary", {
    from: valueText(first!.from, column, 6),
    to: valueText(last!.to, column, 6),
    count: most.rows,
    most_from: valueText(most.from, column, 6),
    most_to: valueText(most.to, column, 6),
  });
}

/** Returns the part of a whole range that each range is: 1, or less for a last one that has fewer days or whole numbers. */
export function partsOf(
  { kind }: FoundColumn,
  ranges: readonly { from: string; to: string }[],
): number[] {
  const value = (text: string): number => (kind === "day" ? Date.parse(text) / DAY : Number(text));
  const size = ({ from, to }: { from: string; to: string }): number => value(to) - value(from) + 1;
  const [first, last] = [ranges[0], ranges.at(-1)];
  const isCounted = kind === "day" || kind === "whole";
  const part = isCounted && first && last ? size(last) / size(first) : 1;
  const isShorter = part > 0 && part < 1;
  return ranges.map((range) => (isShorter && range === last ? part : 1));
}
