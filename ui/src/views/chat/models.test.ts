// The models that the message field offers, and the sign that begins a specialist's name.
import { expect, test } from "vitest";
import type { ModelSettings } from "../../platform/generated/ModelSettings";
import { mentionAt } from "./mention";
import { modelChoices, withMention } from "./models";

const settings = (more: Partial<ModelSettings>): ModelSettings =>
  ({
    provider: "openai_compatible",
    base_url: "https://api.example.com/v1",
    model: "large",
    runs_here: [],
    ...more,
  }) as unknown as ModelSettings;
const shown = (more: Partial<ModelSettings>, connected: string | null = null) =>
  modelChoices(settings(more), connected).map(
    ({ provider, name, place, isChosen }) => `${isChosen ? "*" : ""}${provider} ${name} ${place}`,
  );

test("the connected model and the offline model can be chosen", () => {
  expect(shown({})).toEqual(["*openai_compatible large cloud", "offline  offline"]);
});

test("offline, only a model that was in use before can be chosen again", () => {
  expect(shown({ provider: "offline" })).toEqual(["*offline  offline"]);
  expect(shown({ provider: "offline" }, "anthropic")).toEqual([
    "anthropic large cloud",
    "*offline  offline",
  ]);
});

test("a model runs on this computer only if its address is here and a person said so", () => {
  const base_url = "http://localhost:11434/v1";
  const place = (more: Partial<ModelSettings>) => modelChoices(settings(more), null)[0]!.place;
  expect(place({ base_url })).toBe("cloud");
  expect(place({ base_url, runs_here: ["http://localhost:11434/v1"] })).toBe("here");
  expect(place({ runs_here: ["https://api.example.com/v1"] })).toBe("cloud");
});

test("the sign of a specialist begins a name wherever the caret is", () => {
  for (const [draft, caret] of [
    ["", 0],
    ["hello", 5],
    ["hello ", 6],
    ["(", 1],
    ["one two", 3],
  ] as const) {
    const { text, caret: at } = withMention(draft, caret);
    expect(mentionAt(text, at)).toEqual({ at: at - 1, typed: "" });
    expect(text.replaceAll(/[ @]/g, "")).toBe(draft.replaceAll(" ", ""));
  }
});
