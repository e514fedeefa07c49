// Determines for each changed line of a preview whether it was added, removed or changed. Lines of the two sides belong together if they
// have the same label. Pure.
import type { PreviewState } from "../platform/generated/PreviewState";
import type { PreviewView } from "../platform/generated/PreviewView";

export type Mark = "added" | "removed" | "changed";

/** Returns the marks of the lines of one side; `null` for a line that does not change. */
export function marks(preview: PreviewView, side: "before" | "after"): (Mark | null)[] {
  const other = side === "before" ? preview.after : preview.before;
  const alone: Mark = side === "before" ? "removed" : "added";
  return preview[side].rows.map((row) => {
    if (!row.changed) return null;
    return named(preview[side], row.label) > named(other, row.label) ? alone : "changed";
  });
}

function named(state: PreviewState, label: string): number {
  return state.rows.filter((row) => row.label === label).length;
}
