// Columns in words: use, type, unit and sums.
import { t } from "../../../i18n/index.svelte";
import type { ColumnSum } from "../../../platform/generated/ColumnSum";
import type { FoundColumn } from "../../../platform/generated/FoundColumn";
import { isDecimal, placesOf } from "../../../lib/decimal";
import { exactNumber } from "../../../results/grid/cells";
import { useOf } from "./correction";

/** Returns an exact number in the reader's format, with its currency. */
export function sumText(digits: string, currency?: string | null): string {
  if (!isDecimal(digits)) return digits;
  // An amount has two decimals at least; any other number has those that it is written with.
  const least = currency ? Math.max(2, placesOf(digits)) : placesOf(digits);
  const text = exactNumber(digits, { minimumFractionDigits: least });
  return currency ? `${text}\u00a0${currency}` : text;
}

export const kindText = ({ kind }: FoundColumn): string => t(`columns.kind_${kind}`);

export const useText = ({ use }: FoundColumn): string => t(`columns.is_${useOf(use)}`);

/** Returns the unit, or where it is. */
export function unitText(column: FoundColumn): string {
  if (column.unit === "percent") return t("columns.unit_percent");
  if (column.unit !== undefined) return column.unit;
  return column.currency_column === undefined
    ? ""
    : t("columns.unit_in", { column: column.currency_column });
}

/** Returns the sums of a column, one for each currency. */
export function sumsText(sums: readonly ColumnSum[], column: string): string {
  return sums
    .filter((sum) => sum.column === column)
    .map(({ sum, currency }) => sumText(sum, currency))
    .join(" · ");
}
