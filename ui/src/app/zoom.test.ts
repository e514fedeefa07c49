// The size of the window: its steps, and that quick key presses count from each other.
import { beforeEach, expect, test, vi } from "vitest";
import type { AppStatus } from "../platform/generated/AppStatus";
import type { Settings } from "../platform/generated/Settings";
import type { SettingsView } from "../platform/generated/SettingsView";
import { app } from "./app.svelte";
import { nextZoom, resetZoom, stepZoom, ZOOMS } from "./zoom";

const host = vi.hoisted(() => ({ stored: [] as number[] }));
vi.mock("./theme", () => ({ setTheme: () => {} }));
vi.mock("../platform", async (original) => ({
  ...(await original<typeof import("../platform")>()),
  call: (command: string, params: { settings: Settings }) => {
    if (command === "app_status") return Promise.resolve(status());
    host.stored.push(params.settings.zoom);
    return Promise.resolve(view(params.settings.zoom));
  },
}));

const status = (...codes: string[]): AppStatus =>
  ({ waiting_approvals: 0, notices: codes.map((code) => ({ code })) }) as unknown as AppStatus;
const view = (zoom: number): SettingsView =>
  ({
    settings: { language: "en", time_zone: "system", theme: "light", zoom },
    locale: "en",
  }) as unknown as SettingsView;

beforeEach(() => {
  host.stored = [];
  app.settings = view(100);
  app.status = status();
});

test("the size goes up and down in steps and ends at 80 and 200 percent", () => {
  expect(ZOOMS.map((size) => nextZoom(size, 1))).toEqual([...ZOOMS.slice(1), 200]);
  expect(ZOOMS.map((size) => nextZoom(size, -1))).toEqual([80, ...ZOOMS.slice(0, -1)]);
  // A size of the settings file can lie between two steps.
  expect([nextZoom(137, 1), nextZoom(137, -1)]).toEqual([150, 125]);
});

test("quick key presses are steps from each other, and the last size is stored", async () => {
  await Promise.all([stepZoom(1), stepZoom(1), stepZoom(1)]);
  expect(host.stored.at(-1)).toBe(150);
  await resetZoom();
  expect(app.settings?.settings.zoom).toBe(100);
  await resetZoom();
  expect(host.stored.filter((zoom) => zoom === 100)).toHaveLength(1);
});

test("a settings file with a fault is not replaced", async () => {
  app.status = status("settings_unreadable");
  await stepZoom(1);
  expect(host.stored).toEqual([]);
});
