// The widths of the tiles of a board.
import { expect, test } from "vitest";
import { mostInLine, spansOf } from "./layout";

const half = { view: "chart", width: "half" } as const;
const full = { view: "chart", width: "full" } as const;
const figures = { view: "figures", width: "half" } as const;

test("figures that come first are a band, and the lines below are full", () => {
  expect(spansOf([figures, half, half, half, half], 3)).toEqual([12, 6, 6, 6, 6]);
  expect(spansOf([half, half, half, half, half], 3)).toEqual([4, 4, 4, 6, 6]);
  expect(spansOf([half, figures], 3)).toEqual([6, 6]);
  expect(spansOf([half], 3)).toEqual([12]);
});

test("a tile of full width ends the line before it", () => {
  expect(spansOf([half, full, half, half], 3)).toEqual([12, 12, 6, 6]);
});

test("a narrow window has one tile in a line, and a wide one four only for many tiles", () => {
  expect([mostInLine(35, 9), mostInLine(70, 4), mostInLine(150, 4), mostInLine(150, 9)]).toEqual([
    1, 2, 3, 4,
  ]);
});
