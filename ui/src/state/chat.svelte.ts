// The conversation that is open, drafts, deletions that can be undone, and what the host pushes. The rules of a conversation live in
// `transcript.ts`; this class wraps them for the components and talks to the host.
import { asAgentError, call, platform } from "../platform";
import type { AgentError } from "../platform/generated/AgentError";
import type { Push } from "../platform/generated/Push";
import type { SessionEraseResponse } from "../platform/generated/SessionEraseResponse";
import type { SessionSummary } from "../platform/generated/SessionSummary";
import { LARGE_PAGE, readSession } from "./reading";
import { isBusy, isOnItsWay, type Sent } from "./sent";
import { newestOf } from "./sessionOrder";
import { SessionList } from "./sessions.svelte";
import {
  applyEvent,
  emptyTranscript,
  firstSeq,
  openTranscript,
  replaceTranscript,
  takePage,
  trimOldest,
  type Transcript,
} from "./transcript";

/** Older items are read in pages of this many. */
const PAGE = 60;
/** At the end of a conversation no more entries than this are kept in the window. */
const KEEP = 150;
const NEW = "";

/** A conversation whose deletion can be undone. */
export interface DeletedSession {
  summary: SessionSummary;
  /** Whether the conversation was open. */
  wasOpen: boolean;
  draft: string;
}

/** The message to show. */
export interface Target {
  session: string;
  seq: number;
  /** Whether the message gets the focus. */
  takesFocus: boolean;
}

function tracked(session: string): Transcript {
  const state = $state(emptyTranscript(session));
  return state;
}

export class Chat {
  readonly list = new SessionList();
  /** The deleted conversations whose deletion can be undone, newest last. */
  deleted = $state<DeletedSession[]>([]);
  /** Whether the first conversation to show has been chosen. */
  ready = $state(false);

  /** The open conversation; null for a new one that has no message yet. */
  open = $state<Transcript | null>(null);
  openError = $state<AgentError | null>(null);
  loadingOlder = $state(false);
  sending = $state(false);
  sendError = $state<AgentError | null>(null);
  /** The failed message of a button, to be sent again. A failed message that was typed stays in the message field. */
  unsent = $state<string | null>(null);
  draft = $state("");
  /** Counts up whenever the message field is to get the focus. */
  focusWanted = $state(0);
  /** The turn of a message that was sent here and is answered at once, until the list has shown the message. */
  justSent = $state<string | null>(null);

  /** The message to show, which a click on a search hit or a memory chose. */
  target = $state<Target | null>(null);
  /** The message that a search hit or a memory led to, until another conversation is opened. */
  marked = $state<{ session: string; seq: number } | null>(null);

  /** The message sent last, until its turn has ended. */
  private sent = $state<Sent | null>(null);

  /** The summary of the conversation that was read last, because a search may leave the conversation out of the list. */
  private lastRead = $state<SessionSummary | null>(null);
  summary = $derived(
    this.list.find(this.open?.session) ??
      (this.lastRead?.id === this.open?.session ? this.lastRead : null),
  );
  /** Whether a message of the open conversation is being sent, waits, or is being answered. */
  busy = $derived(this.sending || (this.open !== null && isBusy(this.open, this.sent)));
  private readonly transcripts = new Map<string, Transcript>();
  private readonly drafts = new Map<string, string>();
  /** The number of ended turns and of changes of the shown messages, by conversation. A response is outdated if the number changed since
   *  its request. */
  private readonly changes = new Map<string, number>();
  /** The conversations that show other messages than their entries. */
  private readonly outdated = new Set<string>();

  async start(): Promise<void> {
    platform().onPush((push) => this.pushed(push));
    await this.list.reload();
    const newest = newestOf(this.list.sessions);
    if (newest && !this.open) await this.select(newest.id);
    this.ready = true;
  }

  /** Opens a conversation, or a new one if `session` is null. */
  async select(session: string | null): Promise<void> {
    this.keepDraft();
    this.openError = null;
    this.sendError = null;
    this.unsent = null;
    this.target = null;
    this.marked = null;
    this.open = session === null ? null : this.transcript(session);
    this.draft = this.drafts.get(session ?? NEW) ?? "";
    for (const [id, known] of this.transcripts) {
      if (id !== session && !known.running) this.transcripts.delete(id);
    }
    if (session !== null) await this.read(session);
  }

  /** Opens a conversation at the question of a turn, or at the version of it that is shown. */
  async openAtTurn(session: string, turn: string): Promise<void> {
    await this.select(session);
    const isOpen = (): boolean => this.open?.session === session;
    const isVersion = (shown: string): boolean =>
      shown === turn || this.open?.versions[shown]?.siblings.includes(turn) === true;
    const found = () =>
      this.open?.entries.find((entry) => entry.kind === "user" && isVersion(entry.turn));
    while (isOpen() && !found() && this.open!.hasMore) {
      if (!(await this.loadOlder(LARGE_PAGE))) break;
    }
    const seq = isOpen() ? found()?.seq : undefined;
    if (seq !== undefined) this.target = { session, seq, takesFocus: true };
  }

  /** Opens a conversation at one of its messages. */
  async openAt(session: string, seq: number): Promise<void> {
    await this.select(session);
    if (this.open?.session === session && !this.openError) await this.reveal(seq);
  }

  /** Shows a message of the open conversation. Reads older pages until it is there. */
  async reveal(seq: number, takesFocus = true): Promise<void> {
    const state = this.open;
    if (!state) return;
    const target = { session: state.session, seq, takesFocus };
    this.target = target;
    const isWanted = (): boolean => this.open === state && this.target?.seq === seq;
    await this.loadUntil(() => !isWanted() || (firstSeq(state) ?? 0) <= seq);
    // The message may have been deleted.
    if (isWanted() && !state.entries.some((entry) => entry.seq === seq)) this.target = null;
  }

  /** Reads all older pages of the open conversation. Returns whether its first entry is there. */
  async loadAll(isWanted: () => boolean = () => true): Promise<boolean> {
    const state = this.open;
    await this.loadUntil(() => this.open !== state || !isWanted());
    return state !== null && this.open === state && !state.hasMore;
  }

  /** Reads large older pages of the open conversation until there are no more, or `isEnough`. */
  private async loadUntil(isEnough: () => boolean): Promise<void> {
    while (this.open?.hasMore && !isEnough()) {
      // Another page is on its way.
      if (this.loadingOlder) await new Promise((resolve) => setTimeout(resolve, 16));
      else if (!(await this.loadOlder(LARGE_PAGE))) return;
    }
  }

  /** Called when the message to show is in sight. */
  shown({ session, seq }: Target): void {
    this.target = null;
    this.marked = { session, seq };
  }

  /** Switches long-term memory for the open conversation. */
  async switchMemory(enabled: boolean): Promise<void> {
    const state = this.open;
    if (!state) return;
    try {
      await call("memory_switch", { session: state.session, enabled });
      state.memoryOff = !enabled;
    } catch (cause) {
      if (this.open === state) this.openError = asAgentError(cause);
    }
  }

  /** Reads the open conversation again, and the list: after a sleep, a missed push or a failure. */
  async refresh(): Promise<void> {
    await Promise.all([this.list.reload(), this.open ? this.read(this.open.session) : undefined]);
  }

  /** Reads the page before the oldest entry; false when nothing was read. */
  async loadOlder(limit = PAGE): Promise<boolean> {
    const state = this.open;
    const before = state && firstSeq(state);
    if (!state || before === null || !state.hasMore || this.loadingOlder) return false;
    this.loadingOlder = true;
    try {
      const changes = this.changes.get(state.session);
      const page = await call("items_page", { session: state.session, before, limit });
      // Other messages may be shown meanwhile, and all of them are read again.
      if (changes !== this.changes.get(state.session)) return true;
      takePage(state, page);
      state.hasMore = page.has_more && page.items.length > 0;
      return true;
    } catch (cause) {
      if (this.open === state) this.openError = asAgentError(cause);
      return false;
    } finally {
      this.loadingOlder = false;
    }
  }

  /** Called when the list is at its end. Drops entries far above. */
  atEnd(): void {
    // A page on its way belongs before the present first entry.
    if (this.target || this.loadingOlder) return;
    if (this.open && this.open.entries.length > KEEP + PAGE) trimOldest(this.open, KEEP);
  }

  /** Sends a message to the open conversation, or to a new one. The draft is removed only if it equals the sent text. */
  async send(text: string): Promise<boolean> {
    const message = text.trim();
    if (message === "" || this.sending) return false;
    this.sending = true;
    this.sendError = null;
    this.unsent = null;
    const from = this.open?.session ?? null;
    const isHere = (): boolean => (this.open?.session ?? null) === from;
    const typed = this.draft.trim() === message;
    try {
      const { session, turn, queued } = await call("turn_start", {
        session: from,
        text: message,
        headless: false,
      });
      this.sent = { session, turn, text: message };
      this.justSent = queued ? null : turn;
      if (isHere()) this.keepDraft();
      this.settleDraft(from ?? NEW, session, typed ? message : null);
      if (isHere()) this.draft = from === null ? "" : (this.drafts.get(session) ?? "");
      if (isHere() && from === null) await this.select(session);
      return true;
    } catch (cause) {
      this.sendError = asAgentError(cause);
      if (isHere() && !typed) this.unsent = message;
      return false;
    } finally {
      this.sending = false;
    }
  }

  /** Sends the message of a button, unless the same message is being sent. The button may disappear, so
   *  the message field gets the focus if `movesFocus`. */
  async ask(text: string, movesFocus = true): Promise<boolean> {
    const message = text.trim();
    if (this.sending || (this.open && isOnItsWay(this.open, this.sent, message))) return false;
    if (movesFocus) this.focusWanted++;
    return this.send(message);
  }

  /** Sends a message in place of a turn of the open conversation: an edited question, or the same one for another answer. Rejects if the
   *  host refuses it; everything is then as before. */
  async replace(turn: string, text: string, model: string | null): Promise<void> {
    const session = this.open?.session;
    if (session === undefined || this.sending) return;
    this.sending = true;
    try {
      const { turn: next } = await call("turn_start", {
        session,
        text,
        headless: false,
        replaces: turn,
        ...(model !== null && { model }),
      });
      this.sent = { session, turn: next, text };
      this.justSent = next;
    } finally {
      this.sending = false;
    }
  }

  /** Puts words into the message field, to be changed and sent. */
  startWith(text: string): void {
    this.draft = text;
    this.focusWanted++;
  }

  /** Puts a text as a quotation below the draft, to be answered. */
  quote(text: string): void {
    const lines = text.trim().split(/\r?\n/u);
    const quoted = lines.map((line) => (line === "" ? ">" : `> ${line}`)).join("\n");
    const before = this.draft.trimEnd();
    this.startWith(`${before === "" ? "" : `${before}\n\n`}${quoted}\n\n`);
  }

  /** Stops the running turn of the open conversation, or takes a waiting message out of the queue. */
  async cancel(turn?: string): Promise<void> {
    const state = this.open;
    const target = turn ?? state?.running?.turn;
    if (!state || !target) return;
    try {
      await call("turn_cancel", { session: state.session, turn: target });
      if (this.sent?.turn === target) this.sent = null;
    } catch (cause) {
      this.sendError = asAgentError(cause);
      this.unsent = null;
    }
  }

  async rename(session: string, title: string): Promise<void> {
    await call("session_rename", { session, title });
    const known = this.list.find(session);
    if (known) known.title = title;
  }

  /** Pins or archives a conversation, or takes a mark back. */
  async mark(session: string, marks: { pinned?: boolean; archived?: boolean }): Promise<void> {
    await call("session_mark", { session, ...marks });
    const known = this.list.find(session);
    if (known) this.takeSummary({ ...known, ...marks });
  }

  /** Deletes a conversation. For some seconds, `restore` takes it back. */
  async remove(session: string): Promise<void> {
    const summary =
      this.list.find(session) ?? (this.lastRead?.id === session ? this.lastRead : undefined);
    const wasOpen = this.open?.session === session;
    if (wasOpen) this.keepDraft();
    const draft = this.drafts.get(session) ?? "";
    const { undo_seconds } = await call("session_delete", { session, undo: true });
    if (summary && undo_seconds > 0) {
      this.deleted.push({ summary, wasOpen, draft });
      setTimeout(() => this.forgetDeleted(session), undo_seconds * 1000);
    }
    await this.removed(session);
  }

  /** Undoes the deletion of a conversation. */
  async restore(session: string): Promise<void> {
    const known = this.deleted.find(({ summary }) => summary.id === session);
    try {
      await call("session_restore", { session });
      if (known && !this.list.find(session)) this.takeSummary(known.summary);
      if (known && known.draft !== "") this.drafts.set(session, known.draft);
      if (known?.wasOpen) await this.select(session);
    } catch (cause) {
      this.list.error = asAgentError(cause);
    }
    this.forgetDeleted(session);
  }

  /** Offers no more to undo the deletion of a conversation. */
  forgetDeleted(session: string): void {
    this.deleted = this.deleted.filter(({ summary }) => summary.id !== session);
  }

  /** Deletes a conversation with its values in the log and all older copies. */
  async erase(session: string): Promise<SessionEraseResponse> {
    const erased = await call("session_erase", { session });
    await this.removed(session);
    return erased;
  }

  keepDraft(): void {
    const key = this.open?.session ?? NEW;
    if (this.draft === "") this.drafts.delete(key);
    else this.drafts.set(key, this.draft);
  }

  /** Removes the draft that was sent. Any other draft stays with its conversation, even if the conversation is new. */
  private settleDraft(key: string, session: string, gone: string | null): void {
    const draft = this.drafts.get(key) ?? "";
    this.drafts.delete(key);
    if (draft !== "" && draft.trim() !== gone) this.drafts.set(session, draft);
  }

  private transcript(session: string): Transcript {
    let known = this.transcripts.get(session);
    if (!known) {
      known = tracked(session);
      this.transcripts.set(session, known);
    }
    return known;
  }

  private changed(session: string): void {
    this.changes.set(session, (this.changes.get(session) ?? 0) + 1);
  }

  private noteChanged(session: string): void {
    this.changed(session);
    this.outdated.add(session);
  }

  /** Reads a conversation that shows other messages now. One that is not open is read when it is opened. */
  async readChanged(session: string): Promise<void> {
    this.noteChanged(session);
    if (this.open?.session === session) await this.read(session);
  }

  private async read(session: string): Promise<void> {
    const changes = this.changes.get(session);
    const sent = this.sent?.turn;
    try {
      const known = this.outdated.has(session) ? this.transcripts.get(session) : undefined;
      const view = await readSession(session, known ? firstSeq(known) : null);
      if (changes !== this.changes.get(session)) {
        await this.read(session);
        return;
      }
      const state = this.transcripts.get(session);
      const isOutdated = this.outdated.delete(session);
      if (state) (isOutdated ? replaceTranscript : openTranscript)(state, view);
      const lives = view.running_turn === sent || view.queue.some(({ turn }) => turn === sent);
      if (this.sent?.session === session && this.sent.turn === sent && !lives) this.sent = null;
      this.lastRead = view.summary;
      this.takeSummary(view.summary);
      if (this.open?.session === session) this.openError = null;
    } catch (cause) {
      if (this.open?.session === session) this.openError = asAgentError(cause);
    }
  }

  private pushed(push: Push): void {
    switch (push.push) {
      case "turn": {
        const state = this.transcript(push.event.session);
        if (push.event.type === "final") this.changed(state.session);
        applyEvent(state, push.event);
        if (push.event.type === "final" && this.sent?.turn === push.event.turn) this.sent = null;
        const shown = this.open?.session === state.session;
        if (state.stale && shown) void this.read(state.session);
        // A conversation that is not shown and not running is dropped, because it is read again when it is opened.
        if (!shown && !state.running) this.transcripts.delete(state.session);
        return;
      }
      case "session":
        this.list.pushed();
        this.takeSummary(push.summary);
        return;
      case "session_deleted":
        this.list.pushed();
        void this.removed(push.session);
        return;
      case "items_changed":
        void this.readChanged(push.session);
        return;
      case "queue":
        this.transcript(push.session).queue = push.queue;
        return;
      case "lagged":
        // Pushes were missed, perhaps also about the shown messages.
        for (const session of this.transcripts.keys()) this.noteChanged(session);
        void this.refresh();
        return;
      case "approvals":
        // The list marks conversations that have pending actions, so it is read again.
        void this.list.reload();
        return;
      case "server":
      case "settings":
      case "audit":
      case "audit_verification":
      case "files":
        return;
    }
  }

  private takeSummary(summary: SessionSummary): void {
    if (this.lastRead?.id === summary.id) this.lastRead = summary;
    this.list.take(summary);
  }

  private async removed(session: string): Promise<void> {
    this.transcripts.delete(session);
    this.changes.delete(session);
    this.outdated.delete(session);
    this.drafts.delete(session);
    const next = this.list.drop(session);
    if (this.open?.session === session) await this.select(next?.id ?? null);
  }
}

export const chat = new Chat();
