// Suggestions follow the data in use.
import { expect, test } from "vitest";
import { suggest, type Known } from "./suggestions";

const packs: Known["packs"] = [
  { id: "rooms", examples: { en: ["Which room is free?", "b", "c", "d"], sv: ["Vilket rum?"] } },
  { id: "shop", examples: { en: ["Show me tents"] } },
];
const known = (rest: Partial<Known> = {}): Known => ({
  packs,
  servers: [{ pack: "shop", address: null }],
  sources: [],
  answerable: [],
  ...rest,
});

test("the demo shop introduces itself beside its examples", () => {
  const found = suggest(known(), "sv");
  expect(found.introductions).toEqual(["start.demo_shop"]);
  expect(found.questions).toEqual(["Vilket rum?", "Show me tents"]);
});

test("a pack gives at most three questions", () => {
  expect(suggest(known(), "en").questions).toEqual([
    "Which room is free?",
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
  expect(suggest(known({ answerable }), "en").questions).toEqual([
    ...answerable.slice(0, 4),
    "Which room is free?",
    "b",
  ]);
});

test("the demo shop is suggested beside the sample, and not beside data of one's own", () => {
  const sample = suggest(known({ sources: [{ is_sample: true }] }), "en");
  expect(sample.introductions).toEqual(["start.demo_shop"]);
  const own = suggest(known({ sources: [{ is_sample: true }, {}] }), "en");
  expect(own.introductions).toEqual([]);
  expect(own.questions).toEqual(["Which room is free?", "b", "c"]);
});

test("a shop with an address is not a demo, and is suggested beside data of one's own", () => {
  const servers = [{ pack: "shop", address: "https://shop.example/mcp" }];
  const found = suggest(known({ sources: [{}], servers }), "en");
  expect(found.introductions).toEqual([]);
  expect(found.questions.at(-1)).toBe("Show me tents");
});
