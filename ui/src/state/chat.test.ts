// Sent messages, the text in the message field, and retries.
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { Item } from "../platform/generated/Item";
import type { Push } from "../platform/generated/Push";
import { Chat } from "./chat.svelte";
import { eventOf, itemOf, viewOf } from "./testing";

const host = vi.hoisted(() => ({
  started: [] as string[],
  refuses: false,
  meanwhile: () => {},
  push: (_: unknown): void => {},
}));
const earlier = (seq: number): Item => ({
  ...itemOf(seq, { kind: "user_message", text: "earlier" }),
  turn: "earlier",
});
vi.mock("../platform", async (original) => ({
  ...(await original<typeof import("../platform")>()),
  platform: () => ({
    onPush: (listener: (push: unknown) => void) => ((host.push = listener), () => {}),
  }),
  call: async (command: string, params: { text: string; session: string | null }) => {
    await Promise.resolve();
    if (command === "sessions_list") return { sessions: [], has_more: false };
    if (command === "session_open")
      return viewOf([earlier(9)], { running_turn: "t", has_more: true });
    if (command === "items_page")
      return host.refuses
        ? Promise.reject(new Error("no host"))
        : { items: [earlier(8)], has_more: false };
    host.meanwhile();
    if (host.refuses) throw new Error("no host");
    host.started.push(params.text);
    return { session: params.session ?? "s", turn: "t", queued: false };
  },
}));

let chat: Chat;
const push = (one: Push): void => host.push(one);
beforeEach(() => {
  Object.assign(host, { started: [], refuses: false, meanwhile: () => {} });
  chat = new Chat();
});

describe("drafts", () => {
  test("a sent draft is removed, unless it was changed in the meantime", async () => {
    chat.draft = "hello ";
    await chat.send(chat.draft);
    expect([chat.draft, chat.open?.session]).toEqual(["", "s"]);
    chat.draft = "hello";
    host.meanwhile = () => (chat.draft = "hello again");
    await chat.send("hello");
    expect(chat.draft).toBe("hello again");
  });

  test("a draft stays when a button sends a message, also if that message begins the conversation", async () => {
    chat.draft = "half a";
    await chat.ask("Show me shoes");
    expect([chat.open?.session, chat.draft]).toEqual(["s", "half a"]);
    await chat.ask("Show me boots");
    expect(chat.draft).toBe("half a");
    await chat.select(null);
    expect(chat.draft).toBe("");
    await chat.select("s");
    expect(chat.draft).toBe("half a");
  });

  test("a draft stays with its conversation when the user opens another one", async () => {
    await chat.select("s");
    chat.draft = "hello";
    host.meanwhile = () => void chat.select("other");
    await chat.send(chat.draft);
    host.meanwhile = () => {};
    chat.draft = "for the other";
    await chat.select("s");
    expect(chat.draft).toBe("");
    await chat.select("other");
    expect(chat.draft).toBe("for the other");
  });
});

describe("failed messages", () => {
  test("the failed message of a button is kept beside the draft, to be sent again", async () => {
    chat.draft = "half a";
    host.refuses = true;
    await chat.ask("Show me shoes");
    expect([chat.unsent, chat.draft, chat.sendError?.message]).toEqual([
      "Show me shoes",
      "half a",
      "no host",
    ]);
    host.refuses = false;
    await chat.ask(chat.unsent!);
    expect([chat.unsent, chat.sendError, host.started]).toEqual([null, null, ["Show me shoes"]]);
  });

  test("a failed message of the message field stays there, and is not shown in another conversation", async () => {
    chat.draft = "hello";
    host.refuses = true;
    await chat.send(chat.draft);
    expect([chat.unsent, chat.draft]).toEqual([null, "hello"]);
    await chat.ask("Show me shoes");
    await chat.select("other");
    expect([chat.unsent, chat.sendError]).toEqual([null, null]);
  });
});

test("loading older messages says whether any were read", async () => {
  await chat.select("s");
  host.refuses = true;
  expect([await chat.loadOlder(), chat.openError?.message, chat.open?.hasMore]).toEqual([
    false,
    "no host",
    true,
  ]);
  host.refuses = false;
  expect([await chat.loadOlder(), chat.open?.hasMore, await chat.loadOlder()]).toEqual([
    true,
    false,
    false,
  ]);
});

test("a button sends its message once until the turn is over, and the message field gets the focus", async () => {
  await chat.start();
  await chat.select("s");
  const before = chat.focusWanted;
  await Promise.all([chat.ask("More"), chat.ask("More")]);
  await chat.ask("More");
  expect([host.started, chat.focusWanted, chat.busy]).toEqual([["More"], before + 1, true]);
  push({
    push: "turn",
    event: eventOf({ type: "item", item: itemOf(1, { kind: "user_message", text: "More" }) }, 1),
  });
  push({
    push: "turn",
    event: eventOf(
      {
        type: "final",
        status: "cancelled",
        text: "",
        usage: { input_tokens: 0, output_tokens: 0, model_calls: 0 },
      },
      2,
    ),
  });
  expect(chat.busy).toBe(false);
  await chat.ask("More");
  expect(host.started).toEqual(["More", "More"]);
});
