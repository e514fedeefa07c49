// Tokens, cost and time of an answer: what the records say, and what they do not know.
import { beforeEach, expect, test, vi } from "vitest";
import { setLanguage } from "../../../i18n/index.svelte";
import type { AuditRecordView } from "../../../platform/generated/AuditRecordView";
import { costText, dollars, readUsage, usageLine, usageOf, usageRows } from "./usage";

const host = vi.hoisted(() => ({ pages: [] as unknown[][], asked: [] as unknown[] }));
vi.mock("../../../platform", async (original) => ({
  ...(await original<typeof import("../../../platform")>()),
  call: (_: string, params: { after: number | null }) => {
    host.asked.push(params.after);
    const records = host.pages.shift() ?? [];
    return Promise.resolve({ entry: {}, records, has_more: host.pages.length > 0 });
  },
}));

let seq = 0;
const record = (record_type: string, fields: Record<string, unknown>): AuditRecordView =>
  ({ seq: ++seq, record_type, fields, revealed: {} }) as unknown as AuditRecordView;
const call = (model: string, local: boolean) => record("model_call", { model, local });
const ended = (fields: Record<string, unknown>) =>
  record("run_ended", {
    tokens_in: 1000,
    tokens_out: 240,
    model_calls: 2,
    duration_ms: 2140,
    nano_usd: 0,
    ...fields,
  });
const plain = (text: string): string => text.replace(/\u00a0/g, " ");

beforeEach(() => setLanguage("en"));

test("an answer says its tokens, its cost and its time", () => {
  const usage = usageOf([
    call("large", false),
    ended({ nano_usd: 4_200_000, unpriced_models: 0 }),
  ])!;
  expect(usageLine(usage)).toBe("1,240 tokens · $0.0042 · 2.1 s");
  expect(usageRows(usage).map(([name, value]) => `${name}: ${value}`)).toEqual([
    "Model: large",
    "Model calls: 2",
    "Tokens of the requests: 1,000",
    "Tokens of the answers: 240",
    "Cost: $0.0042",
    "Time: 2.1 s",
  ]);
  setLanguage("sv");
  expect(plain(usageLine(usage))).toBe("1 240 token · 0,0042 $ · 2,1 s");
});

test("a cost is never guessed: no price, a part of it, a free model, and a model of this computer", () => {
  const cost = (fields: Record<string, unknown>, local = false): string =>
    costText(usageOf([call("m", local), ended(fields)])!);
  expect(cost({ unpriced_models: 1 })).toBe("unknown, no price");
  expect(cost({ unpriced_models: 1, nano_usd: 20_000_000 })).toBe("at least $0.02");
  expect(cost({ unpriced_models: 0 })).toBe("$0.00");
  expect(cost({ unpriced_models: 1 }, true)).toBe("on this computer");
  // Earlier versions did not record whether a price was missing.
  expect(cost({})).toBe("unknown, no price");
  expect(cost({ nano_usd: 20_000_000 })).toBe("$0.02");
});

test("a cost that is not known is said beside the tokens", () => {
  const usage = usageOf([call("m", false), ended({ unpriced_models: 1 })])!;
  expect(usageLine(usage)).toBe("1,240 tokens · cost unknown · 2.1 s");
  expect(usageRows(usage)).toContainEqual(["Cost", "unknown, no price"]);
});

test("an answer by rules has no tokens and no cost", () => {
  const usage = usageOf([ended({ tokens_in: 0, tokens_out: 0, duration_ms: 40 })])!;
  expect(usageLine(usage)).toBe("0 tokens · 0.04 s");
});

test("small and large amounts keep digits that say something", () => {
  expect([0.000_012_3, 0.01, 12.5].map(dollars)).toEqual(["$0.000012", "$0.01", "$12.50"]);
});

test("the end of a long turn is on a later page, and the end of a later decision does not count", async () => {
  host.asked = [];
  host.pages = [
    [call("m", false)],
    [ended({ unpriced_models: 0 }), record("run_ended", { duration_ms: 5, model_calls: 0 })],
  ];
  const first = (host.pages[0]![0] as AuditRecordView).seq;
  expect((await readUsage("t"))?.calls).toBe(2);
  expect(host.asked).toEqual([null, first]);
  host.pages = [[]];
  expect(await readUsage("gone")).toBeNull();
});
