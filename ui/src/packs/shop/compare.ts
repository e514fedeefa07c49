// Compares products: their features, and where they differ. Pure; the table has the texts.
import { num } from "../../lib/read";
import type { ProductView } from "./generated/ProductView";

/** As many as are compared at once, and features beside price and stock. */
export const COMPARED = 3;
const FEATURES = 6;
const VALUES = 20;
/** Known features first, in the order in which shoppers ask for them; the others follow by name. */
const ORDER = [
  "brand",
  "material",
  "color",
  "size",
  "weight",
  "dimensions",
  "category",
  "manufacturer",
  "model",
  "warranty",
];
/** Shops answer in their customers' languages. */
const ALSO: Record<string, string> = {
  färg: "color",
  colour: "color",
  storlek: "size",
  vikt: "weight",
  mått: "dimensions",
  kategori: "category",
  märke: "brand",
  garanti: "warranty",
};

export interface Feature {
  /** As the shop names it. */
  name: string;
  /** The name among the known ones, if it is one. */
  known: string | null;
  values: (string | null)[];
  same: boolean;
}

function knownName(name: string): string | null {
  const plain = name.toLowerCase();
  const found = ALSO[plain] ?? plain;
  return ORDER.includes(found) ? found : null;
}

/** The values of a dimension in a few characters: a range of numbers, or all of them. */
export function spread(values: readonly string[]): string {
  const numbers = values.map(num);
  const all = numbers.filter((value) => value !== null);
  if (all.length === values.length && all.length > 3)
    return `${Math.min(...all)}–${Math.max(...all)}`;
  return values.join(", ");
}

/** The values in which the variants of a product differ. */
export function dimensions(product: ProductView): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { name, value } of product.variants.flatMap((variant) => variant.dimensions)) {
    const values = found.get(name) ?? [];
    if (!values.includes(value) && values.length < VALUES) values.push(value);
    found.set(name, values);
  }
  return found;
}

/** The features of a product, the values of its variants among them. */
function featuresOf(product: ProductView): Map<string, { name: string; value: string }> {
  const found = new Map<string, { name: string; value: string }>();
  const put = (name: string, value: string | null): void => {
    const key = knownName(name) ?? name.toLowerCase();
    if (value && !found.has(key)) found.set(key, { name, value });
  };
  put("brand", product.brand);
  for (const [name, values] of dimensions(product)) put(name, spread(values));
  for (const [name, value] of Object.entries(product.attributes)) put(name, value);
  // The manufacturer is shown once.
  if (found.get("manufacturer")?.value === product.brand) found.delete("manufacturer");
  return found;
}

export function compare(products: readonly ProductView[]): Feature[] {
  const each = products.map(featuresOf);
  const keys = [...new Set(each.flatMap((features) => [...features.keys()]))];
  const place = (key: string): number => (ORDER.includes(key) ? ORDER.indexOf(key) : ORDER.length);
  keys.sort((a, b) => place(a) - place(b) || a.localeCompare(b));
  return keys.slice(0, FEATURES).map((key) => {
    const values = each.map((features) => features.get(key)?.value ?? null);
    const name = each.find((features) => features.has(key))?.get(key)?.name ?? key;
    return {
      name,
      known: knownName(name),
      values,
      same: values.every((value) => value === values[0]),
    };
  });
}
