// The entries of one conversation: their types, where a new one is put, and what is asked about them. Pure: functions change the state that
// they are given, and know neither host nor DOM. Stored items become entries in `items.ts`, and events in `transcript.ts`.
import type { AgentError } from "../platform/generated/AgentError";
import type { Approval } from "../platform/generated/Approval";
import type { ApprovalStatus } from "../platform/generated/ApprovalStatus";
import type { Choice } from "../platform/generated/Choice";
import type { Effect } from "../platform/generated/Effect";
import type { ItemBody } from "../platform/generated/ItemBody";
import type { QueuedMessage } from "../platform/generated/QueuedMessage";
import type { RedactionCount } from "../platform/generated/RedactionCount";
import type { ResultView } from "../platform/generated/ResultView";
import type { Stage } from "../platform/generated/Stage";
import type { SummaryMethod } from "../platform/generated/SummaryMethod";
import type { Text } from "../platform/generated/Text";
import type { ToolOutcome } from "../platform/generated/ToolOutcome";
import type { TurnVersions } from "../platform/generated/TurnVersions";
import type { BlockStream } from "./blocks";

/** The body of an item of one kind. */
export type Body<K extends ItemBody["kind"]> = Extract<ItemBody, { kind: K }>;
export type ToolResult = Body<"tool_result">;

interface Common {
  /** The key stays the same from the first event to the stored item, so that the element stays too. */
  key: string;
  turn: string;
  /** The place in the session; Infinity until the item is stored. */
  seq: number;
  at: string;
}
export interface UserEntry extends Common {
  kind: "user";
  text: string;
}
export interface AssistantEntry extends Common {
  kind: "assistant";
  text: string;
  stream: BlockStream;
  model: string | null;
  /** The specialist that wrote the answer. */
  agent: string | null;
  choices: Choice[];
  /** The ids of the memories that the model read for the answer. */
  remembered: string[];
  partial: boolean;
  /** Whether the answer is still being written. */
  live: boolean;
}
export interface ToolEntry extends Common {
  kind: "tool";
  call: string;
  tool: string;
  title: string;
  effect: Effect | null;
  args: unknown;
  outcome: ToolOutcome | null;
  summary: string;
  result: ToolResult | null;
  /** The pending action in full, while it is known. */
  approval: Approval | null;
  approvalStatus: ApprovalStatus | null;
  approvalReason: string | null;
}
export interface NoticeEntry extends Common {
  kind: "notice";
  level: Body<"notice">["level"];
  code: string;
  text: Text;
  error: AgentError | null;
}
/** The counts of a turn's redacted values. */
export interface RedactionEntry extends Common {
  kind: "redaction";
  counts: RedactionCount[];
}
/** The summary that the model reads from here on instead of the older messages. */
export interface SummaryEntry extends Common {
  kind: "summary";
  text: string;
  messages: number;
  method: SummaryMethod;
}
export type Entry =
  UserEntry | AssistantEntry | ToolEntry | RedactionEntry | SummaryEntry | NoticeEntry;

export interface Running {
  turn: string;
  stage: Stage;
  text: string | null;
  agent: string | null;
  /** The end of what the model thinks before it answers. Never stored. */
  thoughts?: string;
}

export interface Transcript {
  session: string;
  loaded: boolean;
  entries: Entry[];
  hasMore: boolean;
  /** Whether long-term memory is switched off for this conversation. */
  memoryOff: boolean;
  running: Running | null;
  queue: QueuedMessage[];
  /** The versions of each shown question that has several, by its turn. */
  versions: Record<string, TurnVersions>;
  /** The newest pinned results, by their place beside the conversation. A result stays even if its entry is far above or was never read. */
  pins: Record<string, Pin>;
  /** Whether an event was missed, so that the session must be reloaded. */
  stale: boolean;
}

/** A result beside the conversation. */
export interface Pin {
  seq: number;
  result: ToolResult;
}

export function emptyTranscript(session: string): Transcript {
  return {
    session,
    loaded: false,
    entries: [],
    hasMore: false,
    memoryOff: false,
    running: null,
    queue: [],
    versions: {},
    pins: {},
    stale: false,
  };
}

/** Adds an entry that has no stored place yet. */
export function add(state: Transcript, entry: Entry): void {
  state.entries.push(entry);
}

/** Puts a new entry where its `seq` belongs. */
export function place(state: Transcript, entry: Entry): void {
  let at = state.entries.length;
  while (at > 0 && state.entries[at - 1]!.seq > entry.seq) at--;
  state.entries.splice(at, 0, entry);
}

/** Gives an entry its stored place. The entry moves only if it has to, so that its element stays where it is. */
export function moveTo(state: Transcript, entry: Entry, seq: number, at: string): void {
  entry.seq = seq;
  entry.at = at;
  const index = state.entries.indexOf(entry);
  const fits =
    (state.entries[index - 1]?.seq ?? -1) < seq &&
    (state.entries[index + 1]?.seq ?? Infinity) > seq;
  if (!fits && index >= 0) place(state, state.entries.splice(index, 1)[0]!);
}

/** Returns the entry of a call, which is added if it is new. */
export function toolEntry(state: Transcript, call: string, turn: string, at: string): ToolEntry {
  const known = state.entries.find(
    (entry): entry is ToolEntry => entry.kind === "tool" && entry.call === call,
  );
  if (known) return known;
  const entry: ToolEntry = {
    kind: "tool",
    key: `call:${call}`,
    call,
    turn,
    seq: Infinity,
    at,
    tool: "",
    title: "",
    effect: null,
    args: null,
    outcome: null,
    summary: "",
    result: null,
    approval: null,
    approvalStatus: null,
    approvalReason: null,
  };
  add(state, entry);
  return state.entries.at(-1) as ToolEntry;
}

/** Returns the `seq` before which older items are requested. */
export function firstSeq(state: Transcript): number | null {
  const seq = Math.min(...state.entries.map((entry) => entry.seq));
  return Number.isFinite(seq) ? seq : null;
}

export function lastAnswer(state: Transcript): AssistantEntry | null {
  return (
    state.entries.findLast((entry): entry is AssistantEntry => entry.kind === "assistant") ?? null
  );
}

/** Returns how the answer of a finished turn ended. Null if the turn failed or its end is unknown. */
export function endOf(state: Transcript, turn: string): "complete" | "stopped" | null {
  const own = state.entries.filter((entry) => entry.turn === turn);
  const notices = own.filter((entry) => entry.kind === "notice");
  if (notices.some((entry) => entry.level === "error")) return null;
  const answer = own.findLast((entry) => entry.kind === "assistant");
  // Earlier texts of a turn are complete, even if the turn was stopped after them.
  if (answer?.partial || notices.some((entry) => entry.code === "turn_cancelled")) return "stopped";
  return answer && Number.isFinite(answer.seq) ? "complete" : null;
}

/** Returns the text of the user message that began a turn. */
export function questionOf(state: Transcript, turn: string): string | null {
  return (
    state.entries.find((entry): entry is UserEntry => entry.kind === "user" && entry.turn === turn)
      ?.text ?? null
  );
}

/** Returns the pending actions of this conversation, oldest first. */
export function waitingApprovals(state: Transcript): Approval[] {
  return state.entries.flatMap((entry) =>
    entry.kind === "tool" && entry.approvalStatus === "pending" && entry.approval
      ? [entry.approval]
      : [],
  );
}

/** Returns the place of a tool's results beside the conversation. Tools with the same named view share it; other tools have their own. */
export function placeOf(view: ResultView | undefined, tool: string): string {
  return view?.shape === "named" ? `view ${view.view}` : `tool ${tool}`;
}
