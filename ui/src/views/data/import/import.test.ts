// The survey and import of a file with a host that answers: what is asked, what is shown, and what is sent.
import { render } from "svelte/server";
import { beforeEach, expect, test, vi } from "vitest";
import { setLanguage } from "../../../i18n/index.svelte";
import type { ImportResult } from "../../../platform/generated/ImportResult";
import type { SourceAddParams } from "../../../platform/generated/SourceAddParams";
import { correctionOf } from "../columns/correction";
import { changeOf, COLUMNS, foundColumn, reportOf, resultOf, textsOf } from "../testing";
import { columnKey, FileImport } from "./import.svelte";
import ImportForm from "./ImportForm.svelte";

const host = vi.hoisted(() => ({
  sent: [] as { command: string; params: Record<string, unknown> }[],
  answer: (_: string, __: unknown): unknown => ({}),
  jobs: new Map<string, { command: string; params: unknown; isStopped: boolean }>(),
  holds: false,
}));
vi.mock("../../../platform", async (original) => ({
  ...(await original<typeof import("../../../platform")>()),
  call: async (command: string, params: Record<string, unknown>) => {
    host.sent.push({ command, params });
    await Promise.resolve();
    if (command === "source_survey" || command === "source_add") {
      const job = `j${host.jobs.size + 1}`;
      host.jobs.set(job, { command, params, isStopped: false });
      return { job };
    }
    if (command === "source_job_stop") {
      host.jobs.get(params["job"] as string)!.isStopped = true;
      return {};
    }
    if (command === "source_job") {
      const job = host.jobs.get(params["job"] as string)!;
      const view = {
        records: 7,
        done_bytes: 50,
        total_bytes: 100,
        results: null,
        is_stopped: job.isStopped,
      };
      if (job.isStopped || host.holds) return view;
      const result = host.answer(job.command, job.params) as { failure?: unknown };
      return result.failure ? { ...view, ...result } : { ...view, results: [result] };
    }
    return host.answer(command, params);
  },
}));

const PATH = "/home/exports/november.csv";
const shown = (file: FileImport): string =>
  textsOf(render(ImportForm, { props: { file, onleave: () => {} } }).body);
const html = (file: FileImport): string =>
  render(ImportForm, { props: { file, onleave: () => {} } }).body.replace(/\s+/g, " ");
/** Returns the tag of the last button with this text. */
const button = (page: string, text: string): string => {
  const tags = [...page.matchAll(/<button\b[^>]*>(?:(?!<\/button>).)*/g)].map((found) => found[0]);
  return tags.filter((tag) => tag.includes(text)).at(-1) ?? "";
};
const jobsSent = (): [string, SourceAddParams][] =>
  host.sent
    .filter(({ command }) => command === "source_survey" || command === "source_add")
    .map(({ command, params }) => [command, params as unknown as SourceAddParams]);

async function surveyed(result: ImportResult = resultOf()): Promise<FileImport> {
  host.answer = (command) => (command === "sources_list" ? { sources: [] } : result);
  const file = new FileImport(PATH);
  await file.survey();
  return file;
}

beforeEach(() => {
  host.sent = [];
  host.jobs.clear();
  host.holds = false;
  setLanguage("en");
});

test("one glance shows source, scope, days, rows, sums, lines left out and columns not used", async () => {
  const file = await surveyed();
  const page = shown(file);
  for (const text of [
    "november.csv Becomes the new source november",
    "Account: Shop",
    "Nov 1, 2026 to Nov 30, 2026 · 27 of 30 days have rows · stated by the file",
    "60 of 61 records",
    "Equals the rows (line 64)",
    "Not used for figures: Labels",
    "text · windows-1252 · separated by semicolons · column names in line 3 · decimal comma",
    "The currency is in the heading.",
    "1 line is left out",
    "Total lines are no rows. Total;750,00 64",
    "Nothing is stored yet.",
  ])
    expect(page).toContain(text);
  expect(page.replace(/\u00a0/g, " ")).toContain("Cost 750.00 EUR 750.00 EUR");
  expect(html(file)).toMatch(/<li class="plain[^"]*" data-count="rejected"/);
  expect(html(file)).toMatch(/<li class="info[^"]*" data-count="unused"/);
  expect(file.obstacle).toBeNull();
  expect(button(html(file), "Import 60 rows")).not.toContain("disabled");
});

test("a rule that leaves lines of two sheets out is shown for each", async () => {
  const total = (sheet: string, line: number) => ({
    rule: "total",
    reason: `Total lines are no rows. The sheet is ${sheet}.`,
    lines: [line],
    count: 1,
    sample: "Total",
  });
  const left_out = [total("Oct", 9), total("Nov", 12)];
  const page = shown(await surveyed(resultOf({ report: reportOf({ left_out }) })));
  expect(page).toContain("The sheet is Oct. Total 9");
  expect(page).toContain("The sheet is Nov. Total 12");
});

test("a change of the source is shown before and after, with what is no longer in the file", async () => {
  const sums = [
    { column: "Cost", currency: "EUR", before: "800.00", after: "750.00", vanished: "50.00" },
  ];
  const change = changeOf({ sums, vanished_rows: 2, changed_rows: 4, new_rows: 0 });
  const { sources } = await import("../../../state/sources.svelte");
  sources.list = [];
  const file = await surveyed(resultOf({ is_new_source: false, source: "ads", change }));
  const page = shown(file).replace(/\u00a0/g, " ");
  expect(page).toContain("Goes into the source ads");
  expect(page).toContain("2 no longer in the file");
  expect(page).toContain("Cost 750.00 EUR 750.00 EUR 800.00 EUR 750.00 EUR -50.00 EUR 50.00 EUR");
});

test("a question blocks the import, and its answer is sent with the next look at the file", async () => {
  const questions = [
    {
      id: "vanished:november.csv",
      text: "2 stored rows are no longer in the file.",
      choices: [
        { value: "replace", label: "Yes, the file is complete" },
        { value: "keep", label: "No, keep them" },
      ],
      option: "--answer vanished=replace|keep",
    },
  ];
  const file = await surveyed(resultOf({ questions }));
  expect(file.obstacle).toBe("question");
  expect(shown(file)).toContain(
    "2 stored rows are no longer in the file. Yes, the file is complete",
  );
  expect(button(html(file), "Import")).toContain("disabled");
  host.answer = () => resultOf();
  await file.answer("vanished:november.csv", "keep");
  expect(jobsSent().at(-1)).toEqual([
    "source_survey",
    {
      place: PATH,
      decisions: {
        sheets: [],
        columns: {},
        skip_rejected: false,
        answers: { "vanished:november.csv": "keep" },
      },
      unattended: false,
      forget_remembered: false,
    },
  ]);
  expect(file.obstacle).toBeNull();
});

test("a question without choices takes a text, and a password is not shown", async () => {
  const questions = [
    { id: "password", text: "The password of the database?", choices: [], option: "" },
  ];
  const page = html(await surveyed(resultOf({ questions })));
  expect(page).toMatch(/<input[^>]*type="password"/);
});

test("lines that cannot be read stop the import until the person leaves them out", async () => {
  const rejected = [
    {
      cause: "not_a_number",
      reason: "It is not a number.",
      column: "Cost",
      lines: [9, 12],
      count: 5,
      sample: "12,5O",
    },
  ];
  const result = resultOf({ report: reportOf({ rejected }) });
  delete (result as { change?: unknown }).change;
  const file = await surveyed(result);
  expect(file.obstacle).toBe("rejected");
  const page = shown(file);
  expect(page).toContain("5 lines cannot be read");
  expect(page).toContain("5 Cost It is not a number. 12,5O 9, 12, …");
  expect(page).toContain("Leave 5 lines out");
  host.answer = () =>
    resultOf({
      report: reportOf({ rejected }),
      decisions: { sheets: [], columns: {}, skip_rejected: true, answers: {} },
    });
  await file.decide({ skip_rejected: true });
  expect(file.obstacle).toBeNull();
});

test("an import stores the file as it was shown, and can be undone", async () => {
  const file = await surveyed();
  host.answer = (command) =>
    command === "sources_list"
      ? { sources: [] }
      : resultOf({ is_stored: command === "source_add" });
  await file.store();
  expect(file.phase).toBe("stored");
  expect(jobsSent().map(([command]) => command)).toEqual(["source_survey", "source_add"]);
  const page = shown(file);
  expect(page).toContain("60 rows are in november.");
  expect(page).toContain("Undo");
  await file.undo();
  expect(file.phase).toBe("undone");
  expect(host.sent.find(({ command }) => command === "source_undo")?.params).toEqual({
    name: "november",
  });
  expect(shown(file)).toContain("The import was undone.");
});

test("content that is stored already is not imported again", async () => {
  const file = await surveyed(resultOf({ change: changeOf({ is_same_content: true }) }));
  expect(file.obstacle).toBe("same");
  expect(shown(file)).toContain("This content is already imported.");
});

test("a correction of a column is a decision, and a ratio is defined after the import", async () => {
  const file = await surveyed();
  const clicks = COLUMNS[4]!;
  await file.correct(clicks, { ...correctionOf(clicks, COLUMNS), use: "name" });
  expect(file.decisions.columns).toEqual({ Clicks: { use: "dimension", kind: "text" } });
  const rate = foundColumn("Campaign", { kind: "decimal" });
  await file.correct(rate, {
    ...correctionOf(rate, COLUMNS),
    use: "ratio",
    of: "Cost",
    by: "Clicks",
  });
  host.answer = (command) => {
    if (command === "sources_list") return { sources: [] };
    if (command === "source_describe")
      return { source: { columns: [rate] }, definitions: { source: "november", measures: {} } };
    return resultOf({ is_stored: command === "source_add" });
  };
  await file.store();
  const defined = host.sent.find(({ command }) => command === "source_define")!.params;
  expect(defined).toMatchObject({
    name: "november",
    definitions: { measures: { campaign: { ratio: ["cost", "clicks"] } } },
  });
});

test("a decision stops the look at the file that still runs, and its answer is ignored", async () => {
  host.answer = () => resultOf({ source: "late" });
  host.holds = true;
  const file = new FileImport(PATH);
  const first = file.survey();
  await vi.waitFor(() => expect(file.progress?.records).toBe(7));
  expect(shown(file)).toContain("Rows read: 7, 50%");
  host.answer = () => resultOf({ source: "right" });
  const second = file.decide({ currency: "EUR" });
  host.holds = false;
  await Promise.all([first, second]);
  expect(file.result?.source).toBe("right");
  expect(host.jobs.get("j1")!.isStopped).toBe(true);
  expect(jobsSent().length).toBe(2);
});

test("an import that is being stopped says so until it has ended, and keeps nothing", async () => {
  const file = await surveyed();
  host.holds = true;
  const storing = file.store();
  await vi.waitFor(() => expect(file.progress?.records).toBe(7));
  expect(shown(file)).toContain("Importing …");
  file.stop();
  expect(shown(file)).toContain("Stopping …");
  expect(button(html(file), "Stop")).toContain("disabled");
  await storing;
  expect(file.phase).toBe("ready");
  expect(shown(file)).toContain("The import was stopped. Nothing of it was kept.");
  host.holds = false;
  host.answer = (command) =>
    command === "sources_list"
      ? { sources: [] }
      : resultOf({ is_stored: command === "source_add" });
  await file.store();
  expect([file.phase, file.isStopping]).toEqual(["stored", false]);
});

test("a job that cannot be followed any more is stopped, so that another one can begin", async () => {
  host.answer = () => {
    throw new Error("The host does not answer.");
  };
  const file = new FileImport(PATH);
  await file.survey();
  expect(file.error?.message).toBe("The host does not answer.");
  expect(host.sent.at(-1)).toEqual({ command: "source_job_stop", params: { job: "j1" } });
});

test("columns keep their buttons while the file is read again, so that none loses the focus", async () => {
  const file = await surveyed();
  host.holds = true;
  const again = file.decide({ currency: "EUR" });
  expect(button(html(file), "Clicks")).toMatch(/aria-disabled="true"/);
  host.holds = false;
  await again;
  expect(button(html(file), "Clicks")).not.toContain("aria-disabled");
});

test("a file that cannot be read shows why, and stores nothing", async () => {
  const failure = {
    code: "invalid_input",
    message: "The workbook has a password.",
    details: { reason: "file_unreadable" },
    retryable: false,
    contract_version: "1.0",
  };
  host.answer = () => ({ failure });
  const file = new FileImport(PATH);
  await file.survey();
  expect(file.obstacle).toBe("reading");
  expect(shown(file)).toContain("The workbook has a password.");
  expect(button(html(file), "Import")).toContain("disabled");
  // A file without a table that is found can be read from another line, or in another encoding.
  expect(shown(file)).toContain("Line with the column names Encoding");
  host.answer = () => resultOf();
  await file.decide({ header_line: 4 });
  expect(jobsSent().at(-1)![1].decisions.header_line).toBe(4);
  expect([file.obstacle, file.error]).toEqual([null, null]);
});

test("a file that cannot be read with a new decision is not imported as it was shown before", async () => {
  const file = await surveyed();
  host.answer = () => ({
    failure: {
      code: "invalid_input",
      message: "There is no encoding latin-99.",
      details: {},
      retryable: false,
      contract_version: "1.0",
    },
  });
  await file.decide({ encoding: "latin-99" });
  expect(file.obstacle).toBe("outdated");
  expect(shown(file)).toContain("There is no encoding latin-99.");
  expect(button(html(file), "Import")).toContain("disabled");
  await file.store();
  expect(jobsSent().map(([command]) => command)).not.toContain("source_add");
  host.answer = () => resultOf();
  await file.decide({ encoding: undefined });
  expect(file.obstacle).toBeNull();
});

test("columns of one heading are named by their numbers, and added ones do not count", () => {
  const columns = [
    foundColumn("Account", { is_added: true }),
    foundColumn("Cost", { heading: "Cost" }),
    foundColumn("Cost 2", { heading: "Cost" }),
    foundColumn("column 3", { heading: "" }),
  ];
  expect(columns.slice(1).map((column) => columnKey(columns, column))).toEqual(["#1", "#2", "#3"]);
  expect(columnKey(COLUMNS, COLUMNS[3]!)).toBe("Cost");
});
