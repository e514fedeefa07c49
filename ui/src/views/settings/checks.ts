// The checks of the diagnostics in two lists: those that need a person, the urgent ones first, and those that are fine. Pure.
import type { DoctorCheck } from "../../platform/generated/DoctorCheck";

export interface Sorted {
  needing: DoctorCheck[];
  fine: DoctorCheck[];
}

/** Sorts the checks. The order of the host stays within a list and an urgency. */
export function sortChecks(checks: readonly DoctorCheck[]): Sorted {
  const of = (state: DoctorCheck["state"]): DoctorCheck[] =>
    checks.filter((check) => check.state === state);
  return { needing: [...of("failed"), ...of("warning")], fine: of("ok") };
}

/** How a check is shown: one that is fine and has advice is a note, not a tick. */
export function markOf({ state, hint }: DoctorCheck): DoctorCheck["state"] | "note" {
  return state === "ok" && hint ? "note" : state;
}
