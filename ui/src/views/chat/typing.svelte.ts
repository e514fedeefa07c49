// Help with the question in the message field. The host reads the text after a pause of the person, and each key makes its answer to the
// text before outdated. Without the host nothing is offered, and the message can still be sent.
import { language } from "../../i18n/index.svelte";
import { Requests } from "../../lib/requests";
import { call } from "../../platform";
import type { MetricQuery } from "../../platform/generated/MetricQuery";
import type { QuestionCompletion } from "../../platform/generated/QuestionCompletion";
import type { QuestionCorrection } from "../../platform/generated/QuestionCorrection";
import type { QuestionReadResponse } from "../../platform/generated/QuestionReadResponse";
import type { QuestionSpan } from "../../platform/generated/QuestionSpan";
import { narrowed, settled, stillRight, type Place } from "./typing";

/** The pause after a key in milliseconds. Somebody who types on has none. */
export const PAUSE = 150;

/** A longer text, such as one that was pasted, is no question about figures. */
const LONGEST = 1_000;

/** The text in the message field. */
export interface Typed extends Place {
  /** The metric query that the question may go on from. */
  before: MetricQuery | null;
}

/** The words that stand out in a text. */
interface Reading {
  text: string;
  unused: QuestionSpan[];
  corrections: QuestionCorrection[];
}
const UNREAD: Reading = { text: "", unused: [], corrections: [] };

export class Typing {
  /** The words that are offered at the caret. */
  offered = $state.raw<readonly QuestionCompletion[]>([]);
  /** The index of the marked words; null before the arrow keys entered the list. */
  marked = $state<number | null>(null);
  private reading = $state.raw<Reading>(UNREAD);
  private isOffering = false;
  /** The text that the offered words fit. */
  private place: Place = { text: "", cursor: 0 };
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly requests = new Requests();

  /** Reads a text after a pause. Words are offered only for what a person just typed. */
  follow(typed: Typed, offers: boolean): void {
    // Words that still fit stay, so that the list does not come and go with each letter.
    const kept = offers ? narrowed(this.offered, this.place, typed) : [];
    this.stop();
    this.isOffering = offers;
    this.offered = kept;
    this.place = typed;
    if (typed.text.trim() === "" || typed.text.length > LONGEST) {
      this.reading = UNREAD;
      return;
    }
    const isStopped = this.requests.begin();
    this.timer = setTimeout(() => void this.read(typed, isStopped), PAUSE);
  }

  /** Closes the list. Words of an answer on its way are not offered either. */
  close(): void {
    this.isOffering = false;
    this.offered = [];
    this.marked = null;
  }

  /** Closes the list and reads nothing more. */
  stop(): void {
    clearTimeout(this.timer);
    this.requests.stop();
    this.close();
  }

  /** Returns the words of a text that would not be used, as far as they are known. */
  unusedIn(text: string): QuestionSpan[] {
    return stillRight(this.reading.unused, this.reading.text, text);
  }

  /** Returns the misspelled words of a text with the names that they would be read as. */
  correctionsIn(text: string): QuestionCorrection[] {
    return stillRight(this.reading.corrections, this.reading.text, text);
  }

  /** Handles a key of the open list. Returns the words that it chooses, or whether the list used it. */
  key(key: string): QuestionCompletion | boolean {
    const count = this.offered.length;
    const at = this.marked;
    if (count === 0) return false;
    switch (key) {
      case "ArrowDown":
        this.marked = at === null ? 0 : (at + 1) % count;
        return true;
      case "ArrowUp":
        this.marked = at === null ? count - 1 : (at + count - 1) % count;
        return true;
      case "Tab":
        return this.offered[at ?? 0]!;
      case "Enter":
        // Enter sends, unless the arrow keys entered the list.
        return at === null ? false : this.offered[at]!;
      case "Escape":
        this.close();
        return true;
      case "ArrowLeft":
      case "ArrowRight":
      case "Home":
      case "End":
      case "PageUp":
      case "PageDown":
        this.close();
        return false;
      default:
        return false;
    }
  }

  private async read({ text, cursor, before }: Typed, isStopped: () => boolean): Promise<void> {
    let found: QuestionReadResponse = { completions: [], unused: [], corrections: [] };
    try {
      found = await call("question_read", {
        text,
        cursor,
        language: language(),
        ...(before && { before }),
      });
    } catch {
      // The message can be sent without help.
    }
    if (isStopped()) return;
    const { completions, unused, corrections } = found;
    this.reading = { text, unused: settled(unused, cursor, completions), corrections };
    if (this.isOffering) this.offered = completions;
  }
}
