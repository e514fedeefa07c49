// A sent message is known at every moment between the click and the end of its turn.
import { describe, expect, test } from "vitest";
import { isBusy, isOnItsWay, type Sent } from "./sent";
import { eventOf, itemOf } from "./testing";
import { applyEvent, emptyTranscript, takeItems } from "./transcript";

const sent: Sent = { session: "s", turn: "t", text: "More" };
const question = itemOf(1, { kind: "user_message", text: "More" });

describe("sent messages", () => {
  test("a message is on its way before the host has sent an event about it", () => {
    const state = emptyTranscript("s");
    expect([
      isOnItsWay(state, sent, "More"),
      isOnItsWay(state, sent, "Less"),
      isBusy(state, sent),
    ]).toEqual([true, false, true]);
    expect([isOnItsWay(state, null, "More"), isBusy(state, null)]).toEqual([false, false]);
    const other = emptyTranscript("other");
    expect([isOnItsWay(other, sent, "More"), isBusy(other, sent)]).toEqual([false, false]);
  });

  test("a message is on its way while it is answered, also before its question is stored", () => {
    const state = emptyTranscript("s");
    applyEvent(state, eventOf({ type: "status", stage: "started" }, 1));
    expect([
      isOnItsWay(state, sent, "More"),
      isOnItsWay(state, sent, "Less"),
      isBusy(state, null),
    ]).toEqual([true, false, true]);
    applyEvent(state, eventOf({ type: "item", item: question }, 2));
    expect([isOnItsWay(state, null, "More"), isOnItsWay(state, null, "Less")]).toEqual([
      true,
      false,
    ]);
  });

  test("a message is on its way while it waits in the queue", () => {
    const state = { ...emptyTranscript("s"), queue: [{ turn: "t", text: " More " }] };
    expect([
      isOnItsWay(state, null, "More"),
      isOnItsWay(state, sent, "Less"),
      isBusy(state, null),
    ]).toEqual([true, false, true]);
  });

  test("a message can be sent again when its turn is over", () => {
    const state = emptyTranscript("s");
    takeItems(state, [question]);
    expect([isOnItsWay(state, sent, "More"), isBusy(state, sent)]).toEqual([false, false]);
  });
});
