// Refinements of a search: other words if the search found nothing (the host suggests them), narrower searches if it found much. Pure; the
// texts are in the component.
import { obj, str } from "../../lib/read";
import type { ProductView } from "./generated/ProductView";
import type { SearchView } from "./generated/SearchView";

export type Refinement =
  | { kind: "search"; query: string }
  /** The search without these words, and without the filters of these names. */
  | { kind: "without"; query: string; names: string[] }
  | { kind: "reword"; query: string }
  | { kind: "narrow"; query: string; value: string };

const MOST = 4;
/** With at most this many results, no narrower search is offered. */
const MANY = 6;
/** The properties by which results can be narrowed. The first that differs between products is used. */
const BY = ["category", "color", "brand"];

export function refinements(args: unknown, found: SearchView): Refinement[] {
  const query = (str(obj(args)["query"]) ?? "").replace(/\s+/g, " ");
  if (query === "") return [];
  if (found.products.length === 0) return otherWays(query, found);
  // A search with other words would lose its filters, and would show products that the filters excluded.
  const isFiltered = Object.keys(obj(obj(args)["filters"])).length > 0;
  return found.total > MANY && !isFiltered ? narrower(query, found.products) : [];
}

/** Returns the refinements that the search itself offers, and its own words for editing. */
function otherWays(query: string, found: SearchView): Refinement[] {
  const offered = found.refinements.flatMap((one): Refinement[] => {
    if (one.query !== null) return [{ kind: "search", query: one.query }];
    const rest = query.split(" ").filter((word) => !one.without.includes(word));
    return one.without.length > 0 && rest.length > 0
      ? [{ kind: "without", query: rest.join(" "), names: one.without }]
      : [];
  });
  // Two refinements with the same search count as one.
  const different = offered.filter(
    (one, at) => offered.findIndex((other) => other.query === one.query) === at,
  );
  return [...different.slice(0, MOST - 1), { kind: "reword", query }];
}

function narrower(query: string, products: readonly ProductView[]): Refinement[] {
  for (const name of BY) {
    const counts = new Map<string, number>();
    for (const value of products.flatMap((product) => valuesOf(product, name)))
      counts.set(value, (counts.get(value) ?? 0) + 1);
    const asked = query.toLowerCase();
    const values = [...counts].filter(
      ([value, count]) => count < products.length && !asked.includes(value.toLowerCase()),
    );
    if (values.length < 2) continue;
    return values
      .toSorted((a, b) => b[1] - a[1])
      .slice(0, MOST)
      .map(([value]) => ({
        kind: "narrow",
        value,
        query: value.toLowerCase().includes(asked)
          ? value.toLowerCase()
          : `${query} ${value.toLowerCase()}`,
      }));
  }
  return [];
}

function valuesOf(product: ProductView, name: string): string[] {
  const text = name === "brand" ? product.brand : product.attributes[name];
  return [
    ...new Set(
      (text ?? "")
        .split(",")
        .map((value) => value.trim())
        .filter((value) => value !== ""),
    ),
  ];
}
