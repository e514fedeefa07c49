// The rows in view, for tables of any length.
import { expect, test } from "vitest";
import {
  contentHeight,
  drawnRows,
  MOST_PIXELS,
  positionFor,
  rowAtTop,
  topOfRow,
  type Viewport,
} from "./viewport";

const view = (rest: Partial<Viewport>): Viewport => ({
  total: 100_000,
  rowHeight: 28,
  height: 560,
  scrollTop: 0,
  ...rest,
});

test("only the visible rows and some spare ones are drawn", () => {
  expect(drawnRows(view({}), 5)).toEqual({ first: 0, last: 25 });
  expect(drawnRows(view({ scrollTop: 28_000 }), 5)).toEqual({ first: 995, last: 1025 });
  expect(drawnRows(view({ total: 3 }), 5)).toEqual({ first: 0, last: 3 });
  expect(drawnRows(view({ total: 0 }), 5)).toEqual({ first: 0, last: 0 });
});

test("100,000 rows are as high as they are, and more rows than a browser can hold are scaled", () => {
  expect(contentHeight(view({}))).toBe(2_800_000);
  expect(contentHeight(view({ total: 50_000_000 }))).toBe(MOST_PIXELS);
});

test("the last row of a scaled table can be reached, and stands at the lower edge", () => {
  const end = view({ total: 50_000_000, scrollTop: MOST_PIXELS - 560 });
  expect(rowAtTop(end)).toBe(50_000_000 - 20);
  expect(drawnRows(end, 5).last).toBe(50_000_000);
  expect(topOfRow(end, 49_999_999)).toBeCloseTo(MOST_PIXELS - 28, 3);
});

test("a row out of view is scrolled to the nearer edge, and a visible row does not move", () => {
  const here = view({ scrollTop: 2800 });
  expect(positionFor(here, 110)).toBeNull();
  expect(positionFor(here, 40)).toBe(40 * 28);
  expect(positionFor(here, 200)).toBe((200 + 1 - 20) * 28);
  const long = view({ total: 50_000_000 });
  const to = positionFor(long, 25_000_000)!;
  expect(rowAtTop({ ...long, scrollTop: to })).toBeCloseTo(25_000_000 - 19, 3);
});
