// The findings and changes of an import in words.
import { worded } from "../../../i18n/host";
import { formatDate, formatNumber, t, type MessageKey } from "../../../i18n/index.svelte";
import { isolated } from "../../../i18n/plural";
import type { DayRange } from "../../../platform/generated/DayRange";
import type { TableReport } from "../../../platform/generated/TableReport";
import { lengthOf, rangeOf, scopeValues, type Found } from "./glance";

const SEPARATORS: Partial<Record<string, MessageKey>> = {
  ",": "mapping.separator.comma",
  ";": "mapping.separator.semicolon",
  "\t": "mapping.separator.tab",
  "|": "mapping.separator.bar",
};

/** Returns a range of days. */
export function rangeText({ first, last }: DayRange): string {
  const [from, to] = [formatDate(first), formatDate(last)];
  return from === to ? from : t("data.set_days", { first: from, last: to });
}

/** Returns the range of an import, how many of its days have rows, and whether the file states it. */
export function daysParts(found: Found): string[] {
  const range = rangeOf(found);
  if (!range) return [t("import.no_days")];
  const { days } = found.report;
  return [
    rangeText(range),
    ...(days ? [t("import.days_of", { days: days.days, count: lengthOf(range) })] : []),
    ...(found.report.stated_range ? [t("import.range_stated")] : []),
  ];
}

export const daysText = (found: Found): string => daysParts(found).join(" · ");

/** Returns the account and whatever else fixes the scope. */
export function scopeText(found: Found): string {
  const most = 4;
  const values = scopeValues(found).map(({ column, values }) => {
    const named = values.slice(0, most).map((value) => isolated(value) || "–");
    if (values.length > most) named.push(t("import.more", { count: values.length - most }));
    return column === "" ? named.join(", ") : `${isolated(column)}: ${named.join(", ")}`;
  });
  return values.join(" · ");
}

/** Returns how the file was read: format, encoding, separator, headings, numbers and dates. */
export function readingText(report: TableReport): string {
  const sign = SEPARATORS[report.separator ?? ""];
  const read = report.sheets.filter(({ is_read }) => is_read).map(({ name }) => name);
  return [
    t(`import.format_${report.format}`),
    ...(report.compression ? [report.compression] : []),
    ...(report.encoding ? [report.encoding] : []),
    ...(sign ? [t(sign)] : []),
    ...(read.length > 0 ? [t("import.sheets_read", { names: read.join(", ") })] : []),
    ...(report.header_line > 0 ? [t("mapping.header", { line: report.header_line })] : []),
    ...(report.decimal ? [t(`mapping.decimals.${report.decimal}`)] : []),
    ...(report.date_order ? [t(`mapping.order.${report.date_order}`)] : []),
  ].join(" · ");
}

/** Returns line numbers, and a sign that there are more. */
export function linesText(lines: readonly number[], count: number): string {
  const named = lines.filter((line) => line > 0).map((line) => formatNumber(line));
  if (count > lines.length) named.push("…");
  return named.join(", ") || "–";
}

/** Returns the notes about a file. */
export const notesOf = ({ notes }: TableReport): string[] => notes.map(worded);
