// The rows and columns that the host has read from a result, as text in the reader's language. Knows no pack.
import { formatDate, formatMoney, formatNumber, language, t } from "../i18n/index.svelte";
import { placesFor } from "../lib/decimal";
import type { ContentColumn } from "../platform/generated/ContentColumn";
import type { ResultCell } from "../platform/generated/ResultCell";
import type { ResultContent } from "../platform/generated/ResultContent";
import type { ShapeName } from "../platform/generated/ShapeName";
import type { ToolResult } from "../state/transcript";
import type { ShownRows } from "./shown";

/** The shapes that are drawn here. */
const DRAWN: readonly ShapeName[] = ["table", "figures", "series", "records"];

/** Returns the content that the host has read from a result for its shape, or null if it could not. */
export function contentOf(result: ToolResult | null): ResultContent | null {
  if (!result || !DRAWN.includes(result.view.shape)) return null;
  return (result.parsed as ResultContent | null | undefined) ?? null;
}

/** Returns the text in the reader's language, else in English, else in any language. */
export function wordsOf(words: Record<string, string> | undefined): string {
  if (!words) return "";
  return words[language()] ?? words["en"] ?? Object.values(words)[0] ?? "";
}

const NONE = "–";

/** Whether values of the column are numbers, which are aligned at the right. */
export function isNumeric({ format }: ContentColumn): boolean {
  return format === "number" || format === "money" || format === "percent";
}

/** Returns a cell as a reader sees it. */
export function cellText({ value, unit }: ResultCell, column: ContentColumn): string {
  if (value === null || value === "") return NONE;
  if (typeof value === "boolean") return t(value ? "common.yes" : "common.no");
  if (typeof value === "number") return numberText(value, unit ?? null, column);
  if (column.format === "day") return formatDate(value);
  return column.format === "moment"
    ? formatDate(value, { dateStyle: "medium", timeStyle: "short" })
    : value;
}

/** Returns a number in the format of its column. */
export function numberText(value: number, unit: string | null, column: ContentColumn): string {
  const { format, digits } = column;
  const most = digits ?? placesFor(value);
  if (format === "money") return formatMoney(value, unit, digits ?? 2, most);
  if (format === "percent") {
    const places = { minimumFractionDigits: digits ?? 1, maximumFractionDigits: digits ?? 1 };
    return formatNumber(value, { style: "percent", ...places });
  }
  // Numbers of other formats, such as years and ids, are names and have no groups of digits.
  if (format !== "number") return String(value);
  const text = formatNumber(value, {
    minimumFractionDigits: digits ?? 0,
    maximumFractionDigits: most,
  });
  return unit === null ? text : `${text}\u00a0${unit}`;
}

/** Returns the names that the drawn result shows, so that an answer need not show them again. */
export function shownRows(result: ToolResult): ShownRows {
  const content = contentOf(result);
  const rows: ShownRows = { names: [], amounts: [], figures: new Set() };
  if (!content) return rows;
  const name = content.columns.findIndex(({ role }) => role === "dimension");
  for (const row of content.rows) {
    const text = row[name]?.value;
    if (typeof text === "string" && text !== "") rows.names.push(text);
  }
  return rows;
}
