// The statements that the result of a verification allows.
import type { MessageKey } from "../../i18n/index.svelte";
import type { VerifyReport } from "../../platform/generated/VerifyReport";

/** The place of the signing key; null if the report does not know it. */
export function keyPlace(report: VerifyReport): MessageKey | null {
  if (report.anchored) return "audit.anchored";
  return report.key_fingerprint === "" || report.part ? null : "audit.not_anchored";
}

/** Whether a record of the log itself is at fault. The numbers of an exported folder may be those of another log. */
export const isAtFault = (
  report: VerifyReport | null,
  folder: string | null,
  seq: number,
): boolean => folder === null && (report?.problems.some((problem) => problem.seq === seq) ?? false);
