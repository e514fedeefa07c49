// The texts of records in the list: what happened, and to what.
import { expect, test } from "vitest";
import type { AuditRecordView } from "../../platform/generated/AuditRecordView";
import type { RecordType } from "../../platform/generated/RecordType";
import { subjectOf, titleOf } from "./words";

const record = (record_type: RecordType, rest: Partial<AuditRecordView> = {}): AuditRecordView => ({
  seq: 1,
  at: "2026-11-21T10:00:00Z",
  record_type,
  leaf: "00",
  fields: {},
  revealed: {},
  ...rest,
});

test("an approval is decided once, and its action ends", () => {
  const said = ["approved", "rejected", "expired", "done", "failed"].map((status) =>
    titleOf(record("approval_resolved", { status })),
  );
  expect(said).toEqual([
    ...Array<string>(3).fill("Approval decided"),
    ...Array<string>(2).fill("Approved action finished"),
  ]);
  expect(titleOf(record("tool_outcome", { status: "failed" }))).toBe("Tool finished");
});

test("a record names the tool, or else what it is about", () => {
  const fields = { model: "scripted", setting: "theme", pack: "shop" };
  const subjects = (
    ["model_call", "setting_changed", "pack_loaded", "kill_switch", "run_started"] as const
  ).map((type) => subjectOf(record(type, { fields })));
  expect(subjects).toEqual(["scripted", "theme", "shop", "theme", ""]);
  expect([
    subjectOf(record("setting_changed", { tool: "read_file", fields })),
    subjectOf(record("pack_loaded", { fields: { pack: 3 } })),
  ]).toEqual(["read_file", ""]);
  expect(subjectOf(record("kill_switch", { fields: { agent: "guardian", on: false } }))).toBe(
    "guardian",
  );
});
