// A source with a host that answers: its rows, corrections with the total before and after, approval, undo and removal.
import { render } from "svelte/server";
import { beforeEach, expect, test, vi } from "vitest";
import { setLanguage } from "../../../i18n/index.svelte";
import type { DataColumn } from "../../../platform/generated/DataColumn";
import type { DataResult } from "../../../platform/generated/DataResult";
import type { SourceDescription } from "../../../platform/generated/SourceDescription";
import { sources } from "../../../state/sources.svelte";
import { gridText } from "../../../results/grid/cells";
import { correctionOf } from "../columns/correction";
import OldData from "../sources/OldData.svelte";
import SourceList from "../sources/SourceList.svelte";
import { changeOf, COLUMNS, foundColumn, reportOf, sourceOf, textsOf } from "../testing";
import DefinitionList from "./DefinitionList.svelte";
import { figureText, rowColumn } from "./figures";
import ImportList from "./ImportList.svelte";
import Overview from "./Overview.svelte";
import RemoveDialog from "./RemoveDialog.svelte";
import { SourceState } from "./source.svelte";

const host = vi.hoisted(() => ({
  sent: [] as { command: string; params: Record<string, unknown> }[],
  answer: (_: string): unknown => ({}),
}));
vi.mock("../../../platform", async (original) => ({
  ...(await original<typeof import("../../../platform")>()),
  call: async (command: string, params: Record<string, unknown>) => {
    host.sent.push({ command, params });
    await Promise.resolve();
    return host.answer(command);
  },
}));

const COST = { kind: "decimal", scale: 2, use: "sum" } as const;

const figures = (rows: DataResult["rows"], names: string[]): DataResult => ({
  columns: names.map((name) => ({
    name,
    type: name === "currency" ? "text" : "decimal",
    role: name === "currency" ? "dimension" : "measure",
    format: name === "currency" ? "text" : "money",
    of: "spend",
  })),
  rows,
  row_count: rows.length,
  query: "",
  sql: "",
  definitions: {},
  definition_state: "approved",
  data_version: "",
  notes: [],
});
const description = (rest: Partial<SourceDescription> = {}): SourceDescription => ({
  source: sourceOf("ads"),
  definitions: {
    source: "ads",
    measures: {
      spend: { sum: "Cost", unit: "money" },
      cpc: { ratio: ["spend", "clicks"] },
    },
  },
  text: "source: ads",
  definitions_hash: "d1",
  states: [
    { name: "spend", hash: "a", risks: [], is_approved: true, written: "sum: Cost", title: {} },
    {
      name: "cpc",
      hash: "b",
      risks: ["computed"],
      is_approved: false,
      written: "ratio: [spend, clicks]",
      title: { en: "Cost per click" },
    },
  ],
  faults: [],
  samples: {},
  models_get: "all",
  ...rest,
});
const answers = (command: string): unknown => {
  switch (command) {
    case "sources_list":
      return { sources: [sourceOf("ads")] };
    case "source_rows":
      return figures([[1]], ["Cost"]);
    case "source_measure":
      return figures(
        [
          ["EUR", 750, 12.5],
          ["SEK", "90", null],
        ],
        ["currency", "before", "after"],
      );
    default:
      return description();
  }
};

async function opened(): Promise<SourceState> {
  const source = new SourceState("ads");
  await source.open();
  return source;
}
const sent = (command: string) => host.sent.filter((one) => one.command === command);

beforeEach(() => {
  host.sent = [];
  host.answer = answers;
  setLanguage("en");
});

test("rows are read by pages, in the order that the host makes", async () => {
  const source = await opened();
  source.rows.sort({ by: "Cost", descending: true });
  await vi.waitFor(() => expect(sent("source_rows").length).toBe(2));
  expect(sent("source_rows").map(({ params }) => params)).toEqual([
    { name: "ads", columns: [], offset: 0, limit: 500 },
    { name: "ads", columns: [], offset: 0, limit: 500, order: { by: "Cost", descending: true } },
  ]);
});

test("the total before and after a correction is computed before anything changes", async () => {
  const source = await opened();
  const cost = COLUMNS[3]!;
  const correction = { ...correctionOf(cost, COLUMNS), use: "average" as const };
  const totals = await source.totals(cost, correction);
  expect(sent("source_measure")[0]!.params).toEqual({
    query: {
      source: "ads",
      measures: [
        { measure: "spend", as: "before" },
        { define: { average: "Cost" }, as: "after" },
      ],
    },
  });
  expect(totals.before.replace(/\u00a0/g, " ")).toBe("750.00 EUR · 90.00 SEK");
  expect(totals.after.replace(/\u00a0/g, " ")).toBe("12.50 EUR · –");
  expect(sent("source_define")).toEqual([]);
});

test("a correction sends the changed definitions, and the use of the column for the next file", async () => {
  const source = await opened();
  const cost = COLUMNS[3]!;
  await source.correct(cost, { ...correctionOf(cost, COLUMNS), use: "last", per: ["Campaign"] });
  expect(sent("source_define")[0]!.params).toMatchObject({
    name: "ads",
    definitions: { measures: { spend: { last: { column: "Cost", per: ["Campaign"] } } } },
    columns: { Cost: { use: "last", unit: "EUR" } },
  });
});

test("a correction is taken back with the definitions and the use that were before it", async () => {
  const source = await opened();
  const cost = COLUMNS[3]!;
  await source.correct(cost, { ...correctionOf(cost, COLUMNS), use: "last", per: ["Campaign"] });
  expect(source.corrected?.column.name).toBe("Cost");
  await source.undoCorrection();
  expect(sent("source_define")[1]!.params).toEqual({
    name: "ads",
    definitions: description().definitions,
    columns: { Cost: { use: "sum" } },
  });
  expect(source.corrected).toBeNull();
  // A text that a person writes replaces all, so there is nothing to take back.
  await source.correct(cost, correctionOf(cost, COLUMNS));
  await source.write("source: ads");
  expect(source.corrected).toBeNull();
});

test("definitions that wait for an approval come first, with the reason, and are approved in one step", async () => {
  const source = await opened();
  const { body } = render(DefinitionList, { props: { source, description: description() } });
  const page = textsOf(body);
  expect(page).toContain("1 definition to approve Edit as text");
  expect(page).toMatch(
    /Cost per click cpc Spend ÷ Clicks .*Proposed .*computed from other figures.*Spend sum of Cost .*Approved automatically/,
  );
  await source.approve();
  await source.approve(["b"]);
  expect(sent("source_approve").map(({ params }) => params)).toEqual([
    { name: "ads", definitions_hash: "d1" },
    { name: "ads", definitions_hash: "d1", only: ["b"] },
  ]);
});

test("an approved definition says when and where, or that no person had to", () => {
  const [spend, cpc] = description().states;
  const approval = { at: "2026-11-30T09:00:00Z", by: "window" };
  const states = [spend!, { ...cpc!, is_approved: true, approval }];
  const props = { source: new SourceState("ads"), description: description({ states }) };
  const page = textsOf(render(DefinitionList, { props }).body);
  expect(page).toContain("Approved automatically");
  expect(page).toMatch(/Approved Nov 30, 2026, .*, in the chat window/);
  expect(page).not.toContain("to approve");
});

test("definitions that changed since they were shown are not approved, and are shown anew with the reason", async () => {
  const source = await opened();
  const now = description({ definitions_hash: "d2", text: "source: ads # edited" });
  host.answer = (command) => {
    if (command === "source_describe") return now;
    if (command !== "source_approve") return answers(command);
    return Promise.reject(new Error("The definitions of ads changed since they were shown."));
  };
  await source.approve();
  expect(sent("source_approve")[0]!.params).toEqual({ name: "ads", definitions_hash: "d1" });
  expect(source.error?.message).toBe("The definitions of ads changed since they were shown.");
  expect(source.description).toBe(now);
  await source.approve();
  expect(sent("source_approve")[1]!.params).toEqual({ name: "ads", definitions_hash: "d2" });
});

test("a fault of the definitions is shown with its line, and a refused text keeps the former ones", async () => {
  const source = await opened();
  const faults = [{ line: 4, text: "“sums” is not known." }];
  const { body } = render(DefinitionList, {
    props: { source, description: description({ faults }) },
  });
  expect(textsOf(body)).toContain("Line 4: “sums” is not known.");
  host.answer = () => Promise.reject(new Error("The definitions have a fault."));
  expect(await source.write("sums:")).toBe(false);
  expect(source.error?.message).toBe("The definitions have a fault.");
  expect(source.description?.text).toBe("source: ads");
});

test("only the newest import can be undone, and rows are read again", async () => {
  const [first] = sourceOf("ads").imports;
  const older = { ...first!, id: "i0", report: reportOf({ file: "october.csv" }) };
  const change = changeOf({ vanished_rows: 2 });
  const { body } = render(ImportList, {
    props: { imports: [{ ...first!, change }, older], busy: false, onundo: () => {} },
  });
  const page = textsOf(body).replace(/\u00a0/g, " ");
  expect(page.match(/Undo/g)).toHaveLength(1);
  expect(page.indexOf("november.csv")).toBeLessThan(page.indexOf("october.csv"));
  expect(page).toContain("Cost 0.00 EUR → 750.00 EUR");
  expect(page).toContain("2 no longer in the file");
  expect(page).toContain("If it is undone, the source is as it was after october.csv.");
  expect(page).toContain("Can be undone after the newer ones");
  expect(page).toContain("1 line is left out Total lines are no rows.");
  expect(page.indexOf("Nothing was decided by hand.")).toBeGreaterThan(page.indexOf("october.csv"));
  const source = await opened();
  await source.undo();
  expect(sent("source_undo")[0]!.params).toEqual({ name: "ads" });
  expect(source.said).toBe("The import was undone. ads is as it was before.");
  await vi.waitFor(() => expect(sent("source_rows").length).toBe(2));
});

test("rows are read again if another program changed the data", async () => {
  const source = await opened();
  await source.follow("v1");
  expect(sent("source_rows").length).toBe(1);
  await source.follow("v2");
  await vi.waitFor(() => expect(sent("source_rows").length).toBe(2));
  expect(sent("source_describe").length).toBe(2);
});

test("a source that cannot be removed stays, with the reason", async () => {
  const source = await opened();
  expect(await source.remove()).toBe(true);
  host.answer = () => Promise.reject(new Error("The folder is locked."));
  expect(await source.remove()).toBe(false);
  expect(source.error?.message).toBe("The folder is locked.");
});

test("the list names rows, days, age, size and state, and says what to do without sources", () => {
  sources.list = [
    sourceOf("ads", { proposed: 2, status: "to_approve", settles_after: 30 }),
    sourceOf("orders", {
      kind: {
        at: "database",
        address: "postgres://db.example",
        driver: "postgresql",
        table: "orders",
      },
      rows: undefined as never,
      days: undefined as never,
      bytes: undefined as never,
      imports: [],
      status: "unreachable",
      notes: ["network not restricted"],
    }),
  ];
  const page = textsOf(render(SourceList, { props: { onconnect: () => {} } }).body);
  expect(page).toContain("Newest import: november.csv");
  expect(page).toMatch(/Rows 60 Days Oct 1, 2026 to Oct 31, 2026 Freshness .*Size 1.5 MB/);
  expect(page).toContain("The last 30 days may still change");
  expect(page).toContain("2 to approve");
  expect(page).toContain("rows not counted");
  expect(page).toContain("Freshness Live Size – Not reachable network not restricted");
  sources.storage = { bytes: 1_540_000, limit_bytes: 20_000_000_000 };
  expect(textsOf(render(SourceList, { props: { onconnect: () => {} } }).body)).toContain(
    "Rows on this computer take 1.5 MB of at most 20 GB.",
  );
  sources.list = [];
  expect(textsOf(render(SourceList, { props: { onconnect: () => {} } }).body)).toContain(
    "Drop files anywhere on this window",
  );
});

test("many sources can be searched, and few need no search", () => {
  const named = (count: number) => Array.from({ length: count }, (_, at) => sourceOf(`ads_${at}`));
  const body = (): string => render(SourceList, { props: { onconnect: () => {} } }).body;
  sources.list = named(7);
  expect(body()).not.toContain('type="search"');
  sources.list = named(8);
  expect(body()).toContain('type="search"');
  expect(textsOf(body())).toContain("8 sources");
});

test("without a source, the sample is offered", () => {
  sources.list = [];
  const page = (): string => textsOf(render(SourceList, { props: { onconnect: () => {} } }).body);
  expect(page()).toContain("Add the sample");
  sources.list = [sourceOf("ads")];
  expect(page()).not.toContain("Add the sample");
});

test("the file of an earlier version is shown only while it is there", () => {
  const page = (): string => textsOf(render(OldData).body);
  sources.hasOldData = true;
  expect(page()).toContain("Remove the earlier file");
  sources.hasOldData = false;
  expect(page()).toBe("");
});

test("stored numbers have the unit of their column, and ids have no groups of digits", () => {
  const column = (name: string): DataColumn => ({
    name,
    type: "whole",
    role: "measure",
    format: "number",
  });
  const shown = ["Campaign ID", "Cost", "Clicks", "Other"].map((name) =>
    rowColumn(
      column(name),
      COLUMNS.find((found) => found.name === name),
    ),
  );
  expect(shown.map(({ role, format, unit }) => [role, format, unit])).toEqual([
    ["dimension", "number", undefined],
    ["measure", "money", "EUR"],
    ["measure", "number", undefined],
    ["measure", "number", undefined],
  ]);
});

test("numbers with decimal places have the same ones in all rows", () => {
  const [cost] = figures([[1]], ["Cost"]).columns;
  const { of: _of, ...stored } = cost!;
  const shown = rowColumn({ ...stored, format: "number" }, foundColumn("Cost", COST));
  expect([12, "1234.5", 0.125].map((value) => gridText(value, shown))).toEqual([
    "12.00",
    "1,234.50",
    "0.125",
  ]);
});

test("what is lost is said before a source is removed", () => {
  const props = { open: true, source: sourceOf("ads"), busy: false, onremove: () => {} };
  const page = textsOf(render(RemoveDialog, { props }).body);
  expect(page).toContain("60 rows (1.5 MB) the snapshot of 1 import 2 definitions, 2 of them");
  expect(page).toContain("This cannot be undone.");
});

test("the overview begins with figures, then the chart, then what needs a person", () => {
  const props = {
    description: description({ source: sourceOf("ads", { proposed: 2, rows: 24254 }) }),
    isAnswered: true,
    onask: () => {},
    ontab: () => {},
  };
  const page = textsOf(render(Overview, { props }).body);
  expect(page).toMatch(
    /^Rows 24,254 6 columns Days .*Freshness .*Spend Figure of the chart Spend CPC Loading Needs attention 2 definitions to approve Review .*Details/,
  );
});

test("a percentage has its sign and no unit after it", () => {
  const [before] = figures([[0.125]], ["before"]).columns;
  const rate = { ...before!, format: "percent" as const, unit: "percent" };
  expect(figureText({ ...figures([[0.125]], []), columns: [rate] }, "before")).toBe("12.50%");
});

test("a figure without currency is a number, and a missing column is a dash", () => {
  expect(figureText(figures([[5]], ["before"]), "before")).toBe("5.00");
  expect(figureText(figures([[5]], ["before"]), "after")).toBe("–");
});
