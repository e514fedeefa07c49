// Compares products: their features, and the features in which they differ. Pure; the component of the table has the texts.
import { num } from "../../lib/read";
import type { ProductView } from "./generated/ProductView";

/** The most products that are compared at once, then the most features besides price and stock. */
export const COMPARED = 3;
const FEATURES = 6;
const VALUES = 20;
/** The known features in the order in which shoppers ask for them. Other features follow by name. */
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
/** Other names of known features, because shops answer in their customers' languages. */
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
  /** The feature's name as the shop writes it. */
  name: string;
  /** The known feature with this name; null if there is none. */
  known: string | null;
  values: (string | null)[];
  same: boolean;
}

function knownName(name: string): string | null {
  const plain = name.toLowerCase();
  const found = ALSO[plain] ?? plain;
  return ORDER.includes(found) ? found : null;
}

/** Shortens the values of a dimension to a few characters: a range of numbers, or else all values. */
export function spread(values: readonly string[]): string {
  const numbers = values.map(num);
  const all = numbers.filter((value) => value !== null);
  if (all.length === values.length && all.length > 3)
    return `${Math.min(...all)}–${Math.max(...all)}`;
  return values.join(", ");
}

/** Returns the values in which the variants of a product differ. */
export function dimensions(product: ProductView): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { name, value } of product.variants.flatMap((variant) => variant.dimensions)) {
    const values = found.get(name) ?? [];
    if (!values.includes(value) && values.length < VALUES) values.push(value);
    found.set(name, values);
  }
  return found;
}

/** Returns the features of a product, including the values of its variants. */
function featuresOf(product: ProductView): Map<string, { name: string; value: string }> {
  const found = new Map<string, { name: string; value: string }>();
  const put = (name: string, value: string | null): void => {
    const key = knownName(name) ?? name.toLowerCase();
    if (value && !found.has(key)) found.set(key, { name, value });
  };
  put("brand", product.brand);
  for (const [name, values] of dimensions(product)) put(name, spread(values));
  for (const [name, value] of Object.entries(product.attributes)) put(name, value);
  // A manufacturer that equals the brand is shown once.
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
