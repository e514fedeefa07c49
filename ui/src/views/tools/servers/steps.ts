// The steps of adding a server: the entered values, whether the form can be sent, the requests to the host, and the accepted tools and
// effects. Knows no component and no host; the dialog passes the calls in.
import type { AgentError } from "../../../platform/generated/AgentError";
import type { AcceptedTool } from "../../../platform/generated/AcceptedTool";
import type { Effect } from "../../../platform/generated/Effect";
import type { NewServer } from "../../../platform/generated/NewServer";
import type { ReadServer } from "../../../platform/generated/ReadServer";
import type { ServerTestResponse } from "../../../platform/generated/ServerTestResponse";
import type { TestedTool } from "../../../platform/generated/TestedTool";

export type Step = "source" | "choose" | "details" | "run" | "effects" | "done";

/** The requests of the dialog to the host. */
export type Request = "read" | "check" | "test" | "add";

/** A variable or a header in the form. */
export interface Pair {
  /** Identifies the row while its name changes. */
  id: number;
  name: string;
  value: string;
}

/** A server as the form has it. */
export interface Draft {
  server: NewServer;
  /** Variables of a program, or headers for an address. */
  pairs: Pair[];
}

/** Returns the step after a text was read. A single server needs no choice. */
export function stepAfterReading(found: readonly ReadServer[]): Step {
  return found.length === 1 ? "details" : "choose";
}

/** Returns the step before another one. */
export function stepBefore(step: Step, found: readonly ReadServer[]): Step {
  switch (step) {
    case "details":
      return found.length > 1 ? "choose" : "source";
    case "run":
      return "details";
    case "effects":
    case "done":
      return "run";
    case "source":
    case "choose":
      return "source";
  }
}

/** Whether the server is an address and not a program. */
export function isRemote(server: NewServer): boolean {
  return server.url !== "";
}

/** Copies a server into a form, so that editing the form does not change the server. */
export function draftOf(server: NewServer): Draft {
  const values = isRemote(server) ? server.headers : server.env;
  const pairs = Object.entries(values).map(([name, value], id) => ({ id, name, value }));
  return { server: { ...server }, pairs };
}

/** Returns the rows with an empty row at the end. */
export function withRow(pairs: readonly Pair[]): Pair[] {
  const id = Math.max(-1, ...pairs.map((pair) => pair.id)) + 1;
  return [...pairs, { id, name: "", value: "" }];
}

/** Whether a name can be the name of a server. */
export function isName(name: string): boolean {
  return name.length <= 40 && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name);
}

export type PairProblem = "name_missing" | "name_bad" | "name_twice";

/** Returns the problem of a row's name, or null. An empty row is left out and has no problem. */
export function pairProblem(draft: Draft, pair: Pair): PairProblem | null {
  const name = pair.name.trim();
  if (name === "") return pair.value === "" ? null : "name_missing";
  const remote = isRemote(draft.server);
  const allowed = remote ? /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/ : /^[A-Za-z_][A-Za-z0-9_]*$/;
  if (!allowed.test(name)) return "name_bad";
  // Names of variables differ by case, names of headers do not.
  const same = (other: Pair): boolean =>
    remote ? other.name.trim().toLowerCase() === name.toLowerCase() : other.name.trim() === name;
  return draft.pairs.some((other) => other.id !== pair.id && same(other)) ? "name_twice" : null;
}

/** Whether the form can be sent. */
export function isComplete(draft: Draft): boolean {
  return isName(draft.server.name) && draft.pairs.every((pair) => !pairProblem(draft, pair));
}

/** Returns the server that the form describes. Values stay as they were entered. */
export function serverOf({ server, pairs }: Draft): NewServer {
  const named = pairs.filter((pair) => pair.name.trim() !== "");
  const values = Object.fromEntries(named.map((pair) => [pair.name.trim(), pair.value]));
  return isRemote(server)
    ? { ...server, env: {}, headers: values, network: true }
    : { ...server, env: values, headers: {}, sign_in: false };
}

/** Returns the values that a person gave for the placeholders in other settings. */
export function valuesOf(given: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ""));
}

/** Returns the text from which the host reads the corrected server again, so that it finds the program and checks the values. */
export function textOf(server: NewServer): string {
  const entry = isRemote(server)
    ? { url: server.url, headers: server.headers }
    : {
        command: server.command,
        args: server.args,
        cwd: server.cwd,
        env: server.env,
        network: server.network,
      };
  const { not_keys, keys, enabled } = server;
  return JSON.stringify({ mcpServers: { [server.name]: { ...entry, not_keys, keys, enabled } } });
}

/** A person's classification of a tool; `unsure` confirms nothing, so that the tool counts as the most dangerous kind. */
export type Answer = Effect | "unsure";

/** Returns the initial answers: nothing is confirmed, whatever the server says. */
export function firstAnswers(tools: readonly TestedTool[]): Record<string, Answer> {
  return Object.fromEntries(tools.map((tool) => [tool.name, "unsure"]));
}

/** Returns the tools as they were shown, with the effects that a person confirmed. */
export function accepted(
  tools: readonly TestedTool[],
  answers: Readonly<Record<string, Answer>>,
  numbersMayChange = false,
): Record<string, AcceptedTool> {
  const accept = (tool: TestedTool): [string, AcceptedTool] => {
    const { name } = tool;
    const hash = numbersMayChange ? tool.hash_without_numbers : tool.hash;
    const effect = answers[name] ?? "unsure";
    return [name, effect === "unsure" ? { hash } : { hash, effect }];
  };
  return Object.fromEntries(tools.map(accept));
}

/** Returns the number of an argument, counted from 1, for a place such as `args/0`. */
export function argumentNumber(place: string): number {
  return Number(place.split("/").at(-1)) + 1;
}

/** Returns the places of values that are not keys, after the user has classified one value. */
export function withKey(notKeys: readonly string[], place: string, isKey: boolean): string[] {
  const others = notKeys.filter((other) => other !== place);
  return isKey ? others : [...others, place];
}

/** Returns the tools that a server listed when it was added, if they differ from the shown ones; null otherwise. */
export function changedTools(error: Pick<AgentError, "details">): TestedTool[] | null {
  const tools = error.details["tools"];
  if (error.details["reason"] !== "changed" || !Array.isArray(tools)) return null;
  return tools as TestedTool[];
}

/** Whether two lists of tools differ only in the numbers of their descriptions. */
export function onlyNumbersDiffer(
  before: readonly TestedTool[],
  now: readonly TestedTool[],
): boolean {
  const plain = (tools: readonly TestedTool[]): string =>
    JSON.stringify(tools.map((tool) => [tool.name, tool.hash_without_numbers]).sort());
  return plain(before) === plain(now);
}

/** Whether the server is added without a test: it is switched off, or the user signs in to it afterwards. */
export function skipsTest(server: NewServer): boolean {
  return !server.enabled || (isRemote(server) && server.sign_in);
}

/** Returns the step after a test. */
export function stepAfterTest(tested: ServerTestResponse): Step {
  return tested.ok ? "effects" : "run";
}

/** Whether a request starts the server, so that stopping it has to end a program. */
export function runsServer(request: Request | null): boolean {
  return request === "test" || request === "add";
}

/** Whether a request failed because the user stopped it. */
export function wasStopped(error: Pick<AgentError, "details">): boolean {
  return error.details["reason"] === "stopped";
}

/** Returns the last lines that came with an error of the host. */
export function linesOf(details: Readonly<Record<string, unknown>>): string[] {
  const log = details["log"];
  return Array.isArray(log) ? log.filter((line) => typeof line === "string") : [];
}
