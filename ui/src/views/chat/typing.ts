// The question in the message field: the words that the host offers for it, and those that an answer would not use. Pure.
import type { MetricQuery } from "../../platform/generated/MetricQuery";
import type { QuestionCompletion } from "../../platform/generated/QuestionCompletion";
import type { QuestionSpan } from "../../platform/generated/QuestionSpan";
import type { ResultContent } from "../../platform/generated/ResultContent";
import { askedNow } from "../../results/query/change";
import type { ToolResult, Transcript } from "../../state/transcript";

/** A text with the caret in it. */
export interface Place {
  text: string;
  cursor: number;
}

/** A part of a text, and whether an answer would not use it. */
export interface Piece {
  text: string;
  isUnused: boolean;
}

/** Returns the metric query of the newest figures of a conversation, which a question may go on from. */
export function lastQuery(state: Transcript | null): MetricQuery | null {
  for (const entry of state?.entries.toReversed() ?? []) {
    const query = entry.kind === "tool" ? queryOf(entry.result) : null;
    if (query) return query;
  }
  return null;
}

function queryOf(result: ToolResult | null): MetricQuery | null {
  const asked = (result?.parsed as ResultContent | null | undefined)?.computed?.asked;
  if (!asked?.query) return null;
  const source = asked.query.source ?? asked.source;
  return askedNow({ ...asked.query, ...(source !== undefined && { source }) });
}

/** Returns the text with the chosen words in their place, and the caret after them. */
export function withCompletion(
  text: string,
  { insert, from, to }: QuestionCompletion,
): { text: string; caret: number } {
  const rest = text.slice(to);
  const start = text.slice(0, from) + insert;
  const gap = /^[\s.,;:?!)]/u.test(rest) ? "" : " ";
  const caret = start.length + (rest.startsWith(" ") ? 1 : gap.length);
  return { text: `${start}${gap}${rest}`, caret };
}

/** Returns the words offered for an earlier text that still fit after letters were typed at the caret. */
export function narrowed(
  offered: readonly QuestionCompletion[],
  earlier: Place,
  { text, cursor }: Place,
): QuestionCompletion[] {
  const isAppended =
    cursor > earlier.cursor &&
    text.slice(0, earlier.cursor) === earlier.text.slice(0, earlier.cursor) &&
    text.slice(cursor) === earlier.text.slice(earlier.cursor);
  if (!isAppended) return [];
  return offered.flatMap((completion) => {
    const word = text.slice(completion.from, cursor).toLocaleLowerCase();
    const { insert } = completion;
    const fits = insert.length > word.length && insert.toLocaleLowerCase().startsWith(word);
    return fits && completion.to === earlier.cursor ? [{ ...completion, to: cursor }] : [];
  });
}

/** Returns the words that would not be used, without the word at the caret as long as it may become one that is offered. */
export function settled(
  unused: readonly QuestionSpan[],
  cursor: number,
  offered: readonly QuestionCompletion[],
): QuestionSpan[] {
  const isOpen = ({ from, to }: QuestionSpan): boolean =>
    from < cursor && cursor <= to && offered.some((one) => one.from < cursor && cursor <= one.to);
  return unused.filter((span) => !isOpen(span));
}

/** Returns the spans of an earlier text that are still right in a text: those before the first change. */
export function stillRight<T extends QuestionSpan>(
  spans: readonly T[],
  earlier: string,
  text: string,
): T[] {
  if (earlier === text) return [...spans];
  let same = 0;
  while (same < earlier.length && earlier[same] === text[same]) same += 1;
  // A word that ends where the change begins may go on.
  return spans.filter(({ to }) => to < same);
}

/** Divides a text at the words that would not be used. */
export function piecesOf(text: string, unused: readonly QuestionSpan[]): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const { from, to } of [...unused].sort((one, other) => one.from - other.from)) {
    if (from < end || to > text.length) continue;
    if (from > end) pieces.push({ text: text.slice(end, from), isUnused: false });
    pieces.push({ text: text.slice(from, to), isUnused: true });
    end = to;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), isUnused: false });
  return pieces;
}
