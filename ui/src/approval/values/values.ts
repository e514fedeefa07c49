// How values of unknown JSON are shown: texts, names with values, a table, or numbered entries; and short forms of long ids. Pure.
import { t } from "../../i18n/index.svelte";

export type Shown =
  | { kind: "text"; text: string }
  | { kind: "rows"; rows: { name: string; value: unknown }[]; left: number }
  | { kind: "table"; columns: string[]; lines: Record<string, unknown>[]; left: number }
  | { kind: "list"; items: unknown[]; left: number };

/** The most names or entries of a value that are shown. The raw value has all. */
export const MOST = 30;
/** The most names or entries of a value inside another one. */
const MOST_INSIDE = 12;
/** The level from which on values are shown as JSON. */
const MOST_LEVELS = 4;
const MOST_LETTERS = 2_000;

/** The most columns that are read side by side. */
const MOST_COLUMNS = 8;

const isScalar = (value: unknown): boolean => typeof value !== "object" || value === null;

/** Returns a text that is JSON as its value; any other text as it is. */
export function opened(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

function scalar(value: unknown): string {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "boolean") return t(value ? "common.yes" : "common.no");
  if (typeof value !== "string") return JSON.stringify(value);
  return value.length > MOST_LETTERS ? `${value.slice(0, MOST_LETTERS)} …` : value;
}

const isFlat = (value: unknown): boolean =>
  isScalar(value) || (Array.isArray(value) && value.length < MOST_INSIDE && value.every(isScalar));

/** Returns the columns of entries that have the same few names with single values; null for other entries. */
function columnsOf(items: readonly unknown[]): string[] | null {
  const names = new Set<string>();
  for (const item of items) {
    if (isScalar(item) || Array.isArray(item)) return null;
    for (const [name, value] of Object.entries(item as Record<string, unknown>)) {
      if (!isFlat(value)) return null;
      names.add(name);
    }
  }
  return items.length > 1 && names.size > 0 && names.size <= MOST_COLUMNS ? [...names] : null;
}

/** Returns one level of a value. `level` counts the levels above it. */
export function shownValue(value: unknown, level = 0): Shown {
  const inner = opened(value);
  if (isScalar(inner)) return { kind: "text", text: scalar(inner) };
  if (level >= MOST_LEVELS) return { kind: "text", text: scalar(JSON.stringify(inner)) };
  const most = level === 0 ? MOST : MOST_INSIDE;
  if (Array.isArray(inner)) {
    const items = inner as unknown[];
    if (items.length === 0) return { kind: "text", text: "–" };
    const left = Math.max(0, items.length - most);
    const some = items.slice(0, most);
    if (left === 0 && some.every(isScalar))
      return { kind: "text", text: some.map(scalar).join(", ") };
    const columns = columnsOf(some);
    return columns
      ? { kind: "table", columns, lines: some as Record<string, unknown>[], left }
      : { kind: "list", items: some, left };
  }
  const rows = Object.entries(inner as Record<string, unknown>).map(([name, value]) => ({
    name,
    value,
  }));
  if (rows.length === 0) return { kind: "text", text: "–" };
  return { kind: "rows", rows: rows.slice(0, most), left: Math.max(0, rows.length - most) };
}

/** Whether a value has names or entries, so that its raw form differs from what is shown. */
export function hasParts(value: unknown): boolean {
  return !isScalar(opened(value));
}

const LONG_ID = /^([a-z][a-z0-9]*[_:-])?[0-9a-f]{24,}$/i;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const PAIRS = /^([0-9a-f]{2}:){11,}[0-9a-f]{2}$/i;

/** Whether a text is an id or a hash that is too long to read. */
export const isLongId = (text: string): boolean =>
  LONG_ID.test(text) || UUID.test(text) || PAIRS.test(text);

/** Returns the beginning and the end of a long id; any other text as it is. */
export function shortId(text: string): string {
  if (!isLongId(text)) return text;
  const prefix = LONG_ID.exec(text)?.[1]?.length ?? 0;
  return `${text.slice(0, prefix + 8)}…${text.slice(-4)}`;
}
