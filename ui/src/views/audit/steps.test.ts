// Records of one question as steps.
import { expect, test } from "vitest";
import type { AuditRecordView } from "../../platform/generated/AuditRecordView";
import type { RecordType } from "../../platform/generated/RecordType";
import { chosen, emptyChoice, filterOf } from "./filter";
import { argumentsOf, destinationsOf, isErased, stepsOf, summaryOf } from "./steps";

let seq = 0;
const record = (record_type: RecordType, rest: Partial<AuditRecordView> = {}): AuditRecordView => ({
  seq: ++seq,
  at: "2026-11-21T10:00:00Z",
  record_type,
  leaf: "00",
  fields: {},
  revealed: {},
  ...rest,
});

test("a call and its outcome are one step, and a decision has the proposal that was shown", () => {
  const records = [
    record("run_started", { revealed: { input: "Pause it" } }),
    record("model_call", { status: "ok" }),
    record("model_call", { status: "ok" }),
    record("tool_intent", { fields: { call: "c1", effect: "read_only" } }),
    record("tool_outcome", { fields: { call: "c1" }, status: "ok" }),
    record("approval_requested", {
      fields: { approval: "a1", call: "c2" },
      revealed: { arguments: '{"id":17,"name":"x"}', preview: '{"summary":"Pause 17"}' },
    }),
    record("approval_resolved", { fields: { approval: "a1", by: "window" }, status: "approved" }),
    record("tool_intent", { fields: { call: "c2", approval: "a1", effect: "write" } }),
    record("tool_outcome", { fields: { call: "c2" }, status: "ok" }),
    record("approval_resolved", { fields: { approval: "a1" }, status: "done" }),
    record("policy_decision", { fields: { call: "c3" }, status: "denied" }),
    record("run_ended", { status: "ok" }),
  ];
  const steps = stepsOf(records);
  expect(steps.map(({ kind }) => kind)).toEqual([
    "asked",
    "model",
    "read",
    "proposed",
    "decided",
    "executed",
    "refused",
    "answered",
  ]);
  expect(steps[1]!.times).toBe(2);
  expect([steps[2]!.end?.status, steps[5]!.end?.status]).toEqual(["ok", "ok"]);
  const request = steps[4]!.request!;
  expect(summaryOf(request)).toBe("Pause 17");
  expect(argumentsOf(request)?.map(({ name, value }) => [name, value])).toEqual([
    ["id", "17"],
    ["name", "x"],
  ]);
});

test("an action without its outcome still shows how it ended, and erased values are marked as erased", () => {
  const lost = [
    record("tool_intent", { fields: { call: "c1", approval: "a1", effect: "write" } }),
    record("approval_resolved", { fields: { approval: "a1" }, status: "failed" }),
  ];
  expect(stepsOf(lost).map(({ kind }) => kind)).toEqual(["executed", "decided"]);
  expect(stepsOf(lost)[0]!.outcome).toBe("unknown");
  const erased = record("tool_intent", { revealed: { arguments: null } });
  expect([argumentsOf(erased), isErased(erased, "arguments"), isErased(erased, "asked")]).toEqual([
    null,
    true,
    false,
  ]);
});

test("the outcome of a call without its second record is unknown, unless a later page may have it", () => {
  const killed = [
    record("tool_intent", { fields: { call: "c1", effect: "read_only" } }),
    record("tool_outcome", { fields: { call: "c1" }, status: "ok" }),
    record("tool_intent", { fields: { call: "c2", effect: "write" } }),
  ];
  expect(stepsOf(killed).map(({ outcome }) => outcome)).toEqual(["known", "unknown"]);
  expect(stepsOf(killed, true).map(({ outcome }) => outcome)).toEqual(["known", "later"]);
});

test("the end of an action is hidden only by its own outcome", () => {
  const records = [
    record("tool_intent", { fields: { call: "c1", approval: "a1", effect: "write" } }),
    record("tool_outcome", { fields: { call: "c1", approval: "a1" }, status: "ok" }),
    record("approval_resolved", { fields: { approval: "a1" }, status: "done" }),
    record("tool_intent", { fields: { call: "c2", approval: "a2", effect: "write" } }),
    record("approval_resolved", { fields: { approval: "a2" }, status: "failed" }),
  ];
  const steps = stepsOf(records).map((step) => [step.kind, step.outcome, step.record.status]);
  expect(steps).toEqual([
    ["executed", "known", undefined],
    ["executed", "unknown", undefined],
    ["decided", "known", "failed"],
  ]);
});

test("a filter has only the chosen members, and covers whole days", () => {
  expect(filterOf(emptyChoice())).toEqual({ search: "" });
  const choice = { ...emptyChoice(), tool: "pause", since: "2026-03-01", until: "2026-03-01" };
  const filter = filterOf(choice);
  expect([filter.tool, filter.agent, chosen(choice)]).toEqual(["pause", undefined, 3]);
  expect(new Date(filter.until!).getTime() - new Date(filter.since!).getTime()).toBe(86_400_000);
});

test("an approved read is one step with its outcome and its destinations", () => {
  const places = [
    { kind: "host", name: "docs.example" },
    { kind: "server", name: "notes/web" },
  ];
  const revealed = { destinations: JSON.stringify(places) };
  const steps = stepsOf([
    record("approval_requested", { fields: { approval: "a1", call: "c1" }, revealed }),
    record("approval_resolved", { fields: { approval: "a1", by: "window" }, status: "approved" }),
    record("tool_intent", {
      fields: { call: "c1", approval: "a1", effect: "read_only", sends_bytes: 120 },
      revealed,
    }),
    record("tool_outcome", { fields: { call: "c1" }, status: "ok" }),
    record("approval_resolved", { fields: { approval: "a1" }, status: "done" }),
  ]);
  expect(steps.map(({ kind }) => kind)).toEqual(["proposed", "decided", "read"]);
  expect(destinationsOf(steps[2]!.record)).toEqual(places);
  expect(destinationsOf(record("tool_intent", { revealed: { destinations: null } }))).toEqual([]);
  expect(destinationsOf(record("tool_intent", { revealed: { destinations: "[1]" } }))).toEqual([]);
});
