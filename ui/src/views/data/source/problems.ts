// The problems of a source that a person should look at, the gravest first. Pure but for the language.
import { t } from "../../../i18n/index.svelte";
import type { SourceDescription } from "../../../platform/generated/SourceDescription";
import { STATUS_TEXTS } from "../sources/facts";

/** A part of the page of a source. */
export type Tab = "rows" | "overview" | "columns" | "definitions" | "imports";

export interface Problem {
  text: string;
  /** The part in which a person can see it or end it; null if there is none. */
  tab: Tab | null;
}

const DAY = 86_400_000;

/** Returns the days between the first and the last one that have no rows. */
function missingDays({ days }: SourceDescription["source"]): number {
  if (!days) return 0;
  const span = Math.round((Date.parse(days.last) - Date.parse(days.first)) / DAY) + 1;
  return Math.max(0, span - days.days);
}

/** Returns what a person should look at. */
export function problemsOf({ source, faults, definitions }: SourceDescription): Problem[] {
  const found: Problem[] = [];
  if (["damaged", "unreachable", "empty"].includes(source.status))
    found.push({ text: t(STATUS_TEXTS[source.status]), tab: null });
  if (faults.length > 0)
    found.push({ text: t("overview.faults", { count: faults.length }), tab: "definitions" });
  if (source.proposed > 0)
    found.push({ text: t("sources.proposed", { count: source.proposed }), tab: "definitions" });
  // Rows of a plan or of whole weeks and months are not for each day.
  const isDaily = !definitions.time?.covers && !definitions.spread;
  const missing = isDaily ? missingDays(source) : 0;
  if (missing > 0) found.push({ text: t("overview.days_missing", { count: missing }), tab: null });
  const rejected = (source.imports[0]?.report.rejected ?? []).reduce(
    (sum, { count }) => sum + count,
    0,
  );
  if (rejected > 0)
    found.push({ text: t("overview.rejected", { count: rejected }), tab: "imports" });
  return found;
}
