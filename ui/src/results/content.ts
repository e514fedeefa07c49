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
  const content = result.parsed as ResultContent | null | undefined;
  return content ? withHeadings(content) : null;
}

/** Returns content whose columns of a comparison say which they are. All of them have the title of their measure. */
export function withHeadings(content: ResultContent): ResultContent {
  if (!content.columns.some(({ compared }) => compared)) return content;
  let title = "";
  const columns = content.columns.map((column) => {
    const name = wordsOf(column.label);
    if (column.compared === "now") title = name;
    if (column.compared === undefined || column.compared === "now" || name !== title) return column;
    const heading = t(`results.heading_${column.compared}`, { name });
    return { ...column, label: { [language()]: heading } };
  });
  return { ...content, columns };
}

/** Returns the text in the reader's language, else in English, else in any language. */
export function wordsOf(words: Record<string, string> | undefined): string {
  if (!words) return "";
  return words[language()] ?? words["en"] ?? Object.values(words)[0] ?? "";
}

/** Returns the number of all rows of a result. It may have more than the answer brought. */
export function countRows({ total, computed }: ResultContent): number {
  return Math.max(total, computed?.row_count ?? 0);
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
    // The change from 4 % to 6 % is one of 2 points, and not of 2 %.
    if (column.compared === "change")
      return t("results.points", { points: formatNumber(value * 100, places) });
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
