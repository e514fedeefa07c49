// Results of a shop, as the host has read them for the window. Pure.
import type { ToolResult } from "../../state/transcript";
import type { CartLineView } from "./generated/CartLineView";
import type { CartView } from "./generated/CartView";
import type { ParsedResult } from "./generated/ParsedResult";
import type { ProductView } from "./generated/ProductView";

/** Returns the data that the host read from a result for its view, or null if it could not. */
export function parsedOf(result: ToolResult | null): ParsedResult | null {
  return (result?.parsed as ParsedResult | null | undefined) ?? null;
}

/** Returns the product of a result, if the result shows one. */
export function productOf(result: ToolResult | null): ProductView | null {
  const parsed = parsedOf(result);
  return parsed?.view === "product" ? parsed : null;
}

/** Returns the cart of a result, if the result shows one. */
export function cartOf(result: ToolResult | null): CartView | null {
  const parsed = parsedOf(result);
  return parsed?.view === "cart" ? parsed : null;
}

/** Returns a key for each line: its part number, and its place among lines with the same number. Freight and fees have no number. */
export function lineKeys(lines: readonly CartLineView[]): string[] {
  const seen = new Map<string, number>();
  return lines.map(({ part_no: partNo }) => {
    const nth = (seen.get(partNo) ?? 0) + 1;
    seen.set(partNo, nth);
    return `${partNo} ${nth}`;
  });
}
