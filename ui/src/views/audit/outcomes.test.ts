// The outcomes that a row of the list shows.
import { expect, test } from "vitest";
import type { AuditEntry } from "../../platform/generated/AuditEntry";
import { outcomesOf, sortOutcomes } from "./outcomes";

const texts = (decisions: string[], status?: string): string[] =>
  outcomesOf({ decisions, ...(status ? { status } : {}) } as AuditEntry).map(({ text }) => text);

test("a question whose approved call failed says so before it says approved", () => {
  expect(texts(["approved", "error"], "ok")).toEqual(["Failed", "Approved"]);
  expect(outcomesOf({ decisions: ["approved", "error"] } as AuditEntry)[0]?.tone).toBe("danger");
});

test("every outcome is shown, worst first, and outcomes with one text are one", () => {
  expect(
    texts(["approved", "expired", "denied", "rejected", "error", "unknown"], "failed"),
  ).toEqual(["Outcome unknown", "Failed", "Denied", "Rejected", "Expired", "Approved"]);
  expect(texts(["cancelled"], "cancelled")).toEqual(["Cancelled"]);
  expect(texts(["approved", "odd"])).toEqual(["odd", "Approved"]);
});

test("success is not shown, and a decision replaces the need for one", () => {
  expect(texts([], "ok")).toEqual([]);
  expect(texts(["approval_required"], "approval_required")).toEqual(["Approval required"]);
  expect(texts(["approval_required", "approved"], "ok")).toEqual(["Approved"]);
});

test("an outcome that is unknown or failed is red, and a refusal is yellow", () => {
  const tones = sortOutcomes(["approved", "denied", "unknown"]).map(({ tone }) => tone);
  expect(tones).toEqual(["danger", "warn", "ok"]);
});
