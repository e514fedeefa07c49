// Questions in words that the host reads as they are meant: the question of a figure, and questions that are often asked of a source. A
// language model understands other words, too.
import { router } from "../../../app/router.svelte";
import { language } from "../../../i18n/index.svelte";
import { call } from "../../../platform";
import { chat } from "../../../state/chat.svelte";
import { queryOf, type Ask } from "./asks";

/** The most questions that a source offers for the chat. */
const OFFERED = 4;

async function questions(source: string, ask: Ask | null): Promise<string[]> {
  const params = { language: language(), source, limit: OFFERED };
  try {
    if (ask === null) return (await call("question_suggestions", params)).questions;
    // The order and the most rows of a figure are those of its table, and nobody asks for them.
    const { order: _order, limit: _limit, ...query } = queryOf(ask, source);
    return (await call("question_suggestions", { ...params, query })).questions;
  } catch {
    return [];
  }
}

/** Returns the question of a figure; null if the host has no words for it. */
export const spokenQuestion = async (ask: Ask, source: string): Promise<string | null> =>
  (await questions(source, ask))[0] ?? null;

/** Returns questions that are often asked of a source, and that are answered as they are. */
export const usualQuestions = (source: string): Promise<string[]> => questions(source, null);

/** Puts a question into the message field of a new conversation, below what was written there and not sent yet. */
export async function startQuestion(question: string): Promise<void> {
  await chat.select(null);
  const written = chat.draft.trimEnd();
  chat.startWith(written === "" ? question : `${written}\n${question}`);
  router.go("chat");
}
