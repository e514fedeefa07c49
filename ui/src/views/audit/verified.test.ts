// The statements about a verified log and about exported folders.
import { expect, test } from "vitest";
import type { VerifyReport } from "../../platform/generated/VerifyReport";
import { isAtFault, keyPlace, mayBePart } from "./verified";

const FOLDER = "/tmp/export";
const report = (rest: Partial<VerifyReport> = {}): VerifyReport => ({
  ok: true,
  records: 3,
  checkpoints: 1,
  root: "ab",
  key_fingerprint: "12:34",
  anchored: false,
  compared_with: "nothing",
  unsigned_tail: 0,
  problems: [],
  unknown_outcomes: [],
  ...rest,
});

test("an export that may be a part of a log says nothing of its key's place", () => {
  expect([mayBePart(report(), FOLDER), keyPlace(report(), FOLDER)]).toEqual([true, null]);
  const failed = report({ ok: false, problems: [{ seq: 3, message: "bad" }] });
  expect(keyPlace(failed, FOLDER)).toBe(null);
});

test("a whole log says where its key is kept", () => {
  const whole = report({ checkpoints: 4 });
  expect([mayBePart(whole, FOLDER), keyPlace(whole, FOLDER)]).toEqual([
    false,
    "audit.not_anchored",
  ]);
  expect([mayBePart(report(), null), keyPlace(report(), null)]).toEqual([
    false,
    "audit.not_anchored",
  ]);
  expect(keyPlace(report({ anchored: true }), FOLDER)).toBe("audit.anchored");
  expect(keyPlace(report({ key_fingerprint: "", checkpoints: 0 }), FOLDER)).toBe(null);
});

test("the problems of an exported folder mark no record of the log", () => {
  const failed = report({ ok: false, problems: [{ seq: 3, message: "bad" }] });
  expect([2, 3].map((seq) => isAtFault(failed, null, seq))).toEqual([false, true]);
  expect(isAtFault(failed, FOLDER, 3)).toBe(false);
  expect(isAtFault(null, null, 3)).toBe(false);
});
