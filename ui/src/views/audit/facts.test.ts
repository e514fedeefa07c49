// The members of a record, as the detail shows them.
import { expect, test } from "vitest";
import type { AuditRecordView } from "../../platform/generated/AuditRecordView";
import { asideOf, factsOf, wholeIdsOf } from "./facts";

const HASH = "4d7c7f87224b2376fcd02f6511990f761d9ee338d7d53b3096d71b414c3cab9a";
const record: AuditRecordView = {
  seq: 1,
  at: "2026-11-21T10:00:00Z",
  record_type: "tool_intent",
  session: "session_01a22e91482d77a9848882eb8f4651ec",
  leaf: HASH,
  status: "ok",
  fields: {
    agent: "",
    status: "ok",
    effect: "read_only",
    sent: false,
    level: "info",
    odd_name: "odd",
    follows: ["a", "b"],
  },
  revealed: {},
};

test("members are in words, and empty ones and the status are left out", () => {
  expect(factsOf(record).map(({ label, value }) => [label, value])).toEqual([
    ["Effect", "Reads only"],
    ["Sent", "No"],
    ["Odd name", "odd"],
    ["Follows", ["a", "b"]],
  ]);
  expect(asideOf(record).map(({ label, value }) => [label, value])).toEqual([
    ["Session", record.session],
    ["Level", "Information"],
  ]);
});

test("a cost without a price is said once", () => {
  const fields = { nano_usd: 0, tokens_in: 9, tokens_out: 1, unpriced_models: 1 };
  expect(factsOf({ ...record, fields }).map(({ label, value }) => [label, value])).toEqual([
    ["Cost", "unknown, no price"],
    ["Tokens in", "9"],
    ["Tokens out", "1"],
  ]);
});

test("the whole ids of a record end with its own hash", () => {
  expect(wholeIdsOf(record)).toEqual([
    ["Session", record.session],
    ["Hash of the record", HASH],
  ]);
});
