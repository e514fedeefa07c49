// Conversations as a whole: deletions that can be undone, marks, quotations, and the way to the first message.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Item } from "../platform/generated/Item";
import type { SessionSummary } from "../platform/generated/SessionSummary";
import { Chat } from "./chat.svelte";
import { itemOf, viewOf } from "./testing";

const ITEMS = 1_300;
const host = vi.hoisted(() => ({
  calls: [] as [string, Record<string, unknown>][],
  refuses: "",
  sessions: [] as unknown[],
}));
const item = (seq: number): Item => itemOf(seq, { kind: "user_message", text: `message ${seq}` });
const page = (before: number, limit: number): Item[] =>
  Array.from({ length: Math.min(limit, before - 1) }, (_, n) => item(before - 1 - n)).reverse();

vi.mock("../platform", async (original) => ({
  ...(await original<typeof import("../platform")>()),
  platform: () => ({ onPush: () => () => {} }),
  call: async (command: string, params: Record<string, unknown>) => {
    await Promise.resolve();
    host.calls.push([command, params]);
    if (command === host.refuses) throw new Error("no host");
    switch (command) {
      case "sessions_list":
        return { sessions: params["archived"] ? [] : host.sessions, has_more: false };
      case "session_open":
        return viewOf(page(ITEMS + 1, 60), {
          summary: summary(String(params["session"])),
          has_more: true,
        });
      case "items_page": {
        const items = page(Number(params["before"]), Number(params["limit"]));
        return { items, has_more: (items[0]?.seq ?? 0) > 1 };
      }
      case "session_delete":
        return { undo_seconds: 30 };
      default:
        return {};
    }
  },
}));

const summary = (id: string, rest: Partial<SessionSummary> = {}): SessionSummary => ({
  ...viewOf([]).summary,
  id,
  title: `Title ${id}`,
  ...rest,
});
const ids = (list: readonly SessionSummary[] | null): string[] | undefined =>
  list?.map(({ id }) => id);

let chat: Chat;
beforeEach(async () => {
  vi.useFakeTimers();
  Object.assign(host, { calls: [], refuses: "", sessions: [summary("a"), summary("b")] });
  chat = new Chat();
  await chat.start();
});
afterEach(() => vi.useRealTimers());

test("a deleted conversation is gone at once, and an undo brings it back, open and with its draft", async () => {
  await chat.select("a");
  chat.draft = "half a question";
  await chat.remove("a");
  expect([ids(chat.list.sessions), chat.open?.session, chat.deleted.length]).toEqual([
    ["b"],
    "b",
    1,
  ]);
  expect(host.calls).toContainEqual(["session_delete", { session: "a", undo: true }]);
  await chat.restore("a");
  expect([ids(chat.list.sessions)?.toSorted(), chat.open?.session]).toEqual([["a", "b"], "a"]);
  expect([chat.draft, chat.deleted]).toEqual(["half a question", []]);
});

test("an undo is offered for at least ten seconds and no longer than the host can do it", async () => {
  await chat.remove("a");
  await vi.advanceTimersByTimeAsync(10_000);
  expect(chat.deleted.length).toBe(1);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(chat.deleted).toEqual([]);
});

test("a deletion or an undo that the host refuses changes nothing or says so", async () => {
  host.refuses = "session_delete";
  await expect(chat.remove("a")).rejects.toThrow("no host");
  expect([ids(chat.list.sessions), chat.deleted]).toEqual([["a", "b"], []]);
  host.refuses = "session_restore";
  await chat.remove("a");
  await chat.restore("a");
  expect([ids(chat.list.sessions), chat.list.error?.message, chat.deleted]).toEqual([
    ["b"],
    "no host",
    [],
  ]);
});

test("an archived conversation leaves the list, and a pinned one goes to its top", async () => {
  await chat.list.loadArchived();
  await chat.mark("b", { pinned: true });
  expect(ids(chat.list.sessions)).toEqual(["b", "a"]);
  await chat.mark("a", { archived: true });
  expect([ids(chat.list.sessions), ids(chat.list.archived)]).toEqual([["b"], ["a"]]);
  await chat.mark("a", { archived: false });
  expect([ids(chat.list.sessions), ids(chat.list.archived)]).toEqual([["b", "a"], []]);
});

test("a quotation is put below the draft, line by line", () => {
  chat.quote("one\n\ntwo\n");
  expect(chat.draft).toBe("> one\n>\n> two\n\n");
  chat.draft = "First this.  ";
  const before = chat.focusWanted;
  chat.quote("three");
  expect([chat.draft, chat.focusWanted]).toEqual(["First this.\n\n> three\n\n", before + 1]);
});

test("all older pages are read for the first message, each entry once and in order", async () => {
  vi.useRealTimers();
  await chat.select("a");
  expect(await chat.loadAll()).toBe(true);
  const { entries, hasMore } = chat.open!;
  expect([entries.length, hasMore]).toEqual([ITEMS, false]);
  expect(entries.every(({ seq }, index) => seq === index + 1)).toBe(true);
});

test("a message far above is shown without the focus, and none is read below it", async () => {
  vi.useRealTimers();
  await chat.select("a");
  await chat.reveal(900, false);
  expect(chat.target).toEqual({ session: "a", seq: 900, takesFocus: false });
  expect(chat.open!.hasMore).toBe(true);
  await chat.reveal(ITEMS + 5, false);
  expect(chat.target).toBeNull();
});
