// Combines the results of a turn: products that were read together are compared, and the newest
// search offers refinements. Pure.
import type { Entry, ToolEntry } from "../../state/transcript";
import { drawing, type Combined } from "../types";
import { COMPARED } from "./compare";
import Comparison from "./Comparison.svelte";
import type { ProductView } from "./generated/ProductView";
import { refinements } from "./refine";
import Refinements from "./Refinements.svelte";
import { parsedOf, productOf } from "./shop";

export function combine(entries: readonly Entry[]): Combined {
  const found: Combined = { instead: new Map(), quiet: new Set(), below: new Map() };
  const turns = new Map<string, ToolEntry[]>();
  for (const entry of entries.filter(isResult)) {
    const known = turns.get(entry.turn);
    if (known) known.push(entry);
    else turns.set(entry.turn, [entry]);
  }
  for (const results of turns.values()) compareIn(results, found);
  const last = entries.at(-1);
  const answer = entries.findLast((entry) => entry.kind === "assistant");
  if (last && answer?.turn === last.turn && !answer.live) {
    const search = (turns.get(last.turn) ?? []).findLast((entry) => shows(entry, "product_cards"));
    const parsed = parsedOf(search?.result ?? null);
    if (search && parsed?.view === "product_cards") {
      const ways = refinements(search.args, parsed);
      if (ways.length > 0) found.below.set(answer.key, drawing(Refinements, { ways }));
    }
  }
  return found;
}

const isResult = (entry: Entry): entry is ToolEntry =>
  entry.kind === "tool" && entry.result?.outcome === "ok";

const shows = ({ result }: ToolEntry, view: string): boolean =>
  result?.view.shape === "named" && result.view.view === view;

function compareIn(results: readonly ToolEntry[], found: Combined): void {
  const details = results.filter((entry) => shows(entry, "product"));
  if (details.length < 2) return;
  const shown = new Map<string, { product: ProductView; key: string }>();
  for (const entry of details) {
    const product = productOf(entry.result);
    if (product && !shown.has(product.id) && shown.size < COMPARED)
      shown.set(product.id, { product, key: entry.key });
  }
  if (shown.size < 2) return;
  const all = [...shown.values()];
  for (const { key } of all) found.quiet.add(key);
  const products = all.map(({ product }) => product);
  found.instead.set(all.at(-1)!.key, drawing(Comparison, { products }));
}
