// The alerts with a host that answers: the count, what is seen, and a rule that is brought back.
import { beforeEach, expect, test, vi } from "vitest";
import type { Alert } from "../platform/generated/Alert";
import type { AlertRule } from "../platform/generated/AlertRule";
import { Alerts } from "./alerts.svelte";

type Params = Record<string, unknown>;
const host = vi.hoisted(() => ({
  sent: [] as { command: string; params: Params }[],
  answer: (_command: string, _params: Params): unknown => ({}),
  push: (_push: object): void => {},
}));
vi.mock("../platform", async (original) => ({
  ...(await original<typeof import("../platform")>()),
  call: async (command: string, params: Params) => {
    host.sent.push({ command, params });
    return await host.answer(command, params);
  },
  platform: () => ({
    onPush: (take: (push: object) => void) => {
      host.push = take;
      return () => {};
    },
  }),
}));

const alert: Alert = {
  id: "alert_1",
  rule: "rule_1",
  name: "Spend",
  group: [],
  since: "2026-11-29",
  told_at: "2026-11-30T09:00:00Z",
  is_seen: false,
  figures: [],
  question: { measures: ["spend"] },
};
const rule: AlertRule = {
  id: "rule_1",
  revision: 3,
  created_at: "2026-11-30T09:00:00Z",
  changed_at: "2026-11-30T09:00:00Z",
  content: {
    name: "Spend",
    query: { source: "ads", measures: ["spend"] },
    condition: { no_data_for: { days: 2 } },
    is_on: true,
  },
};

beforeEach(() => {
  host.sent = [];
  host.answer = (command) => {
    if (command === "alert_rules") return { rules: [{ rule }], faults: [] };
    if (command === "alert_seen") return { alerts: [{ ...alert, is_seen: true }], unseen: 0 };
    if (command === "alert_rule_remove") return rule;
    return { alerts: [alert], unseen: 1 };
  };
});

test("the count follows the host, and what is seen no longer counts", async () => {
  const alerts = new Alerts();
  alerts.followCount();
  await vi.waitFor(() => expect(alerts.unseen).toBe(1));
  host.push({ push: "alerts", unseen: 4 });
  expect(alerts.unseen).toBe(4);
  await alerts.see(["alert_1"]);
  expect([alerts.unseen, alerts.list?.[0]?.is_seen]).toEqual([0, true]);
});

test("a deleted rule is made again as a new one", async () => {
  const alerts = new Alerts();
  await alerts.remove(rule);
  expect(alerts.deleted).toEqual(rule);
  await alerts.restore();
  expect(alerts.deleted).toBeNull();
  const saved = host.sent.find(({ command }) => command === "alert_rule_save");
  expect(saved?.params).toEqual({ revision: 0, content: rule.content });
});

test("the error of a check or a deletion stays while the rules are read again", async () => {
  const alerts = new Alerts();
  const usual = host.answer;
  host.answer = (command, params) => {
    if (command !== "alert_rule_remove" && command !== "alerts_check")
      return usual(command, params);
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- the host rejects with an AgentError
    throw {
      contract_version: "1.0",
      code: "invalid_input",
      message: "Changed.",
      retryable: false,
      details: {},
    };
  };
  await alerts.remove(rule);
  expect([alerts.error?.message, alerts.deleted, alerts.rules?.length]).toEqual([
    "Changed.",
    null,
    1,
  ]);
  alerts.error = null;
  await alerts.check();
  expect(alerts.error).toMatchObject({ message: "Changed." });
});

test("an error of the host is kept, and a refused rule fails", async () => {
  const alerts = new Alerts();
  host.answer = () => {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- the host rejects with an AgentError
    throw {
      contract_version: "1.0",
      code: "invalid_input",
      message: "No.",
      retryable: false,
      details: {},
    };
  };
  await alerts.readAll();
  expect(alerts.error?.message).toBe("No.");
  await expect(alerts.save(rule.content, rule)).rejects.toMatchObject({ message: "No." });
});
