// The charts that a person chose, by the kind of result, for as long as the window is open.
import { SvelteMap } from "svelte/reactivity";
import type { ResultContent } from "../../platform/generated/ResultContent";
import type { ChartView } from "./choosing";

const chosen = new SvelteMap<string, ChartView>();

/** Returns what tells kinds of results apart: their columns. */
function kindOf({ columns }: ResultContent): string {
  return JSON.stringify(columns.map(({ label, role, format }) => [label, role, format]));
}

/** Returns what was chosen for results of this kind. */
export function chosenView(content: ResultContent): ChartView | undefined {
  return chosen.get(kindOf(content));
}

export function chooseView(content: ResultContent, view: ChartView): void {
  chosen.set(kindOf(content), view);
}
