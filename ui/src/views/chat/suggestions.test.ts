// Suggestions follow the data in use.
import { expect, test } from "vitest";
import { suggest, type Sources } from "./suggestions";

const packs: Sources["packs"] = [
  { id: "pacing", examples: { en: ["How is account 17?", "b", "c", "d"], sv: ["Hur ligger 17?"] } },
  { id: "shop", examples: { en: ["Show me tents"] } },
];
const empty = { rows: 0, accounts: 0 };
const sources = (active: "sample" | "imported", rest: Partial<Sources> = {}): Sources => ({
  packs,
  servers: [{ pack: "shop", address: null }],
  data: {
    pack: "pacing",
    active,
    sample: { rows: 90, accounts: 3 },
    imported: empty,
    maps_columns: true,
  },
  accounts: [],
  answerable: [],
  ...rest,
});
const keys = (found: ReturnType<typeof suggest>["questions"]) =>
  found.map((question) => (typeof question === "string" ? question : question.key));

test("sample data and the demo shop introduce themselves beside their examples", () => {
  const found = suggest(sources("sample"), "sv");
  expect(found.introductions).toEqual([
    { key: "start.sample", vars: { count: 3 } },
    { key: "start.demo_shop" },
  ]);
  expect(found.questions).toEqual(["Hur ligger 17?", "Show me tents"]);
});

test("a pack gives at most three questions", () => {
  expect(suggest(sources("sample"), "en").questions).toEqual([
    "How is account 17?",
    "b",
    "c",
    "Show me tents",
  ]);
});

test("questions about sources come first, and leave room for those of packs", () => {
  const answerable = [
    "Spend by week",
    "Clicks by week",
    "Top 5 campaigns",
    "Spend last month",
    "x",
  ];
  expect(suggest(sources("sample", { answerable }), "en").questions).toEqual([
    ...answerable.slice(0, 4),
    "How is account 17?",
    "b",
  ]);
});

test("a sample that has not been made yet has no count", () => {
  const data = { ...sources("sample").data!, sample: empty };
  expect(suggest(sources("sample", { data }), "en").introductions[0]).toEqual({
    key: "start.sample_unread",
  });
});

test("with imported data, neither sample accounts nor the demo shop are suggested", () => {
  const found = suggest(sources("imported"), "en");
  expect(found.introductions).toEqual([]);
  expect(keys(found.questions)).toEqual(["start.any_pacing", "start.any_behind"]);
});

test("suggestions name imported accounts", () => {
  const found = suggest(sources("imported", { accounts: ["Acme", "Birch", "Cove"] }), "en");
  expect(found.questions).toEqual([
    { key: "start.own_pacing", vars: { account: "Acme" } },
    { key: "start.own_behind", vars: { account: "Acme" } },
    { key: "start.own_pacing", vars: { account: "Birch" } },
  ]);
});

test("a shop with an address is not a demo, and is still suggested with imported data", () => {
  const servers = [{ pack: "shop", address: "https://shop.example/mcp" }];
  const found = suggest(sources("imported", { servers }), "en");
  expect(found.introductions).toEqual([]);
  expect(found.questions.at(-1)).toBe("Show me tents");
});

test("without a pack that takes files, only the packs' examples are suggested", () => {
  const found = suggest(sources("sample", { data: null }), "en");
  expect(found.introductions).toEqual([{ key: "start.demo_shop" }]);
  expect(found.questions).toContain("How is account 17?");
});
