// Short ways to write wire values in tests.
import type { Approval } from "../platform/generated/Approval";
import type { Item } from "../platform/generated/Item";
import type { ItemBody } from "../platform/generated/ItemBody";
import type { SessionView } from "../platform/generated/SessionView";
import type { TurnEvent } from "../platform/generated/TurnEvent";

type OmitEach<T, K extends string> = T extends unknown ? Omit<T, K> : never;
export type EventBody = OmitEach<TurnEvent, "session" | "turn" | "n" | "at">;

const at = "2026-11-21T10:00:00Z";

export function eventOf(event: EventBody, n: number): TurnEvent {
  return { session: "s", turn: "t", n, at, ...event };
}

export function itemOf(seq: number, body: ItemBody): Item {
  return { id: `i${seq}`, session: "s", turn: "t", seq, created_at: at, body };
}

export function viewOf(items: Item[], rest: Partial<SessionView> = {}): SessionView {
  const summary = {
    id: "s",
    title: "S",
    created_at: at,
    updated_at: at,
    running: false,
    waiting_approvals: 0,
    pinned: false,
    archived: false,
  };
  return { summary, items, has_more: false, queue: [], approvals: [], ...rest };
}

export function approvalOf(rest: Partial<Approval>): Approval {
  return {
    id: "a1",
    session: "s",
    turn: "t",
    call: "c",
    tool: "cart.addItem",
    tool_title: "Add",
    server: "shop",
    agent: "shop",
    caller: "window",
    effect: "write",
    arguments: "{}",
    hash: "00",
    why: "",
    created_at: at,
    expires_at: at,
    status: "pending",
    grantable: false,
    headless: false,
    ...rest,
  };
}
