// The mapping view with a host that answers surveys: the content it shows, the reasons why an import has to wait, and the options it sends.
import { render } from "svelte/server";
import { beforeEach, expect, test, vi } from "vitest";
import { setLanguage } from "../../../i18n/index.svelte";
import type { FileSurvey } from "../../../platform/generated/FileSurvey";
import { FileMapping } from "./mapping.svelte";
import MappingForm from "./MappingForm.svelte";
import { CHECK, surveyOf } from "./testing";

const host = vi.hoisted(() => ({
  sent: [] as { command: string; params: unknown }[],
  answer: (_: { options?: unknown }): unknown => ({}),
}));
vi.mock("../../../platform", async (original) => ({
  ...(await original<typeof import("../../../platform")>()),
  call: async (command: string, params: { options?: unknown }) => {
    host.sent.push({ command, params });
    await Promise.resolve();
    return command === "data_survey" ? host.answer(params) : {};
  },
}));

const FILE = { pack: "pacing", path: "/home/exports/report.csv" };
const mapped = (rest: Partial<FileSurvey> = {}): FileSurvey =>
  surveyOf({ missing: [], check: CHECK, ...rest });
const shown = (mapping: FileMapping): string =>
  render(MappingForm, { props: { mapping } })
    .body.replace(/<!--.*?-->/gs, "")
    .replace(/\s+/g, " ");
/** Returns the tag of the button with this text. */
const button = (html: string, text: string): string => {
  const tags = [...html.matchAll(/<button\b[^>]*>(?:(?!<\/button>).)*/g)].map((found) => found[0]);
  return tags.find((tag) => tag.includes(text)) ?? "";
};

async function opened(survey: FileSurvey): Promise<FileMapping> {
  host.answer = () => survey;
  const mapping = new FileMapping(FILE);
  await mapping.open();
  return mapping;
}

beforeEach(() => {
  host.sent = [];
  setLanguage("en");
});

test("an unknown file is described, and says which columns are missing", async () => {
  const mapping = await opened(surveyOf());
  const html = shown(mapping);
  for (const text of [
    "Columns of report.csv",
    "Unknown layout · Windows-1252 · separated by semicolons · column names in line 3 · 2 lines above left out",
    "Alpha · Beta",
    "Choose the columns for: Campaign, Spend",
  ])
    expect(html).toContain(text);
  expect(mapping.obstacle).toBe("missing");
  expect(button(html, "Import")).toContain("disabled");
});

test("each column has a labelled choice of all fields", async () => {
  const html = shown(await opened(surveyOf()));
  const labels = [...html.matchAll(/<label for="([^"]+)"[^>]*>([^<]*)<\/label>/g)];
  const choices = labels.filter((label) => label[2]!.startsWith("Use "));
  expect(choices.map((label) => label[2])).toEqual([
    "Use When as",
    "Use What as",
    "Use How much as",
  ]);
  for (const label of choices) expect(html).toContain(`<select id="${label[1]!}"`);
  expect(html).toContain("Campaign (required)");
});

test("the choices are sent, and the import waits for the order of the dates", async () => {
  const mapping = await opened(surveyOf());
  host.answer = ({ options }) => ({
    ...surveyOf({ missing: [] }),
    ...(JSON.stringify(options).includes("day_first") && { check: CHECK }),
  });
  await mapping.setField(1, "campaign");
  await mapping.setField(2, "spend");
  expect(mapping.obstacle).toBe("order");
  expect(shown(mapping)).toContain(
    "In “1/11/2026”, is the first number the day, the month or the year?",
  );
  await mapping.setOrder("day_first");
  expect(mapping.obstacle).toBeNull();
  expect(host.sent.at(-1)).toEqual({
    command: "data_survey",
    params: { ...FILE, options: { ...mapping.options, skip_rejected: false } },
  });
  expect(mapping.options.columns).toMatchObject({ campaign: "What", spend: "How much" });
  const html = shown(mapping);
  expect(html).toContain("The first lines as they will be stored");
  expect(button(html, "Import 1,203 lines")).not.toContain("disabled");
});

test("values that the file lacks can be entered, and a wrong currency blocks the import", async () => {
  const mapping = await opened(mapped());
  mapping.choices = {
    ...mapping.choices,
    fields: ["day", "campaign", "spend"],
    order: "day_first",
  };
  await mapping.setConstant("currency", "eu");
  expect(mapping.obstacle).toBe("constant");
  expect(shown(mapping)).toContain("Write the code with three letters, such as EUR.");
  await mapping.setConstant("currency", "eur");
  await mapping.setConstant("account", "Shop");
  expect(mapping.obstacle).toBeNull();
  expect(mapping.options.constants).toEqual({ account: "Shop", currency: "EUR" });
});

test("rejected lines are shown by cause, and the rest can be imported", async () => {
  const check = {
    ...CHECK,
    rejected: 7,
    causes: [
      {
        column: "day",
        example: { code: "not_a_day" as const, text: "soon" },
        count: 7,
        lines: [4, 9, 12, 13, 20],
      },
    ],
  };
  const known = { layout: "Google Ads", dates: undefined } as const;
  const columns = ["day", "campaign", "spend"].map((field) => ({
    heading: field,
    samples: [],
    field,
  }));
  const mapping = await opened(mapped({ check, columns, ...known }));
  const html = shown(mapping);
  for (const text of [
    "Recognised as Google Ads",
    "7 lines cannot be read",
    "“soon” is not a day.",
    "4, 9, 12, 13, 20, …",
    "7 lines would be left out.",
  ])
    expect(html).toContain(text);
  expect(button(html, "Import the rest (1,203 lines)")).not.toContain("disabled");
  expect(mapping.options).toEqual({ columns: {}, constants: {}, skip_rejected: true });
});

test("a remembered mapping can be forgotten, and the file is read again", async () => {
  const mapping = await opened(mapped({ is_remembered: true }));
  expect(shown(mapping)).toContain("These columns are read as you chose for an earlier file.");
  host.answer = () => surveyOf();
  await mapping.forget();
  expect(host.sent.map(({ command }) => command)).toEqual([
    "data_survey",
    "data_layout_forget",
    "data_survey",
  ]);
  expect(host.sent[1]!.params).toEqual({ pack: "pacing", shape: "when | what | how much" });
  expect(shown(mapping)).not.toContain("Forget these choices");
});

test("an answer to an earlier choice does not replace a later one", async () => {
  const mapping = await opened(surveyOf());
  const waiting: ((survey: FileSurvey) => void)[] = [];
  host.answer = () => new Promise((resolve) => waiting.push(resolve));
  const first = mapping.setField(1, "campaign");
  const second = mapping.setField(2, "spend");
  await vi.waitFor(() => expect(waiting.length).toBe(2));
  waiting[1]!(mapped());
  await second;
  waiting[0]!(surveyOf({ missing: ["spend"] }));
  await first;
  expect(mapping.survey?.missing).toEqual([]);
});

test("a file that cannot be read shows the reason, and a file with budgets has no choices", async () => {
  const broken = await opened(surveyOf({ problem: { code: "empty_file" } }));
  expect(shown(broken)).toContain("The file is empty.");
  const budgets = await opened(
    mapped({ is_fixed: true, dates: undefined, layout: "Countersign campaigns", fields: [] }),
  );
  const html = shown(budgets);
  expect(html).toContain("Budgets and flights are read by the names of their columns.");
  expect(html).not.toContain("<select");
  expect(budgets.obstacle).toBeNull();
  setLanguage("sv");
  expect(shown(budgets)).toContain("Importera 1 203 rader");
});
