// A question and its answer with their actions: editing, versions, other answers, and why they cannot be used.
import { render } from "svelte/server";
import { afterEach, beforeEach, expect, test } from "vitest";
import { app } from "../../../app/app.svelte";
import { setLanguage } from "../../../i18n/index.svelte";
import type { ModelSettings } from "../../../platform/generated/ModelSettings";
import type { SettingsView } from "../../../platform/generated/SettingsView";
import { chat } from "../../../state/chat.svelte";
import { approvalOf, itemOf, viewOf } from "../../../state/testing";
import { emptyTranscript, openTranscript, type Transcript } from "../../../state/transcript";
import { versions } from "../../../state/versions.svelte";
import { otherModels, regenerations, whyFixed } from "../messageActions";
import EntryView from "./EntryView.svelte";
import { lastTexts } from "./order";

const TURN = "t";
const ITEMS = [
  itemOf(1, { kind: "user_message", text: "How is it going?" }),
  itemOf(2, { kind: "assistant_text", text: "Let me look.", partial: false }),
  itemOf(3, { kind: "assistant_text", text: "Fine.", partial: false }),
];
let state: Transcript;

beforeEach(() => {
  setLanguage("en");
  chat.open = emptyTranscript("s");
  state = chat.open;
  openTranscript(state, viewOf(ITEMS));
});
afterEach(() => {
  chat.open = null;
  app.settings = null;
  app.status = null;
  Object.assign(versions, { edits: {}, deleted: [], failure: null });
});

function shown(index: number): string {
  const entry = state.entries[index]!;
  const props = {
    entry,
    offer: false,
    isLast: lastTexts(state.entries).has(entry.key),
    marked: false,
    explained: false,
    question: null,
    instead: null,
    quiet: false,
    below: null,
    card: null,
    reported: false,
    provenance: null,
    correction: null,
  };
  return render(EntryView, { props }).body;
}

/** Returns the tag of the button with this name. */
const button = (body: string, name: string): string =>
  new RegExp(`<button[^>]*aria-label="${name}"[^>]*>`).exec(body)?.[0] ?? "";

test("a question can be edited, and only the last text of its answer can be made again", () => {
  expect(button(shown(0), "Edit question")).not.toContain("aria-disabled");
  expect(button(shown(1), "Regenerate answer")).toBe("");
  expect(button(shown(2), "Regenerate answer")).not.toContain("aria-disabled");
});

test("an answer whose question is not there cannot be made again", () => {
  state.entries.shift();
  expect(button(shown(1), "Regenerate answer")).toBe("");
});

test("actions that cannot be used keep their name and say why", () => {
  state.running = { turn: TURN, stage: "thinking", text: null, agent: null };
  const reason = "Wait until the answer is complete, or stop it.";
  for (const [index, name] of [
    [0, "Edit question"],
    [2, "Regenerate answer"],
  ] as const) {
    const tag = button(shown(index), name);
    expect(tag).toContain('aria-disabled="true"');
    expect(tag).toContain(`title="${reason}"`);
  }
  expect(regenerations(TURN, "answer").map(({ whyNot }) => whyNot)).toEqual([reason]);
  openTranscript(state, viewOf([], { approvals: [approvalOf({ turn: TURN })] }));
  expect(whyFixed()).toBe("message.approval_first");
});

test("a question with versions says which one it is, and its buttons end at the ends", () => {
  expect(shown(0)).not.toContain("Previous version");
  state.versions = { [TURN]: { turn: TURN, siblings: ["x", TURN, "y"], chosen: 1 } };
  const middle = shown(0);
  expect(middle).toContain('aria-label="Version 2 of 3"');
  expect(middle).toContain(">2 of 3<");
  expect(button(middle, "Previous version")).not.toContain("aria-disabled");
  state.versions = { [TURN]: { turn: TURN, siblings: ["x", TURN], chosen: 1 } };
  expect(button(shown(0), "Previous version")).not.toContain("aria-disabled");
  expect(button(shown(0), "Next version")).toContain('title="This is the last version"');
});

test("the field of a question has its text, says what it does to later messages, and shows a refusal", () => {
  versions.edit(TURN);
  versions.edits[TURN]!.text = "How was it?";
  expect(shown(0)).toContain("How was it?");
  expect(shown(0)).not.toContain("stay with the earlier version");
  const later = { ...itemOf(4, { kind: "user_message", text: "And now?" }), turn: "later" };
  openTranscript(state, viewOf([...ITEMS, later]));
  const code = "invalid_input" as const;
  const refused = { contract_version: "1.0", code, message: "No.", retryable: false, details: {} };
  versions.edits[TURN]!.error = refused;
  const body = shown(0);
  expect(body).toContain("The messages after this one stay with the earlier version.");
  expect(body).toContain("No.");
  expect(body).toContain("How was it?");
});

test("other models are those of the message field, without one that a person would have to confirm", () => {
  const settings: ModelSettings = {
    provider: "anthropic",
    base_url: "https://models.example",
    model: "big",
    summariser: "",
    runs_here: [],
    reasoning: false,
    idle_timeout_s: 60,
    local_idle_timeout_s: 60,
    max_retries: 0,
  };
  expect(otherModels(settings)).toEqual([{ id: "offline", name: "Offline model" }]);
  expect(otherModels({ ...settings, provider: "offline" })).toEqual([]);
  app.settings = { settings: { model: settings } } as SettingsView;
  expect(regenerations(TURN, "answer").map(({ name }) => name)).toEqual([
    "Regenerate answer",
    "With another model: Offline model",
  ]);
});
