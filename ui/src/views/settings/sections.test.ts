// Every field has a section, and a link to an unknown section shows the first.
import { expect, test } from "vitest";
import { sectionOf, sectionOfField } from "./sections";

test("a link opens the section that it names", () => {
  expect([sectionOf("model"), sectionOf("nowhere"), sectionOf(undefined)]).toEqual([
    "model",
    "general",
    "general",
  ]);
});

test("a field that the host refuses is shown in its section", () => {
  const sections = {
    "model.base_url": "model",
    "model.fallback.model": "model",
    "model.max_retries": "advanced",
    "model.idle_timeout_s": "advanced",
    "model.local_idle_timeout_s": "advanced",
    "egress.redaction": "privacy",
    policy: "policy",
    "limits.approval_expiry_s": "policy",
    "limits.rounds": "advanced",
    "conversation.key.name": "advanced",
    "budgets.day_usd": "budgets",
    time_zone: "general",
  };
  for (const [field, section] of Object.entries(sections))
    expect([field, sectionOfField(field)]).toEqual([field, section]);
  expect([sectionOfField(undefined), sectionOfField(3)]).toEqual([null, null]);
});
