// Scales and axes of charts.
import { expect, test } from "vitest";
import { labelled, niceTicks, ticksBetween, ticksWithin } from "./scale";

test("ticks are round, start at zero and reach the maximum", () => {
  expect(niceTicks(950)).toEqual([0, 250, 500, 750, 1000]);
  expect(niceTicks(1000)).toEqual([0, 250, 500, 750, 1000]);
  expect(niceTicks(0.3)).toEqual([0, 0.1, 0.2, 0.3]);
  expect(niceTicks(0)).toEqual([0, 1]);
  for (const max of [1, 7, 13, 999, 12_345, 8.1e6])
    expect(niceTicks(max).at(-1)).toBeGreaterThanOrEqual(max);
});

test("labels never overlap", () => {
  for (const [count, width] of [
    [30, 500],
    [366, 300],
    [1, 20],
    [2, 10],
  ] as const) {
    const places = labelled(count, width, 60);
    expect(places[0]).toBe(0);
    for (let i = 1; i < places.length; i++)
      expect(
        ((places[i]! - places[i - 1]!) / Math.max(1, count - 1)) * width,
      ).toBeGreaterThanOrEqual(59);
  }
  expect(labelled(0, 100, 10)).toEqual([]);
});

test("ticks within a span need no zero that is far away", () => {
  expect(ticksWithin(1000, 1100)).toEqual([1000, 1025, 1050, 1075, 1100]);
  expect(ticksWithin(-1100, -1000)[0]).toBe(-1100);
  expect(ticksWithin(10, 100)).toEqual(ticksBetween(0, 100));
  expect(ticksWithin(-5, 5)).toContain(0);
  expect(ticksWithin(7, 7)).toEqual(ticksBetween(0, 7));
});

test("ticks reach below zero if values do", () => {
  expect(ticksBetween(0, 950)).toEqual(niceTicks(950));
  expect(ticksBetween(-40, 100)).toEqual([-50, -25, 0, 25, 50, 75, 100]);
  expect(ticksBetween(-3, 0)).toEqual([-3, -2, -1, 0]);
  expect(ticksBetween(0, 0)).toEqual([0, 1]);
});
