// How the chat view shows values: hidden characters, days.
import { expect, test } from "vitest";
import type { ToolOutcome } from "../../platform/generated/ToolOutcome";
import type { ToolEntry } from "../../state/transcript";
import { clockTime } from "./entries/approvalText";
import { reasonOf, statusOf } from "./entries/toolStatus";
import { groupSessions } from "./sessions";

test("time left is minutes and seconds, never negative", () => {
  expect([clockTime(599_999), clockTime(61_000), clockTime(-5)]).toEqual(["9:59", "1:01", "0:00"]);
});

test("a call that ended shows its outcome, and a waiting call says that it waits", () => {
  expect(statusOf({ outcome: null, approvalStatus: "pending" }).icon).toBe("wait");
  expect(statusOf({ outcome: "rejected", approvalStatus: "rejected" }).text).toBe(
    "outcome.rejected",
  );
  expect(statusOf({ outcome: null, approvalStatus: null }).icon).toBe("busy");
});

test("a failed call has its reason in the details, unless the reason is shown below the card", () => {
  const error = {
    contract_version: "1.0",
    code: "internal_error" as const,
    message: "Not today.",
    retryable: false,
    details: {},
  };
  const ended = (outcome: ToolOutcome): ToolEntry["result"] => ({
    kind: "tool_result",
    call: "c",
    tool: "cart.addItem",
    outcome,
    summary: "",
    data: null,
    error,
    view: { shape: "plain" },
    untrusted: false,
    duration_ms: 1,
  });
  const told = (["denied", "limit", "unknown", "rejected", "expired", "cancelled"] as const).map(
    (outcome) => reasonOf({ outcome, result: ended(outcome) }),
  );
  expect(told.map((reason) => reason?.message)).toEqual(Array(6).fill("Not today."));
  expect([
    reasonOf({ outcome: "error", result: ended("error") }),
    reasonOf({ outcome: "ok", result: ended("ok") }),
    reasonOf({ outcome: null, result: null }),
  ]).toEqual([null, null, null]);
});

test("conversations are grouped by local day, with the pinned ones first", () => {
  const now = new Date(2026, 10, 21, 0, 30);
  const at = (date: Date, pinned = false) => ({
    id: String(date),
    title: "",
    created_at: "",
    updated_at: date.toISOString(),
    running: false,
    waiting_approvals: 0,
    pinned,
    archived: false,
  });
  const groups = groupSessions(
    [
      at(new Date(2026, 6, 1), true),
      at(new Date(2026, 10, 21, 0, 10)),
      at(new Date(2026, 10, 20, 23, 50)),
      at(new Date(2026, 10, 16)),
      at(new Date(2026, 8, 1)),
    ],
    now,
  );
  expect(groups.map(({ label }) => label)).toEqual([
    "sessions.pinned",
    "sessions.today",
    "sessions.yesterday",
    "sessions.week",
    "sessions.earlier",
  ]);
});
