// Items and events become entries: their order and identity, and items that arrive twice or late.
import { describe, expect, test } from "vitest";
import type { Approval } from "../platform/generated/Approval";
import type { Item } from "../platform/generated/Item";
import type { EventBody } from "./testing";
import { approvalOf, eventOf, itemOf, viewOf } from "./testing";
import {
  applyEvent,
  emptyTranscript,
  endOf,
  firstSeq,
  openTranscript,
  replaceTranscript,
  takeItems,
  trimOldest,
  waitingApprovals,
  type Transcript,
} from "./transcript";

const shape = (state: Transcript) => state.entries.map((entry) => `${entry.kind}:${entry.seq}`);
const pinned = (state: Transcript) => state.pins["view cart"]?.result.data;
const run = (state: Transcript, ...events: EventBody[]) =>
  events.forEach((event, n) => applyEvent(state, eventOf(event, n + 1)));
const user = itemOf(1, { kind: "user_message", text: "hello" });
const call = itemOf(2, {
  kind: "tool_call",
  call: "c1",
  tool: "product.search",
  title: "Search",
  effect: "read_only",
  arguments: { query: "shoes" },
});
const result = itemOf(3, {
  kind: "tool_result",
  call: "c1",
  tool: "product.search",
  outcome: "ok",
  summary: "3 found",
  data: { items: [] },
  view: { shape: "named", view: "product_cards" },
  untrusted: false,
  duration_ms: 4,
});
const answer = itemOf(4, {
  kind: "assistant_text",
  text: "Hi",
  blocks: [{ index: 0, html: "<p>Hi</p>" }],
  partial: false,
});
const final: EventBody = {
  type: "final",
  status: "ok",
  text: "Hi",
  usage: { input_tokens: 0, output_tokens: 0, model_calls: 1 },
};

describe("turns", () => {
  test("a turn becomes question, tool card and answer", () => {
    const state = emptyTranscript("s");
    run(
      state,
      { type: "item", item: user },
      { type: "status", stage: "thinking" },
      { type: "tool_start", call: "c1", tool: "product.search", title: "Search", arguments: {} },
    );
    expect(state.running?.stage).toBe("tools");
    run(
      state,
      { type: "item", item: call },
      { type: "tool_end", call: "c1", tool: "product.search", outcome: "ok", summary: "3 found" },
      { type: "item", item: result },
    );
    run(state, {
      type: "blocks",
      patch: { blocks: [{ index: 0, html: "<p>H</p>" }], count: 1, append: "" },
    });
    const live = state.entries.at(-1)!;
    expect(live).toMatchObject({ kind: "assistant", live: true });
    run(state, { type: "item", item: answer }, final);
    expect(shape(state)).toEqual(["user:1", "tool:2", "assistant:4"]);
    expect(state.entries.at(-1)).toBe(live);
    expect(live).toMatchObject({ live: false, text: "Hi" });
    expect(state.running).toBeNull();
    expect(state.stale).toBe(false);
  });

  test("values held back from the model are counted above the answer", () => {
    const state = emptyTranscript("s");
    const held = itemOf(3, {
      kind: "redaction",
      level: "basic",
      counts: [{ kind: "email", count: 2 }],
    });
    run(
      state,
      { type: "item", item: user },
      { type: "blocks", patch: { blocks: [{ index: 0, html: "<p>H</p>" }], count: 1, append: "" } },
    );
    run(
      state,
      { type: "item", item: held },
      { type: "item", item: answer },
      { type: "item", item: held },
      final,
    );
    expect(shape(state)).toEqual(["user:1", "redaction:3", "assistant:4"]);
    expect(state.entries[1]).toMatchObject({ counts: [{ kind: "email", count: 2 }] });
  });

  test("a summary that the model reads in place of older messages is shown once", () => {
    const state = emptyTranscript("s");
    const summary = itemOf(2, {
      kind: "summary",
      text: "They greeted.",
      messages: 4,
      method: "llm",
    });
    run(
      state,
      { type: "item", item: user },
      { type: "item", item: summary },
      { type: "item", item: summary },
      { type: "item", item: answer },
      final,
    );
    expect(shape(state)).toEqual(["user:1", "summary:2", "assistant:4"]);
    expect(state.entries[1]).toMatchObject({ text: "They greeted.", messages: 4 });
  });

  test("the end of a turn's thoughts is kept while the model thinks", () => {
    const state = emptyTranscript("s");
    const think = (text: string) => ({ type: "reasoning", text }) as const;
    run(state, { type: "status", stage: "thinking" }, think("Hm, "), think("so."));
    expect(state.running?.thoughts).toBe("Hm, so.");
    run(state, think("x".repeat(1000)), { type: "status", stage: "thinking" });
    expect(state.running?.thoughts).toHaveLength(400);
  });

  test("a turn names the specialist at work, and an answer names its specialist", () => {
    const state = emptyTranscript("s");
    run(
      state,
      { type: "agent_start", agent: "guardian", name: "Guardian" },
      { type: "status", stage: "thinking" },
    );
    expect(state.running).toMatchObject({ stage: "thinking", agent: "Guardian" });
    run(state, {
      type: "blocks",
      patch: { blocks: [{ index: 0, html: "<p>H</p>" }], count: 1, append: "" },
    });
    expect(state.entries).toMatchObject([{ kind: "assistant", agent: "Guardian" }]);
    run(
      state,
      { type: "item", item: answer },
      { type: "agent_end", agent: "guardian", name: "Guardian" },
    );
    expect(state.running).toMatchObject({ stage: "thinking", agent: null });
    run(state, { type: "agent_start", agent: "shopper", name: "Shopper" });
    expect(state.running?.agent).toBe("Shopper");
    run(state, final);
    expect(state.running).toBeNull();
  });

  test("a turn that ends without a stored answer requests the session again", () => {
    const state = emptyTranscript("s");
    run(state, { type: "item", item: user }, final);
    expect(state.stale).toBe(true);
  });

  test("a turn with replaced text keeps one answer", () => {
    const state = emptyTranscript("s");
    run(state, {
      type: "blocks",
      patch: { blocks: [{ index: 0, html: "<p>wrong</p>" }], count: 1, append: "" },
    });
    run(
      state,
      { type: "blocks", patch: { blocks: [], count: 0, append: "" } },
      { type: "status", stage: "output_replaced" },
    );
    run(state, { type: "item", item: answer }, final);
    expect(shape(state)).toEqual(["assistant:4"]);
  });

  test("a failed turn shows its error once, also when the error is stored as a notice", () => {
    const state = emptyTranscript("s");
    const error = {
      contract_version: "1.0",
      code: "llm_error" as const,
      message: "The model stalled.",
      retryable: true,
      details: { hint: "Try again." },
    };
    run(
      state,
      { type: "error", error },
      {
        type: "item",
        item: itemOf(2, {
          kind: "notice",
          level: "error",
          code: "llm_error",
          text: "The model stalled.",
        }),
      },
    );
    run(state, { type: "final", status: "error", text: "", error, usage: final.usage });
    expect(state.entries).toHaveLength(1);
    expect(state.entries[0]).toMatchObject({
      kind: "notice",
      error: { details: { hint: "Try again." } },
    });
  });

  test("a cancelled turn leaves no empty answer behind", () => {
    const state = emptyTranscript("s");
    run(
      state,
      { type: "item", item: user },
      { type: "blocks", patch: { blocks: [], count: 0, append: "" } },
    );
    run(state, {
      type: "final",
      status: "cancelled",
      text: "",
      usage: { input_tokens: 0, output_tokens: 0, model_calls: 0 },
    });
    expect(shape(state)).toEqual(["user:1"]);
  });
});

describe("the end of a turn", () => {
  const said = (partial: boolean) => itemOf(4, { kind: "assistant_text", text: "Hi", partial });
  const notice = (level: "info" | "error", code: string) =>
    itemOf(5, { kind: "notice", level, code, text: "" });
  const end = (...items: Item[]) => {
    const state = emptyTranscript("s");
    takeItems(state, items);
    return endOf(state, "t");
  };

  test("a turn ends complete with a whole answer, stopped if the user stopped it, and with neither if it failed", () => {
    expect([end(user, said(false)), end(user, said(true))]).toEqual(["complete", "stopped"]);
    expect([
      end(user, notice("info", "turn_cancelled")),
      end(user, said(false), notice("info", "turn_cancelled")),
    ]).toEqual(["stopped", "stopped"]);
    expect([
      end(user, notice("error", "llm_error")),
      end(user, said(true), notice("error", "llm_error")),
    ]).toEqual([null, null]);
  });

  test("the end of a turn is unknown before its answer is stored", () => {
    const state = emptyTranscript("s");
    run(
      state,
      { type: "item", item: user },
      { type: "blocks", patch: { blocks: [{ index: 0, html: "<p>H</p>" }], count: 1, append: "" } },
    );
    expect([endOf(state, "t"), endOf(state, "other")]).toEqual([null, null]);
  });
});

describe("items", () => {
  test("items that arrive twice are shown once, and older pages are placed before them", () => {
    const state = emptyTranscript("s");
    openTranscript(state, viewOf([result, answer], { has_more: true }));
    expect(firstSeq(state)).toBe(3);
    takeItems(state, [user, call]);
    takeItems(state, [user, call, result, answer]);
    expect(shape(state)).toEqual(["user:1", "tool:2", "assistant:4"]);
    expect(state.entries[1]).toMatchObject({ title: "Search", outcome: "ok" });
  });

  test("items stay when the session was read before the first of them was stored", () => {
    const state = emptyTranscript("s");
    run(state, { type: "status", stage: "started" }, { type: "item", item: user });
    openTranscript(state, viewOf([], { running_turn: "t" }));
    expect(shape(state)).toEqual(["user:1"]);
    expect([state.hasMore, state.running?.turn]).toEqual([false, "t"]);
  });

  test("results that arrive in another order than their calls stay with their call", () => {
    const state = emptyTranscript("s");
    const second = itemOf(5, {
      kind: "tool_call",
      call: "c2",
      tool: "cart.get",
      title: "Cart",
      effect: "read_only",
      arguments: {},
    });
    const cart = itemOf(6, {
      kind: "tool_result",
      call: "c2",
      tool: "cart.get",
      outcome: "ok",
      summary: "",
      data: { total: "5.00" },
      view: { shape: "named", view: "cart", pinned: true },
      untrusted: false,
      duration_ms: 1,
    });
    run(
      state,
      { type: "tool_start", call: "c1", tool: "a", title: "A", arguments: {} },
      { type: "tool_start", call: "c2", tool: "b", title: "B", arguments: {} },
    );
    takeItems(state, [second, call, cart, result]);
    expect(state.entries.map((entry) => entry.kind === "tool" && entry.call)).toEqual(["c1", "c2"]);
    expect(pinned(state)).toEqual({ total: "5.00" });
  });

  test("items beyond the limit are dropped from the top", () => {
    const state = emptyTranscript("s");
    takeItems(state, [user, call, result, answer]);
    trimOldest(state, 1);
    expect(shape(state)).toEqual(["assistant:4"]);
    expect(state.hasMore).toBe(true);
  });
});

describe("pinned results", () => {
  const shown = (seq: number, total: string, outcome: "ok" | "rejected" = "ok") =>
    itemOf(seq, {
      kind: "tool_result",
      call: `c${seq}`,
      tool: "cart.get",
      outcome,
      summary: "",
      data: { total },
      view: { shape: "named", view: "cart", pinned: true },
      untrusted: false,
      duration_ms: 1,
    });

  test("a pinned result stays when the entry that showed it is dropped", () => {
    const state = emptyTranscript("s");
    takeItems(state, [shown(3, "5.00"), answer]);
    trimOldest(state, 1);
    expect(shape(state)).toEqual(["assistant:4"]);
    expect(pinned(state)).toEqual({ total: "5.00" });
  });

  test("the newest result is pinned, even if an older one is read last", () => {
    const state = emptyTranscript("s");
    takeItems(state, [shown(6, "7.00"), shown(8, "9.00", "rejected")]);
    takeItems(state, [shown(3, "5.00")]);
    expect(pinned(state)).toEqual({ total: "7.00" });
  });

  test("a pinned result from older pages is sent with the session", () => {
    const state = emptyTranscript("s");
    openTranscript(state, viewOf([answer], { has_more: true, pinned: [shown(2, "5.00")] }));
    expect(pinned(state)).toEqual({ total: "5.00" });
    expect(shape(state)).toEqual(["assistant:4"]);
    openTranscript(state, viewOf([answer, shown(6, "7.00")], { pinned: [] }));
    expect(pinned(state)).toEqual({ total: "7.00" });
  });
});

describe("approvals", () => {
  const approval: Approval = approvalOf({ call: "c1" });
  test("approvals wait until they are resolved", () => {
    const state = emptyTranscript("s");
    run(state, { type: "item", item: call }, { type: "approval_requested", approval });
    expect(waitingApprovals(state).map(({ id }) => id)).toEqual([approval.id]);
    expect(state.running?.stage).toBe("waiting_for_approval");
    run(state, { type: "approval_resolved", id: approval.id, status: "rejected" });
    expect(waitingApprovals(state)).toEqual([]);
  });

  test("approvals are found again when a session is opened, and a new proposal replaces the old one", () => {
    const state = emptyTranscript("s");
    const next = approvalOf({
      call: "c1",
      id: "a2",
      replaces: approval.id,
      created_at: "2026-11-21T10:01:00Z",
    });
    openTranscript(
      state,
      viewOf([user, call], {
        approvals: [{ ...approval, status: "superseded" }, next],
        running_turn: "t",
      }),
    );
    expect(waitingApprovals(state).map(({ id }) => id)).toEqual(["a2"]);
    expect(state.running?.turn).toBe("t");
  });
});

test("a call on an older page and its result on a newer one are one entry, at the place of the call", () => {
  const state = emptyTranscript("s");
  openTranscript(state, viewOf([result, itemOf(4, { kind: "user_message", text: "next" })]));
  takeItems(state, [user, call]);
  expect(shape(state)).toEqual(["user:1", "tool:2", "user:4"]);
  const entry = state.entries[1];
  expect(entry).toMatchObject({ title: "Search", summary: "3 found", outcome: "ok" });
});

test("when other messages are shown, hidden ones go with their pins and versions, and a live answer stays", () => {
  const state = emptyTranscript("s");
  const of = (turn: string, ...items: Item[]): Item[] => items.map((item) => ({ ...item, turn }));
  const versions = [{ turn: "old", siblings: ["old", "new"], chosen: 0 }];
  const cart = itemOf(5, {
    kind: "tool_result",
    call: "c2",
    tool: "cart.get",
    outcome: "ok",
    summary: "",
    data: { total: 1 },
    view: { shape: "named", view: "cart", pinned: true },
    untrusted: false,
    duration_ms: 1,
  });
  openTranscript(state, viewOf([user, ...of("old", cart)], { versions }));
  const kept = state.entries[0];
  expect([pinned(state), Object.keys(state.versions)]).toEqual([{ total: 1 }, ["old"]]);
  const question = itemOf(7, { kind: "user_message", text: "again" });
  applyEvent(state, { ...eventOf({ type: "item", item: question }, 1), turn: "new" });
  applyEvent(state, {
    ...eventOf(
      {
        type: "blocks",
        patch: { blocks: [{ index: 0, html: "<p>H</p>" }], count: 1, append: "" },
      },
      2,
    ),
    turn: "new",
  });
  replaceTranscript(
    state,
    viewOf([user, ...of("new", question)], { running_turn: "new", has_more: true }),
  );
  expect(shape(state)).toEqual(["user:1", "user:7", "assistant:Infinity"]);
  expect([state.entries[0] === kept, state.hasMore, state.pins, state.versions]).toEqual([
    true,
    true,
    {},
    {},
  ]);
});
