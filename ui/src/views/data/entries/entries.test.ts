// Budgets and flights that a person enters: what is shown, what is sent, and problems at their values.
import { render } from "svelte/server";
import { beforeEach, expect, test, vi } from "vitest";
import { setLanguage } from "../../../i18n/index.svelte";
import type { DataEntries } from "../../../platform/generated/DataEntries";
import { Entries, entered, isChanged } from "./entries.svelte";
import EntryForm from "./EntryForm.svelte";

const host = vi.hoisted(() => ({
  sent: [] as { command: string; params: unknown }[],
  found: {},
  problems: {},
}));
vi.mock("../../../platform", async (original) => ({
  ...(await original<typeof import("../../../platform")>()),
  call: async (command: string, params: unknown) => {
    host.sent.push({ command, params });
    await Promise.resolve();
    return command === "data_entries" ? host.found : { problems: host.problems };
  },
}));

const FOUND: DataEntries = {
  fields: [
    { name: "budget", label: "Budget", kind: "amount" },
    { name: "flight_start", label: "Flight start", kind: "day" },
  ],
  entries: [
    { id: "4", title: "Autumn", group: "Shop", currency: "EUR", values: { budget: "3000.00" } },
  ],
  total: 1,
};
const entry = FOUND.entries[0]!;
const names = ["budget", "flight_start"];

beforeEach(() => {
  host.sent = [];
  host.found = FOUND;
  host.problems = {};
  setLanguage("en");
});

test("a record is a form with a labelled field for each value", () => {
  const { body } = render(EntryForm, {
    props: { entry, fields: FOUND.fields, onstore: () => Promise.resolve({}) },
  });
  for (const text of ["Autumn", "Shop", "Budget (EUR)", "Flight start", 'type="date"', "3000.00"])
    expect(body).toContain(text);
});

test("only changed values can be saved", () => {
  expect(isChanged(entry, names, { budget: " 3000.00 ", flight_start: "" })).toBe(false);
  expect(isChanged(entry, names, { budget: "", flight_start: "" })).toBe(true);
  expect(entered(names, { budget: " 5 " })).toEqual({ budget: "5", flight_start: "" });
});

test("values are stored by the record's id, and the list is read again", async () => {
  const entries = new Entries("pacing");
  await entries.read();
  expect(await entries.store(entry, { budget: "5" })).toEqual({});
  expect(host.sent).toEqual([
    { command: "data_entries", params: { pack: "pacing", query: "" } },
    { command: "data_entry_set", params: { pack: "pacing", id: "4", values: { budget: "5" } } },
    { command: "data_entries", params: { pack: "pacing", query: "" } },
  ]);
});

test("a value with a problem is reported, and the list is not read again", async () => {
  const entries = new Entries("pacing");
  host.problems = { budget: { code: "not_a_number", text: "x" } };
  const problems = await entries.store(entry, { budget: "x" });
  expect(problems["budget"]?.code).toBe("not_a_number");
  expect(host.sent.length).toBe(1);
});
