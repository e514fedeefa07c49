// Refinements of a search: other words if it found nothing (the host suggests them), narrower ones
// if it found much. Pure; the chips have the texts.
import { list, obj, str } from "../../../lib/read";
import { readProducts, type Product } from "./shop";

export type Refinement =
  | { kind: "search"; query: string }
  /** Without these words of it, and filters by their own names. */
  | { kind: "without"; query: string; names: string[] }
  | { kind: "reword"; query: string }
  | { kind: "narrow"; query: string; value: string };

const MOST = 4;
/** A list that is seen at a glance needs no narrowing. */
const MANY = 6;
/** The first property by which the results can be narrowed. */
const BY = ["category", "color", "brand"];

export function refinements(args: unknown, data: unknown): Refinement[] {
  const query = (str(obj(args)["query"]) ?? "").replace(/\s+/g, " ");
  if (query === "") return [];
  const { products, total } = readProducts(data);
  if (products.length === 0) return otherWays(query, data);
  // Other words would be searched without the filters, and would show what the filters left out.
  const isFiltered = Object.keys(obj(obj(args)["filters"])).length > 0;
  return total > MANY && !isFiltered ? narrower(query, products) : [];
}

/** The refinements of the search itself, and its words, to be edited. */
function otherWays(query: string, data: unknown): Refinement[] {
  const offered = list(obj(data)["refinements"]).flatMap((one): Refinement[] => {
    const payload = obj(one["payload"]);
    const words = str(payload["query"]);
    if (words !== null) return [{ kind: "search", query: words }];
    const names = strings(payload["constraintsToRemove"]);
    const rest = query.split(" ").filter((word) => !names.includes(word));
    return names.length > 0 && rest.length > 0
      ? [{ kind: "without", query: rest.join(" "), names }]
      : [];
  });
  // Two refinements with the same search count as one.
  const different = offered.filter(
    (one, at) => offered.findIndex((other) => other.query === one.query) === at,
  );
  return [...different.slice(0, MOST - 1), { kind: "reword", query }];
}

const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];

function narrower(query: string, products: readonly Product[]): Refinement[] {
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

function valuesOf(product: Product, name: string): string[] {
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
