// Whether the model answers is one state: the test of the connection and the diagnostics say the same, and about the model in use only.
import { beforeEach, expect, test } from "vitest";
import { app } from "../../app/app.svelte";
import { setLanguage } from "../../i18n/index.svelte";
import type { AppStatus } from "../../platform/generated/AppStatus";
import type { DoctorResponse } from "../../platform/generated/DoctorResponse";
import type { ModelTestResponse } from "../../platform/generated/ModelTestResponse";
import { modelHealth } from "./modelHealth.svelte";

const use = (model_label: string): void => {
  app.status = { model_label, notices: [] } as unknown as AppStatus;
};
const answer = (ok: boolean): ModelTestResponse =>
  ({ ok, problem: ok ? null : "key", host: "models.example" }) as unknown as ModelTestResponse;
const diagnosis = (state: "ok" | "failed"): DoctorResponse => ({
  ok: state === "ok",
  checks: [
    { name: "keyring", state: "ok", message: "The keyring is ready." },
    { name: "model", state, message: "Refused.", hint: "Check the address in Settings." },
  ],
});

beforeEach(() => {
  setLanguage("en");
  use("small at models.example");
});

test("the newest result counts, whoever asked", () => {
  modelHealth.tested(answer(true), "small");
  expect([modelHealth.state, modelHealth.problem]).toEqual(["answers", ""]);
  modelHealth.diagnosed(diagnosis("failed"));
  expect([modelHealth.state, modelHealth.problem]).toEqual([
    "fails",
    "Refused. Check the address in Settings.",
  ]);
  modelHealth.tested(answer(false), "small");
  expect(modelHealth.problem).toContain("rejected the API key");
  modelHealth.diagnosed(diagnosis("ok"));
  expect([modelHealth.state, modelHealth.problem]).toEqual(["answers", ""]);
});

test("what was found about another model says nothing about this one", () => {
  modelHealth.tested(answer(false), "small");
  use("large at models.example");
  expect([modelHealth.state, modelHealth.problem]).toEqual(["unknown", ""]);
});

test("a diagnosis without the model changes nothing", () => {
  modelHealth.tested(answer(true), "small");
  modelHealth.diagnosed({ ok: true, checks: [] });
  expect(modelHealth.state).toBe("answers");
});
