// Only changed blocks reach the view.
import { expect, test } from "vitest";
import { BlockStream, type BlockChange } from "./blocks";

test("patches name the changed blocks, and the finished answer touches only what differs", () => {
  const stream = new BlockStream();
  const seen: BlockChange[] = [];
  stream.connect((change) => seen.push(change));
  stream.apply({ blocks: [{ index: 0, html: "<p>a</p>" }], count: 1, append: "" });
  stream.apply({ blocks: [], count: 1, append: "bc" });
  stream.apply({ blocks: [{ index: 1, html: "<p>d</p>" }], count: 2, append: "" });
  stream.replace([
    { index: 0, html: "<p>abc</p>" },
    { index: 1, html: "<p>d</p>" },
  ]);
  expect(seen.map(({ complete }) => complete)).toEqual([true, false, false, false, true]);
  expect(seen.map(({ changed, count, append }) => [changed, count, append])).toEqual([
    [[], 0, ""],
    [[0], 1, ""],
    [[], 1, "bc"],
    [[1], 2, ""],
    [[0], 2, ""],
  ]);
});

test("a view that connects late gets all blocks, and gaps are empty blocks", () => {
  const stream = new BlockStream();
  stream.apply({ blocks: [{ index: 2, html: "<p>c</p>" }], count: 3, append: "d" });
  let first: BlockChange | undefined;
  stream.connect((change) => (first ??= change));
  expect(first).toEqual({ changed: [0, 1, 2], count: 3, append: "", complete: true });
  expect(stream.blocks[2]).toEqual({ html: "<p>c</p>", tail: "d" });
  stream.apply({ blocks: [], count: 0, append: "" });
  expect(stream.empty).toBe(true);
});
