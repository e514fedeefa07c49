// The rows and columns that the host has read from a result, as text in the reader's language. Knows no pack.
import { formatDate, formatMoney, formatNumber, language, t, tMaybe } from "../i18n/index.svelte";
import { isDecimal, placesFor } from "../lib/decimal";
import type { ContentColumn } from "../platform/generated/ContentColumn";
import type { ResultCell } from "../platform/generated/ResultCell";
import type { ResultContent } from "../platform/generated/ResultContent";
import type { ShapeName } from "../platform/generated/ShapeName";
import type { ToolResult } from "../state/transcript";
import { plainName } from "./names";
import type { ShownRows } from "./shown";

/** The shapes that are drawn here. */
const DRAWN: readonly ShapeName[] = ["table", "figures", "series", "records"];

/** Returns the content that the host has read from a result for its shape, or null if it could not. */
export function contentOf(result: ToolResult | null): ResultContent | null {
  if (!result || !DRAWN.includes(result.view.shape)) return null;
  const content = result.parsed as ResultContent | null | undefined;
  return content ? withHeadings(content) : null;
}

/** Returns content whose columns have headings for a reader: names of definitions are written as words, and the columns of a comparison say
 *  which they are. All of those have the title of their measure. */
export function withHeadings(content: ResultContent): ResultContent {
  const named = content.columns.map(plainColumn);
  const isSame = named.every((column, at) => column === content.columns[at]);
  const own = isSame ? content : { ...content, columns: named };
  return named.some(({ compared }) => compared) ? withComparison(own) : own;
}

/** A name that people do not write in a heading. */
const IDENTIFIER = /^[a-z][a-z0-9_]*$/;

/** Returns a column without a heading of its own under its name in words. */
function plainColumn(column: ContentColumn): ContentColumn {
  const { name, label, role } = column;
  const isNamed = label["en"] !== name || Object.keys(label).length > 1;
  if (name === undefined || isNamed || !IDENTIFIER.test(name)) return column;
  const plain = plainName(name);
  const heading = role === "time" ? tMaybe(`query.grain_${name}`, plain) : plain;
  return { ...column, label: { [language()]: heading } };
}

function withComparison(content: ResultContent): ResultContent {
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

/** Returns the sentence about columns that are not here; null if all of them are. */
export function leftColumns({ columns, all_columns }: ResultContent): string | null {
  const left = (all_columns ?? 0) - columns.length;
  return left > 0 ? t("results.columns_left", { count: left }) : null;
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
  // A sum is a text of digits, so that it is exact.
  if (typeof value === "number" || (isNumeric(column) && isDecimal(value)))
    return numberText(value, unit ?? null, column);
  if (column.format === "day") return formatDate(value);
  return column.format === "moment"
    ? formatDate(value, { dateStyle: "medium", timeStyle: "short" })
    : value;
}

/** From this size on, the digits of a binary fraction are more than it keeps. */
const HUGE = 1e21;

/** Returns how a number is written whose digits say nothing: as a power of ten. */
export function hugeFormat(value: number | string): Intl.NumberFormatOptions | null {
  // Digits in a text are exact, unless they are written as a power of ten, too.
  if (typeof value === "string" && !/e/i.test(value)) return null;
  if (Math.abs(Number(value)) < HUGE) return null;
  return { notation: "scientific", minimumFractionDigits: 0, maximumFractionDigits: 14 };
}

/** Returns a number in the format of its column. Digits in a text stay exact. */
export function numberText(
  digits: number | string,
  unit: string | null,
  column: ContentColumn,
): string {
  // Intl formats digits in a text exactly, which its type does not say.
  const value = digits as number;
  const { format } = column;
  const most = column.digits ?? placesFor(digits);
  const huge = hugeFormat(digits);
  const within = (text: string): string => (unit === null ? text : `${text}\u00a0${unit}`);
  if (format === "percent") {
    const fixed = column.digits ?? 1;
    const places = huge ?? { minimumFractionDigits: fixed, maximumFractionDigits: fixed };
    // The change from 4 % to 6 % is one of 2 points, and not of 2 %.
    if (column.compared === "change")
      return t("results.points", { points: formatNumber(Number(digits) * 100, places) });
    return formatNumber(value, { style: "percent", ...places });
  }
  // Numbers of other formats, such as years and ids, are names and have no groups of digits.
  if (format !== "money" && format !== "number") return String(digits);
  if (huge) return within(formatNumber(value, huge));
  if (format === "money") return formatMoney(value, unit, column.digits ?? 2, most);
  return within(
    formatNumber(value, {
      minimumFractionDigits: column.digits ?? 0,
      maximumFractionDigits: most,
    }),
  );
}

/** Returns the names that the drawn result shows, so that an answer need not show them again. */
export function shownRows(result: ToolResult): ShownRows {
  const content = contentOf(result);
  const rows: ShownRows = { names: [] };
  if (!content) return rows;
  const name = content.columns.findIndex(({ role }) => role === "dimension");
  for (const row of content.rows) {
    const text = row[name]?.value;
    if (typeof text === "string" && text !== "") rows.names.push(text);
  }
  return rows;
}
