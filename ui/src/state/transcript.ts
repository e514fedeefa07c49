// One conversation as it is shown: entries made of stored items and of the events of a running turn. Pure: functions change the state that
// they are given (the store wraps it), and know neither host nor DOM.
import type { AgentError } from "../platform/generated/AgentError";
import type { Approval } from "../platform/generated/Approval";
import type { ApprovalStatus } from "../platform/generated/ApprovalStatus";
import type { Choice } from "../platform/generated/Choice";
import type { Effect } from "../platform/generated/Effect";
import type { Item } from "../platform/generated/Item";
import type { ItemBody } from "../platform/generated/ItemBody";
import type { QueuedMessage } from "../platform/generated/QueuedMessage";
import type { RedactionCount } from "../platform/generated/RedactionCount";
import type { ResultView } from "../platform/generated/ResultView";
import type { SessionView } from "../platform/generated/SessionView";
import type { Stage } from "../platform/generated/Stage";
import type { SummaryMethod } from "../platform/generated/SummaryMethod";
import type { Text } from "../platform/generated/Text";
import type { ToolOutcome } from "../platform/generated/ToolOutcome";
import type { TurnEvent } from "../platform/generated/TurnEvent";
import { BlockStream } from "./blocks";

type Body<K extends ItemBody["kind"]> = Extract<ItemBody, { kind: K }>;
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

/** Thoughts are cut to this many characters, more than a line shows. */
const THOUGHTS = 400;

export interface Transcript {
  session: string;
  loaded: boolean;
  entries: Entry[];
  hasMore: boolean;
  /** Whether long-term memory is switched off for this conversation. */
  memoryOff: boolean;
  running: Running | null;
  queue: QueuedMessage[];
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
    pins: {},
    stale: false,
  };
}

/** Replaces the session with the one that the host returned. Text of a running turn that arrived meanwhile is kept. */
export function openTranscript(state: Transcript, view: SessionView): void {
  // A page without items was read before the first item was stored, so all known entries came later.
  const oldest = view.items[0]?.seq ?? 0;
  const overlaps = state.entries.some((entry) => Number.isFinite(entry.seq) && entry.seq >= oldest);
  if (!overlaps) {
    // No known entry overlaps this page. Entries before it may have gaps, so they are read again
    // when needed.
    state.entries = state.entries.filter((entry) => !Number.isFinite(entry.seq));
    state.hasMore = view.has_more;
  }
  takeItems(state, view.items);
  for (const item of view.pinned ?? []) takePinned(state, item);
  state.loaded = true;
  state.memoryOff = view.memory_off ?? false;
  state.stale = false;
  state.queue = view.queue;
  for (const approval of view.approvals) takeApproval(state, approval);
  if (!view.running_turn) endTurn(state);
  else if (state.running?.turn !== view.running_turn) {
    state.running = {
      turn: view.running_turn,
      stage: waitingApprovals(state).length > 0 ? "waiting_for_approval" : "started",
      text: null,
      agent: null,
    };
  }
}

/** Inserts items in order, each once. */
export function takeItems(state: Transcript, items: readonly Item[]): void {
  const first = firstSeq(state);
  if (first !== null && items.every(({ seq }) => seq < first)) takeOlderPage(state, items);
  else for (const item of items) takeItem(state, item);
}

/** Inserts a page before all entries. The list is written once, because each single insertion would move all later entries. */
function takeOlderPage(state: Transcript, items: readonly Item[]): void {
  const page = emptyTranscript(state.session);
  for (const item of items) takeItem(page, item);
  const known = new Map<string, ToolEntry>();
  for (const entry of state.entries) if (entry.kind === "tool") known.set(entry.call, entry);
  const moved = new Set<Entry>();
  const older = page.entries.map((entry) => {
    const later = entry.kind === "tool" ? known.get(entry.call) : undefined;
    if (entry.kind !== "tool" || !later) return entry;
    // The call is on this page and its result on a later one: one entry, at the place of the call.
    if (later.tool === "") later.tool = entry.tool;
    if (later.title === "") later.title = entry.title;
    if (later.summary === "") later.summary = entry.summary;
    later.effect ??= entry.effect;
    later.args ??= entry.args;
    later.outcome ??= entry.outcome;
    later.result ??= entry.result;
    later.approvalStatus ??= entry.approvalStatus;
    later.approvalReason ??= entry.approvalReason;
    later.seq = entry.seq;
    later.at = entry.at;
    moved.add(later);
    return later;
  });
  state.entries = [...older, ...state.entries.filter((entry) => !moved.has(entry))];
  for (const [place, pin] of Object.entries(page.pins))
    if (pin.seq >= (state.pins[place]?.seq ?? 0)) state.pins[place] = pin;
}

/** Forgets the oldest entries beyond `keep`; they can be read again. */
export function trimOldest(state: Transcript, keep: number): void {
  const excess = state.entries.length - keep;
  if (excess <= 0) return;
  state.entries.splice(0, excess);
  state.hasMore = true;
}

/** Returns the `seq` before which older items are requested. */
export function firstSeq(state: Transcript): number | null {
  const seq = Math.min(...state.entries.map((entry) => entry.seq));
  return Number.isFinite(seq) ? seq : null;
}

export function takeApproval(state: Transcript, approval: Approval): void {
  const entry = toolEntry(state, approval.call, approval.turn, approval.created_at);
  if (entry.tool === "") entry.tool = approval.tool;
  if (entry.title === "") entry.title = approval.tool_title;
  entry.effect ??= approval.effect;
  // An edited or re-priced proposal replaces the earlier one.
  const newer =
    !entry.approval ||
    approval.id === entry.approval.id ||
    approval.created_at >= entry.approval.created_at;
  if (newer) {
    entry.approval = approval;
    entry.approvalStatus = approval.status;
    entry.approvalReason = approval.reason ?? null;
  }
}

/** Applies an event of a turn. */
export function applyEvent(state: Transcript, event: TurnEvent): void {
  const { turn, at } = event;
  switch (event.type) {
    case "status":
      if (event.stage === "queued") return;
      state.running = {
        turn,
        stage: event.stage,
        text: event.text ?? null,
        agent: state.running?.agent ?? null,
        thoughts: state.running?.turn === turn ? state.running.thoughts : undefined,
      };
      return;
    case "agent_start":
      running(state, turn).agent = event.name;
      return;
    case "agent_end":
      if (state.running?.turn === turn) state.running.agent = null;
      return;
    case "dev_status":
    case "delta":
      return;
    case "reasoning": {
      const now = running(state, turn);
      now.thoughts = ((now.thoughts ?? "") + event.text).slice(-THOUGHTS);
      return;
    }
    case "tool_start": {
      const entry = toolEntry(state, event.call, turn, at);
      Object.assign(entry, { tool: event.tool, title: event.title, args: event.arguments });
      const now = running(state, turn);
      now.stage = "tools";
      now.text = null;
      return;
    }
    case "tool_end": {
      const entry = toolEntry(state, event.call, turn, at);
      entry.outcome = event.outcome;
      entry.summary = event.summary;
      return;
    }
    case "approval_requested":
      takeApproval(state, event.approval);
      running(state, turn).stage = "waiting_for_approval";
      return;
    case "approval_resolved": {
      const entry = state.entries.find(
        (known): known is ToolEntry => known.kind === "tool" && known.approval?.id === event.id,
      );
      if (!entry) return;
      entry.approvalStatus = event.status;
      if (entry.approval) entry.approval.status = event.status;
      return;
    }
    case "blocks":
      liveAnswer(state, turn, at).stream.apply(event.patch);
      return;
    case "item":
      takeItem(state, event.item);
      return;
    case "error":
      takeError(state, turn, at, event.error);
      return;
    case "final":
      takeFinal(state, event);
      return;
  }
}

function running(state: Transcript, turn: string): Running {
  if (state.running?.turn !== turn)
    state.running = { turn, stage: "started", text: null, agent: null };
  return state.running;
}

function takeFinal(state: Transcript, event: Extract<TurnEvent, { type: "final" }>): void {
  if (event.error && event.status === "error") takeError(state, event.turn, event.at, event.error);
  const answered = state.entries.some(
    (entry) =>
      entry.kind === "assistant" && entry.turn === event.turn && Number.isFinite(entry.seq),
  );
  if (!answered && event.text !== "") state.stale = true;
  const last = lastAnswer(state);
  if (last && last.turn === event.turn && event.choices?.length) last.choices = event.choices;
  if (state.running?.turn === event.turn || state.running === null) endTurn(state);
}

/** Ends a turn: none of its entries is live any more, and empty answers are removed. */
function endTurn(state: Transcript): void {
  state.running = null;
  for (const entry of state.entries) if (entry.kind === "assistant") entry.live = false;
  const kept = state.entries.filter(
    (entry) => entry.kind !== "assistant" || entry.text !== "" || !entry.stream.empty,
  );
  if (kept.length !== state.entries.length) state.entries = kept;
}

function takeError(state: Transcript, turn: string, at: string, error: AgentError): void {
  const known = state.entries.find(
    (entry): entry is NoticeEntry =>
      entry.kind === "notice" && entry.turn === turn && entry.level === "error",
  );
  if (known) known.error = error;
  else
    add(state, {
      kind: "notice",
      key: `error:${turn}`,
      turn,
      seq: Infinity,
      at,
      level: "error",
      code: error.code,
      text: error.message,
      error,
    });
}

/** Returns the answer that is being written in this turn. A new answer begins when the last one has been stored. */
function liveAnswer(state: Transcript, turn: string, at: string): AssistantEntry {
  const known = state.entries.findLast(
    (entry): entry is AssistantEntry =>
      entry.kind === "assistant" && entry.turn === turn && entry.live,
  );
  if (known) return known;
  const count = state.entries.filter(
    (entry) => entry.kind === "assistant" && entry.turn === turn,
  ).length;
  const entry: AssistantEntry = {
    kind: "assistant",
    key: `answer:${turn}:${count}`,
    turn,
    seq: Infinity,
    at,
    text: "",
    stream: new BlockStream(),
    model: null,
    agent: state.running?.agent ?? null,
    choices: [],
    remembered: [],
    partial: false,
    live: true,
  };
  add(state, entry);
  running(state, turn);
  return state.entries.at(-1) as AssistantEntry;
}

function toolEntry(state: Transcript, call: string, turn: string, at: string): ToolEntry {
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

function takeItem(state: Transcript, item: Item): void {
  const { id, turn, seq, created_at: at, body } = item;
  switch (body.kind) {
    case "user_message":
      if (!state.entries.some((entry) => entry.key === id))
        place(state, { kind: "user", key: id, turn, seq, at, text: body.text });
      return;
    case "assistant_text":
      takeAnswer(state, item, body);
      return;
    case "tool_call": {
      const entry = toolEntry(state, body.call, turn, at);
      Object.assign(entry, {
        tool: body.tool,
        title: body.title,
        effect: body.effect,
        args: body.arguments,
      });
      moveTo(state, entry, seq, at);
      return;
    }
    case "tool_result": {
      const entry = toolEntry(state, body.call, turn, at);
      Object.assign(entry, {
        tool: body.tool,
        outcome: body.outcome,
        summary: body.summary,
        result: body,
      });
      if (!Number.isFinite(entry.seq)) moveTo(state, entry, seq, at);
      takePinned(state, item);
      return;
    }
    case "approval": {
      const entry = toolEntry(state, body.call, turn, at);
      if (entry.tool === "") entry.tool = body.tool;
      entry.approvalStatus = body.status;
      entry.approvalReason = body.reason ?? null;
      if (entry.approval?.id === body.approval) entry.approval.status = body.status;
      if (!Number.isFinite(entry.seq)) moveTo(state, entry, seq, at);
      return;
    }
    case "redaction":
      if (!state.entries.some((entry) => entry.key === id))
        place(state, { kind: "redaction", key: id, turn, seq, at, counts: body.counts });
      return;
    case "summary":
      if (!state.entries.some((entry) => entry.key === id))
        place(state, {
          kind: "summary",
          key: id,
          turn,
          seq,
          at,
          text: body.text,
          messages: body.messages,
          method: body.method,
        });
      return;
    case "notice": {
      // The stored form of a failure that the turn has already reported.
      const shown = state.entries.find(
        (entry): entry is NoticeEntry =>
          entry.kind === "notice" &&
          (entry.key === id || (entry.key === `error:${turn}` && body.level === "error")),
      );
      if (!shown)
        place(state, {
          kind: "notice",
          key: id,
          turn,
          seq,
          at,
          level: body.level,
          code: body.code,
          text: body.text,
          error: null,
        });
      else if (!Number.isFinite(shown.seq)) moveTo(state, shown, seq, at);
      return;
    }
  }
}

/** Returns the place of a tool's results beside the conversation. Tools with the same named view share it; other tools have their own. */
export function placeOf(view: ResultView | undefined, tool: string): string {
  return view?.shape === "named" ? `view ${view.view}` : `tool ${tool}`;
}

function takePinned(state: Transcript, { seq, body }: Item): void {
  if (body.kind !== "tool_result" || !body.view.pinned || body.outcome !== "ok") return;
  const place = placeOf(body.view, body.tool);
  if (seq >= (state.pins[place]?.seq ?? 0)) state.pins[place] = { seq, result: body };
}

function takeAnswer(state: Transcript, item: Item, body: Body<"assistant_text">): void {
  const rest = {
    text: body.text,
    model: body.model ?? null,
    agent: body.agent ?? null,
    choices: body.choices ?? [],
    remembered: body.remembered ?? [],
    partial: body.partial,
    live: false,
  };
  const known = state.entries.find((entry) => entry.kind === "assistant" && entry.seq === item.seq);
  if (known) return;
  const live = state.entries.findLast(
    (entry): entry is AssistantEntry =>
      entry.kind === "assistant" && entry.turn === item.turn && entry.live,
  );
  if (live) {
    live.stream.replace(body.blocks ?? []);
    Object.assign(live, rest);
    moveTo(state, live, item.seq, item.created_at);
    return;
  }
  place(state, {
    kind: "assistant",
    key: item.id,
    turn: item.turn,
    seq: item.seq,
    at: item.created_at,
    stream: new BlockStream(body.blocks ?? []),
    ...rest,
  });
}

function add(state: Transcript, entry: Entry): void {
  state.entries.push(entry);
}

/** Puts a new entry where its `seq` belongs. */
function place(state: Transcript, entry: Entry): void {
  let at = state.entries.length;
  while (at > 0 && state.entries[at - 1]!.seq > entry.seq) at--;
  state.entries.splice(at, 0, entry);
}

/** Gives an entry its stored place. The entry moves only if it has to, so that its element stays where it is. */
function moveTo(state: Transcript, entry: Entry, seq: number, at: string): void {
  entry.seq = seq;
  entry.at = at;
  const index = state.entries.indexOf(entry);
  const fits =
    (state.entries[index - 1]?.seq ?? -1) < seq &&
    (state.entries[index + 1]?.seq ?? Infinity) > seq;
  if (!fits && index >= 0) place(state, state.entries.splice(index, 1)[0]!);
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
