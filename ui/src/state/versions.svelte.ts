// Changes of single messages: a question is edited or answered again, another version of it is shown, and it is deleted with an undo. The host
// keeps the versions; an edited text stays here until it is sent, also while another view or conversation is open.
import { asAgentError, call } from "../platform";
import type { AgentError } from "../platform/generated/AgentError";
import { chat, type Chat } from "./chat.svelte";
import { questionOf, waitingApprovals } from "./transcript";

/** Why no message of a conversation can be changed now. */
export type Refusal = "api" | "busy" | "approval";

/** The changed text of a question, which is not the draft of the message field. */
export interface Edit {
  text: string;
  /** The text before. */
  before: string;
  /** Whether the host has accepted the text. The question is then replaced at any moment. */
  isSent: boolean;
  /** Why the text was refused. */
  error: AgentError | null;
  /** Whether the field is to get the focus. */
  takesFocus: boolean;
}

/** A change that the host refused. */
export interface Failure {
  turn: string;
  /** The part of the turn where the change was asked for. */
  at: "question" | "answer";
  error: AgentError;
}

/** A question whose deletion can be undone. */
export interface DeletedTurn {
  session: string;
  turn: string;
  question: string;
  /** The number of other versions that were deleted with it. */
  otherVersions: number;
}

/** A version to show where another one was. */
export interface Held {
  turn: string;
  /** The distance of the other version from the top of the window. */
  top: number;
  /** Which of the two buttons was used. */
  step: 1 | -1;
}

/** Whether a conversation belongs to a caller of the chat API. Its id has the form `application:session`. */
const isOfApi = (session: string): boolean => session.includes(":");

export class Versions {
  /** The questions that are being edited, by their turn. */
  edits = $state<Record<string, Edit>>({});
  /** The questions of all conversations whose deletion can be undone, newest last. */
  deleted = $state<DeletedTurn[]>([]);
  failure = $state.raw<Failure | null>(null);
  held = $state.raw<Held | null>(null);
  refusal = $derived.by((): Refusal | null => {
    const { open } = this.chat;
    if (open && isOfApi(open.session)) return "api";
    if (open && waitingApprovals(open).length > 0) return "approval";
    return this.chat.busy ? "busy" : null;
  });

  constructor(private readonly chat: Chat) {}

  /** The turn of the last question, if there is one. */
  get lastTurn(): string | null {
    return this.chat.open?.entries.findLast(({ kind }) => kind === "user")?.turn ?? null;
  }

  /** Opens a question for editing, or goes to its field. Returns whether it can be edited now. */
  edit(turn: string | null): boolean {
    const { open } = this.chat;
    const text = open && turn !== null ? questionOf(open, turn) : null;
    if (turn === null || text === null || this.refusal !== null) return false;
    this.failure = null;
    this.edits[turn] ??= { text, before: text, isSent: false, error: null, takesFocus: true };
    this.edits[turn].takesFocus = true;
    return true;
  }

  /** Closes the field of a question. Its text is forgotten. */
  close(turn: string): void {
    const { [turn]: _, ...others } = this.edits;
    this.edits = others;
  }

  /** Called when the field of a question is gone. A text that was not sent stays. */
  left(turn: string): void {
    if (this.edits[turn]?.isSent) this.close(turn);
  }

  /** Whether an edited text was accepted and the question has not been replaced yet. If it never is, the text can be sent again. */
  isOnItsWay(turn: string): boolean {
    return this.edits[turn]?.isSent === true && this.chat.busy;
  }

  /** Sends an edited question. A refused text stays in its field. */
  async send(turn: string): Promise<boolean> {
    const edit = this.edits[turn];
    const text = edit?.text.trim() ?? "";
    if (!edit || text === "" || this.refusal !== null) return false;
    edit.error = null;
    try {
      await this.chat.replace(turn, text, null);
      edit.isSent = true;
      this.chat.focusWanted++;
      return true;
    } catch (cause) {
      edit.error = asAgentError(cause);
      return false;
    }
  }

  /** Asks the question of a turn again, perhaps another model. The button may disappear, so the message field gets the focus. */
  async regenerate(turn: string | null, at: Failure["at"], model: string | null): Promise<void> {
    const { open } = this.chat;
    const text = open && turn !== null ? questionOf(open, turn) : null;
    if (turn === null || text === null || this.refusal !== null) return;
    const isDone = await this.attempt(turn, at, () => this.chat.replace(turn, text, model));
    if (isDone) this.chat.focusWanted++;
  }

  /** Asks a question again whose answer failed: as a version of its turn, or as a new message in a conversation without versions. */
  async retry(turn: string, text: string): Promise<void> {
    if (this.refusal === "api") await this.chat.ask(text);
    else await this.regenerate(turn, "question", null);
  }

  /** Shows the next or previous version of a question where the present one is. */
  async step(turn: string, step: 1 | -1, top: number): Promise<void> {
    const { open } = this.chat;
    const known = open?.versions[turn];
    const next = known?.siblings[known.chosen + step];
    if (!open || next === undefined || this.refusal !== null) return;
    await this.attempt(turn, "question", async () => {
      await call("turn_show", { session: open.session, turn: next });
      this.held = { turn: next, top, step };
      await this.chat.readChanged(open.session);
    });
  }

  /** Deletes a question with its answer, in all versions. For some seconds, `restore` takes them back. */
  async remove(turn: string, at: Failure["at"]): Promise<void> {
    const { open } = this.chat;
    if (!open || this.refusal !== null) return;
    const { session } = open;
    const question = questionOf(open, turn) ?? "";
    await this.attempt(turn, at, async () => {
      const gone = await call("turn_delete", { session, turn });
      this.deleted.push({ session, turn, question, otherVersions: gone.other_versions });
      setTimeout(() => this.forgetDeleted(turn), gone.undo_seconds * 1000);
      this.chat.focusWanted++;
      await this.chat.readChanged(session);
    });
  }

  /** Undoes the deletion of a question. */
  async restore(turn: string): Promise<void> {
    const known = this.deleted.find((one) => one.turn === turn);
    if (!known) return;
    this.forgetDeleted(turn);
    try {
      await call("turn_restore", { session: known.session, turn });
      await this.chat.readChanged(known.session);
    } catch (cause) {
      this.chat.openError = asAgentError(cause);
    }
  }

  private forgetDeleted(turn: string): void {
    this.deleted = this.deleted.filter((one) => one.turn !== turn);
  }

  private async attempt(
    turn: string,
    at: Failure["at"],
    change: () => Promise<void>,
  ): Promise<boolean> {
    this.failure = null;
    this.held = null;
    try {
      await change();
      return true;
    } catch (cause) {
      this.failure = { turn, at, error: asAgentError(cause) };
      return false;
    }
  }
}

export const versions = new Versions(chat);
