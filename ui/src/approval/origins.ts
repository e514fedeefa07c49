// Words the origin of a proposal's values: the marks at each argument, the changes by a person, and the line about all other values. Pure.
import { named } from "../i18n/host";
import { t } from "../i18n/index.svelte";
import { readableName } from "../lib/names";
import type { Approval } from "../platform/generated/Approval";
import type { ChangedValue } from "../platform/generated/ChangedValue";
import type { OutsideValue } from "../platform/generated/OutsideValue";
import type { UntrustedContent } from "../platform/generated/UntrustedContent";
import { argumentRows } from "./hidden";

/** Returns the steps of a JSON Pointer. */
export function steps(path: string): string[] {
  return path
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Returns the path of a value inside its argument; empty if the value is the argument itself. Entries of a list are counted from 1. */
export function inside(path: string): string {
  return steps(path)
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? String(Number(step) + 1) : readableName(step)))
    .join(" › ");
}

/** Returns the path of a value in words, beginning with its argument. */
export function place(path: string): string {
  const [argument = ""] = steps(path);
  return [readableName(argument), inside(path)].filter((part) => part !== "").join(" › ");
}

const ofArgument = (name: string) => (value: { path: string }) => steps(value.path)[0] === name;

export interface Notes {
  outside: OutsideValue[];
  changed: ChangedValue[];
}

/** Returns the notes beside one argument. */
export function notesOf(approval: Approval, name: string): Notes {
  return {
    outside: (approval.details?.from_outside ?? []).filter(ofArgument(name)),
    changed: (approval.details?.changed ?? []).filter(ofArgument(name)),
  };
}

/** Returns the changes of arguments that the request no longer has. */
export function removedArguments(approval: Approval, names: readonly string[]): ChangedValue[] {
  return (approval.details?.changed ?? []).filter(
    (change) => !names.includes(steps(change.path)[0] ?? ""),
  );
}

/** Returns a value as it is shown: a text without its quotation marks, anything else as JSON. */
export function shownValue(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "string" ? value : json;
  } catch {
    return json;
  }
}

const MOST = 120;
const LEAD = 30;

/** Cuts both values to the part where they begin to differ. The request shows the new value in full. */
function cutPair(before: string, after: string): { before: string; after: string } {
  const [old, now] = [[...before], [...after]];
  if (old.length <= MOST && now.length <= MOST) return { before, after };
  const differs = old.findIndex((letter, index) => letter !== now[index]);
  const from = Math.max(0, (differs < 0 ? old.length : differs) - LEAD);
  const cut = (text: string[]): string =>
    `${from > 0 ? "…" : ""}${text.slice(from, from + MOST).join("")}${text.length > from + MOST ? "…" : ""}`;
  return { before: cut(old), after: cut(now) };
}

export function wordChange({ before, after }: ChangedValue): string {
  if (before != null && after != null)
    return t("approval.value_changed", cutPair(shownValue(before), shownValue(after)));
  if (after != null) return t("approval.value_added", { after: shownValue(after) });
  return t("approval.value_removed", { before: shownValue(before ?? "") });
}

/** Returns the source of a passage in words. */
export function wordSource(passage: UntrustedContent | null | undefined): string {
  if (!passage) return t("approval.from_long");
  return passage.tool_title
    ? t("approval.from_outside", { tool: named(passage.tool_title), server: passage.server })
    : t("approval.from_memory");
}

/** Splits a passage at the value: the text before, the value, the text after. The value is empty if the passage has it in other words. */
export function passageParts(excerpt: string, value: string): [string, string, string] {
  const at = value ? excerpt.toLowerCase().indexOf(value.toLowerCase()) : -1;
  if (at < 0) return [excerpt, "", ""];
  const end = at + value.length;
  return [excerpt.slice(0, at), excerpt.slice(at, end), excerpt.slice(end)];
}

/** Returns the value at a path of the arguments, as text. */
export function valueAt(canonical: string, path: string): string {
  let value: unknown;
  try {
    value = JSON.parse(canonical);
  } catch {
    return "";
  }
  for (const step of steps(path)) {
    if (typeof value !== "object" || value === null) return "";
    value = (value as Record<string, unknown>)[step];
  }
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

/** Returns the line about the values that are not marked; empty without earlier content from outside, or if their origin is unknown. */
export function wordOrigins(approval: Approval): string {
  const { details, follows = [] } = approval;
  if (!details || follows.length === 0) return "";
  const title = (from: UntrustedContent): string =>
    from.tool_title ? named(from.tool_title) : t("approval.follows_memory");
  const sources = [...new Set(follows.map(title))].join(", ");
  const chosen = [...new Set((details.by_assistant ?? []).map(place))];
  const names = chosen.join(", ");
  // A call without arguments has no values.
  const none = argumentRows(approval.arguments)?.length === 0;
  if (details.from_outside?.length || none)
    return chosen.length > 0
      ? t("approval.assistant_chose", { names, sources })
      : t("approval.read_before", { sources });
  return chosen.length > 0
    ? t("approval.yours_but", { names, sources })
    : t("approval.yours", { sources });
}
