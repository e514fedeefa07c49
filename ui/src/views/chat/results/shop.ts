// Parses the shop's results: products, variants, carts. Tolerant: shops use different names, and a
// missing or invalid field is left out. Pure.
import { readAmount } from "../../../lib/amount";
import { first, list, num, obj, str, type Obj } from "../../../lib/read";

/** A number, or what the shop says in place of one: "on request". */
export type Amount = number | string;

export interface Stock {
  /** null: the shop did not say. */
  pieces: number | null;
  expected: string | null;
  /** The shop does not sell it any more, whatever lies in store. */
  inactive: boolean;
}
export interface Variant {
  partNo: string | null;
  label: string;
  price: Amount | null;
  stock: Stock;
  buyable: boolean;
  dimensions: [name: string, value: string][];
}
export interface Product {
  id: string;
  partNo: string | null;
  name: string;
  variantName: string | null;
  description: string | null;
  brand: string | null;
  /** Further properties besides name and price, by the shop's own names. */
  attributes: Record<string, string>;
  price: Amount | null;
  currency: string | null;
  image: string | null;
  stock: Stock;
  /** The shop sells it through this cart. */
  buyable: boolean;
  variants: Variant[];
}
export interface CartLine {
  partNo: string;
  name: string;
  quantity: number;
  unit: Amount | null;
  total: Amount | null;
  image: string | null;
}
export interface Cart {
  lines: CartLine[];
  total: Amount | null;
  currency: string | null;
}

const PRICES = ["value", "amount", "price", "sellingPrice", "listPrice"];
const CURRENCIES = ["currency", "currencyCode", "currencySymbol"];
const IMAGES = ["imageUrl", "image", "primaryImage", "thumbnailUrl", "thumbnail"];
const ATTRIBUTES = ["color", "size", "material", "brand", "category", "manufacturer"];

/** An amount: "1349.00", "1 349,00 kr" and {value: 1349} are the same. A text that is none stays as the shop wrote it. */
export function amount(value: unknown): Amount | null {
  if (typeof value === "number") return num(value);
  const text = str(value) ?? first(obj(value), PRICES);
  return text === null ? null : (readAmount(text) ?? text);
}

/** The first of these that is a number, else the first that says anything. */
function firstAmount(source: Obj, names: readonly string[]): Amount | null {
  const amounts = names.map((name) => amount(source[name]));
  return (
    amounts.find((one) => typeof one === "number") ?? amounts.find((one) => one !== null) ?? null
  );
}

function stockOf(value: unknown): Stock {
  const stock = obj(value);
  return {
    pieces: num(stock["value"]),
    expected: str(stock["nextDeliveryDate"]),
    inactive: stock["isActive"] === false,
  };
}

/** Whether it can be had now. */
export function inStock(stock: Stock): boolean {
  return !stock.inactive && (stock.pieces ?? 0) > 0;
}

/** The part number by which it can be put into the cart now, if it can. */
export function partToAdd({
  partNo,
  buyable,
  stock,
}: Pick<Product | Variant, "partNo" | "buyable" | "stock">): string | null {
  return buyable && inStock(stock) ? partNo : null;
}

/** null: the shop did not say. */
function buyableOf(source: Obj): boolean | null {
  const said = source["isBuyable"] ?? obj(source["attributes"])["isBuyable"];
  return said === undefined || said === null
    ? null
    : (typeof said === "string" ? said : JSON.stringify(said)).trim().toLowerCase() !== "false";
}

function priceOf(source: Obj): Amount | null {
  return firstAmount(source, ["priceIncVat", "price", "priceExVat"]);
}

function imageOf(source: Obj): string | null {
  const named = first(source, IMAGES);
  if (named !== null) return named;
  const pictures = Array.isArray(source["images"]) ? (source["images"] as unknown[]) : [];
  const main = pictures.find((picture) => obj(picture)["type"] === "main") ?? pictures[0];
  return (
    str(main) ?? first(obj(main), ["url", "src", "imageUrl"]) ?? str(source["thumbnailImageKey"])
  );
}

/** The shop's primary dimensions first, each once. */
function dimensionsOf(source: Obj): [string, string][] {
  const all = [...list(source["variantParametrics"]), ...list(source["parametrics"])];
  const found = new Map<string, [string, string]>();
  for (const one of all.toSorted(
    (a, b) => Number(b["isPrimary"] === true) - Number(a["isPrimary"] === true),
  )) {
    const [name, value] = [str(one["name"]), str(one["value"])];
    const key = str(one["code"]) ?? name;
    if (name !== null && value !== null && key !== null && !found.has(key))
      found.set(key, [name, value]);
  }
  return [...found.values()];
}

function readVariant(source: Obj): Variant {
  const dimensions = dimensionsOf(source);
  return {
    dimensions,
    partNo: str(source["partNo"]),
    label:
      str(source["variantName"]) ??
      (dimensions.map(([, value]) => value).join(", ") || first(source, ["name", "partNo"]) || "?"),
    price: priceOf(source),
    stock: stockOf(source["onHand"]),
    buyable: buyableOf(source) ?? true,
  };
}

function attributesOf(source: Obj): Record<string, string> {
  const found: Record<string, string> = {};
  const put = (name: string, value: unknown): void => {
    const text = str(value);
    const known = Object.keys(found).some((other) => other.toLowerCase() === name.toLowerCase());
    if (text !== null && !known) found[name] = text;
  };
  for (const name of ATTRIBUTES) put(name, source[name]);
  for (const [name, value] of Object.entries(obj(source["attributes"])))
    if (name !== "isBuyable") put(name, value);
  return found;
}

export function readProduct(source: Obj): Product | null {
  const id = first(source, ["productId", "id", "partNo", "productNumber", "sku", "code"]);
  const name = first(source, ["name", "title", "productName", "displayName"]);
  if (id === null || name === null) return null;
  const attributes = attributesOf(source);
  const variants = list(source["variants"]).map(readVariant);
  return {
    id,
    name,
    attributes,
    variants,
    // If a product has variants, they decide whether it can be bought.
    buyable: variants.length > 0 || (buyableOf(source) ?? true),
    partNo: str(source["partNo"]),
    variantName: str(source["variantName"]),
    description: str(source["description"]),
    brand: attributes["brand"] ?? attributes["manufacturer"] ?? str(source["manufacturerName"]),
    price: priceOf(source),
    currency: first(obj(source["price"]), CURRENCIES) ?? first(source, CURRENCIES),
    image: imageOf(source),
    stock: stockOf(source["onHand"]),
  };
}

export function readProducts(data: unknown): { products: Product[]; total: number } {
  const source = obj(data);
  const items = Array.isArray(data) ? data : (source["items"] ?? source["products"]);
  const read = list(items)
    .map(readProduct)
    .filter((product) => product !== null);
  // A found product may have variants that the result does not contain.
  const products = read.map((product) => ({ ...product, buyable: true }));
  return { products, total: Math.max(num(source["totalCount"]) ?? 0, products.length) };
}

/** A key for each line: its part number, and which of those with the same one it is. Freight and fees have none. */
export function lineKeys(lines: CartLine[]): string[] {
  const seen = new Map<string, number>();
  return lines.map(({ partNo }) => {
    const nth = (seen.get(partNo) ?? 0) + 1;
    seen.set(partNo, nth);
    return `${partNo} ${nth}`;
  });
}

export function readCart(data: unknown): Cart | null {
  if (data === null || data === undefined) return null;
  const source = obj(data);
  const cart =
    "basket" in source ? obj(source["basket"]) : "cart" in source ? obj(source["cart"]) : source;
  const lines = list(cart["items"] ?? cart["lineItems"] ?? cart["cartItems"]).map((line) => ({
    partNo: first(line, ["partNo", "productId", "id"]) ?? "",
    name: first(line, ["name", "title", "partNo"]) ?? "?",
    quantity: num(line["quantity"]) ?? 0,
    unit: firstAmount(line, ["unitPrice", "price"]),
    total: firstAmount(line, ["totalPrice", "lineTotal", "total"]),
    image: first(line, ["imageKey", "imageUrl"]),
  }));
  return {
    lines,
    currency: first(cart, CURRENCIES),
    total: firstAmount(cart, ["total", "grandTotal", "subtotal"]),
  };
}
