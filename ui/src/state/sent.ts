// The message that this window sent last, and whether it is still on its way. Between the host's response and the first event of the turn,
// neither the queue nor the running turn contains the message. Pure.
import { questionOf, type Transcript } from "./transcript";

export interface Sent {
  session: string;
  turn: string;
  text: string;
}

/** Whether the host accepted the message and has sent no event about it so far. */
function unheard(state: Transcript, sent: Sent | null): sent is Sent {
  if (!sent || sent.session !== state.session) return false;
  const known =
    state.running?.turn === sent.turn ||
    state.queue.some(({ turn }) => turn === sent.turn) ||
    state.entries.some(({ turn }) => turn === sent.turn);
  return !known;
}

/** Whether a message is being answered or waits, so that the content shown now may be outdated when the next message is read. */
export function isBusy(state: Transcript, sent: Sent | null): boolean {
  return state.running !== null || state.queue.length > 0 || unheard(state, sent);
}

/** Whether exactly this message waits or is being answered. */
export function isOnItsWay(state: Transcript, sent: Sent | null, text: string): boolean {
  if (state.queue.some((message) => message.text.trim() === text)) return true;
  if (unheard(state, sent) && sent.text === text) return true;
  const { running } = state;
  if (!running) return false;
  // A turn begins before its question is stored, so the sent text is used until then.
  const asked = questionOf(state, running.turn) ?? (sent?.turn === running.turn ? sent.text : null);
  return asked?.trim() === text;
}
