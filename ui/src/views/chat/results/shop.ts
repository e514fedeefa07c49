// Reads the shop's results: products, variants, carts. Tolerant: a field that is missing or odd is left out. Pure.
import { list, num, obj, str, type Obj } from "../../../lib/read";

export interface Stock {
  /** null: the shop did not say. */
  pieces: number | null;
  expected: string | null;
}
export interface Variant {
  partNo: string | null;
  label: string;
  price: number | null;
  stock: Stock;
  buyable: boolean;
}
export interface Product {
  id: string;
  partNo: string | null;
  name: string;
  variantName: string | null;
  description: string | null;
  brand: string | null;
  facts: string[];
  price: number | null;
  currency: string | null;
  image: string | null;
  stock: Stock;
  variants: Variant[];
}
export interface CartLine {
  partNo: string;
  name: string;
  quantity: number;
  unit: number | null;
  total: number | null;
  image: string | null;
}
export interface Cart {
  lines: CartLine[];
  total: number | null;
  currency: string | null;
}

function stockOf(value: unknown): Stock {
  const stock = obj(value);
  return { pieces: stock["isActive"] === false ? null : num(stock["value"]), expected: str(stock["nextDeliveryDate"]) };
}

function priceOf(source: Obj): number | null {
  const price = source["priceIncVat"] ?? source["price"] ?? source["priceExVat"];
  return num(price) ?? num(obj(price)["value"]) ?? num(obj(price)["amount"]);
}

function readVariant(source: Obj): Variant {
  const dimensions = list(source["variantParametrics"] ?? source["parametrics"]).map((dimension) => str(dimension["value"])).filter((value) => value !== null);
  return {
    partNo: str(source["partNo"]),
    label: str(source["variantName"]) ?? (dimensions.join(", ") || str(source["name"]) || str(source["partNo"]) || "?"),
    price: priceOf(source),
    stock: stockOf(source["onHand"]),
    buyable: source["isBuyable"] !== false,
  };
}

export function readProduct(source: Obj): Product | null {
  const id = str(source["productId"]) ?? str(source["partNo"]);
  const name = str(source["name"]) ?? str(source["title"]);
  if (id === null || name === null) return null;
  const pictures = list(source["images"]);
  const facts = ["color", "size", "material", "category"].map((key) => str(source[key])).filter((value) => value !== null);
  return {
    id,
    name,
    partNo: str(source["partNo"]),
    variantName: str(source["variantName"]),
    description: str(source["description"]),
    brand: str(source["brand"]) ?? str(source["manufacturerName"]),
    facts,
    price: priceOf(source),
    currency: str(source["currency"]) ?? str(obj(source["price"])["currency"]),
    image: str(source["imageUrl"]) ?? str(pictures.find((picture) => picture["type"] === "main")?.["url"] ?? pictures[0]?.["url"]),
    stock: stockOf(source["onHand"]),
    variants: list(source["variants"]).map(readVariant),
  };
}

export function readProducts(data: unknown): { products: Product[]; total: number } {
  const source = obj(data);
  const products = list(source["items"]).map(readProduct).filter((product) => product !== null);
  return { products, total: Math.max(num(source["totalCount"]) ?? 0, products.length) };
}

export function readCart(data: unknown): Cart | null {
  if (data === null || data === undefined) return null;
  const source = obj(data);
  const cart = "basket" in source ? obj(source["basket"]) : "cart" in source ? obj(source["cart"]) : source;
  const currency = str(cart["currencyCode"]);
  const lines = list(cart["items"] ?? cart["lineItems"] ?? cart["cartItems"]).map((line) => ({
    partNo: str(line["partNo"]) ?? str(line["productId"]) ?? "",
    name: str(line["name"]) ?? str(line["partNo"]) ?? "?",
    quantity: num(line["quantity"]) ?? 0,
    unit: num(line["unitPrice"]) ?? num(line["price"]),
    total: num(line["totalPrice"]) ?? num(line["lineTotal"]) ?? num(line["total"]),
    image: str(line["imageKey"]) ?? str(line["imageUrl"]),
  }));
  return { lines, currency, total: num(cart["total"]) ?? num(cart["grandTotal"]) ?? num(cart["subtotal"]) };
}
