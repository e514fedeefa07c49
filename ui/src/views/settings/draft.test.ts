// The edited settings: what changes outside the page is not set back by saving.
import { beforeEach, expect, test, vi } from "vitest";
import { app } from "../../app/app.svelte";
import type { Settings } from "../../platform/generated/Settings";
import type { SettingsView } from "../../platform/generated/SettingsView";
import { Draft } from "./draft.svelte";

vi.mock("../../app/theme", () => ({ setTheme: () => {} }));
const view = (more: Partial<Settings> = {}): SettingsView =>
  ({
    settings: { language: "en", theme: "light", zoom: 100, column_widths: {}, ...more },
    locale: "en",
  }) as unknown as SettingsView;

beforeEach(() => {
  app.settings = view();
});

test("edits stay when the window changes its size, and so does the size", () => {
  const draft = new Draft();
  draft.follow();
  draft.value!.theme = "dark";
  app.settings = view({ zoom: 125, column_widths: { ads: { Cost: 30 } } });
  draft.follow();
  expect([draft.value!.theme, draft.value!.zoom]).toEqual(["dark", 125]);
  expect(draft.value!.column_widths).toEqual({ ads: { Cost: 30 } });
  expect(draft.dirty).toBe(true);
});

test("a size that is being edited stays until the window gets another one", () => {
  const draft = new Draft();
  draft.follow();
  draft.value!.zoom = 150;
  draft.follow();
  expect(draft.value!.zoom).toBe(150);
  app.settings = view({ zoom: 110 });
  draft.follow();
  expect(draft.value!.zoom).toBe(110);
});

test("without edits the settings in force are copied", () => {
  const draft = new Draft();
  draft.follow();
  app.settings = view({ theme: "contrast" });
  draft.follow();
  expect([draft.value!.theme, draft.dirty]).toEqual(["contrast", false]);
});
