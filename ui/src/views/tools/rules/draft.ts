// Rules that are edited in a form, and the text of the rules file that they make. Parts that the form does not show are kept as they are,
// and numbers keep their digits. Pure.
import type { MessageKey } from "../../../i18n/index.svelte";
import { read, write, type Node } from "../../../approval/edit/json";
import { CALLERS, ruleOf } from "../../../approval/ruleWords";
import type { Effect } from "../../../platform/generated/Effect";
import type { RuleAction } from "../../../platform/generated/RuleAction";

export interface RuleDraft {
  /** Identifies the rule while its id is edited. */
  key: number;
  id: string;
  action: RuleAction;
  tool: string;
  effect: Effect | "";
  /** The arguments that must be equal, as an object. */
  values: Node;
  callers: string[];
  /** The time from which the rule has no effect, as in the file; empty for never. */
  until: string;
  reason: string;
}

/** The rules file as the form holds it. */
export interface FileDraft {
  rules: RuleDraft[];
  /** The other members of the file, unchanged. */
  others: { name: string; value: Node }[];
}

/** The longest id, pattern or name of a caller that a rules file can have, in bytes. */
const MOST_BYTES = 200;
/** The most rules that a rules file can have. */
export const MOST_RULES = 1_000;
const EFFECTS = ["read_only", "write", "destructive"] as const;

let lastKey = 0;

/** Returns a rule to begin with. */
export function newRule(tool = ""): RuleDraft {
  return {
    key: ++lastKey,
    id: "",
    action: "ask",
    tool,
    effect: "",
    values: { kind: "object", members: [] },
    callers: [],
    until: "",
    reason: "",
  };
}

/** Reads the text of a rules file that the host wrote. */
export function readFile(text: string): FileDraft {
  const file = read(text);
  const members = file.kind === "object" ? file.members : [];
  const list = members.find(({ name }) => name === "rules")?.value;
  return {
    rules: list?.kind === "array" ? list.items.flatMap(draftOf) : [],
    others: members.filter(({ name }) => name !== "rules"),
  };
}

function draftOf(node: Node): RuleDraft[] {
  const rule = ruleOf(node);
  if (!rule || rule.action === "grant" || node.kind !== "object") return [];
  const values = node.members.find(({ name }) => name === "arguments")?.value;
  return [
    {
      ...newRule(rule.tool),
      id: rule.id,
      action: rule.action,
      effect: EFFECTS.find((known) => known === rule.effect) ?? "",
      values: values?.kind === "object" ? values : { kind: "object", members: [] },
      callers: rule.callers,
      until: rule.until,
      reason: rule.reason,
    },
  ];
}

const textNode = (text: string): Node => ({ kind: "string", text });

/** Returns a rule as it stands in the file. */
export function nodeOf(rule: RuleDraft): Node {
  const members: { name: string; value: Node }[] = [
    { name: "id", value: textNode(rule.id) },
    { name: "action", value: textNode(rule.action) },
    { name: "tool", value: textNode(rule.tool) },
  ];
  const add = (name: string, isGiven: boolean, value: Node): void => {
    if (isGiven) members.push({ name, value });
  };
  add("effect", rule.effect !== "", textNode(rule.effect));
  add("arguments", rule.values.kind === "object" && rule.values.members.length > 0, rule.values);
  add("callers", rule.callers.length > 0, {
    kind: "array",
    items: rule.callers.map(textNode),
  });
  add("expires_at", rule.until !== "", textNode(rule.until));
  add("reason", rule.reason !== "", textNode(rule.reason));
  return { kind: "object", members };
}

/** Returns the text of the rules file. */
export function writeFile({ rules, others }: FileDraft): string {
  const list: Node = { kind: "array", items: rules.map(nodeOf) };
  return write({ kind: "object", members: [...others, { name: "rules", value: list }] });
}

/** Returns the text of a rules file without one of its permissions. */
export function withoutGrant(text: string, id: string): string {
  const file = readFile(text);
  const others = file.others.map(({ name, value }) =>
    name === "grants" && value.kind === "array"
      ? { name, value: { ...value, items: value.items.filter((one) => ruleOf(one)?.id !== id) } }
      : { name, value },
  );
  return writeFile({ ...file, others });
}

/** Returns an id for a rule, made from what it does, that no other rule has. */
export function freeId(rule: RuleDraft, taken: readonly string[]): string {
  const tool = rule.tool.replaceAll("*", "all").replace(/[^\p{L}\p{N}._-]+/gu, "-");
  const begin = `${rule.action}-${tool}`.slice(0, 60);
  for (let count = 1; ; count++) {
    const id = count === 1 ? begin : `${begin}-${count}`;
    if (!taken.includes(id)) return id;
  }
}

const tooLong = (text: string): boolean => new TextEncoder().encode(text).length > MOST_BYTES;

/** Whether a text names a caller that a rule can have. */
export function isCaller(name: string): boolean {
  const [kind = "", own] = name.split(/:(.*)/su);
  if (tooLong(name) || !CALLERS.some((known) => known === kind)) return false;
  return own === undefined || (own !== "" && (kind === "agent" || kind === "schedule"));
}

export type RuleField = "id" | "tool" | "callers" | "until";

/** Returns what is wrong with the fields of a rule. The host checks all of it again. */
export function problems(
  rule: RuleDraft,
  others: readonly RuleDraft[],
): Partial<Record<RuleField, MessageKey>> {
  const found: Partial<Record<RuleField, MessageKey>> = {};
  if (rule.tool.trim() === "") found.tool = "rule_form.no_tool";
  else if (tooLong(rule.tool)) found.tool = "rule_form.too_long";
  if (tooLong(rule.id)) found.id = "rule_form.too_long";
  else if (others.some((other) => other.key !== rule.key && other.id === rule.id))
    found.id = "rule_form.id_taken";
  if (!rule.callers.every(isCaller)) found.callers = "rule_form.no_caller";
  if (rule.until !== "" && Number.isNaN(Date.parse(rule.until))) found.until = "rule_form.no_time";
  return found;
}

const two = (value: number): string => String(value).padStart(2, "0");

/** Returns a time as a field for dates and times shows it, in the computer's zone. */
export function localTime(until: string): string {
  const at = new Date(until);
  if (until === "" || Number.isNaN(at.getTime())) return "";
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** Returns the time of a field for dates and times as it stands in the file. A time that was not changed keeps its seconds. */
export function storedTime(local: string, before: string): string {
  if (local === localTime(before)) return before;
  const at = new Date(local);
  // A text that is no time is kept, so that it is a problem and not a rule without an end.
  return local === "" || Number.isNaN(at.getTime()) ? local : at.toISOString();
}

const RANKS: Record<RuleAction, number> = { deny: 0, ask: 1, allow: 2 };

/** Returns the rules in the order in which they are examined. */
export function inOrder(rules: readonly RuleDraft[]): RuleDraft[] {
  return [...rules].sort((a, b) => RANKS[a.action] - RANKS[b.action]);
}
