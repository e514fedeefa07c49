import { expect, test } from "vitest";
import type { MessageHit } from "../../platform/generated/MessageHit";
import { byConversation, endOfDay, startOfDay } from "./searchHits";

const hit = (session: string, seq: number): MessageHit => ({
  session,
  title: session.toUpperCase(),
  item: `${session}${seq}`,
  seq,
  at: "2026-11-21T10:00:00Z",
  from_user: true,
  snippet: [],
});

test("messages are grouped by conversation, in the order of each conversation's best message", () => {
  const groups = byConversation([hit("b", 3), hit("a", 1), hit("b", 1)]);
  expect(groups.map(({ title, hits }) => [title, hits.map(({ seq }) => seq)])).toEqual([
    ["B", [3, 1]],
    ["A", [1]],
  ]);
});

test("a day lasts from its first moment to the first moment of the next", () => {
  const [begin, end] = [startOfDay("2026-11-21"), endOfDay("2026-11-21")];
  expect(Date.parse(end!) - Date.parse(begin!)).toBe(24 * 3_600_000);
  expect([startOfDay(""), endOfDay("2026-13-41"), startOfDay("x")]).toEqual([null, null, null]);
});
