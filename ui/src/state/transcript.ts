// One conversation as it is shown: entries made of stored items and of the events of a running turn. Pure: functions change the state that
// they are given (the store wraps it), and know neither host nor DOM.
import type { AgentError } from "../platform/generated/AgentError";
import type { Approval } from "../platform/generated/Approval";
import type { SessionView } from "../platform/generated/SessionView";
import type { TurnEvent } from "../platform/generated/TurnEvent";
import { BlockStream } from "./blocks";
import {
  add,
  lastAnswer,
  toolEntry,
  waitingApprovals,
  type AssistantEntry,
  type NoticeEntry,
  type Running,
  type ToolEntry,
  type Transcript,
} from "./entries";
import { takeItem, takePage, takePinned } from "./items";

export {
  emptyTranscript,
  endOf,
  firstSeq,
  lastAnswer,
  placeOf,
  questionOf,
  waitingApprovals,
  type AssistantEntry,
  type Entry,
  type NoticeEntry,
  type Pin,
  type RedactionEntry,
  type Running,
  type SummaryEntry,
  type ToolEntry,
  type ToolResult,
  type Transcript,
  type UserEntry,
} from "./entries";
export { takeItems, takePage, trimOldest } from "./items";

/** Thoughts are cut to this many characters, more than a line shows. */
const THOUGHTS = 400;

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
  takePage(state, view);
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

/** Replaces the session with the one that the host returned when other messages are shown than before. Entries of turns that are hidden or
 *  deleted now are removed, and all others stay. */
export function replaceTranscript(state: Transcript, view: SessionView): void {
  const shown = new Set(view.items.map(({ turn }) => turn));
  // A turn that began after the host's answer has sent its first entries already.
  for (const turn of [view.running_turn, state.running?.turn]) if (turn) shown.add(turn);
  state.entries = state.entries.filter(({ turn }) => shown.has(turn));
  state.versions = {};
  state.pins = {};
  openTranscript(state, view);
  state.hasMore = view.has_more;
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
