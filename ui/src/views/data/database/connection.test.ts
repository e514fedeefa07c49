// The connection of a database with a host that answers: what is sent, what is asked, and what is forgotten.
import { render } from "svelte/server";
import { beforeEach, expect, test, vi } from "vitest";
import { setLanguage } from "../../../i18n/index.svelte";
import type { SourceAddParams } from "../../../platform/generated/SourceAddParams";
import type { Text } from "../../../platform/generated/Text";
import { COLUMNS, reportOf, resultOf, textsOf } from "../testing";
import { Connection } from "./connection.svelte";
import ConnectView from "./ConnectView.svelte";

const host = vi.hoisted(() => ({
  sent: [] as { command: string; params: Record<string, unknown> }[],
  view: (_: string): Record<string, unknown> => ({}),
}));
vi.mock("../../../platform", async (original) => ({
  ...(await original<typeof import("../../../platform")>()),
  call: async (command: string, params: Record<string, unknown>) => {
    host.sent.push({ command, params });
    await Promise.resolve();
    if (command === "sources_list") return { sources: [] };
    if (command === "source_job") {
      const last = host.sent.findLast((one) => /^source_(survey|add)$/.test(one.command))!;
      return { results: null, is_stopped: false, ...host.view(last.command) };
    }
    return { job: "j1" };
  },
}));

const asks = (id: string, choices: string[] = []) =>
  resultOf({
    source: "shop",
    report: reportOf({ columns: [] }),
    questions: [
      {
        id,
        text: `The ${id}?`,
        choices: choices.map((one) => ({ value: one, label: one })),
        option: "",
      },
    ],
  });
const found = (isStored = false) =>
  resultOf({
    source: "orders",
    report: reportOf({ columns: COLUMNS, notes: ["Network not restricted."], stored: 0 }),
    is_stored: isStored,
  });
const params = (): SourceAddParams =>
  host.sent.findLast((one) => /^source_(survey|add)$/.test(one.command))!
    .params as unknown as SourceAddParams;
const shown = (connection: Connection): string =>
  textsOf(render(ConnectView, { props: { connection } }).body);

function filled(): Connection {
  const connection = new Connection();
  connection.address = "postgresql://ana:secret@db.example.com/shop";
  return connection;
}

beforeEach(() => {
  host.sent = [];
  host.view = () => ({ results: [found()] });
  setLanguage("en");
});

test("the password is never a part of the address that is sent or shown", async () => {
  const connection = filled();
  await connection.look();
  expect(params()).toEqual({
    place: "postgresql://ana@db.example.com/shop",
    decisions: { sheets: [], columns: {}, skip_rejected: false, answers: { password: "secret" } },
    unattended: false,
  });
  expect(connection.phase).toBe("found");
  const page = shown(connection);
  expect(page).toContain("Address postgresql://ana@db.example.com/shop");
  expect(page).not.toContain("secret");
  expect(page).toContain("Cost summed Decimal number EUR");
  expect(page).toContain("Network not restricted.");
  expect(page).toContain("Nothing is connected yet.");
});

test("the tables of the database are a list, and the answer is kept for the connection", async () => {
  const tables = Array.from({ length: 80 }, (_, at) => `public.t${at}`);
  host.view = () => ({ results: [asks("table", tables)] });
  const connection = filled();
  await connection.look();
  const page = shown(connection);
  expect(page).toContain("The table? Find and 20 more; search to find them public.t0");
  expect(page).not.toContain("public.t70");
  await connection.connect();
  expect(host.sent.some(({ command }) => command === "source_add")).toBe(false);
  host.view = (command) => ({ results: [found(command === "source_add")] });
  await connection.answer("table", "public.t3");
  connection.name = "orders";
  await connection.connect();
  expect(params().decisions.answers).toEqual({ password: "secret", table: "public.t3" });
  expect(params().name).toBe("orders");
  expect([connection.phase, connection.password]).toEqual(["connected", ""]);
  expect(shown(connection)).toContain("orders is connected.");
});

test("a password that is missing is asked for in its field", async () => {
  host.view = () => ({ results: [asks("password")] });
  const connection = new Connection();
  connection.address = "postgresql://ana@db/shop";
  await connection.look();
  expect([connection.phase, connection.lacksPassword]).toEqual(["form", true]);
  expect(shown(connection)).toContain("The database asks for a password.");
});

test("a driver that nobody accepted is a question with its path and hash", async () => {
  host.view = () => ({
    results: [asks("driver", ["Use /usr/lib/libadbc_driver_snowflake.so (sha256 ab12)", "no"])],
  });
  const connection = new Connection();
  connection.address = "snowflake://me@acme/db";
  expect(shown(connection)).toContain("needs an ADBC driver");
  await connection.look();
  expect(shown(connection)).toContain("Use /usr/lib/libadbc_driver_snowflake.so (sha256 ab12)");
  await connection.answer("driver", "ab12");
  expect(params().decisions.answers).toEqual({ driver: "ab12" });
  // Another address asks again.
  connection.address = "snowflake://me@other/db";
  await connection.look();
  expect(params().decisions.answers).toEqual({});
});

const DRIVER = {
  path: `/home/ana/.local/share/${"drivers_of_the_department/".repeat(6)}libadbc_driver_snowflake.so`,
  hash: "0123456789abcdef".repeat(4),
  hosts: "acme.snowflakecomputing.com:443, store.example.com:443",
};
/** Returns the question for a driver as the host asks it. */
function asksDriver(path = DRIVER.path) {
  const filled = (key: string, params: Record<string, Text>) => ({
    key,
    params,
    text: key.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = params[name]!;
      return typeof value === "string" ? value : value.text;
    }),
  });
  const { hash, hosts } = DRIVER;
  const what = filled("The driver {file} does not come with Countersign. Its SHA-256 is {hash}.", {
    file: path,
    hash,
  });
  const may = filled(
    "It runs as a program without your files, reaches only {hosts}, and gets the password and the rows of this source.",
    { hosts },
  );
  const [question] = asks("driver").questions;
  const choices = [{ value: hash, label: "Yes, load this library" }];
  return resultOf({
    source: "shop",
    report: reportOf({ columns: [] }),
    questions: [{ ...question!, text: filled("{what} {may} Load it?", { what, may }), choices }],
  });
}

test.each([
  ["en", "Load it?", "Yes, load this library"],
  ["sv", "Ladda den?", "Ja, ladda biblioteket"],
  ["de", "Laden?", "Ja, diese Bibliothek laden"],
])(
  "a driver is asked about in %s with its whole path, hash and hosts, and answered by a key",
  async (language, ends, yes) => {
    setLanguage(language);
    host.view = () => ({ results: [asksDriver()] });
    const connection = new Connection();
    connection.address = "snowflake://me@acme/db";
    await connection.look();
    const { body } = render(ConnectView, { props: { connection } });
    const page = textsOf(body);
    for (const part of [DRIVER.path, DRIVER.hash, DRIVER.hosts, ends]) expect(page).toContain(part);
    // The answer is a button of the question, which Tab reaches and Enter presses. The source cannot be connected before it.
    const [question = ""] = /<section[^>]*data-question="driver".*?<\/section>/s.exec(body) ?? [];
    const buttons = [...question.matchAll(/<button\b([^>]*)>(.*?)<\/button>/gs)];
    expect(buttons.map(([, , label = ""]) => textsOf(label))).toEqual([yes]);
    expect(buttons[0]![1]).not.toMatch(/disabled|tabindex|aria-hidden/);
    const name = /aria-labelledby="([^"]+)"/.exec(question)![1]!;
    expect(question).toContain(`id="${name}"`);
    await connection.connect();
    expect(host.sent.some(({ command }) => command === "source_add")).toBe(false);
    host.view = () => ({ results: [found()] });
    await connection.answer("driver", DRIVER.hash);
    expect(params().decisions.answers).toEqual({ driver: DRIVER.hash });
  },
);

test("a path that would read as another one shows the characters that turn it", async () => {
  host.view = () => ({ results: [asksDriver("/opt/\u202eos.rebmun/lib\u200b.so")] });
  const connection = new Connection();
  connection.address = "snowflake://me@acme/db";
  await connection.look();
  const page = shown(connection);
  expect(page).not.toMatch(/[\u202e\u200b]/);
  expect(page).toContain("U+202E os.rebmun/lib U+200B .so");
});

test("the hosts of a driver are those of the address unless the person names them", async () => {
  const connection = filled();
  expect(shown(connection)).not.toContain("Hosts that the driver may reach");
  connection.address = "snowflake://me@acme/db";
  expect(shown(connection)).toContain("Hosts that the driver may reach");
  await connection.look();
  expect(params().decisions.answers).toEqual({});
  connection.hosts = " acme.example.com:443 store.example.com:443 ";
  await connection.look();
  expect(params().decisions.answers).toEqual({
    hosts: "acme.example.com:443 store.example.com:443",
  });
  // The driver that ships reaches the host of its address, and no other.
  connection.address = "postgresql://ana@db.example.com/shop";
  await connection.look();
  expect(params().decisions.answers).toEqual({});
  connection.reset();
  expect(connection.hosts).toBe("");
});

test("the library of a driver that is not installed is typed or chosen", async () => {
  host.view = () => ({ results: [asks("library")] });
  const connection = new Connection();
  connection.address = "acme://me@acme/db";
  await connection.look();
  expect(shown(connection)).toContain("The library? Answer Choose a file");
});

test("a server that does not answer shows why, and the form stays as it was", async () => {
  const failure = {
    code: "invalid_input",
    message: "Nothing takes the connection at db.example.com:5432.",
    details: { hint: "Check the host and the port." },
    retryable: true,
    contract_version: "1.0",
  };
  host.view = () => ({ failure });
  const connection = filled();
  await connection.look();
  expect(connection.phase).toBe("form");
  const page = shown(connection);
  expect(page).toContain("Nothing takes the connection at db.example.com:5432. Check the host");
  expect([connection.address, connection.password]).toEqual([
    "postgresql://ana@db.example.com/shop",
    "secret",
  ]);
});

test("an address that cannot be one is not sent, and a stopped look says so", async () => {
  const connection = new Connection();
  connection.address = "db.example.com/shop";
  await connection.look();
  expect(host.sent).toEqual([]);
  expect(shown(connection)).toContain("The address begins with the kind of database");
  connection.address = "postgresql://db/shop";
  host.view = () => ({ is_stopped: true });
  await connection.look();
  expect(connection.phase).toBe("form");
  expect(shown(connection)).toContain("Stopped. Nothing is connected.");
});

test("a connection that is left forgets the password", async () => {
  const connection = filled();
  await connection.look();
  connection.reset();
  expect([connection.phase, connection.address, connection.password]).toEqual(["form", "", ""]);
  expect(connection.result).toBeNull();
});
