// Combines the results of a turn: products that were read together are compared, and the newest
// search offers refinements. Pure.
import type { Entry, ToolEntry } from "../../../state/transcript";
import { COMPARED } from "./compare";
import type { ProductView } from "./generated/ProductView";
import { refinements, type Refinement } from "./refine";
import { parsedOf, productOf } from "./shop";

export interface Together {
  /** By the key of the entry that shows them side by side. */
  compared: Map<string, ProductView[]>;
  /** Entries whose product is shown there and not by itself. */
  quiet: Set<string>;
  /** Below the answer with this key. */
  refine: { key: string; ways: Refinement[] } | null;
}

export function together(entries: readonly Entry[]): Together {
  const found: Together = { compared: new Map(), quiet: new Set(), refine: null };
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
    const search = (turns.get(last.turn) ?? []).findLast(
      (entry) => entry.result?.view === "product_cards",
    );
    const parsed = parsedOf(search?.result ?? null);
    if (search && parsed?.view === "product_cards") {
      const ways = refinements(search.args, parsed);
      if (ways.length > 0) found.refine = { key: answer.key, ways };
    }
  }
  return found;
}

const isResult = (entry: Entry): entry is ToolEntry =>
  entry.kind === "tool" && entry.result?.outcome === "ok" && entry.result.view !== "plain";

function compareIn(results: readonly ToolEntry[], found: Together): void {
  const details = results.filter((entry) => entry.result?.view === "product");
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
  found.compared.set(
    all.at(-1)!.key,
    all.map(({ product }) => product),
  );
}
