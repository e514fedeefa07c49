// Pending actions and grants of the in-memory host.
import type { Approval } from "../generated/Approval";
import type { Grant } from "../generated/Grant";
import { failure, fakeHash, type Handlers, type World } from "./world";

export function cartApproval(world: World, session: string, turn: string, call: string): Approval {
  const now = Date.now();
  const id = world.id("appr");
  return {
    id,
    session,
    turn,
    call,
    tool: "cart.addItem",
    tool_title: "Add to cart",
    server: "shop",
    agent: "shop",
    effect: "write",
    arguments: '{"basketId":88,"clientIp":"127.0.0.1","partNo":"TS-1042-BLK-42","quantity":2}',
    hash: fakeHash(id),
    why: "Writes require approval (default for tools that change data).",
    preview: {
      summary: "Add 2 × Fell Runner trail shoe (black, 42)",
      before: { rows: [{ label: "Merino socks, grey", quantity: "1", amount: "149.00", changed: false }], total: "149.00 SEK" },
      after: {
        rows: [
          { label: "Merino socks, grey", quantity: "1", amount: "149.00", changed: false },
          { label: "Fell Runner trail shoe (black, 42)", quantity: "2", amount: "2 598.00", changed: true },
        ],
        total: "2 747.00 SEK",
      },
    },
    created_at: new Date(now).toISOString(),
    expires_at: new Date(now + 600_000).toISOString(),
    status: "pending",
    grantable: false,
    confirm_word: null,
    headless: false,
  };
}

function destructive(world: World): Approval {
  const base = cartApproval(world, "desktop:0002", "turn-x", "call-x");
  return {
    ...base,
    tool: "test.purge",
    tool_title: "Delete all delivery rows of an account whose name is so long that it has to wrap somewhere in the middle of the line",
    server: "test-pack",
    effect: "destructive",
    arguments: '{"account":"17","note":"pay\\u200bpal \\u202etxt.exe","rows":["2026-11-01","2026-11-02","2026-11-03"]}',
    why: "Destructive actions always ask (built-in rule).",
    preview: null,
    confirm_word: "delete",
  };
}

export function seedApprovals(world: World): void {
  if (!["approvals", "full", "long"].includes(world.scenario)) return;
  if (world.scenario === "full" && !world.options.has("pending")) return;
  for (const approval of [cartApproval(world, "desktop:0001", "turn-1", "call-1"), destructive(world)]) world.approvals.set(approval.id, approval);
}

const grants: Grant[] = [
  {
    id: "grant-1",
    session: "desktop:0001",
    tool: "report.publish",
    server: "reports",
    definition_hash: fakeHash("grant"),
    pattern: { folder: "weekly", format: "pdf" },
    created_at: "2026-11-21T08:15:00Z",
    expires_at: "2026-11-22T08:15:00Z",
    last_used_at: "2026-11-21T09:40:00Z",
    revoked_at: null,
  },
];

const pending = (world: World): Approval[] => [...world.approvals.values()].filter((approval) => approval.status === "pending");

type Area = "approvals_list" | "approval_open" | "approval_pending" | "approval_decide" | "policy_set" | "terminal_decisions_set" | "grants_list" | "grant_revoke";

export const approvalHandlers: Pick<Handlers, Area> = {
  approvals_list: ({ include_decided }, world) => ({ approvals: include_decided ? [...world.approvals.values()] : pending(world) }),
  approval_open: () => {
    if (typeof window !== "undefined") window.open(`approval.html${location.search || "?fake"}`, "approval", "width=560,height=680");
    return {};
  },
  approval_pending: (_params, world) => ({ approvals: pending(world) }),
  approval_decide: async ({ id, hash, decision }, world) => {
    const approval = world.approvals.get(id);
    if (!approval || approval.hash !== hash || approval.status !== "pending") {
      throw failure("invalid_input", "This action has already been decided or has changed.", "Look at the list again.", "approval_not_pending");
    }
    const status = decision.decision === "reject" ? "rejected" : decision.decision === "edit" ? "superseded" : "done";
    const decided: Approval = { ...approval, status, decided_at: world.now(), reason: decision.decision === "reject" ? (decision.reason ?? null) : null };
    world.approvals.set(id, decided);
    if (decision.decision === "edit") {
      const next = { ...approval, id: world.id("appr"), arguments: JSON.stringify(decision.arguments), hash: fakeHash(world.id("h")), replaces: id };
      world.approvals.set(next.id, next);
    }
    world.push({ push: "approvals", waiting: world.waiting() });
    return { approval: decided };
  },
  policy_set: ({ policy }, world) => {
    world.settings.settings.policy = policy;
    return {};
  },
  terminal_decisions_set: ({ enabled }, world) => {
    world.settings.settings.decide_from_terminal = enabled;
    return {};
  },
  grants_list: (_params, world) => ({ grants: world.scenario === "empty" ? [] : grants }),
  grant_revoke: ({ id }) => {
    const grant = grants.find((known) => known.id === id);
    if (grant) grant.revoked_at = new Date().toISOString();
    return {};
  },
};
