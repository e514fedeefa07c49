// A refresh with a host that answers: what was imported, and what is asked.
import { beforeEach, expect, test, vi } from "vitest";
import { setLanguage } from "../../../i18n/index.svelte";
import { sources } from "../../../state/sources.svelte";
import { reportOf, resultOf, sourceOf } from "../testing";
import { Refresh } from "./refresh.svelte";

const host = vi.hoisted(() => ({
  sent: [] as { command: string; params: unknown }[],
  view: {},
}));
vi.mock("../../../platform", async (original) => ({
  ...(await original<typeof import("../../../platform")>()),
  call: async (command: string, params: unknown) => {
    host.sent.push({ command, params });
    await Promise.resolve();
    if (command === "sources_list") return { sources: sources.list };
    if (command === "source_job") return { results: null, is_stopped: false, ...host.view };
    return { job: "j1" };
  },
}));

beforeEach(() => {
  [host.sent, host.view] = [[], { results: [] }];
  sources.list = [sourceOf("ads", { place: "/exports/*.csv" })];
  setLanguage("en");
});

test("nothing new, the same content and new files are said apart", async () => {
  const refresh = new Refresh("ads");
  expect(await refresh.run()).toBe(false);
  expect(host.sent[0]).toEqual({ command: "source_refresh", params: { name: "ads" } });
  expect(refresh.said).toBe("There are no new or changed files.");
  host.view = { results: [], notes: ["old.csv was taken back."] };
  expect(await refresh.run()).toBe(false);
  expect(refresh.said).toBe("There are no new or changed files. old.csv was taken back.");
  host.view = { results: [resultOf()] };
  expect(await refresh.run()).toBe(false);
  expect(refresh.said).toBe("The files have the same content as before. Nothing changed.");
  host.view = { results: [resultOf({ is_stored: true })] };
  expect(await refresh.run()).toBe(true);
  expect(refresh.said).toBe("1 file imported: november.csv");
});

test("a question of a file is answered here, and the place is imported with the answer", async () => {
  const refresh = new Refresh("ads");
  const question = {
    id: "vanished:november.csv",
    text: "2 rows vanished.",
    choices: [],
    option: "",
  };
  host.view = { results: [resultOf({ questions: [question] })] };
  await refresh.run();
  expect([refresh.questions.length, refresh.said]).toEqual([1, ""]);
  host.view = { results: [resultOf({ is_stored: true })] };
  expect(await refresh.answer("vanished:november.csv", "keep")).toBe(true);
  expect(host.sent.find(({ command }) => command === "source_add")?.params).toEqual({
    place: "/exports/*.csv",
    name: "ads",
    decisions: {
      sheets: [],
      columns: {},
      skip_rejected: false,
      answers: { "vanished:november.csv": "keep" },
    },
    unattended: false,
  });
  expect(refresh.questions).toEqual([]);
});

test("lines that cannot be read, a failure and a stop are said", async () => {
  const refresh = new Refresh("ads");
  const rejected = [{ cause: "a", reason: "b", column: "c", lines: [3], count: 2, sample: "" }];
  host.view = { results: [resultOf({ report: reportOf({ rejected }) })] };
  await refresh.run();
  expect(refresh.said).toContain("november.csv: 2 lines cannot be read.");
  host.view = { is_stopped: true };
  await refresh.run();
  expect(refresh.said).toBe("The import was stopped. Nothing of it was kept.");
  host.view = { failure: { message: "No file fits /exports/*.csv." } };
  await refresh.run();
  expect([refresh.error?.message, refresh.said, refresh.isRunning]).toEqual([
    "No file fits /exports/*.csv.",
    "",
    false,
  ]);
});

test("the columns of a table are read again, and a password that is asked for is forgotten", async () => {
  const address = "postgresql://ana@db/shop";
  const kind = { at: "database" as const, address, driver: "postgresql", table: "public.orders" };
  sources.list = [sourceOf("orders", { kind })];
  const refresh = new Refresh("orders");
  const question = { id: "password", text: "The password for db.", choices: [], option: "" };
  host.view = { results: [resultOf({ questions: [question] })] };
  await refresh.run();
  expect(refresh.questions.map(({ id }) => id)).toEqual(["password"]);
  const report = reportOf({ notes: ["The column tax is new."] });
  host.view = { results: [resultOf({ is_stored: true, report })] };
  expect(await refresh.answer("password", "secret")).toBe(true);
  expect(host.sent.find(({ command }) => command === "source_add")?.params).toMatchObject({
    place: address,
    name: "orders",
    decisions: { answers: { password: "secret" } },
  });
  expect(refresh.said).toBe("The columns of the table were read again. The column tax is new.");
  await refresh.answer("table", "public.orders");
  expect(host.sent.findLast(({ command }) => command === "source_add")?.params).toMatchObject({
    decisions: { answers: { table: "public.orders" } },
  });
});
