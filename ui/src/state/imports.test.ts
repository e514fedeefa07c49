// If the host refuses a file, the file waits until the user has mapped its columns.
import { beforeEach, expect, test, vi } from "vitest";
import type { ImportError } from "../platform/generated/ImportError";
import type { ImportView } from "../platform/generated/ImportView";
import { Imports, refusedFiles } from "./imports.svelte";

const host = vi.hoisted(() => ({
  sent: [] as { command: string; params: Record<string, unknown> }[],
  status: {},
  push: (_: unknown): void => {},
}));
vi.mock("../platform", async (original) => ({
  ...(await original<typeof import("../platform")>()),
  platform: () => ({
    onPush: (listener: (push: unknown) => void) => ((host.push = listener), () => {}),
    openFiles: () => Promise.resolve(["/a/chosen.csv"]),
  }),
  call: async (command: string, params: Record<string, unknown>) => {
    host.sent.push({ command, params });
    await Promise.resolve();
    if (command === "data_list") return { packs: [{ pack: "pacing" }] };
    return command === "data_import" ? { job: "j" } : host.status;
  },
}));

const view = (rest: Partial<ImportView> = {}): ImportView => ({
  job: "j",
  file: "report.csv",
  done_bytes: 1,
  total_bytes: 1,
  rows_read: 3,
  rows_stored: 0,
  rows_replaced: 0,
  finished: true,
  stopped: false,
  errors: [],
  error_count: 0,
  notes: [],
  ...rest,
});
const error = (file: string, problem: ImportError["problem"]): ImportError => ({
  file,
  line: 1,
  column: "",
  problem,
});
const UNKNOWN = { code: "unknown_header", found: "", delivery: "", campaigns: "" } as const;

let imports: Imports;
beforeEach(() => {
  host.sent = [];
  imports = new Imports();
});

test("a refused file waits to be mapped instead of having a card", async () => {
  const errors = [error("report.csv", UNKNOWN)];
  host.status = view({ errors, error_count: 1 });
  await imports.start(["/a/report.csv"]);
  expect(imports.waiting).toEqual([{ pack: "pacing", path: "/a/report.csv" }]);
  expect(imports.jobs).toEqual([]);
});

test("the end of an import may arrive as a push", async () => {
  host.status = view({ finished: false });
  await imports.start(["/a/report.csv"]);
  expect(imports.waiting).toEqual([]);
  host.push({ push: "import", import: view({ errors: [error("report.csv", UNKNOWN)] }) });
  expect(imports.waiting.length).toBe(1);
});

test("a refused file waits to be mapped only if a mapping can help", () => {
  const files = ["/a/one.csv", "/a/two.csv", "/a/three.csv"].map((path) => ({ pack: "p", path }));
  const day = { code: "not_a_day", text: "soon" } as const;
  const errors = [error("one.csv", { code: "missing" }), error("three.csv", day)];
  expect(refusedFiles(view({ errors }), files).map(({ path }) => path)).toEqual(["/a/three.csv"]);
});

test("a mapped file is imported as decided, and does not wait again because of lines that were left out", async () => {
  const file = { pack: "pacing", path: "/a/report.csv" };
  imports.check([file, file]);
  expect(imports.waiting).toEqual([file]);
  const options = { columns: { day: "When" }, constants: {}, skip_rejected: true };
  const errors = [error("report.csv", { code: "amount_empty" })];
  host.status = view({ rows_stored: 2, errors, error_count: 1 });
  await imports.startMapped(file, options);
  expect(host.sent[0]).toEqual({
    command: "data_import",
    params: { pack: "pacing", paths: ["/a/report.csv"], options },
  });
  expect([imports.waiting, imports.jobs.length]).toEqual([[], 1]);
  expect([imports.skipsRejected("j"), imports.filesOf("j")]).toEqual([true, [file]]);
});

test("chosen files can be checked before anything is imported", async () => {
  await imports.chooseToCheck();
  expect(imports.waiting).toEqual([{ pack: "pacing", path: "/a/chosen.csv" }]);
  expect(host.sent.some(({ command }) => command === "data_import")).toBe(false);
});
