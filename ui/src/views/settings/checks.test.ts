// The diagnostics show what needs a person first, and no tick where something is left to do.
import { expect, test } from "vitest";
import type { DoctorCheck } from "../../platform/generated/DoctorCheck";
import { markOf, sortChecks } from "./checks";

const check = (name: string, state: DoctorCheck["state"], hint: string | null = null) => ({
  name,
  state,
  message: name,
  hint,
});

test("failed checks come first, then warnings, and fine ones are apart", () => {
  const sorted = sortChecks([
    check("keyring", "ok"),
    check("folder", "warning"),
    check("model", "failed"),
    check("log", "ok"),
  ]);
  expect(sorted.needing.map(({ name }) => name)).toEqual(["model", "folder"]);
  expect(sorted.fine.map(({ name }) => name)).toEqual(["keyring", "log"]);
});

test("a fine check with advice is a note", () => {
  expect([
    markOf(check("keys", "ok", "Enter them when you need them.")),
    markOf(check("log", "ok")),
    markOf(check("model", "failed", "Check the address.")),
  ]).toEqual(["note", "ok", "failed"]);
});
