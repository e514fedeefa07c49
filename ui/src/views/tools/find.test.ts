// The search of the packs: a pack that fits keeps all tools, another one shows the tools that fit.
import { expect, test } from "vitest";
import type { PackView } from "../../platform/generated/PackView";
import { findPacks } from "./find";

const pack = (id: string, title: string, tools: [string, string][]): PackView =>
  ({
    id,
    title,
    description: `About ${title}.`,
    tools: tools.map(([tool, name]) => ({ id: tool, title: name })),
  }) as unknown as PackView;
const PACKS = [
  pack("shop", "Shop", [
    ["product.search", "Find products"],
    ["cart.get", "Show the cart"],
  ]),
  pack("pacing", "Campaign pacing", [["list_accounts", "List accounts"]]),
];
const found = (query: string): string[] =>
  findPacks(PACKS, query, (title) => title).map(
    ({ pack: { id }, tools }) => `${id}: ${tools.map((tool) => tool.id).join(", ")}`,
  );

test("without a query everything is there", () => {
  expect(found("  ")).toEqual(["shop: product.search, cart.get", "pacing: list_accounts"]);
});

test("words are found in any order and case, in packs and in tools", () => {
  expect(found("PACING campaign")).toEqual(["pacing: list_accounts"]);
  expect(found("cart")).toEqual(["shop: cart.get"]);
  expect(found("product.search")).toEqual(["shop: product.search"]);
  expect(found("nowhere")).toEqual([]);
});

test("names are searched in the language of the window", () => {
  const swedish = (title: string): string =>
    title === "Show the cart" ? "Visa kundvagnen" : title;
  expect(findPacks(PACKS, "kundvagn", swedish).map(({ tools }) => tools.length)).toEqual([1]);
});
