// Repeats in the list of records.
import { expect, test } from "vitest";
import type { AuditRecordView } from "../../platform/generated/AuditRecordView";
import { groupRepeats } from "./repeats";

const record = (seq: number, setting: string): AuditRecordView => ({
  seq,
  at: "2026-11-21T10:00:00Z",
  record_type: "setting_changed",
  leaf: "00",
  fields: { setting },
  revealed: {},
});
const all = ["a", "a", "a", "b", "b", "a"].map((setting, at) => record(9 - at, setting));
const seqs = (alone: number[] = []): number[][] =>
  groupRepeats(all, ({ seq }) => alone.includes(seq)).map(({ records }) =>
    records.map(({ seq }) => seq),
  );

test("three records that say the same are one group, and two are not", () => {
  expect(seqs()).toEqual([[9, 8, 7], [6], [5], [4]]);
});

test("a record that must be seen is in no group", () => {
  expect(seqs([8])).toEqual([[9], [8], [7], [6], [5], [4]]);
});
