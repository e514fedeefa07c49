// A question is held at the top while its answer grows; the end is followed only while the user is there.
import { describe, expect, test } from "vitest";
import { questionPosition, ScrollPosition, spaceBelow } from "./scroll";

const at = (top: number, height: number, viewport = 500) => ({ top, height, viewport });

test("growing content is followed from the start", () => {
  const stick = new ScrollPosition();
  expect(stick.resized(at(0, 400))).toBeNull();
  expect(stick.resized(at(0, 900))).toBe(400);
  stick.scrolled(at(400, 900));
  expect(stick.resized(at(400, 1200))).toBe(700);
});

test("a scroll upwards stops the following, also while text arrives", () => {
  const stick = new ScrollPosition();
  stick.resized(at(0, 2000));
  stick.scrolled(at(1500, 2000));
  stick.scrolled(at(1450, 2000));
  expect(stick.stuck).toBe(false);
  expect(stick.resized(at(1450, 2600))).toBeNull();
});

test("a scroll upwards before new text has been measured counts as the user's", () => {
  const stick = new ScrollPosition();
  stick.resized(at(0, 2000));
  stick.scrolled(at(1500, 2000));
  // A wheel turn and a delta come in one frame: the event reports both, and the resize follows.
  stick.scrolled(at(1420, 2040));
  expect(stick.stuck).toBe(false);
  expect(stick.resized(at(1420, 2040))).toBeNull();
});

test("a wheel turn stops the following before the list has moved, also when content shrinks meanwhile", () => {
  const stick = new ScrollPosition();
  stick.resized(at(0, 2000));
  stick.scrolled(at(1500, 2000));
  stick.upwards(at(1500, 2000));
  expect(stick.resized(at(1500, 2100))).toBeNull();
  stick.scrolled(at(1300, 1950));
  expect(stick.resized(at(1300, 1950))).toBeNull();
  const short = new ScrollPosition();
  short.upwards(at(0, 400));
  expect(short.stuck).toBe(true);
});

test("a return to the end resumes the following", () => {
  const stick = new ScrollPosition();
  stick.resized(at(0, 2000));
  stick.scrolled(at(900, 2000));
  expect(stick.stuck).toBe(false);
  stick.scrolled(at(1470, 2000));
  expect(stick.stuck).toBe(true);
});

test("our own scroll that arrives late, after more content, does not stop the following", () => {
  const stick = new ScrollPosition();
  stick.resized(at(0, 2000));
  stick.scrolled(at(1500, 2300));
  expect(stick.stuck).toBe(true);
});

test("the list stays at the end when content shrinks", () => {
  const stick = new ScrollPosition();
  stick.resized(at(0, 2000));
  stick.scrolled(at(1200, 1700));
  expect(stick.stuck).toBe(true);
});

test("content that shrinks and grows again before the event arrives is still followed", () => {
  const stick = new ScrollPosition();
  stick.resized(at(0, 2000));
  stick.scrolled(at(1500, 2000));
  // A card of 300 pixels was removed and a card of 200 pixels added. In between, the browser moved the position up to 1200.
  stick.scrolled(at(1200, 1900));
  expect(stick.stuck).toBe(true);
  expect(stick.resized(at(1200, 1900))).toBe(1400);
});

test("older content inserted above does not move the visible content", () => {
  const stick = new ScrollPosition();
  stick.resized(at(0, 2000));
  stick.scrolled(at(20, 2000));
  expect(stick.pushed(20, 3000)).toBe(3020);
  stick.scrolled(at(3020, 5000));
  expect(stick.stuck).toBe(false);
});

test("the list stays at the end when the window becomes smaller", () => {
  const stick = new ScrollPosition();
  stick.resized(at(0, 2000, 500));
  expect(stick.resized(at(1500, 2000, 300))).toBe(1700);
});

describe("sent questions", () => {
  /** Returns a list whose question begins at 2000, with an answer of `answer` pixels below it. */
  function sent(answer: number, viewport = 500) {
    const question = { top: 2000, bottom: 2040 };
    const position = questionPosition(question, viewport);
    const content = question.bottom + answer;
    const space = spaceBelow(position, content, viewport);
    const measures = (top = position) => ({ top, height: content + space, viewport, space });
    return { position, space, measures };
  }
  function held(answer: number) {
    const scroll = new ScrollPosition();
    scroll.resized(at(1540, 2040));
    scroll.hold();
    const list = sent(answer);
    expect(scroll.resized(list.measures(1540), list.position)).toBe(list.position);
    return scroll;
  }

  test("a sent question goes to the top, with empty space below it", () => {
    const { position, space, measures } = sent(0);
    expect(position).toBe(1984);
    expect(measures().height - 500).toBe(position);
    expect(space).toBeGreaterThan(0);
    held(0);
  });

  test("a sent question stays at the top while the answer grows, also beyond the viewport", () => {
    const scroll = held(0);
    for (const answer of [100, 400, 452, 460, 2000]) {
      const { position, measures } = sent(answer);
      expect(scroll.resized(measures(), position)).toBeNull();
      scroll.scrolled(measures());
      expect(scroll.mode).toBe("question");
    }
    expect(sent(2000).space).toBe(0);
    expect(scroll.isAway(sent(2000).measures())).toBe(true);
  });

  test("the end of the answer is followed only when the reader scrolls there", () => {
    const scroll = held(460);
    const { measures } = sent(900);
    scroll.resized(measures(), 1984);
    scroll.scrolled(measures(2200));
    expect(scroll.mode).toBe("free");
    scroll.scrolled(measures(2420));
    expect(scroll.mode).toBe("end");
    expect(scroll.resized(sent(1200).measures(2420), 1984)).toBe(2740);
  });

  test("a sent question is held again only when the reader returns to it", () => {
    const scroll = held(100);
    scroll.upwards(sent(100).measures());
    scroll.scrolled(sent(100).measures(1500));
    expect(scroll.mode).toBe("free");
    expect(scroll.resized(sent(200).measures(1500), 1984)).toBeNull();
    scroll.scrolled(sent(200).measures(1984));
    expect(scroll.mode).toBe("question");
  });

  test("a sent question stays at the top when the window or the content above changes", () => {
    const scroll = held(100);
    const larger = sent(100, 900);
    expect(scroll.resized(larger.measures(1984), larger.position)).toBeNull();
    // Older messages were added above, so the question is 3000 pixels further down.
    expect(scroll.resized({ ...larger.measures(1984), height: 6000 }, 4984)).toBe(4984);
    scroll.scrolled({ top: 4984, height: 6000, viewport: 900, space: 300 });
    expect(scroll.mode).toBe("question");
  });

  test("a sent question stays at the top when an approval card appears, and when entries far above are dropped", () => {
    const scroll = held(100);
    const { position, measures } = sent(420);
    expect(scroll.resized(measures(), position)).toBeNull();
    // The browser moved the position up, because 1500 pixels above were removed.
    scroll.scrolled({ top: 500, height: 1000, viewport: 500, space: 40 });
    expect(scroll.mode).toBe("question");
    expect(scroll.resized({ top: 500, height: 1000, viewport: 500, space: 40 }, 492)).toBe(492);
  });

  test("after a click on the button to the end, the answer is followed once it fills the viewport", () => {
    const scroll = held(100);
    scroll.follow();
    expect(scroll.resized(sent(200).measures(), 1984)).toBeNull();
    expect(scroll.resized(sent(900).measures(), 1984)).toBe(2440);
  });

  test("a long question takes half of the viewport", () => {
    expect(questionPosition({ top: 1000, bottom: 2000 }, 500)).toBe(1750);
    expect(questionPosition({ top: 4, bottom: 44 }, 500)).toBe(0);
  });

  test("a sent question needs no empty space below when the content fills the viewport", () => {
    expect(spaceBelow(100, 700, 500)).toBe(0);
    expect(spaceBelow(100, 300.4, 500)).toBe(300);
  });

  test("content counts as out of sight only when it is below the viewport", () => {
    const scroll = held(100);
    expect(scroll.isAway(sent(100).measures())).toBe(false);
    scroll.scrolled(sent(100).measures(1500));
    expect(scroll.isAway(sent(100).measures(1500))).toBe(true);
  });
});
