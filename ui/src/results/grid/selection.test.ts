// Moving through a table with the keyboard.
import { expect, test } from "vitest";
import { areaOf, isSelected, moved, placeAfter, sizeOfArea, type Selection } from "./selection";

const size = { rows: 100_000, columns: 4, page: 20, totals: 0 };
const at = (row: number, column: number) => ({ row, column });

test("keys move the active cell, and stop at the edges and at the headings", () => {
  expect(placeAfter("ArrowDown", false, at(0, 1), size)).toEqual(at(1, 1));
  expect(placeAfter("ArrowUp", false, at(0, 1), size)).toEqual(at(-1, 1));
  expect(placeAfter("ArrowUp", false, at(-1, 1), size)).toEqual(at(-1, 1));
  expect(placeAfter("ArrowRight", false, at(3, 3), size)).toEqual(at(3, 3));
  expect(placeAfter("PageDown", false, at(99_990, 0), size)).toEqual(at(99_999, 0));
  expect(placeAfter("PageUp", false, at(5, 0), size)).toEqual(at(0, 0));
  expect(placeAfter("End", true, at(0, 0), size)).toEqual(at(99_999, 3));
  expect(placeAfter("Home", false, at(7, 3), size)).toEqual(at(7, 0));
  expect(placeAfter("a", false, at(0, 0), size)).toBeNull();
});

test("a move with Shift selects a rectangle, and a move without it ends the rectangle", () => {
  let selection: Selection = { active: at(2, 1), anchor: at(2, 1) };
  selection = moved(selection, at(4, 2), true);
  const area = areaOf(selection);
  expect(sizeOfArea(area)).toBe(6);
  expect([isSelected(area, 3, 1), isSelected(area, 3, 3), isSelected(area, 5, 1)]).toEqual([
    true,
    false,
    false,
  ]);
  expect(sizeOfArea(areaOf(moved(selection, at(0, 0), false)))).toBe(1);
});

test("the headings are not selected with cells", () => {
  const selection: Selection = { active: at(0, 0), anchor: at(0, 0) };
  expect(areaOf(moved(selection, at(-1, 2), true))).toBeNull();
});

test("the totals follow the last row, and the same keys lead back", () => {
  const totals = { ...size, totals: 2 };
  const go = (key: string, isControl: boolean, row: number) =>
    placeAfter(key, isControl, at(row, 1), totals)?.row;
  expect(go("ArrowDown", false, 99_999)).toBe(100_000);
  expect(go("ArrowDown", false, 100_001)).toBe(100_001);
  expect(go("ArrowDown", true, 5)).toBe(99_999);
  expect(go("ArrowDown", true, 99_999)).toBe(100_000);
  expect(go("PageDown", false, 99_990)).toBe(99_999);
  expect(go("PageDown", false, 99_999)).toBe(100_000);
  expect(go("End", true, 0)).toBe(100_001);
  expect(go("ArrowUp", false, 100_000)).toBe(99_999);
  expect(go("Home", true, 100_001)).toBe(0);
});
