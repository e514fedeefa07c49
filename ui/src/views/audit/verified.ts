// The statements that the result of a verification allows.
import type { MessageKey } from "../../i18n/index.svelte";
import type { VerifyReport } from "../../platform/generated/VerifyReport";

/** Returns the place of the signing key; null if the report does not say it. */
export function keyPlace(report: VerifyReport): MessageKey | null {
  if (report.anchored) return "audit.anchored";
  return report.key_fingerprint === "" || report.part ? null : "audit.not_anchored";
}

/** Whether a record of the log itself has a problem. The record numbers of an exported folder may belong to another log. */
export const isAtFault = (
  report: VerifyReport | null,
  folder: string | null,
  seq: number,
): boolean => folder === null && (report?.problems.some((problem) => problem.seq === seq) ?? false);
