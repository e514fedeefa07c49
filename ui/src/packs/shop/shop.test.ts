// Compared products, and refinements of a search. The host's tests show how it reads results.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tMaybe } from "../../i18n/index.svelte";
import { itemOf } from "../../state/testing";
import { emptyTranscript, takeItems } from "../../state/transcript";
import { combine } from "./combine";
import { compare } from "./compare";
import { refinements, type Refinement } from "./refine";
import type { ProductView } from "./generated/ProductView";
import type { RefinementView } from "./generated/RefinementView";
import type { SearchView } from "./generated/SearchView";
import type { VariantView } from "./generated/VariantView";
import { cartOf, lineKeys } from "./shop";

const product = (id: number, rest: Partial<ProductView> = {}): ProductView => ({
  id: String(id),
  part_no: `P-${id}`,
  name: `Product ${id}`,
  variant_name: null,
  description: null,
  brand: null,
  attributes: {},
  price: 100,
  currency: null,
  image: null,
  stock: { pieces: null, expected: null, is_inactive: false, is_available: false },
  is_buyable: true,
  part_to_add: null,
  variants: [],
  ...rest,
});
const found = (
  products: ProductView[],
  total = products.length,
  refinements: RefinementView[] = [],
): SearchView => ({ products, total, refinements });

describe("products side by side", () => {
  test("compared products have the features of any of them, in a known order, at most six", () => {
    const size = (value: string): VariantView => ({
      part_no: value,
      label: value,
      price: null,
      stock: product(0).stock,
      is_buyable: true,
      part_to_add: null,
      dimensions: [{ name: "Size", value }],
    });
    const one = product(1, {
      brand: "Kvist",
      attributes: { Weight: "300 g", Zip: "long", Category: "Shoes" },
      variants: ["38", "39", "40", "41"].map(size),
    });
    const two = product(2, {
      brand: "Bruk",
      attributes: {
        brand: "Bruk",
        Vikt: "280 g",
        Material: "Mesh",
        Category: "Shoes",
        Apex: "x",
      },
    });
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

describe("refinements", () => {
  test("a search without results offers its own refinements and other words", () => {
    const offered = [
      { query: "unicorn", without: [] },
      { query: null, without: ["purple", "maxPrice"] },
      { query: null, without: [] },
    ];
    expect(refinements({ query: "purple unicorn saddle" }, found([], 0, offered))).toEqual([
      { kind: "search", query: "unicorn" },
      { kind: "without", query: "unicorn saddle", names: ["purple", "maxPrice"] },
      { kind: "reword", query: "purple unicorn saddle" },
    ]);
    expect(refinements({ query: "saddle" }, found([]))).toEqual([
      { kind: "reword", query: "saddle" },
    ]);
    const twice = [offered[0]!, { query: null, without: ["purple"] }];
    expect(
      refinements({ query: "purple unicorn" }, found([], 0, twice)).map((way) => way.kind),
    ).toEqual(["search", "reword"]);
  });

  test("a search with many results offers the values in which they differ, most frequent first, and a search with few offers none", () => {
    const items = [
      product(1, { attributes: { category: "Tents", color: "Black, Red" } }),
      product(2, { attributes: { category: "Tents", color: "Red" } }),
      product(3, { attributes: { category: "Tents", color: "Blue" } }),
    ];
    const ways = (query: string, totalCount: number) =>
      refinements({ query }, found(items, totalCount)).map(
        (way) => way.kind === "narrow" && way.value,
      );
    expect(ways("tents", 40)).toEqual(["Red", "Black", "Blue"]);
    expect(ways("red tents", 40)).toEqual(["Black", "Blue"]);
    expect(ways("tents", 3)).toEqual([]);
    const filtered = (filters: object) =>
      refinements({ query: "tents", filters }, found(items, 40)).length;
    expect([filtered({}), filtered({ maxPrice: 3000 })]).toEqual([3, 0]);
    const kinds = [
      product(1, { attributes: { category: "Trail running shoes" } }),
      product(2, { attributes: { category: "Boots" } }),
    ];
    expect(refinements({ query: "shoes" }, found(kinds, 40))).toEqual([
      { kind: "narrow", value: "Trail running shoes", query: "trail running shoes" },
      { kind: "narrow", value: "Boots", query: "shoes boots" },
    ]);
  });
});

test("every filter of the shop has a name", () => {
  const source = readFileSync(
    join(import.meta.dirname, "../../../../tools/shop/src/search.rs"),
    "utf8",
  );
  const fields = [
    .../pub struct Filters \{([^}]*)\}/.exec(source)![1]!.matchAll(/pub (\w+):/g),
  ].map((field) => field[1]!.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()));
  expect(fields).toContain("maxPrice");
  expect(fields.filter((name) => tMaybe(`filter.${name}`, "") === "")).toEqual([]);
});

describe("the results of a turn", () => {
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
    data: ProductView | SearchView,
  ) =>
    itemOf(seq, {
      kind: "tool_result",
      call: id,
      tool,
      outcome: "ok",
      summary: "",
      data: null,
      view: { shape: "named", view },
      parsed: { view, ...data },
      untrusted: false,
      duration_ms: 1,
    });
  const answer = itemOf(9, { kind: "assistant_text", text: "Here.", partial: false });

  test("products that a turn looked up are shown side by side, once each", () => {
    const state = emptyTranscript("s");
    const looked = [1, 2, 2].flatMap((id, at) => [
      call(at + 1, `c${at}`, "product.get", {}),
      result(at + 4, `c${at}`, "product.get", "product", product(id)),
    ]);
    takeItems(state, [...looked.toSorted((a, b) => a.seq - b.seq), answer]);
    const { instead, quiet, below } = combine(state.entries);
    const compared = [...instead].map(([key, { props }]) => [
      key,
      (props["products"] as ProductView[]).map(({ id }) => id),
    ]);
    expect(compared).toEqual([["call:c1", ["1", "2"]]]);
    expect([...quiet]).toEqual(["call:c0", "call:c1"]);
    expect(below.size).toBe(0);
  });

  test("only the last search of a turn offers refinements", () => {
    const state = emptyTranscript("s");
    takeItems(state, [
      call(1, "a", "product.search", { query: "red saddle" }),
      result(2, "a", "product.search", "product_cards", found([])),
      answer,
    ]);
    const [drawn] = [...combine(state.entries).below.values()];
    expect((drawn!.props["ways"] as Refinement[]).map(({ kind }) => kind)).toEqual(["reword"]);
    takeItems(state, [
      call(3, "b", "product.search", { query: "saddle" }),
      result(4, "b", "product.search", "product_cards", found([product(1)])),
    ]);
    expect(combine(state.entries).below.size).toBe(0);
  });
});

test("lines with the same part number, or without one, have different keys", () => {
  const line = { name: "", quantity: 1, unit: null, total: null, image: null };
  const lines = ["A-1", "", "A-1", ""].map((part_no) => ({ ...line, part_no }));
  expect(lineKeys(lines)).toEqual(["A-1 1", " 1", "A-1 2", " 2"]);
});

test("a cart is shown only if the host read the result as a cart", () => {
  const cart = { view: "cart", lines: [], total: 21, currency: "SEK" };
  const result = {
    kind: "tool_result" as const,
    call: "c",
    tool: "t",
    outcome: "ok" as const,
    summary: "",
    data: { total: "21.00" },
    view: { shape: "named" as const, view: "cart" },
    untrusted: false,
    duration_ms: 1,
  };
  expect(cartOf({ ...result, parsed: cart })).toEqual(cart);
  expect([cartOf(result), cartOf(null)]).toEqual([null, null]);
});
