// Finds calls that were refused for their arguments and need nobody's attention: the model has made them again, or it may
// still do so. Pure.
import type { Entry, ToolEntry } from "../../../state/transcript";

export type Correction = "corrected" | "correcting";

/** Returns the refused calls by key. `running` is the turn that still runs, if one does. */
export function corrections(
  entries: readonly Entry[],
  running: string | null,
): Map<string, Correction> {
  const found = new Map<string, Correction>();
  entries.forEach((entry, index) => {
    if (!isRefused(entry)) return;
    const again = entries.slice(index + 1).some((later) => isSameCallInOrder(later, entry));
    if (again) found.set(entry.key, "corrected");
    else if (entry.turn === running) found.set(entry.key, "correcting");
  });
  return found;
}

/** Whether the arguments of a call were refused. A call that a person had to decide about is never treated as corrected. */
function isRefused(entry: Entry): entry is ToolEntry {
  return (
    entry.kind === "tool" &&
    entry.outcome === "error" &&
    entry.approvalStatus === null &&
    entry.result?.error?.code === "invalid_input"
  );
}

function isSameCallInOrder(later: Entry, refused: ToolEntry): boolean {
  return (
    later.kind === "tool" &&
    later.turn === refused.turn &&
    later.tool === refused.tool &&
    later.outcome !== "limit" &&
    !isRefused(later)
  );
}
