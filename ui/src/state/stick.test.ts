// The list follows new text only while the user is at its end.
import { expect, test } from "vitest";
import { StickToBottom } from "./stick";

const at = (top: number, height: number, viewport = 500) => ({ top, height, viewport });

test("follows growing content from the start", () => {
  const stick = new StickToBottom();
  expect(stick.resized(at(0, 400))).toBeNull();
  expect(stick.resized(at(0, 900))).toBe(400);
  stick.scrolled(at(400, 900));
  expect(stick.resized(at(400, 1200))).toBe(700);
});

test("a scroll upwards stops it, also while text keeps coming", () => {
  const stick = new StickToBottom();
  stick.resized(at(0, 2000));
  stick.scrolled(at(1500, 2000));
  stick.scrolled(at(1450, 2000));
  expect(stick.stuck).toBe(false);
  expect(stick.resized(at(1450, 2600))).toBeNull();
});

test("a scroll upwards that comes before the new text has been measured is the user's all the same", () => {
  const stick = new StickToBottom();
  stick.resized(at(0, 2000));
  stick.scrolled(at(1500, 2000));
  // A wheel turn and a delta in one frame: the event reports both, and the resize follows.
  stick.scrolled(at(1420, 2040));
  expect(stick.stuck).toBe(false);
  expect(stick.resized(at(1420, 2040))).toBeNull();
});

test("a hand on the wheel is followed before the list has moved, also when content shrinks meanwhile", () => {
  const stick = new StickToBottom();
  stick.resized(at(0, 2000));
  stick.scrolled(at(1500, 2000));
  stick.upwards(at(1500, 2000));
  expect(stick.resized(at(1500, 2100))).toBeNull();
  stick.scrolled(at(1300, 1950));
  expect(stick.resized(at(1300, 1950))).toBeNull();
  const short = new StickToBottom();
  short.upwards(at(0, 400));
  expect(short.stuck).toBe(true);
});

test("coming back to the end resumes it", () => {
  const stick = new StickToBottom();
  stick.resized(at(0, 2000));
  stick.scrolled(at(900, 2000));
  expect(stick.stuck).toBe(false);
  stick.scrolled(at(1470, 2000));
  expect(stick.stuck).toBe(true);
});

test("our own scroll that arrives late, after more content, does not stop it", () => {
  const stick = new StickToBottom();
  stick.resized(at(0, 2000));
  stick.scrolled(at(1500, 2300));
  expect(stick.stuck).toBe(true);
});

test("content that shrinks at the end keeps it there", () => {
  const stick = new StickToBottom();
  stick.resized(at(0, 2000));
  stick.scrolled(at(1200, 1700));
  expect(stick.stuck).toBe(true);
});

test("content that shrinks and grows again before the event comes is still followed", () => {
  const stick = new StickToBottom();
  stick.resized(at(0, 2000));
  stick.scrolled(at(1500, 2000));
  // A card of 300 was removed and one of 200 added; in between, the position was moved up to 1200.
  stick.scrolled(at(1200, 1900));
  expect(stick.stuck).toBe(true);
  expect(stick.resized(at(1200, 1900))).toBe(1400);
});

test("older content put above does not move what is seen", () => {
  const stick = new StickToBottom();
  stick.resized(at(0, 2000));
  stick.scrolled(at(20, 2000));
  expect(stick.pushed(20, 3000)).toBe(3020);
  stick.scrolled(at(3020, 5000));
  expect(stick.stuck).toBe(false);
});

test("a window that becomes smaller stays at the end", () => {
  const stick = new StickToBottom();
  stick.resized(at(0, 2000, 500));
  expect(stick.resized(at(1500, 2000, 300))).toBe(1700);
});
