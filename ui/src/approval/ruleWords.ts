// A rule of the policy in words, made from its exact text. Names and values of the rule are pieces of their own, so that none of them can
// pass for a part of the sentence. Pure.
import { formatDateTime, t, type MessageKey } from "../i18n/index.svelte";
import { read, write, type Node } from "./edit/json";

/** A part of a sentence. An exact piece stands in the rule, every other one is ours. */
export interface Piece {
  text: string;
  isExact: boolean;
}

/** The members of a rule or of a grant. */
export interface ExactRule {
  /** The effect of the rule on a call; `grant` for a permission. */
  action: "deny" | "ask" | "allow" | "grant";
  id: string;
  tool: string;
  /** The kind of tools that the rule is limited to; empty if it is not. */
  effect: string;
  /** The arguments that must be equal, each as JSON text. */
  values: { name: string; value: string }[];
  /** The callers that the rule is limited to; empty if it is not. */
  callers: string[];
  /** The time from which the rule has no effect, as it is written; empty if there is none. */
  until: string;
  /** The conversation that a permission is limited to; empty if it is not. */
  session: string;
  reason: string;
}

const ACTIONS = ["deny", "ask", "allow"] as const;
/** The kinds of callers that a rule can name. */
export const CALLERS = [
  "window",
  "terminal",
  "chat_api",
  "agent",
  "schedule",
  "inside",
] as const satisfies readonly string[];

const EFFECTS: Record<string, MessageKey> = {
  read_only: "rule_words.only_reads",
  write: "rule_words.only_changes",
  destructive: "rule_words.only_destructive",
};

/** Reads a rule or a grant from its exact text. Returns null if the text is neither. */
export function readRule(text: string): ExactRule | null {
  try {
    return ruleOf(read(text));
  } catch {
    return null;
  }
}

/** Reads a rule or a grant from its tree. Returns null if the tree is neither. */
export function ruleOf(node: Node): ExactRule | null {
  if (node.kind !== "object") return null;
  const member = (name: string): Node | undefined =>
    node.members.find((one) => one.name === name)?.value;
  const word = (name: string): string => {
    const value = member(name);
    return value?.kind === "string" ? value.text : "";
  };
  const tool = word("tool");
  const written = word("action");
  const action = member("action") ? ACTIONS.find((known) => known === written) : "grant";
  if (tool === "" || !action) return null;
  const values = member("arguments");
  const callers = member("callers");
  return {
    action,
    id: word("id"),
    tool,
    effect: word("effect"),
    values:
      values?.kind === "object"
        ? values.members.map(({ name, value }) => ({ name, value: write(value) }))
        : [],
    callers:
      callers?.kind === "array"
        ? callers.items.flatMap((one) => (one.kind === "string" ? [one.text] : []))
        : [],
    until: word("expires_at"),
    session: word("session"),
    reason: word("reason"),
  };
}

const ours = (text: string): Piece => ({ text, isExact: false });
const exact = (text: string): Piece => ({ text, isExact: true });

/** Characters for private use stand for the parts while a sentence is looked up. */
const FIRST_MARK = 0xe000;

/** Fills parts into a sentence, whose language decides on their order. */
function filled(key: MessageKey, parts: Record<string, Piece[]>): Piece[] {
  const names = Object.keys(parts);
  const marks = names.map((_, index) => String.fromCharCode(FIRST_MARK + index));
  const vars = Object.fromEntries(names.map((name, index) => [name, marks[index] ?? ""]));
  return t(key, vars)
    .split(/([\uE000-\uE0FF])/u)
    .flatMap((text) => {
      const name = names[marks.indexOf(text)];
      return name === undefined ? [ours(text)] : (parts[name] ?? []);
    })
    .filter(({ text }) => text !== "");
}

/** Joins parts as a list. */
function listed(parts: Piece[][], between: MessageKey): Piece[] {
  return parts.flatMap((part, index) => (index === 0 ? part : [ours(t(between)), ...part]));
}

function toolWords(tool: string): Piece[] {
  if (tool === "*") return [ours(t("rule_words.every_tool"))];
  return tool.includes("*")
    ? filled("rule_words.tools_like", { tool: [exact(tool)] })
    : [exact(tool)];
}

/** Returns the name of a caller that a rule names. */
export function callerWords(name: string): Piece[] {
  const [kind = "", own] = name.split(/:(.*)/su);
  const known = CALLERS.find((one) => one === kind);
  if (!known) return [exact(name)];
  const label = ours(t(`caller.${known}`));
  return own === undefined
    ? [label]
    : filled("rule_words.named_caller", { kind: [label], name: [exact(own)] });
}

function untilWords(until: string): Piece[] {
  return Number.isNaN(Date.parse(until)) ? [exact(until)] : [ours(formatDateTime(until))];
}

/** Returns a rule or a grant as a sentence. */
export function ruleWords(rule: ExactRule): Piece[] {
  const only = EFFECTS[rule.effect];
  const values = rule.values.map(({ name, value }) =>
    filled("rule_words.value", { name: [exact(name)], value: [exact(value)] }),
  );
  const callers = rule.callers.map(callerWords);
  return filled(`rule_words.${rule.action}`, {
    tool: toolWords(rule.tool),
    effect: only ? [ours(t(only))] : rule.effect === "" ? [] : [exact(rule.effect)],
    values:
      values.length > 0
        ? filled("rule_words.if", { values: listed(values, "rule_words.and") })
        : [],
    callers: rule.action === "grant" ? [] : whoWords(callers),
    session:
      rule.session === "" ? [] : filled("rule_words.session", { session: [exact(rule.session)] }),
    until: rule.until === "" ? [] : filled("rule_words.until", { until: untilWords(rule.until) }),
  });
}

function whoWords(callers: Piece[][]): Piece[] {
  return callers.length > 0
    ? filled("rule_words.for", { callers: listed(callers, "rule_words.or") })
    : [ours(t("rule_words.anyone"))];
}

/** Returns the text of pieces, for a label. */
export const plain = (pieces: readonly Piece[]): string => pieces.map(({ text }) => text).join("");

/** Whether a rule has no effect any more. */
export const isExpired = (until: string, now: number): boolean => Date.parse(until) <= now;
