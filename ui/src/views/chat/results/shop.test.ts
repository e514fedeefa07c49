// Parsing of a shop's results: amounts, compared products, and refinements of a search.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tMaybe } from "../../../i18n/index.svelte";
import { itemOf } from "../../../state/testing";
import { emptyTranscript, takeItems } from "../../../state/transcript";
import { compare } from "./compare";
import { refinements } from "./refine";
import { amount, inStock, partToAdd, readProduct, readProducts } from "./shop";
import { together } from "./together";

const product = (id: number, rest: object = {}) => ({
  productId: id,
  partNo: `P-${id}`,
  name: `Product ${id}`,
  priceIncVat: "100.00",
  ...rest,
});
const read = (source: object) => readProduct(source as Record<string, unknown>)!;

test("amounts are read as shops write them", () => {
  expect(
    ["1349.00", "1 349,00 kr", "1,349.00", "1.349,00 €", 1349, { value: "1349" }].map(amount),
  ).toEqual([1349, 1349, 1349, 1349, 1349, 1349]);
  expect(
    ["1,299 kr", "1,299,000", "kr. 15", "15:-", "−5", { value: "1 349,00 kr" }].map(amount),
  ).toEqual([1299, 1299000, 15, 15, -5, 1349]);
});

test("what is no amount is shown as the shop wrote it, after any that is one", () => {
  expect(["", null, " on request ", "Free over 500", { value: "1.299 kr" }].map(amount)).toEqual([
    null,
    null,
    "on request",
    "Free over 500",
    "1.299 kr",
  ]);
  expect(read(product(1, { priceIncVat: "on request" })).price).toBe("on request");
  expect(read(product(1, { priceIncVat: "on request", price: "80" })).price).toBe(80);
});

test("products are read by whatever names the shop has for things", () => {
  const { products } = readProducts({
    products: [
      {
        sku: "A-1",
        title: "A",
        price: { sellingPrice: 5, currencyCode: "EUR" },
        images: ["/a.png"],
        onHand: { value: "3", isActive: false },
      },
    ],
  });
  expect(products[0]).toMatchObject({
    id: "A-1",
    name: "A",
    price: 5,
    currency: "EUR",
    image: "/a.png",
    stock: { pieces: 3, inactive: true },
  });
  expect(inStock(products[0]!.stock)).toBe(false);
  expect(readProducts([product(1)]).total).toBe(1);
});

test("only what the shop sells, has and names by a part number can be put into the cart", () => {
  const stocked = (rest: object): object => product(1, { onHand: { value: 3 }, ...rest });
  const parts = [
    {},
    { isBuyable: false },
    { attributes: { isBuyable: "false" } },
    { attributes: { isBuyable: true } },
    { partNo: null },
    { onHand: { value: 0 } },
  ];
  expect(parts.map((rest) => partToAdd(read(stocked(rest))))).toEqual([
    "P-1",
    null,
    null,
    "P-1",
    null,
    null,
  ]);
  const variants = [
    { partNo: "V-1", onHand: { value: 1 } },
    { partNo: "V-2", onHand: { value: 1 }, isBuyable: true },
  ];
  expect(read(stocked({ isBuyable: false, variants })).variants.map(partToAdd)).toEqual([
    "V-1",
    "V-2",
  ]);
  expect(readProducts([stocked({ isBuyable: false })]).products.map(partToAdd)).toEqual(["P-1"]);
  expect(read(stocked({ attributes: { isBuyable: "false" } })).attributes).toEqual({});
});

describe("products side by side", () => {
  test("have the features that either has, in a known order, at most six", () => {
    const size = (value: string) => ({
      partNo: value,
      variantParametrics: [{ name: "Size", value, isPrimary: true }],
    });
    const one = read(
      product(1, {
        manufacturerName: "Kvist",
        attributes: { isBuyable: true, Weight: "300 g", Zip: "long", Category: "Shoes" },
        variants: ["38", "39", "40", "41"].map(size),
      }),
    );
    const two = read(
      product(2, {
        brand: "Bruk",
        attributes: { Vikt: "280 g", Material: "Mesh", Category: "Shoes", Apex: "x" },
      }),
    );
    const features = compare([one, two]);
    expect(features.map(({ name, values }) => [name, ...values])).toEqual([
      ["brand", "Kvist", "Bruk"],
      ["Material", null, "Mesh"],
      ["Size", "38–41", null],
      ["Weight", "300 g", "280 g"],
      ["Category", "Shoes", "Shoes"],
      ["Apex", null, "x"],
    ]);
    expect(features.filter(({ same }) => same).map(({ name }) => name)).toEqual(["Category"]);
  });
});

describe("ways to go on", () => {
  test("after a search without result are those that it offers, and other words", () => {
    const offered = [
      {
        id: "broaden_search",
        label: "Search for “unicorn”",
        payload: { type: "search_broaden", query: "unicorn" },
      },
      {
        id: "remove_constraints",
        label: "Search without: purple, maxPrice",
        payload: { type: "remove_constraints", constraintsToRemove: ["purple", "maxPrice"] },
      },
      {
        id: "ask_clarify",
        label: "Help me describe it",
        payload: { type: "ask_clarify", question: "What?" },
      },
    ];
    expect(
      refinements({ query: "purple unicorn saddle" }, { items: [], refinements: offered }),
    ).toEqual([
      { kind: "search", query: "unicorn" },
      { kind: "without", query: "unicorn saddle", names: ["purple", "maxPrice"] },
      { kind: "reword", query: "purple unicorn saddle" },
    ]);
    expect(refinements({ query: "saddle" }, { items: [] })).toEqual([
      { kind: "reword", query: "saddle" },
    ]);
    const twice = [
      offered[0],
      { id: "remove_constraints", label: "", payload: { constraintsToRemove: ["purple"] } },
    ];
    expect(
      refinements({ query: "purple unicorn" }, { items: [], refinements: twice }).map(
        (way) => way.kind,
      ),
    ).toEqual(["search", "reword"]);
  });

  test("after one with many: what tells them apart, the most frequent first; none after few", () => {
    const items = [
      product(1, { category: "Tents", color: "Black, Red" }),
      product(2, { category: "Tents", color: "Red" }),
      product(3, { category: "Tents", color: "Blue" }),
    ];
    const ways = (query: string, totalCount: number) =>
      refinements({ query }, { items, totalCount }).map(
        (way) => way.kind === "narrow" && way.value,
      );
    expect(ways("tents", 40)).toEqual(["Red", "Black", "Blue"]);
    expect(ways("red tents", 40)).toEqual(["Black", "Blue"]);
    expect(ways("tents", 3)).toEqual([]);
    const filtered = (filters: object) =>
      refinements({ query: "tents", filters }, { items, totalCount: 40 }).length;
    expect([filtered({}), filtered({ maxPrice: 3000 })]).toEqual([3, 0]);
    const kinds = [
      product(1, { category: "Trail running shoes" }),
      product(2, { category: "Boots" }),
    ];
    expect(refinements({ query: "shoes" }, { items: kinds, totalCount: 40 })).toEqual([
      { kind: "narrow", value: "Trail running shoes", query: "trail running shoes" },
      { kind: "narrow", value: "Boots", query: "shoes boots" },
    ]);
  });
});

test("every filter of the shop has a name", () => {
  const source = readFileSync(
    join(import.meta.dirname, "../../../../../tools/shop/src/search.rs"),
    "utf8",
  );
  const fields = [
    .../pub struct Filters \{([^}]*)\}/.exec(source)![1]!.matchAll(/pub (\w+):/g),
  ].map((field) => field[1]!.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()));
  expect(fields).toContain("maxPrice");
  expect(fields.filter((name) => tMaybe(`filter.${name}`, "") === "")).toEqual([]);
});

describe("a turn", () => {
  const call = (seq: number, id: string, tool: string, args: object) =>
    itemOf(seq, {
      kind: "tool_call",
      call: id,
      tool,
      title: tool,
      effect: "read_only",
      arguments: args,
    });
  const result = (
    seq: number,
    id: string,
    tool: string,
    view: "product" | "product_cards",
    data: object,
  ) =>
    itemOf(seq, {
      kind: "tool_result",
      call: id,
      tool,
      outcome: "ok",
      summary: "",
      data,
      view,
      duration_ms: 1,
    });
  const answer = itemOf(9, { kind: "assistant_text", text: "Here.", partial: false });

  test("that looked up several products shows them side by side, once each", () => {
    const state = emptyTranscript("s");
    const looked = [1, 2, 2].flatMap((id, at) => [
      call(at + 1, `c${at}`, "product.get", {}),
      result(at + 4, `c${at}`, "product.get", "product", product(id)),
    ]);
    takeItems(state, [...looked.toSorted((a, b) => a.seq - b.seq), answer]);
    const { compared, quiet, refine } = together(state.entries);
    expect([...compared].map(([key, products]) => [key, products.map(({ id }) => id)])).toEqual([
      ["call:c1", ["1", "2"]],
    ]);
    expect([...quiet]).toEqual(["call:c0", "call:c1"]);
    expect(refine).toBeNull();
  });

  test("goes on from its last search only", () => {
    const state = emptyTranscript("s");
    takeItems(state, [
      call(1, "a", "product.search", { query: "red saddle" }),
      result(2, "a", "product.search", "product_cards", { items: [] }),
      answer,
    ]);
    expect(together(state.entries).refine?.ways.map(({ kind }) => kind)).toEqual(["reword"]);
    takeItems(state, [
      call(3, "b", "product.search", { query: "saddle" }),
      result(4, "b", "product.search", "product_cards", { items: [product(1)], totalCount: 1 }),
    ]);
    expect(together(state.entries).refine).toBeNull();
  });
});
