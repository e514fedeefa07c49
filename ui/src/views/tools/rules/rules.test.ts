// The rules while they are edited, with a host that answers.
import { beforeEach, expect, test, vi } from "vitest";
import type { PolicyPreview } from "../../../platform/generated/PolicyPreview";
import type { PolicyView } from "../../../platform/generated/PolicyView";
import { Backtest, sumUp } from "./backtest.svelte";
import { newRule } from "./draft";
import { RuleEditor } from "./rules.svelte";

const TEXT =
  '{"rules":[{"id":"a","action":"deny","tool":"cart.*"},{"id":"b","action":"ask","tool":"cart.add"}],"grants":[]}';
const host = vi.hoisted(() => ({
  sent: [] as [string, Record<string, unknown>][],
  refuses: null as string | null,
  idle: [] as PolicyPreview["idle"],
  parts: [] as unknown[],
}));
const viewOf = (text: string): PolicyView => {
  return {
    mode: "writes_require_approval",
    file: "/data/policy.json",
    found: true,
    rules: [],
    grants: [],
    faults: [],
    idle: [{ rule: 1, decided_by: 0 }],
    text,
    fingerprint: "00",
  };
};
vi.mock("../../../platform", async (original) => ({
  ...(await original<typeof import("../../../platform")>()),
  call: async (command: string, params: Record<string, unknown>) => {
    host.sent.push([command, params]);
    await Promise.resolve();
    if (command === "policy_get") return viewOf(TEXT);
    if (command === "policy_preview") return { faults: [], idle: host.idle, look_alikes: [] };
    if (command === "policy_backtest") return host.parts.shift();
    if (host.refuses !== null)
      throw Object.assign(new Error("refused"), {
        code: "invalid_input",
        message: "refused",
        details: { reason: host.refuses },
      });
    return viewOf(params["rules"] as string);
  },
}));

beforeEach(() => {
  [host.sent, host.refuses, host.idle, host.parts] = [[], null, [], []];
});

async function opened(): Promise<RuleEditor> {
  const editor = new RuleEditor();
  await editor.read();
  return editor;
}
const ids = (editor: RuleEditor): string[] => editor.file.rules.map(({ id }) => id);
const lastOf = (command: string): Record<string, unknown> | undefined =>
  host.sent.findLast(([name]) => name === command)?.[1];

test("the draft begins as the file, and says which rules decide nothing", async () => {
  const editor = await opened();
  expect([editor.isChanged, ids(editor)]).toEqual([false, ["a", "b"]]);
  const [first, second] = editor.file.rules;
  expect(editor.decidedBy(second!)?.id).toBe("a");
  expect(editor.decidedBy(first!)).toBeUndefined();
});

test("rules are added, changed, moved and removed in the draft alone", async () => {
  const editor = await opened();
  editor.put({ ...newRule("shop.pay"), action: "ask" });
  expect(ids(editor)).toEqual(["a", "b", "ask-shop.pay"]);
  editor.put({ ...editor.file.rules[1]!, tool: "cart.remove" });
  expect(editor.file.rules[1]?.tool).toBe("cart.remove");
  expect(editor.neighbour(editor.file.rules[0]!, 1)).toBeUndefined();
  editor.move(editor.file.rules[2]!, -1);
  expect(ids(editor)).toEqual(["a", "ask-shop.pay", "b"]);
  editor.remove(editor.file.rules[0]!);
  expect(ids(editor)).toEqual(["ask-shop.pay", "b"]);
  expect(editor.isChanged).toBe(true);
  expect(host.sent.some(([command]) => command === "policy_rules_set")).toBe(false);
  editor.discard();
  expect([ids(editor), editor.isChanged]).toEqual([["a", "b"], false]);
});

test("the text that was read by the host and tested is the text that is saved", async () => {
  const editor = await opened();
  host.idle = [{ rule: 0 }];
  editor.put({ ...editor.file.rules[0]!, until: "2020-01-01T00:00:00Z" });
  expect(editor.preview).toBeNull();
  await vi.waitFor(() => expect(editor.preview).not.toBeNull());
  expect(editor.decidedBy(editor.file.rules[0]!)).toBeNull();
  const { text } = editor;
  expect(lastOf("policy_preview")).toEqual({ rules: text });
  await editor.save();
  expect(lastOf("policy_rules_set")).toEqual({ rules: text, fingerprint: "00" });
  expect([editor.isChanged, editor.isSaving]).toEqual([false, false]);
  expect(editor.said).toBe("The rules are saved and in force.");
});

test("a refusal keeps the draft, and a changed file is said", async () => {
  const editor = await opened();
  editor.remove(editor.file.rules[0]!);
  host.refuses = "not_confirmed";
  await editor.save();
  expect([editor.isChanged, editor.isOutdated]).toEqual([true, false]);
  host.refuses = "rules_changed";
  await editor.save();
  expect([editor.isChanged, editor.isOutdated, ids(editor)]).toEqual([true, true, ["b"]]);
});

test("a long log is tested in parts, and summed up", async () => {
  const row = (then: string, now: string | undefined, calls: number): object => {
    return { tool: "a", then, now, calls };
  };
  const part = (counts: object[], next: number | null): object => {
    return { faults: [], counts, not_by_rules: 1, calls: [], next };
  };
  host.parts = [
    part([row("allow", "allow", 5), row("allow", "deny", 2)], 7),
    part([row("allow", "deny", 1), row("ask", undefined, 4)], null),
    part([], null),
  ];
  const test = new Backtest();
  await test.test("{}");
  expect([test.error, test.isOf("{}"), test.isOf("")]).toEqual([null, true, false]);
  expect(test.totals?.not_by_rules).toBe(2);
  expect(sumUp(test.totals!)).toEqual({
    tested: 12,
    changed: { deny: 3, ask: 0, allow: 0, unknown: 4 },
  });
  expect(host.sent.map(([, params]) => params["after"])).toEqual([0, 7, 0]);
});
