// Records of the in-memory host's audit log.
import type { AuditRecordView } from "../generated/AuditRecordView";
import type { RecordType } from "../generated/RecordType";
import { fakeHash, type Handlers, type World } from "./world";

const cycle: { record_type: RecordType; tool?: string; status?: string; fields: Record<string, unknown>; revealed?: Record<string, unknown> }[] = [
  { record_type: "run_started", fields: { agent: "shop", model: "offline" }, revealed: { text: "add two of the black trail shoes to my cart" } },
  { record_type: "model_call", status: "ok", fields: { provider: "offline", round: 1 } },
  { record_type: "policy_decision", tool: "cart.addItem", fields: { effect: "write", rule: "default: writes require approval" } },
  { record_type: "approval_requested", tool: "cart.addItem", status: "pending", fields: { hash: fakeHash("cart") }, revealed: { arguments: '{"partNo":"TS-1042-BLK-42","quantity":2}' } },
  { record_type: "approval_resolved", tool: "cart.addItem", status: "approved", fields: { by: "approval_window" } },
  { record_type: "tool_intent", tool: "cart.addItem", fields: { attempt: 1, hash: fakeHash("cart") } },
  { record_type: "tool_outcome", tool: "cart.addItem", status: "ok", fields: { attempt: 1, duration_ms: 41 }, revealed: { result: null } },
  { record_type: "run_ended", status: "ok", fields: { rounds: 2 } },
];

function records(world: World): AuditRecordView[] {
  if (world.scenario === "empty" || world.scenario === "first-run") return [];
  const start = Date.parse("2026-11-20T09:00:00Z");
  return Array.from({ length: 186 }, (_, index) => {
    const step = index === 0 ? { record_type: "log_opened" as const, fields: { app: "countersign 0.1.0", v: 1 } } : cycle[(index - 1) % cycle.length]!;
    const session = index === 0 ? null : `desktop:${String(Math.floor((index - 1) / 24) + 1).padStart(4, "0")}`;
    return {
      seq: index + 1,
      at: new Date(start + index * 47_000).toISOString(),
      record_type: step.record_type,
      session,
      turn: index === 0 ? null : `turn-${Math.floor((index - 1) / 8) + 1}`,
      tool: "tool" in step ? step.tool : null,
      status: "status" in step ? step.status : null,
      leaf: fakeHash(`leaf${index}`),
      fields: step.fields,
      revealed: ("revealed" in step ? step.revealed : undefined) ?? {},
    };
  });
}

type Area = "audit_list" | "audit_show" | "audit_verify" | "audit_export" | "audit_checkpoint";

export const auditHandlers: Pick<Handlers, Area> = {
  audit_list: ({ record_type, session, query, before, limit }, world) => {
    const all = records(world);
    const needle = (query ?? "").toLowerCase();
    const found = all
      .filter((record) => !record_type || record.record_type === record_type)
      .filter((record) => !session || record.session === session)
      .filter((record) => `${record.tool ?? ""} ${record.status ?? ""} ${record.session ?? ""}`.toLowerCase().includes(needle))
      .filter((record) => !before || record.seq < before)
      .reverse();
    const page = found.slice(0, limit || 100);
    return { records: page, has_more: found.length > page.length, total: all.length };
  },
  audit_show: ({ seq }, world) => records(world)[seq - 1]!,
  audit_verify: async (_params, world) => {
    await world.wait(700);
    const bad = world.scenario === "error";
    const size = records(world).length;
    return {
      ok: !bad,
      records: size,
      checkpoints: Math.ceil(size / 8),
      root: fakeHash("root"),
      key_fingerprint: "countersign+7f3a9c21",
      anchored: world.scenario !== "offline-keyring",
      compared_with: world.scenario === "offline-keyring" ? "state" : "keyring",
      unsigned_tail: bad ? 0 : 3,
      problems: bad ? [{ seq: 41, message: "The record's bytes do not match its hash." }, { seq: null, message: "Checkpoint 6 states another root than the records give." }] : [],
      unknown_outcomes: bad ? [38] : [],
    };
  },
  audit_export: async ({ folder }, world) => {
    await world.wait(400);
    return { folder, records: records(world).length, files: ["records.jsonl", "checkpoints.txt", "key.pub", "FORMAT.md"] };
  },
  audit_checkpoint: (_params, world) => ({ size: records(world).length, root: fakeHash("root"), note: "countersign/log\n186\n..." }),
};
