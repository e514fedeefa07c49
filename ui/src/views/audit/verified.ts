// The statements that the result of a verification allows.
import type { MessageKey } from "../../i18n/index.svelte";
import type { VerifyReport } from "../../platform/generated/VerifyReport";

/**
 * Whether an exported folder may have a part of a log. A part has one checkpoint, and does not show where its key is kept; a
 * whole log can look so only while it is new.
 */
export const mayBePart = (report: VerifyReport, folder: string | null): boolean =>
  folder !== null && !report.anchored && report.checkpoints === 1;

/** The place of the signing key; null if the report does not know it. */
export function keyPlace(report: VerifyReport, folder: string | null): MessageKey | null {
  if (report.anchored) return "audit.anchored";
  const isUnknown = report.key_fingerprint === "" || mayBePart(report, folder);
  return isUnknown ? null : "audit.not_anchored";
}

/** Whether a record of the log itself is at fault. The numbers of an exported folder may be those of another log. */
export const isAtFault = (
  report: VerifyReport | null,
  folder: string | null,
  seq: number,
): boolean => folder === null && (report?.problems.some((problem) => problem.seq === seq) ?? false);
