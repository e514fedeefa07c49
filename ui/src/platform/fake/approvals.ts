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
          { label: "Fell Runner trail shoe (black, 42)", quantity: "2", amount: "2,598.00", changed: true },
        ],
        total: "2,747.00 SEK",
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

const variants: Record<string, (base: Approval) => Partial<Approval>> = {
  plain: () => ({}),
  empty_cart: (base) => ({ preview: { ...base.preview!, before: { rows: [], total: "" } } }),
  destructive: () => ({
    tool: "report.purge",
    tool_title: "Delete all delivery rows of an account",
    server: "reports",
    effect: "destructive",
    arguments: '{"account":"17","rows":["2026-11-01","2026-11-02","2026-11-03"]}',
    why: "Destructive actions always ask (built-in rule).",
    preview: null,
    confirm_word: "delete",
  }),
  grantable: () => ({
    tool: "report.publish",
    tool_title: "Publish a report",
    server: "reports",
    arguments: '{"folder":"weekly","format":"pdf","recipients":["ana@example.org","board@example.org"],"title":"Week 47"}',
    preview: null,
    grantable: true,
  }),
  edited: () => ({ replaces: "appr-0000" }),
  soon: () => ({ expires_at: new Date(Date.now() + 21_000).toISOString() }),
  expiring: () => ({ expires_at: new Date(Date.now() + 2_500).toISOString() }),
  hidden: () => ({
    tool_title: "Rename a report",
    tool: "report.rename",
    arguments: '{"note":"pay\u200bpal \u202etxt.exe\u00a0","to":"аррle.pdf\ufeff"}',
    preview: null,
  }),
  none: () => ({ tool: "report.refresh", tool_title: "Refresh the report", arguments: "{}", preview: null }),
  args: () => ({
    tool: "report.import",
    tool_title: "Import rows into a report",
    server: "reports",
    preview: null,
    arguments: JSON.stringify({
      note: "A note that goes on and on, as people write them when nobody stops them. ".repeat(40),
      rows: Array.from({ length: 60 }, (_, index) => ({ campaign: `Autumn trail ${index}`, spend: 1000 + index })),
      token: "Unbreakable".repeat(60),
      "a_name_of_an_argument_that_is_far_too_long_for_the_column_it_stands_in_and_never_breaks_by_itself": true,
    }),
  }),
};

/** Fills the list of what waits: `&ask=plain,destructive` names the variants, in this order. */
export function seedApprovals(world: World): void {
  if (!["approvals", "long", "word"].includes(world.scenario)) return;
  for (const name of (world.options.get("ask") ?? "plain,destructive").split(",")) {
    const base = cartApproval(world, "desktop:0001", "turn-1", world.id("call"));
    world.approvals.set(base.id, { ...base, ...variants[name]?.(base) });
  }
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

function pending(world: World): Approval[] {
  for (const approval of world.approvals.values()) {
    if (approval.status === "pending" && Date.parse(approval.expires_at) <= Date.now()) world.approvals.set(approval.id, { ...approval, status: "expired" });
  }
  return [...world.approvals.values()].filter((approval) => approval.status === "pending");
}

type Area = "approvals_list" | "approval_open" | "approval_pending" | "approval_decide" | "confirmations" | "confirmation_decide" | "audit_alarm_open" | "audit_alarm" | "audit_accept_new_log" | "policy_set" | "terminal_decisions_set" | "grants_list" | "grant_revoke";

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
      const next = { ...approval, id: world.id("appr"), arguments: JSON.stringify(JSON.parse(decision.arguments)), hash: fakeHash(world.id("h")), replaces: id };
      world.approvals.set(next.id, next);
    }
    world.push({ push: "approvals", waiting: world.waiting() });
    return { approval: decided };
  },
  audit_alarm_open: () => ({}),
  audit_alarm: () => ({}),
  confirmations: () => ({ confirmations: [] }),
  confirmation_decide: () => ({}),
  audit_accept_new_log: () => ({ set_aside: "/home/user/.local/share/countersign/audit.set-aside-20261123.db" }),
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
