// The instructions of tools as a person reads them: tools with the same instructions together, found by words, and the limits that most
// specialists share. Pure.
import type { AgentView } from "../../platform/generated/AgentView";
import type { InstructionsView } from "../../platform/generated/InstructionsView";

/** Tools with the same instructions. */
export interface Told {
  tools: readonly string[];
  /** The instructions; those of the first of the tools. */
  view: InstructionsView;
}

/** Returns each set of instructions once, with its tools. Tools without instructions come last. */
export function joinSame(views: readonly InstructionsView[]): Told[] {
  const found = new Map<string, { tools: string[]; view: InstructionsView }>();
  for (const view of views) {
    const { state, place, problems, sections } = view;
    const words = sections.map(({ title, keywords }) => [title, keywords]);
    const key = JSON.stringify([state, place ?? null, problems, words]);
    const same = found.get(key);
    if (same) same.tools.push(view.tool);
    else found.set(key, { tools: [view.tool], view });
  }
  const all = [...found.values()];
  const isMissing = ({ view }: Told): boolean => view.state === "missing";
  return [...all.filter((one) => !isMissing(one)), ...all.filter(isMissing)];
}

/** The time at which one of the tools was used last. */
export function lastUsed(views: readonly InstructionsView[], tools: readonly string[]): string {
  const times = views.filter(({ tool }) => tools.includes(tool)).map((one) => one.last_used ?? "");
  return times.sort().at(-1) ?? "";
}

/** Whether all words of a search occur in some of the texts. */
export function fits(query: string, texts: readonly string[]): boolean {
  const all = texts.join("\n").toLocaleLowerCase();
  return query
    .toLocaleLowerCase()
    .split(/\s+/u)
    .every((word) => all.includes(word));
}

export type Limits = Pick<AgentView, "rounds" | "calls_per_round">;
const keyOf = ({ rounds, calls_per_round }: Limits): string => `${rounds} ${calls_per_round}`;

/** Whether two specialists have the same limits. */
export const sameLimits = (a: Limits, b: Limits): boolean => keyOf(a) === keyOf(b);

/** Returns the limits that most specialists have; null if there is no specialist. */
export function usualLimits(agents: readonly Limits[]): Limits | null {
  const count = (of: Limits): number => agents.filter((one) => sameLimits(one, of)).length;
  return [...agents].sort((a, b) => count(b) - count(a))[0] ?? null;
}
