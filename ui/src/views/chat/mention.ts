// Specialists named with @ in the message field: the word that is being typed, the specialists that fit it, and the text with the chosen
// name. Knows nothing of the page.
import type { AgentView } from "../../platform/generated/AgentView";

type Named = Pick<AgentView, "id" | "name" | "enabled">;

/** A name being typed: the index of its @, and the text after it up to the caret. */
export interface Mention {
  at: number;
  typed: string;
}

/** Returns the name that is being typed at the caret, or null. */
export function mentionAt(text: string, caret: number): Mention | null {
  const before = text.slice(0, caret);
  const found = /(?:^|[\s(])@([^\s@]*)$/u.exec(before);
  if (!found) return null;
  const typed = found[1] ?? "";
  return { at: caret - typed.length - 1, typed };
}

/** Returns the specialists that may answer and whose name or id begins with the typed text. */
export function fitting<T extends Named>(agents: readonly T[], typed: string): T[] {
  const wanted = typed.toLocaleLowerCase();
  const fits = (name: string): boolean => name.toLocaleLowerCase().startsWith(wanted);
  return agents.filter((agent) => agent.enabled && (fits(agent.name) || fits(agent.id)));
}

/** Returns the text with the whole name in place of the typed part, and the caret after the name. */
export function withName(
  text: string,
  { at, typed }: Mention,
  name: string,
): { text: string; caret: number } {
  const rest = text.slice(at + 1 + typed.length);
  const start = `${text.slice(0, at)}@${name}`;
  const gap = /^\s/u.test(rest) ? "" : " ";
  return { text: `${start}${gap}${rest}`, caret: start.length + 1 };
}
