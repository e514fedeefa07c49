// The outcomes of one entry that a reader must not miss, worst first: decisions, failures, and calls whose outcome is unknown.
import { t, tMaybe } from "../../i18n/index.svelte";
import type { AuditEntry } from "../../platform/generated/AuditEntry";
import { toneOf, type Tone } from "./words";

/** All outcomes that have a place in the order, worst first. Any other one comes before the approvals. */
const WORST_FIRST = [
  "unknown",
  "error",
  "failed",
  "interrupted",
  "denied",
  "refused",
  "rejected",
  "limit",
  "expired",
  "cancelled",
  "approval_required",
  "superseded",
];
/** Success is the expected outcome, and a proposal is followed by a decision. */
const NOT_SHOWN = new Set(["ok", "done", "allowed", "pending"]);
/** Decisions after which nothing waits for an approval any more. */
const DECIDED = ["approved", "rejected", "expired", "cancelled", "superseded"];

export interface Outcome {
  id: string;
  text: string;
  tone: Tone;
}

/** Whether an outcome is told in plain words, so that the others stand out. */
export const isExpected = (id: string): boolean => NOT_SHOWN.has(id);

/** Returns the text of an outcome. */
export const outcomeText = (id: string): string =>
  id === "unknown" ? t("audit.outcome_unknown") : tMaybe(`status.${id}`, id);

function rank(id: string): number {
  const at = WORST_FIRST.indexOf(id);
  if (at >= 0) return at;
  return WORST_FIRST.length + (id === "approved" ? 1 : 0);
}

/** Sorts outcomes, worst first. Those with the same text are one. */
export function sortOutcomes(ids: readonly string[]): Outcome[] {
  const byText = new Map<string, Outcome>();
  for (const id of [...ids].sort((one, other) => rank(one) - rank(other))) {
    const text = outcomeText(id);
    if (!byText.has(text)) byText.set(text, { id, text, tone: toneOf(id) });
  }
  return [...byText.values()];
}

/** Returns the outcomes of an entry, worst first. */
export function outcomesOf({ decisions, status }: AuditEntry): Outcome[] {
  const all = status ? [...decisions, status] : decisions;
  const isDecided = all.some((id) => DECIDED.includes(id));
  return sortOutcomes(
    all.filter((id) => !NOT_SHOWN.has(id) && !(isDecided && id === "approval_required")),
  );
}
