// The cost of model calls, as far as it is known. A model without a price costs something, and never 0. Pure but for the language.
import { formatMoney, t } from "../i18n/index.svelte";

/** Whether a cost is all of it, a part of it, or not known at all. */
export type Known = "all" | "part" | "none";

/** Returns how much of a cost is known. `unpriced` is the number of models or calls without a price; older records do not have it. */
export function knownOf(usd: number, unpriced: number | undefined, tokens: number): Known {
  // A cost of nothing then says that a price was missing.
  const isPriced = unpriced === undefined ? usd > 0 || tokens === 0 : unpriced === 0;
  if (isPriced) return "all";
  return usd > 0 ? "part" : "none";
}

/** Returns the words for a cost, whose amount is written by `write`. */
export function costWords(
  usd: number,
  known: Known,
  write: (usd: number) => string = (amount) => formatMoney(amount, "USD", 2, 4),
): string {
  if (known === "none") return t("usage.no_price");
  return known === "part" ? t("usage.at_least", { usd: write(usd) }) : write(usd);
}
