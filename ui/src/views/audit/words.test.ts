// The texts of records in the list: what happened, and to what.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { languages, textsOf } from "../../i18n/catalogue";
import type { AuditRecordView } from "../../platform/generated/AuditRecordView";
import type { RecordType } from "../../platform/generated/RecordType";
import { objectOf, subjectOf, titleOf, TYPES, valueOf } from "./words";

const record = (record_type: RecordType, rest: Partial<AuditRecordView> = {}): AuditRecordView => ({
  seq: 1,
  at: "2026-11-21T10:00:00Z",
  record_type,
  leaf: "00",
  fields: {},
  revealed: {},
  ...rest,
});

test("every record type has a text in every language, in the same order", () => {
  const generated = join(import.meta.dirname, "../../platform/generated/RecordType.ts");
  const [, union] = readFileSync(generated, "utf8").split("export type RecordType = ");
  const types = [...(union ?? "").matchAll(/"(\w+)"/g)].map((found) => found[1]!);
  expect(types.length).toBeGreaterThan(10);
  expect(TYPES).toEqual(types);
  for (const { tag } of languages.filter((language) => !language.draft))
    expect(types.filter((type) => !textsOf(tag)[`record.${type}`])).toEqual([]);
});

test("a decision on an approval and the end of its action have different texts", () => {
  const said = ["approved", "rejected", "expired", "done", "failed"].map((status) =>
    titleOf(record("approval_resolved", { status })),
  );
  expect(said).toEqual([
    ...Array<string>(3).fill("Approval decided"),
    ...Array<string>(2).fill("Approved action finished"),
  ]);
  expect(titleOf(record("tool_outcome", { status: "failed" }))).toBe("Tool finished");
});

test("a record names its tool, or else its object", () => {
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

test("a change names what was done to its object", () => {
  const fields = { setting: "board", board: "board_1", action: "created" };
  expect(objectOf(record("setting_changed", { fields }))).toBe("board · created");
  const odd = { source: "ads", action: "odd_action" };
  expect(objectOf(record("source_changed", { fields: odd }))).toBe("ads · Odd action");
});

test("a permission for destinations names them, and its duration is given in words", () => {
  const given = record("grant_created", {
    fields: { scope: "always", by: "terminal" },
    revealed: { destinations: '[{"kind":"host","name":"docs.example"}]' },
  });
  expect(subjectOf(given)).toBe("docs.example");
  expect(subjectOf(record("grant_created", { tool: "cart.addItem" }))).toBe("cart.addItem");
  expect(valueOf("scope", "always")).toBe("Always");
  expect(valueOf("by", "terminal")).toBe("in a terminal");
  expect(valueOf("sends_bytes", 120)).toBe("120");
});

test("a figure names its measures and its source unless its question was erased", () => {
  const asked = (text: string | null): string =>
    subjectOf(record("figure_computed", { revealed: { asked: text } }));
  expect(asked('{"query":{"source":"ads","measures":["spend"]}}')).toBe("Spend · ads");
  expect([asked(null), asked("{}"), asked("no JSON")]).toEqual(["", "", ""]);
});

test("amounts, durations, counts and states of a record are in words, and ids stay as they are", () => {
  expect(valueOf("nano_usd", 1_230_000).replace(/\u00a0/g, " ")).toBe("0.00123 USD");
  expect(valueOf("nano_usd", 0).replace(/\u00a0/g, " ")).toBe("0.00 USD");
  // A model without a price costs something.
  const unpriced = { tokens_in: 9, tokens_out: 1, unpriced_models: 1 };
  expect(valueOf("nano_usd", 0, unpriced)).toBe("unknown, no price");
  expect(valueOf("nano_usd", 20_000_000, unpriced)).toBe("at least 0.02\u00a0USD");
  expect(valueOf("duration_ms", 130)).toBe("130 ms");
  expect(valueOf("tokens_in", 22_000)).toBe("22,000");
  expect(valueOf("status", "ok")).toBe("Done");
  expect(valueOf("call", 22_000)).toBe("22000");
});
