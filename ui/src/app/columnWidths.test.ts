// Widths of columns are stored with the settings, once after the last change, and are there after a restart.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { AppStatus } from "../platform/generated/AppStatus";
import type { DataColumn } from "../platform/generated/DataColumn";
import type { Settings } from "../platform/generated/Settings";
import type { SettingsView } from "../platform/generated/SettingsView";
import { ColumnWidths } from "../results/grid/widths.svelte";
import { app } from "./app.svelte";
import { keepColumnWidths } from "./columnWidths";

const host = vi.hoisted(() => ({ stored: [] as Settings["column_widths"][] }));
vi.mock("./theme", () => ({ setTheme: () => {} }));
vi.mock("../platform", async (original) => ({
  ...(await original<typeof import("../platform")>()),
  call: (command: string, params: { settings: Settings }) => {
    if (command === "app_status") return Promise.resolve(status());
    host.stored.push(params.settings.column_widths);
    return Promise.resolve(view(params.settings.column_widths));
  },
}));

const status = (...codes: string[]): AppStatus =>
  ({ waiting_approvals: 0, notices: codes.map((code) => ({ code })) }) as unknown as AppStatus;
const view = (column_widths: Settings["column_widths"]): SettingsView =>
  ({
    settings: { language: "en", time_zone: "system", theme: "light", column_widths },
    locale: "en",
  }) as unknown as SettingsView;

const columns: DataColumn[] = ["Campaign", "Cost"].map((name) => ({
  name,
  type: "text",
  role: "dimension",
  format: "text",
}));
function widthsOf(table: string | null): ColumnWidths {
  const widths = new ColumnWidths(() => columns, table);
  widths.widen([["Oak", "5"]]);
  return widths;
}
const pause = () => vi.advanceTimersByTimeAsync(2000);

beforeEach(() => {
  vi.useFakeTimers();
  host.stored = [];
  app.settings = view({ ads: { Cost: 31 }, old: { Day: 12 } });
  app.status = status();
  keepColumnWidths();
});
afterEach(() => vi.useRealTimers());

test("a table begins with the widths that were stored for it", () => {
  expect(widthsOf("ads").shown[1]).toBe(31);
  expect(widthsOf("shop").shown[1]).toBeLessThan(31);
});

test("a drag is stored once, with the widths of all tables", async () => {
  const widths = widthsOf("ads");
  for (let width = 20; width < 40; width += 1) widths.choose(0, width);
  expect(host.stored).toEqual([]);
  await pause();
  expect(host.stored).toEqual([{ ads: { Campaign: 39, Cost: 31 }, old: { Day: 12 } }]);
  widths.choose(0, 39);
  await pause();
  expect(host.stored).toHaveLength(1);
  widths.reset(0);
  widths.reset(1);
  await pause();
  expect(host.stored.at(-1)).toEqual({ old: { Day: 12 } });
});

test("a table without a name is not stored, and a settings file with a fault is not replaced", async () => {
  widthsOf(null).choose(0, 40);
  await pause();
  app.status = status("settings_unreadable");
  widthsOf("ads").choose(0, 40);
  await pause();
  expect(host.stored).toEqual([]);
});
