// The statements about a verified log and about exported folders.
import { expect, test } from "vitest";
import type { VerifyReport } from "../../platform/generated/VerifyReport";
import { isAtFault, keyPlace } from "./verified";

const FOLDER = "/tmp/export";
const report = (rest: Partial<VerifyReport> = {}): VerifyReport => ({
  ok: true,
  part: false,
  records: 3,
  checkpoints: 1,
  root: "ab",
  key_fingerprint: "12:34",
  anchored: false,
  compared_with: "nothing",
  unsigned_tail: 0,
  problems: [],
  unknown_outcomes: [],
  unchecked: [],
  unchecked_total: 0,
  ...rest,
});

test("the report about a part of a log does not say where its key is kept", () => {
  expect(keyPlace(report({ part: true }))).toBe(null);
});

test("the report about a whole log says where its key is kept", () => {
  expect(keyPlace(report())).toBe("audit.not_anchored");
  expect(keyPlace(report({ anchored: true }))).toBe("audit.anchored");
  expect(keyPlace(report({ key_fingerprint: "", checkpoints: 0 }))).toBe(null);
});

test("the problems of an exported folder mark no record of the log", () => {
  const failed = report({ ok: false, problems: [{ seq: 3, message: "bad" }] });
  expect([2, 3].map((seq) => isAtFault(failed, null, seq))).toEqual([false, true]);
  expect(isAtFault(failed, FOLDER, 3)).toBe(false);
  expect(isAtFault(null, null, 3)).toBe(false);
});
