// The question above a result, the answer to a changed one, and how figures were computed, with a host that answers.
import { render } from "svelte/server";
import { beforeEach, expect, test, vi } from "vitest";
import { setLanguage } from "../../i18n/index.svelte";
import type { Computation } from "../../platform/generated/Computation";
import type { DataResult } from "../../platform/generated/DataResult";
import type { QueryPart } from "../../platform/generated/QueryPart";
import type { ResultContent } from "../../platform/generated/ResultContent";
import type { SourceDescription } from "../../platform/generated/SourceDescription";
import { setPeriod } from "./change";
import { ComputedState, ratesOf, usedDefinitions, versionsOf } from "./computed.svelte";
import HowComputed from "./HowComputed.svelte";
import { QueryState } from "./query.svelte";
import QueryBar from "./QueryBar.svelte";

const host = vi.hoisted(() => ({
  sent: [] as { command: string; params: Record<string, unknown> }[],
  answer: (_: string): unknown => ({}),
}));
vi.mock("../../platform", async (original) => ({
  ...(await original<typeof import("../../platform")>()),
  call: async (command: string, params: Record<string, unknown>) => {
    host.sent.push({ command, params });
    await Promise.resolve();
    return host.answer(command);
  },
}));

const parts: QueryPart[] = [
  { kind: "measure", at: "/measures/0", text: "Spend" },
  { kind: "grain", at: "/by/0", text: "by week" },
  {
    kind: "filter",
    at: "/where/0",
    text: {
      text: "Account: Bluebell",
      key: "{name}: {values}",
      params: {
        name: { text: "Account", names: {} },
        values: { text: "Bluebell", names: {} },
      },
    },
  },
  { kind: "source", at: "/source", text: "from ads" },
];
const computed: Computation = {
  asked: {
    query: {
      measures: ["spend"],
      by: [{ time: "week" }],
      where: [{ account: ["Bluebell"] }],
      period: { month: "2026-10" },
      as_of: { moment: "2026-11-30T09:00:00", zone: "Europe/Stockholm" },
    },
    source: "ads",
    parts,
  },
  sql: "SELECT 1",
  definitions: { "ads.spend": "h1", "ads.rates": "h2" },
  data_version: "v1",
  row_count: 1,
  notes: [],
};
const given: ResultContent = {
  title: { en: "Figures" },
  columns: [{ label: { en: "Spend" }, role: "measure", format: "money" }],
  rows: [[{ value: 5 }]],
  total: 1,
  computed,
};
const answer: DataResult = {
  columns: [{ name: "spend", type: "decimal", role: "measure", format: "money" }],
  rows: [[7]],
  row_count: 1,
  query: "h",
  sql: "SELECT 2",
  definitions: {},
  definition_state: "approved",
  data_version: "v2",
  notes: ["The period is not over."],
  asked: { query: { measures: ["spend"] }, parts: [parts[0]!] },
  record: 9,
};
const described = {
  source: { name: "ads" },
  definitions: {
    source: "ads",
    measures: { spend: { sum: "Cost", unit: "money", currency: "EUR" } },
  },
  states: [{ name: "spend", hash: "h1", written: "sum: Cost" }],
} as unknown as SourceDescription;

const text = (html: string): string =>
  html
    .replace(/<!--.*?-->/g, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();

beforeEach(() => {
  host.sent = [];
  host.answer = () => answer;
  setLanguage("en");
});

test("each part of a question is a button, and its source is a text", () => {
  const html = render(QueryBar, { props: { question: new QueryState(given) } }).body;
  expect(text(html)).toBe("Spend By week Account: Bluebell From ads");
  expect(html.match(/<button[^>]*class="chip/g)).toHaveLength(4);
  expect(html).toContain('aria-expanded="false"');
  expect(html).toMatch(/<span class="chip fixed[^"]*">From ads/);
});

test("a SELECT and an older answer have no parts that could be changed", () => {
  const select = { ...given, computed: { ...computed, asked: { sql: "SELECT 1" } } };
  expect(text(render(QueryBar, { props: { question: new QueryState(select) } }).body)).toBe("");
});

test("a changed question is asked now, and its answer says that the person changed it", async () => {
  const question = new QueryState(given);
  await question.ask(setPeriod(question.query!, { this: "month" }));
  expect(host.sent).toEqual([
    {
      command: "source_measure",
      params: {
        query: {
          measures: ["spend"],
          by: [{ time: "week" }],
          where: [{ account: ["Bluebell"] }],
          period: { this: "month" },
        },
      },
    },
  ]);
  expect(question.changed?.rows).toEqual([[{ value: 7 }]]);
  expect(question.changed?.title).toEqual({ en: "Figures" });
  const shown = text(render(QueryBar, { props: { question } }).body);
  expect(shown).toContain("This answer is not in the conversation.");
  expect(shown).toContain("The period is not over.");
  question.back();
  expect(question.changed).toBeNull();
  expect(question.parts).toHaveLength(4);
});

test("the former answer stays after a fault, which can be tried again", async () => {
  const question = new QueryState(given);
  await question.ask(question.query!);
  host.answer = () => Promise.reject(new Error("No."));
  expect(await question.ask(question.query!)).toBe(false);
  expect(question.error?.message).toBe("No.");
  expect(question.changed?.rows).toEqual([[{ value: 7 }]]);
  host.answer = () => answer;
  await question.retry();
  expect(question.error).toBeNull();
});

test("only the answer to the last question is shown", async () => {
  const question = new QueryState(given);
  const first = question.ask(question.query!);
  question.back();
  expect(await first).toBe(false);
  expect([question.changed, question.busy]).toEqual([null, false]);
});

test("definitions are shown as they were used, or not at all", () => {
  const changed = { ...computed, definitions: { "ads.spend": "old", "gone.x": "h" } };
  expect(usedDefinitions(computed, [described])[0]).toEqual({
    name: "ads.spend",
    written: "sum: Cost",
    words: { title: "Spend", formula: "sum of Cost", format: "in EUR" },
  });
  expect(usedDefinitions(changed, [described]).map(({ written }) => written)).toEqual([null, null]);
});

test("versions and rates are named if the result has them", () => {
  expect(versionsOf(computed)).toEqual([{ source: "", version: "v1" }]);
  expect(versionsOf({ ...computed, data_version: { ads: "v", shop: null } })).toEqual([
    { source: "ads", version: "v" },
    { source: "shop", version: null },
  ]);
  expect(ratesOf(computed)).toEqual([]);
  const asked = { query: { measures: ["spend"], in_currency: "EUR" } };
  expect(ratesOf({ ...computed, asked })).toEqual(["ads"]);
});

test("the record of a call is found, and its figures are computed again", async () => {
  host.answer = (command) => {
    if (command === "source_describe") return described;
    if (command === "source_verify")
      return { record: 4, is_repeated: true, agrees: true, text: "The figures agree." };
    return {
      records: [
        { seq: 5, fields: { call: "other" } },
        { seq: 4, fields: { call: "c1" } },
      ],
    };
  };
  const how = new ComputedState(computed, { tool: "data.measure", call: "c1" });
  await how.open();
  expect([how.record, how.isSearched]).toEqual([4, true]);
  await how.verify();
  expect(how.check?.text).toBe("The figures agree.");
  const own = new ComputedState({ ...computed, record: 9 }, null);
  expect([own.record, own.isSearched]).toEqual([9, true]);
});

test("how figures were computed opens on demand", () => {
  const html = render(HowComputed, { props: { computed, from: null } }).body;
  expect(text(html)).toBe("How was this computed?");
  expect(html).toContain('aria-expanded="false"');
});
