// The list of sources: size, age and state of each in words, their order, and which fit a search. Pure.
import { dayOf, formatAgo, formatNumber, t, type MessageKey } from "../../../i18n/index.svelte";
import type { SourceStatus } from "../../../platform/generated/SourceStatus";
import type { SourceView } from "../../../platform/generated/SourceView";

const DAY = 86_400_000;
const UNITS = [
  { unit: "gigabyte", bytes: 1e9 },
  { unit: "megabyte", bytes: 1e6 },
  { unit: "kilobyte", bytes: 1e3 },
] as const;

/** Returns a size on the disk in the unit that people read it in. */
export function sizeText(bytes: number): string {
  const { unit, bytes: one } = UNITS.find((known) => bytes >= known.bytes) ?? {
    unit: "byte",
    bytes: 1,
  };
  const value = bytes / one;
  return formatNumber(value, {
    style: "unit",
    unit,
    // The short form of this unit has no plural.
    unitDisplay: unit === "byte" ? "long" : "short",
    maximumFractionDigits: value < 10 && one > 1 ? 1 : 0,
  });
}

/** Returns how many days ago the last day of a source's rows was; null if its rows have no days. Negative: it is still to come. */
export function ageOf({ days }: SourceView, now: Date): number | null {
  if (!days) return null;
  return Math.round((Date.parse(dayOf(now)) - Date.parse(days.last)) / DAY);
}

/** Returns how fresh the rows are: the age of their last day, or else the time of the newest import. A database has the rows of now. */
export function freshText(source: SourceView, now: Date): string {
  if (source.kind.at === "database") return t("sources.fresh_live");
  const age = ageOf(source, now);
  const [newest] = source.imports;
  if (age === null)
    return newest ? t("sources.fresh_imported", { ago: formatAgo(newest.at, now) }) : "–";
  if (age < 0) return t("sources.fresh_ahead");
  return age === 0 ? t("sources.fresh_today") : t("sources.fresh_days", { count: age });
}

/** Returns the last days whose values may still change; empty if the values are final at once. */
export function settlesText({ settles_after }: SourceView): string {
  return settles_after ? t("sources.settles", { count: settles_after }) : "";
}

/** Returns which sources a source is computed from; empty if it has rows of its own. */
export function computedText({ computed_from }: SourceView): string {
  const [delivery, plan] = computed_from ?? [];
  if (delivery === undefined || plan === undefined) return "";
  return t("sources.computed_from", { delivery, plan });
}

export const STATUS_TEXTS: Record<SourceStatus, MessageKey> = {
  damaged: "sources.status_damaged",
  importing: "sources.status_importing",
  unreachable: "sources.status_unreachable",
  empty: "sources.status_empty",
  to_approve: "sources.status_to_approve",
  ready: "sources.status_ready",
};

export const SORT_KEYS = ["name", "rows", "days", "fresh", "size", "status"] as const;
export type SortKey = (typeof SORT_KEYS)[number];
export interface SourceOrder {
  by: SortKey;
  descending: boolean;
}

/** The states, those that need a person first. */
const URGENCY: readonly SourceStatus[] = [
  "damaged",
  "unreachable",
  "to_approve",
  "importing",
  "empty",
  "ready",
];

/** Returns the value that a source is sorted by; null if it has none. */
function keyOf(source: SourceView, by: SortKey): number | string | null {
  switch (by) {
    case "name":
      return source.name;
    case "rows":
      return source.rows ?? null;
    case "days":
      return source.days?.first ?? null;
    case "fresh":
      return source.days?.last ?? source.imports[0]?.at ?? null;
    case "size":
      return source.bytes ?? null;
    case "status":
      return URGENCY.indexOf(source.status);
  }
}

/** Returns the sources in an order. Those without a value come last, and equal ones are sorted by name. */
export function sortedSources(
  sources: readonly SourceView[],
  { by, descending }: SourceOrder,
): SourceView[] {
  return [...sources].sort((one, other) => {
    const [a, b] = [keyOf(one, by), keyOf(other, by)];
    const missing = Number(a === null) - Number(b === null);
    const compared = a === null || b === null || a === b ? 0 : a < b ? -1 : 1;
    return missing || (descending ? -compared : compared) || (one.name < other.name ? -1 : 1);
  });
}

/** Returns the next order when a heading is chosen: counts and days begin with the greatest. */
export function nextSourceOrder(by: SortKey, now: SourceOrder): SourceOrder {
  if (now.by === by) return { by, descending: !now.descending };
  return { by, descending: by === "rows" || by === "size" || by === "fresh" };
}

/** Whether a source fits a search: its name, files, columns, table or address contain all words. */
export function fitsSearch(source: SourceView, words: string): boolean {
  const { kind } = source;
  const texts = [
    source.name,
    ...source.imports.map(({ report }) => report.file),
    ...source.columns.map(({ name }) => name),
    ...(kind.at === "database" ? [kind.table, kind.address] : []),
  ].map((text) => text.toLowerCase());
  const wanted = words
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return wanted.every((word) => texts.some((text) => text.includes(word)));
}
