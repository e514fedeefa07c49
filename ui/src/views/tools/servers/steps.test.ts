// Adding a server: the order of the steps, the values that the form sends, and that a person confirms everything.
import { describe, expect, test } from "vitest";
import type { NewServer } from "../../../platform/generated/NewServer";
import type { ReadServer } from "../../../platform/generated/ReadServer";
import {
  argumentNumber,
  accepted,
  changedTools,
  draftOf,
  firstAnswers,
  isComplete,
  isName,
  linesOf,
  onlyNumbersDiffer,
  pairProblem,
  runsServer,
  serverOf,
  skipsTest,
  stepAfterReading,
  stepAfterTest,
  stepBefore,
  textOf,
  valuesOf,
  wasStopped,
  withKey,
  withRow,
} from "./steps";

const PROGRAM: NewServer = {
  name: "github",
  command: "npx",
  args: ["-y", "@example/server-github"],
  env: { GITHUB_TOKEN: "secret" },
  url: "",
  headers: {},
  sign_in: false,
  network: true,
  not_keys: [],
  cwd: "",
  keys: [],
  enabled: true,
};
const ADDRESS: NewServer = {
  ...PROGRAM,
  name: "far",
  command: "",
  args: [],
  env: {},
  url: "https://mcp.example.com/mcp",
  headers: { Authorization: "Bearer secret" },
};
const read = (server: NewServer): ReadServer => ({
  server,
  runs: server.command || server.url,
  shows: [],
  unsure: [],
  asks: [],
  notes: [],
});

describe("the order of the steps", () => {
  test("the user chooses among several servers, and a single server needs no choice", () => {
    expect(stepAfterReading([read(PROGRAM)])).toBe("details");
    expect(stepAfterReading([read(ADDRESS), read(PROGRAM)])).toBe("choose");
  });
  test("going back leads to the step that the user came from", () => {
    expect(stepBefore("details", [read(PROGRAM)])).toBe("source");
    expect(stepBefore("details", [read(ADDRESS), read(PROGRAM)])).toBe("choose");
    expect(stepBefore("choose", [])).toBe("source");
    expect(stepBefore("run", [])).toBe("details");
    expect(stepBefore("effects", [])).toBe("run");
  });
  test("only a server that passed its test leads to the step with its tools", () => {
    const tested = {
      ok: true,
      runs: "",
      log: [],
      tools: [],
      notes: [],
      works_without_network: false,
    };
    expect(stepAfterTest(tested)).toBe("effects");
    expect(stepAfterTest({ ...tested, ok: false })).toBe("run");
  });
  test("an address that needs a sign-in is not tested before the sign-in", () => {
    expect(skipsTest({ ...ADDRESS, sign_in: true })).toBe(true);
    expect(skipsTest(ADDRESS)).toBe(false);
    expect(skipsTest({ ...PROGRAM, sign_in: true })).toBe(false);
  });
});

describe("the form", () => {
  test("the form gives back the server that was read", () => {
    expect(serverOf(draftOf(PROGRAM))).toEqual(PROGRAM);
    expect(serverOf(draftOf(ADDRESS))).toEqual(ADDRESS);
  });
  test("editing the form does not change the server that was read", () => {
    const draft = draftOf(PROGRAM);
    draft.server.name = "other";
    expect(PROGRAM.name).toBe("github");
  });
  test("the form leaves empty rows out and keeps values as they are", () => {
    const draft = draftOf(PROGRAM);
    const more = { id: 7, name: " LOG_LEVEL ", value: " debug " };
    draft.pairs = withRow([...draft.pairs, more]);
    expect(serverOf(draft).env).toEqual({ GITHUB_TOKEN: "secret", LOG_LEVEL: " debug " });
    expect(draft.pairs.at(-1)).toEqual({ id: 8, name: "", value: "" });
    expect(isComplete(draft)).toBe(true);
  });
  test("the form names the rows that cannot be sent", () => {
    const draft = draftOf(PROGRAM);
    const problem = (name: string, value = "x") => {
      const pair = { id: 9, name, value };
      return pairProblem({ ...draft, pairs: [...draft.pairs, pair] }, pair);
    };
    expect(problem("", "")).toBeNull();
    expect(problem("")).toBe("name_missing");
    expect(problem("MY-KEY")).toBe("name_bad");
    expect(problem("1KEY")).toBe("name_bad");
    expect(problem("GITHUB_TOKEN")).toBe("name_twice");
    expect(problem("github_token")).toBeNull();
  });
  test("names of headers may have hyphens and do not differ by case", () => {
    const draft = draftOf(ADDRESS);
    const problem = (name: string) => {
      const pair = { id: 9, name, value: "x" };
      return pairProblem({ ...draft, pairs: [...draft.pairs, pair] }, pair);
    };
    expect(problem("X-Api-Key")).toBeNull();
    expect(problem("authorization")).toBe("name_twice");
    expect(problem("X Key")).toBe("name_bad");
  });
  test("the form accepts the names that the host accepts", () => {
    for (const name of ["github", "a", "my-server-2"]) expect(isName(name)).toBe(true);
    for (const name of ["", "GitHub", "a b", "-a", "a-", "a--b", "å", "x".repeat(41)])
      expect(isName(name)).toBe(false);
  });
});

test("the host reads the corrected server again under its name", () => {
  expect(JSON.parse(textOf(PROGRAM))).toEqual({
    mcpServers: {
      github: {
        command: "npx",
        args: PROGRAM.args,
        cwd: "",
        env: PROGRAM.env,
        network: true,
        not_keys: [],
        keys: [],
        enabled: true,
      },
    },
  });
  expect(JSON.parse(textOf(ADDRESS))).toEqual({
    mcpServers: {
      far: { url: ADDRESS.url, headers: ADDRESS.headers, not_keys: [], keys: [], enabled: true },
    },
  });
});

test("a server that was off is added without a test, and keeps its folder and its keys", () => {
  const off = { ...PROGRAM, cwd: "/srv", keys: ["letmein"], enabled: false };
  expect(skipsTest(off)).toBe(true);
  const text = JSON.parse(textOf(serverOf(draftOf(off)))) as { mcpServers: { github: unknown } };
  expect(text.mcpServers.github).toMatchObject({
    cwd: "/srv",
    keys: ["letmein"],
    enabled: false,
  });
  expect(valuesOf({ API_KEY: "k", ROOT: "" })).toEqual({ API_KEY: "k" });
});

test("tools are accepted as they were shown, and nothing is confirmed until the user says so", () => {
  const tools = [
    {
      name: "read",
      description: "",
      input_schema: {},
      hash: "a1",
      hash_without_numbers: "a0",
      says: "read_only",
      effect: "destructive",
    },
    {
      name: "delete",
      description: "",
      input_schema: {},
      hash: "b2",
      hash_without_numbers: "b0",
      effect: "destructive",
    },
  ] as const;
  const answers = firstAnswers(tools);
  expect(accepted(tools, answers)).toEqual({ read: { hash: "a1" }, delete: { hash: "b2" } });
  answers["read"] = "read_only";
  expect(accepted(tools, answers)["read"]).toEqual({ hash: "a1", effect: "read_only" });
  expect(accepted(tools, answers, true)["delete"]).toEqual({ hash: "b0" });
  const later = tools.map((tool) => ({ ...tool, hash: "c3" }));
  expect(onlyNumbersDiffer(tools, later)).toBe(true);
  expect(onlyNumbersDiffer(tools, later.slice(1))).toBe(false);
});

test("tools that differ from the shown ones are shown again", () => {
  const tools = [{ name: "read", hash: "c3" }];
  expect(changedTools({ details: { reason: "changed", tools } })).toEqual(tools);
  expect(changedTools({ details: { reason: "exists", tools } })).toBeNull();
});

test("a value that looks random is a key until the user says that it is not", () => {
  expect(withKey([], "args/1", false)).toEqual(["args/1"]);
  expect(withKey(["args/1"], "args/1", false)).toEqual(["args/1"]);
  expect(withKey(["args/1", "env/A"], "args/1", true)).toEqual(["env/A"]);
});

test("the last lines of an error are text only", () => {
  expect(linesOf({ log: ["a", 1, "b"] })).toEqual(["a", "b"]);
  expect(linesOf({ log: "a" })).toEqual([]);
  expect(linesOf({})).toEqual([]);
});

describe("stopping", () => {
  test("only stopping a test or the first start ends a program", () => {
    expect((["read", "check", "test", "add", null] as const).filter(runsServer)).toEqual([
      "test",
      "add",
    ]);
  });
  test("a request that the user stopped is no failure", () => {
    expect(wasStopped({ details: { reason: "stopped" } })).toBe(true);
    expect(wasStopped({ details: { reason: "server_not_started" } })).toBe(false);
    expect(wasStopped({ details: {} })).toBe(false);
  });
});

test("the number of an argument is counted from one", () => {
  expect([argumentNumber("args/0"), argumentNumber("args/11")]).toEqual([1, 12]);
});
