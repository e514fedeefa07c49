// Stored items become entries of a conversation, each once and at its place. Pure.
import type { Item } from "../platform/generated/Item";
import type { ItemsPageResponse } from "../platform/generated/ItemsPageResponse";
import { BlockStream } from "./blocks";
import {
  emptyTranscript,
  firstSeq,
  moveTo,
  place,
  placeOf,
  toolEntry,
  type AssistantEntry,
  type Body,
  type Entry,
  type NoticeEntry,
  type ToolEntry,
  type Transcript,
} from "./entries";

/** Inserts the items of a page, and the versions of its questions. */
export function takePage(
  state: Transcript,
  { items, versions = [] }: Pick<ItemsPageResponse, "items" | "versions">,
): void {
  takeItems(state, items);
  for (const one of versions) state.versions[one.turn] = one;
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

/** Inserts one item, unless it is there. */
export function takeItem(state: Transcript, item: Item): void {
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

/** Keeps a result that belongs beside the conversation, unless a newer one is there. */
export function takePinned(state: Transcript, { seq, body }: Item): void {
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
