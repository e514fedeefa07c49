// The origin of an answer: the specialist, the results and memories that it was written from, and the values held back from
// the model. Pure.
import type { RedactionCount } from "../../../platform/generated/RedactionCount";
import type { AssistantEntry, Entry, ToolEntry } from "../../../state/transcript";

export interface Provenance {
  agent: string | null;
  /** The calls since the previous answer, whose results the model had read when it wrote this answer. */
  sources: ToolEntry[];
  /** The ids of memories. */
  memories: string[];
  heldBack: RedactionCount[];
}

export interface Provenances {
  /** The origins, by the key of the answer. */
  byAnswer: Map<string, Provenance>;
  /** The keys of entries that are shown in the line of an answer instead. */
  inLines: Set<string>;
}

/** Returns the origin of each finished answer. Redactions of a turn belong to its last answer. */
export function provenances(entries: readonly Entry[]): Provenances {
  const found: Provenances = { byAnswer: new Map(), inLines: new Set() };
  let sources: ToolEntry[] = [];
  let last: { turn: string; line: Provenance } | null = null;
  let waiting: Extract<Entry, { kind: "redaction" }>[] = [];
  for (const entry of entries) {
    if (entry.kind === "user") [sources, waiting, last] = [[], [], null];
    else if (entry.kind === "tool" && entry.outcome === "ok") sources.push(entry);
    else if (entry.kind === "redaction") waiting.push(entry);
    else if (entry.kind === "assistant" && !entry.live) {
      last = { turn: entry.turn, line: lineOf(entry, sources) };
      found.byAnswer.set(entry.key, last.line);
      sources = [];
    }
    if (last?.turn !== entry.turn) continue;
    for (const redaction of waiting) {
      addCounts(last.line.heldBack, redaction.counts);
      found.inLines.add(redaction.key);
    }
    waiting = [];
  }
  return found;
}

const lineOf = (answer: AssistantEntry, sources: ToolEntry[]): Provenance => ({
  agent: answer.agent,
  sources,
  memories: answer.remembered,
  heldBack: [],
});

/** Adds counts to a list in which each kind occurs once. */
function addCounts(all: RedactionCount[], more: readonly RedactionCount[]): void {
  for (const { kind, count } of more) {
    const known = all.find((one) => one.kind === kind);
    if (known) known.count += count;
    else all.push({ kind, count });
  }
}

export function isEmpty({ agent, sources, memories, heldBack }: Provenance): boolean {
  return agent === null && sources.length + memories.length + heldBack.length === 0;
}
