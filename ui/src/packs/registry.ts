// The packs that have code in the window. Each has a folder here; all other packs are drawn by the shapes of their results.
import type { ResultView } from "../platform/generated/ResultView";
import type { Entry } from "../state/transcript";
import shop from "./shop";
import type { Combined, PackCode, PackView } from "./types";

export const packs: Readonly<Record<string, PackCode>> = { shop };

/** Returns the view that a result names, or null if the result names none or no pack has the view. */
export function viewOf({ shape, pack, view }: ResultView): PackView | null {
  if (shape !== "named" || view === undefined) return null;
  const owners = pack === undefined ? Object.values(packs) : [packs[pack]];
  return owners.map((owner) => owner?.views[view]).find((found) => found !== undefined) ?? null;
}

/** Whether results with this view are drawn. A view that no pack has any more is not: the call's details show its result. */
export function isDrawn(view: ResultView): boolean {
  return view.shape === "named" ? viewOf(view) !== null : view.shape !== "plain";
}

/** Returns, by name, the views that are offered beside a conversation before it has such a result. */
export function standingViews(): [string, PackView][] {
  return Object.values(packs)
    .flatMap(({ views }) => Object.entries(views))
    .filter(([, { panel }]) => panel?.standing);
}

/** Combines the results of each turn with the functions of the packs. */
export function combine(entries: readonly Entry[]): Combined {
  const all: Combined = { instead: new Map(), quiet: new Set(), below: new Map() };
  for (const { combine } of Object.values(packs)) {
    const found = combine?.(entries);
    if (!found) continue;
    for (const [key, drawn] of found.instead) all.instead.set(key, drawn);
    for (const [key, drawn] of found.below) all.below.set(key, drawn);
    for (const key of found.quiet) all.quiet.add(key);
  }
  return all;
}
