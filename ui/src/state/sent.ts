// The message that was sent last from this window, and whether it is still on its way: between the host's answer and its first
// word about the turn, neither the queue nor the running turn knows it. Pure.
import { questionOf, type Transcript } from "./transcript";

export interface Sent {
  session: string;
  turn: string;
  text: string;
}

/** Accepted by the host, without any event about it so far. */
function unheard(state: Transcript, sent: Sent | null): sent is Sent {
  if (!sent || sent.session !== state.session) return false;
  const known =
    state.running?.turn === sent.turn ||
    state.queue.some(({ turn }) => turn === sent.turn) ||
    state.entries.some(({ turn }) => turn === sent.turn);
  return !known;
}

/** Something is being answered here, or waits to be: what is shown now may be out of date when the next message is read. */
export function isBusy(state: Transcript, sent: Sent | null): boolean {
  return state.running !== null || state.queue.length > 0 || unheard(state, sent);
}

/** This very message waits, or is being answered. */
export function isOnItsWay(state: Transcript, sent: Sent | null, text: string): boolean {
  if (state.queue.some((message) => message.text.trim() === text)) return true;
  if (unheard(state, sent) && sent.text === text) return true;
  const { running } = state;
  if (!running) return false;
  // The turn runs before its question is stored.
  const asked = questionOf(state, running.turn) ?? (sent?.turn === running.turn ? sent.text : null);
  return asked?.trim() === text;
}
