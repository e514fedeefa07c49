// All permissions in one list, and how each is revoked.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { canRevoke, listPermissions, type Sources } from "./list";
import { Permissions } from "./permissions.svelte";

const NOW = Date.parse("2026-11-30T12:00:00Z");
const host = vi.hoisted(() => {
  const sources: Record<string, unknown> = {};
  return { sent: [] as [string, unknown][], refuses: false, sources };
});
vi.mock("../../../platform", async (original) => ({
  ...(await original<typeof import("../../../platform")>()),
  call: async (command: string, params: unknown) => {
    host.sent.push([command, params]);
    await Promise.resolve();
    if (command in host.sources) return host.sources[command];
    if (host.refuses) throw new Error("The log cannot be written.");
    return {};
  },
}));

const grant = (id: string, change: object = {}): Sources["grants"][number] => {
  return {
    id,
    session: "s1",
    tool: "ledger.add",
    server: "ledger",
    definition_hash: "d",
    pattern: { account: "a" },
    granted_by: "window",
    created_at: "2026-11-30T10:00:00Z",
    expires_at: "2026-11-30T18:00:00Z",
    last_used_at: "2026-11-30T11:00:00Z",
    ...change,
  };
};
const none: Sources = {
  grants: [],
  standing: [],
  allowances: [],
  folders: [],
  servers: [],
  terminalDecides: false,
};
const place = { kind: "host", name: "docs.example" } as const;

afterEach(() => void vi.useRealTimers());
beforeEach(() => {
  // Only the date is fixed, because the permissions of the test end on it.
  vi.useFakeTimers({ toFake: ["Date"], now: NOW });
  [host.sent, host.refuses] = [[], false];
  host.sources = {
    grants_list: { grants: [grant("g1")] },
    policy_get: {
      grants: [{ id: "november", tool: "hold", expires_at: "2026-12-01T00:00:00Z" }],
      text: '{"rules":[],"grants":[{"id":"november","tool":"hold","expires_at":"2026-12-01T00:00:00Z"}]}',
      fingerprint: "00",
    },
    allowances_list: {
      allowances: [{ destination: place, by: "message", given_at: "2026-11-29T10:00:00Z" }],
    },
    folders_allowed: { folders: [{ folder: "/exports", at: "2026-11-01T10:00:00Z" }] },
    server_list: {
      servers: [
        { name: "notes", reads_may_run: true },
        { name: "mail", reads_may_run: false },
      ],
    },
    settings_get: { settings: { decide_from_terminal: true } },
    sessions_list: { sessions: [{ id: "s1", title: "Tents" }] },
  };
});

test("a permission says until when it holds, whether it ended, and when it was used", () => {
  const list = listPermissions(
    {
      ...none,
      grants: [
        grant("live"),
        grant("over", { expires_at: "2026-11-30T12:00:00Z" }),
        grant("gone", { revoked_at: "2026-11-30T11:00:00Z", last_used_at: null }),
      ],
      standing: [{ id: "f", tool: "hold", expires_at: "2026-11-30T11:00:00Z" }],
      allowances: [
        { destination: place, session: "s1", by: "window", given_at: "2026-11-30T11:30:00Z" },
      ],
    },
    NOW,
  );
  expect(list.map(({ key, ended, used }) => [key, ended, used])).toEqual([
    ['allowance ["s1","host","docs.example"]', null, null],
    ["grant live", null, "2026-11-30T11:00:00Z"],
    ["grant over", "expired", "2026-11-30T11:00:00Z"],
    ["grant gone", "revoked", null],
    ["file f", "expired", undefined],
  ]);
  expect(list.map(canRevoke)).toEqual([true, true, false, false, true]);
});

test("the list holds every kind of permission, and only those that were given", async () => {
  const permissions = new Permissions();
  await permissions.read();
  expect(permissions.error).toBeNull();
  expect(permissions.list?.map(({ allows }) => allows.kind).toSorted()).toEqual([
    "destination",
    "folder",
    "reads",
    "terminal",
    "tool",
    "tool",
  ]);
  expect(permissions.titles.get("s1")).toBe("Tents");
});

test("each permission is revoked where it is stored", async () => {
  const permissions = new Permissions();
  await permissions.read();
  const commands: Record<string, unknown> = {};
  for (const permission of permissions.list ?? []) {
    if (!canRevoke(permission)) continue;
    host.sent = [];
    expect(await permissions.revoke(permission)).toBe(true);
    const [command, params] = host.sent.find(([name]) => /revoke|allow$|set$/u.test(name)) ?? [];
    commands[command ?? ""] = params;
  }
  expect(commands).toEqual({
    grant_revoke: { id: "g1" },
    policy_rules_set: { rules: '{"grants":[],"rules":[]}', fingerprint: "00" },
    allowance_revoke: { destination: place },
    folder_allow: { folder: "/exports", allowed: false },
    server_reads_set: { name: "notes", may_run: false },
  });
});

test("a permission that could not be revoked stays, with the error", async () => {
  const permissions = new Permissions();
  await permissions.read();
  host.refuses = true;
  const before = permissions.list?.length;
  expect(await permissions.revoke(permissions.list![0]!)).toBe(false);
  expect(permissions.list).toHaveLength(before ?? 0);
  expect(permissions.error?.message).toContain("cannot be written");
  expect(permissions.revoking).toBeNull();
});
