// Changes of single messages: edits that are kept until they are sent, other answers, other versions, and deletions that can be undone.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Item } from "../platform/generated/Item";
import type { Push } from "../platform/generated/Push";
import type { TurnVersions } from "../platform/generated/TurnVersions";
import { Chat } from "./chat.svelte";
import { approvalOf, eventOf, itemOf, viewOf } from "./testing";
import { Versions } from "./versions.svelte";

const PAGE = 4;
const host = vi.hoisted(() => ({
  calls: [] as [string, Record<string, unknown>][],
  refuses: "",
  items: [] as unknown[],
  versions: [] as unknown[],
  running: null as string | null,
  approvals: [] as unknown[],
  otherVersions: 0,
  push: (_: unknown): void => {},
}));

/** A turn with its question and its answer, from `seq` on. */
function turnOf(turn: string, seq: number): Item[] {
  const question = itemOf(seq, { kind: "user_message", text: `question ${turn}` });
  const answer = itemOf(seq + 1, {
    kind: "assistant_text",
    text: `answer ${turn}`,
    partial: false,
  });
  return [question, answer].map((item) => ({ ...item, turn }));
}
const known = (): TurnVersions[] => host.versions as TurnVersions[];

vi.mock("../platform", async (original) => ({
  ...(await original<typeof import("../platform")>()),
  platform: () => ({
    onPush: (listener: (push: unknown) => void) => ((host.push = listener), () => {}),
  }),
  call: async (command: string, params: Record<string, unknown>) => {
    await Promise.resolve();
    host.calls.push([command, params]);
    if (command === host.refuses) throw new Error("not now");
    const items = host.items as Item[];
    const page = (before: number, limit: number) => {
      const older = items.filter(({ seq }) => seq < before);
      return {
        items: older.slice(-limit),
        has_more: older.length > limit,
        versions: known().filter(({ turn }) => older.slice(-limit).some((i) => i.turn === turn)),
      };
    };
    switch (command) {
      case "sessions_list":
        return { sessions: [], has_more: false };
      case "session_open": {
        const { items, has_more, versions } = page(Infinity, PAGE);
        const rest = { has_more, versions, running_turn: host.running };
        return viewOf(params["session"] === "s" ? items : [], {
          ...rest,
          approvals: host.approvals as [],
        });
      }
      case "items_page":
        return page(Number(params["before"]), Number(params["limit"]));
      case "turn_start":
        return { session: params["session"], turn: "new", queued: false };
      case "turn_delete":
        return { undo_seconds: 30, other_versions: host.otherVersions };
      default:
        return {};
    }
  },
}));

let chat: Chat;
let versions: Versions;
const push = (one: Push): void => host.push(one);
const turns = (): string[] => [...new Set(chat.open!.entries.map(({ turn }) => turn))];
const called = (command: string) =>
  host.calls.filter(([name]) => name === command).map(([, params]) => params);

beforeEach(async () => {
  vi.useFakeTimers();
  Object.assign(host, {
    calls: [],
    refuses: "",
    items: [...turnOf("a", 1), ...turnOf("b", 3), ...turnOf("c", 5)],
    versions: [],
    running: null,
    approvals: [],
    otherVersions: 0,
  });
  chat = new Chat();
  versions = new Versions(chat);
  await chat.start();
  await chat.select("s");
  await chat.loadOlder();
});
afterEach(() => vi.useRealTimers());

test("a failed answer is tried again as a version of its turn, so that the question stands once", async () => {
  await versions.retry("c", "question c");
  expect(called("turn_start")).toMatchObject([{ text: "question c", replaces: "c" }]);
  host.calls = [];
  await chat.select("shop:1");
  await versions.retry("c", "question c");
  expect(called("turn_start")).toEqual([
    expect.not.objectContaining({ replaces: expect.anything() as unknown }),
  ]);
});

describe("edits", () => {
  test("a text that was begun stays beside the draft, also while another conversation is open", async () => {
    chat.draft = "half a";
    expect([versions.edit("b"), versions.edits["b"]?.text]).toEqual([true, "question b"]);
    versions.edits["b"]!.text = "question b, please";
    await chat.select("other");
    await chat.select("s");
    expect([versions.edits["b"]?.text, chat.draft]).toEqual(["question b, please", "half a"]);
    // Editing another question, or the same one again, drops no text.
    versions.edit("c");
    versions.edit("b");
    expect(versions.edits["b"]?.text).toBe("question b, please");
    versions.close("b");
    expect(Object.keys(versions.edits)).toEqual(["c"]);
  });

  test("an edited question replaces its turn, and its field stays until the question is gone", async () => {
    versions.edit("c");
    versions.edits["c"]!.text = " question c, please ";
    const before = chat.focusWanted;
    expect(await versions.send("c")).toBe(true);
    expect(called("turn_start")).toEqual([
      { session: "s", text: "question c, please", headless: false, replaces: "c" },
    ]);
    expect([chat.justSent, chat.focusWanted, chat.busy]).toEqual(["new", before + 1, true]);
    expect(versions.isOnItsWay("c")).toBe(true);
    versions.left("c");
    expect(versions.edits).toEqual({});
  });

  test("a refused text stays in its field with the reason, and a field that is left without sending keeps it", async () => {
    host.refuses = "turn_start";
    versions.edit("c");
    versions.edits["c"]!.text = "better";
    expect(await versions.send("c")).toBe(false);
    expect(versions.edits["c"]).toMatchObject({ text: "better", isSent: false });
    expect(versions.edits["c"]?.error?.message).toBe("not now");
    versions.left("c");
    expect([versions.edits["c"]?.text, chat.busy, turns()]).toEqual([
      "better",
      false,
      ["a", "b", "c"],
    ]);
  });

  test("an accepted text whose turn ends without a new question can be sent again", async () => {
    versions.edit("c");
    await versions.send("c");
    const usage = { input_tokens: 0, output_tokens: 0, model_calls: 0 };
    const final = eventOf({ type: "final", status: "cancelled", text: "", usage }, 1);
    push({ push: "turn", event: { ...final, turn: "new" } });
    expect([versions.isOnItsWay("c"), versions.edits["c"]?.text]).toEqual([false, "question c"]);
    expect(await versions.send("c")).toBe(true);
  });

  test("an empty text is not sent", async () => {
    versions.edit("c");
    versions.edits["c"]!.text = "  ";
    expect([await versions.send("c"), called("turn_start")]).toEqual([false, []]);
  });
});

describe("another answer", () => {
  test("the same question is asked again, of the model that was chosen", async () => {
    await versions.regenerate("b", "answer", "offline");
    expect(called("turn_start")).toEqual([
      { session: "s", text: "question b", headless: false, replaces: "b", model: "offline" },
    ]);
    expect(versions.failure).toBeNull();
  });

  test("a refusal is shown where the answer was asked for, until the next change", async () => {
    host.refuses = "turn_start";
    await versions.regenerate("b", "answer", null);
    expect(versions.failure).toMatchObject({ turn: "b", at: "answer" });
    expect(versions.failure?.error.message).toBe("not now");
    host.refuses = "";
    await versions.regenerate("b", "answer", null);
    expect(versions.failure).toBeNull();
  });

  test("no message changes while a turn runs, a message waits, or an approval is pending", async () => {
    const refused = async (): Promise<unknown> => {
      await versions.regenerate("c", "answer", null);
      await versions.remove("c", "answer");
      await versions.step("c", 1, 0);
      return [versions.edit("c"), called("turn_start"), called("turn_delete"), versions.refusal];
    };
    host.running = "c";
    await chat.refresh();
    expect(await refused()).toEqual([false, [], [], "busy"]);
    host.running = null;
    await chat.refresh();
    expect(versions.refusal).toBeNull();
    chat.open!.queue = [{ turn: "d", text: "later" }];
    expect(await refused()).toEqual([false, [], [], "busy"]);
    host.approvals = [approvalOf({ turn: "c" })];
    await chat.refresh();
    expect(await refused()).toEqual([false, [], [], "approval"]);
  });
});

test("a conversation of the chat API keeps its messages", async () => {
  await chat.select("shop:1");
  expect(versions.refusal).toBe("api");
});

describe("versions", () => {
  /** Lets the host show another version of the second question, with what follows it. */
  function change(turn: "b" | "b2"): void {
    host.items = [
      ...turnOf("a", 1),
      ...(turn === "b" ? [...turnOf("b", 3), ...turnOf("c", 5)] : turnOf("b2", 7)),
    ];
    host.versions = [{ turn, siblings: ["b", "b2"], chosen: turn === "b" ? 0 : 1 }];
  }

  test("a push leads to the messages that are shown now, and all pages that were there are read", async () => {
    expect(turns()).toEqual(["a", "b", "c"]);
    change("b2");
    push({ push: "items_changed", session: "s" });
    await vi.waitFor(() => expect(turns()).toEqual(["a", "b2"]));
    expect(chat.open!.versions).toEqual({ b2: { turn: "b2", siblings: ["b", "b2"], chosen: 1 } });
    const first = chat.open!.entries[0];
    change("b");
    push({ push: "items_changed", session: "s" });
    await vi.waitFor(() => expect(turns()).toEqual(["a", "b", "c"]));
    // The entries of a message that stays are the same, so that its element stays.
    expect([chat.open!.entries[0] === first, chat.open!.hasMore]).toEqual([true, false]);
    expect(Object.keys(chat.open!.versions)).toEqual(["b"]);
  });

  test("a conversation that is not open is read as a whole when it is opened", async () => {
    push({
      push: "turn",
      event: { ...eventOf({ type: "status", stage: "thinking" }, 1), turn: "b2" },
    });
    await chat.select("other");
    change("b2");
    host.running = "b2";
    push({ push: "items_changed", session: "s" });
    await chat.select("s");
    expect(turns()).toEqual(["a", "b2"]);
  });

  test("the log leads from a hidden version to the question that is shown in its place", async () => {
    change("b2");
    await chat.readChanged("s");
    await chat.openAtTurn("s", "b");
    expect(chat.target).toEqual({ session: "s", seq: 7, takesFocus: true });
  });

  test("the next version takes the place of the present one", async () => {
    change("b");
    await versions.step("b", 1, 120);
    expect(called("turn_show")).toEqual([]);
    push({ push: "items_changed", session: "s" });
    await vi.waitFor(() => expect(chat.open!.versions["b"]).toBeDefined());
    await versions.step("b", -1, 120);
    expect(called("turn_show")).toEqual([]);
    change("b2");
    await versions.step("b", 1, 120);
    expect(called("turn_show")).toEqual([{ session: "s", turn: "b2" }]);
    expect([versions.held, turns()]).toEqual([{ turn: "b2", top: 120, step: 1 }, ["a", "b2"]]);
  });

  test("a version that cannot be shown leaves everything as it is and says so", async () => {
    change("b");
    await chat.readChanged("s");
    host.refuses = "turn_show";
    await versions.step("b", 1, 0);
    expect(versions.failure).toMatchObject({ turn: "b", at: "question" });
    expect([versions.held, turns()]).toEqual([null, ["a", "b", "c"]]);
  });
});

describe("deletions", () => {
  test("a deleted question is gone with its answer and can be taken back for 30 seconds", async () => {
    host.otherVersions = 2;
    host.items = [...turnOf("a", 1), ...turnOf("c", 5)];
    await versions.remove("b", "question");
    expect(called("turn_delete")).toEqual([{ session: "s", turn: "b" }]);
    expect([turns(), versions.deleted]).toEqual([
      ["a", "c"],
      [{ session: "s", turn: "b", question: "question b", otherVersions: 2 }],
    ]);
    await vi.advanceTimersByTimeAsync(29_000);
    host.items = [...turnOf("a", 1), ...turnOf("b", 3), ...turnOf("c", 5)];
    await versions.restore("b");
    expect(called("turn_restore")).toEqual([{ session: "s", turn: "b" }]);
    expect([turns(), versions.deleted]).toEqual([["a", "b", "c"], []]);
  });

  test("an undo is no longer offered when the host cannot do it", async () => {
    await versions.remove("b", "question");
    await vi.advanceTimersByTimeAsync(30_000);
    expect(versions.deleted).toEqual([]);
    await versions.restore("b");
    expect(called("turn_restore")).toEqual([]);
  });

  test("a refused deletion or undo says so and changes nothing", async () => {
    host.refuses = "turn_delete";
    await versions.remove("b", "answer");
    expect(versions.failure).toMatchObject({ turn: "b", at: "answer" });
    expect([turns(), versions.deleted]).toEqual([["a", "b", "c"], []]);
    host.refuses = "turn_restore";
    await versions.remove("b", "answer");
    await versions.restore("b");
    expect([chat.openError?.message, versions.deleted]).toEqual(["not now", []]);
  });
});
