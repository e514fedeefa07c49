// The days of the list, and who asked.
import { beforeEach, expect, test } from "vitest";
import { setLanguage, setTimeZone } from "../../i18n/index.svelte";
import type { AuditEntry } from "../../platform/generated/AuditEntry";
import { commonAsker, entriesByDay } from "./days";

beforeEach(() => {
  setLanguage("en");
  setTimeZone("Europe/Stockholm");
});
const entry = (at: string, rest: Partial<AuditEntry> = {}): AuditEntry => ({
  first: 1,
  kind: "question",
  event: "run_started",
  at,
  last_at: at,
  records: 1,
  erased: false,
  tools: [],
  agents: [],
  decisions: [],
  ...rest,
});

test("entries are grouped by the reader's days, and the last two have their names", () => {
  const times = ["2026-11-30T23:30:00Z", "2026-11-30T22:30:00Z", "2026-11-28T09:00:00Z"];
  const days = entriesByDay(
    times.map((at) => entry(at)),
    new Date("2026-12-01T08:00:00Z"),
  );
  expect(days.map(({ label }) => label)).toEqual([
    "Today, Dec 1, 2026",
    "Yesterday, Nov 30, 2026",
    "Nov 28, 2026",
  ]);
});

test("the one who asked all is said once, and two are said at their entries", () => {
  const at = "2026-11-30T09:00:00Z";
  const mine = entry(at, { person: "anna", origin: "window" });
  const other = entry(at, { person: "anna", origin: "terminal" });
  expect(commonAsker([mine, mine, entry(at)])).toBe("anna, in the chat window");
  expect(commonAsker([mine, other])).toBeNull();
  expect(commonAsker([mine])).toBeNull();
});
