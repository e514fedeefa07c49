// Several files one after the other: those without an open question are imported at once if the person wants it.
import { render } from "svelte/server";
import { beforeEach, expect, test, vi } from "vitest";
import { setLanguage } from "../../../i18n/index.svelte";
import type { ImportResult } from "../../../platform/generated/ImportResult";
import { sources } from "../../../state/sources.svelte";
import HurriedFiles from "../sources/HurriedFiles.svelte";
import { changeOf, resultOf, textsOf } from "../testing";
import { importOf, leaveImport, leaveImports } from "./open";

const host = vi.hoisted(() => ({
  commands: [] as string[],
  result: (_: string): unknown => ({}),
}));
vi.mock("../../../platform", async (original) => ({
  ...(await original<typeof import("../../../platform")>()),
  call: async (command: string, params: { job?: string; place?: string }) => {
    host.commands.push(command);
    await Promise.resolve();
    if (command === "sources_list") return { sources: [] };
    if (command === "source_survey" || command === "source_add")
      return { job: `${command} ${params.place}` };
    if (command !== "source_job") return {};
    const result = host.result(params.job!);
    return { records: 0, done_bytes: 0, total_bytes: 0, results: [result], is_stopped: false };
  },
}));

const known = (rest: Partial<ImportResult> = {}): ImportResult =>
  resultOf({ is_new_source: false, source: "ads", ...rest });

beforeEach(() => {
  setLanguage("en");
  leaveImports();
  host.commands = [];
  host.result = (job) => known({ is_stored: job.startsWith("source_add") });
  sources.add(["/a/one.csv", "/a/two.csv"]);
  sources.isHurried = true;
});

test("a file for a known source is imported at once, and leaves the list", async () => {
  importOf("/a/one.csv");
  await vi.waitFor(() => expect(sources.waiting).toEqual(["/a/two.csv"]));
  expect(host.commands).toContain("source_add");
  expect(sources.hurried).toEqual([{ path: "/a/one.csv", isStored: true }]);
});

test("a new source and an open question are looked at first", async () => {
  host.result = () => resultOf({ is_new_source: true });
  const file = importOf("/a/one.csv");
  await vi.waitFor(() => expect(file.phase).toBe("ready"));
  host.result = () =>
    known({ questions: [{ id: "vanished", text: "Take them out?", choices: [], option: "" }] });
  const other = importOf("/a/two.csv");
  await vi.waitFor(() => expect(other.phase).toBe("ready"));
  expect(host.commands).not.toContain("source_add");
  expect(sources.waiting.length).toBe(2);
});

test("content that is stored already is left", async () => {
  host.result = () => known({ change: changeOf({ is_same_content: true }) });
  importOf("/a/one.csv");
  await vi.waitFor(() => expect(sources.waiting).toEqual(["/a/two.csv"]));
  expect(host.commands).not.toContain("source_add");
});

test("files that nobody looked at are named, until other files wait", () => {
  const shown = () => textsOf(render(HurriedFiles).body);
  expect(shown()).toBe("");
  sources.hurried = [
    { path: "/a/one.csv", isStored: true },
    { path: "/a/two.csv", isStored: true },
    { path: "/a/old.csv", isStored: false },
  ];
  const page = shown();
  expect(page).toContain("2 files were imported without looking: one.csv, two.csv");
  expect(page).toContain(
    "1 file has content that was imported before, and changed nothing: old.csv",
  );
  leaveImports();
  sources.add(["/a/new.csv"]);
  expect(shown()).toBe("");
});

test("an import outlives its page until the person leaves it", () => {
  sources.isHurried = false;
  const file = importOf("/a/one.csv");
  expect(importOf("/a/one.csv")).toBe(file);
  leaveImport("/a/one.csv");
  expect(importOf("/a/one.csv")).not.toBe(file);
});
