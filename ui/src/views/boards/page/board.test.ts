// A board with a host that answers: the order in which tiles are computed, stops, errors, changes from two windows, and what is brought back.
import { beforeEach, expect, test, vi } from "vitest";
import { setLanguage } from "../../../i18n/index.svelte";
import type { AgentError } from "../../../platform/generated/AgentError";
import type { Board } from "../../../platform/generated/Board";
import type { BoardContent } from "../../../platform/generated/BoardContent";
import { boards } from "../../../state/boards.svelte";
import { boardOf, figuresOf, tileOf } from "../testing";
import { BoardState } from "./board.svelte";

type Params = Record<string, unknown>;
const host = vi.hoisted(() => ({
  sent: [] as { command: string; params: Params }[],
  answer: (_command: string, _params: Params): unknown => ({}),
}));
vi.mock("../../../platform", async (original) => ({
  ...(await original<typeof import("../../../platform")>()),
  call: async (command: string, params: Params) => {
    host.sent.push({ command, params });
    return await host.answer(command, params);
  },
}));

const failure = (reason: string): AgentError => ({
  contract_version: "1.0",
  code: "invalid_input",
  message: "No.",
  retryable: false,
  details: { reason },
});
const figures = figuresOf({ source: "ads", measures: ["spend"], by: ["campaign"] }, [["A", 1]]);
const sent = (command: string): Params[] =>
  host.sent.filter((one) => one.command === command).map(({ params }) => params);

/** The stored board, which the host changes as it is told. */
let stored: Board;
/** The tiles that the host computes until the test ends them. */
let running: Map<string, (end: unknown) => void>;
/** Whether tiles wait for the test. */
let isSlow: boolean;

function save({ revision, content, id }: Params): Board {
  if (id !== undefined && revision !== stored.revision)
    throw failure("changed") as unknown as Error;
  stored = boardOf([], {}, stored.revision + 1);
  stored = { ...stored, content: content as BoardContent };
  return stored;
}
beforeEach(() => {
  setLanguage("en");
  host.sent = [];
  stored = boardOf(["a", "b", "c", "d"].map((id) => tileOf(id)));
  running = new Map();
  isSlow = false;
  host.answer = (command, params) => {
    if (command === "board_open") return stored;
    if (command === "board_save") return save(params);
    if (command === "boards_list") return { boards: [] };
    if (command === "board_delete") return stored;
    if (command !== "board_tile") return {};
    const own = { ...figures, revision: stored.revision };
    if (!isSlow) return own;
    return new Promise((resolve, reject) => {
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the host rejects with an AgentError
      running.set(String(params["tile"]), (end) => (end === null ? resolve(own) : reject(end)));
    });
  };
});

async function opened(): Promise<BoardState> {
  const board = new BoardState("board_1");
  await board.open();
  return board;
}
const settled = (board: BoardState) => vi.waitFor(() => expect(board.isBusy).toBe(false));
const statuses = (board: BoardState) =>
  ["a", "b", "c", "d"].map((tile) => board.runOf(tile).status);

test("tiles are computed in their order, two at a time, and an error of one does not stop the others", async () => {
  isSlow = true;
  const board = await opened();
  expect(statuses(board)).toEqual(["running", "running", "waiting", "waiting"]);
  running.get("b")!(failure("source_gone"));
  await vi.waitFor(() => expect(board.runOf("c").status).toBe("running"));
  expect(board.runOf("b").error?.details["reason"]).toBe("source_gone");
  for (const tile of ["a", "c"]) running.get(tile)!(null);
  await vi.waitFor(() => expect(running.has("d")).toBe(true));
  running.get("d")!(null);
  await settled(board);
  expect(sent("board_tile").map(({ tile }) => tile)).toEqual(["a", "b", "c", "d"]);
  expect(["a", "b", "c", "d"].map((tile) => board.runOf(tile).figures !== null)).toEqual([
    true,
    false,
    true,
    true,
  ]);
});

test("a slow tile is stopped at the host, and the next one begins without waiting for it", async () => {
  isSlow = true;
  const board = await opened();
  const { run } = sent("board_tile")[0]!;
  board.stop("a");
  expect(sent("board_tile_stop")).toEqual([{ run }]);
  expect(statuses(board)).toEqual(["idle", "running", "running", "waiting"]);
  // The late answer of the host changes nothing.
  running.get("a")!(failure("tile_stopped"));
  await Promise.resolve();
  expect([board.runOf("a").isStopped, board.runOf("a").error]).toEqual([true, null]);
  board.close();
  expect(sent("board_tile_stop").length).toBe(3);
  expect(statuses(board)).toEqual(["idle", "idle", "idle", "idle"]);
});

test("a tile under refresh keeps its figures until the new ones are there", async () => {
  const board = await opened();
  await settled(board);
  isSlow = true;
  board.compute("a");
  expect([board.runOf("a").status, board.runOf("a").figures !== null]).toEqual(["running", true]);
  running.get("a")!(failure("data_timeout"));
  await settled(board);
  expect([board.runOf("a").error !== null, board.runOf("a").figures !== null]).toEqual([
    true,
    true,
  ]);
});

test("changes are stored one after another, and filters compute all tiles again", async () => {
  const board = await opened();
  await settled(board);
  const changes = [board.rename("Daily"), board.move("d", -1), board.edit("a", { width: "full" })];
  // The page shows them at once.
  expect(board.content?.tiles.map(({ id }) => id)).toEqual(["a", "b", "d", "c"]);
  await Promise.all(changes);
  expect(sent("board_save").map(({ revision }) => revision)).toEqual([1, 2, 3]);
  expect(stored.content).toEqual(board.content);
  expect(sent("board_tile").length).toBe(4);
  await board.setFilters([{ device: ["Mobile"] }]);
  await board.setPeriod({ last: { days: 7 } });
  await settled(board);
  expect(stored.content.period).toEqual({ last: { days: 7 } });
  expect(sent("board_tile").length).toBeGreaterThanOrEqual(8);
  await board.setPeriod(null);
  expect("period" in stored.content).toBe(false);
});

test("a tile that becomes a table is computed again, because only a table has totals", async () => {
  const board = await opened();
  await settled(board);
  await board.edit("a", { view: "chart" });
  await board.edit("b", { view: "table" });
  await settled(board);
  expect(
    sent("board_tile")
      .map(({ tile }) => tile)
      .slice(4),
  ).toEqual(["b"]);
});

test("the list of boards gets the figures that a board showed last", async () => {
  stored = boardOf([tileOf("a"), tileOf("b", { view: "figures" })]);
  const board = await opened();
  await settled(board);
  expect(boards.seen.get("board_1")?.figures).toEqual([
    { label: "Campaign", value: "A" },
    { label: "Spend", value: "1" },
  ]);
});

test("a change of another window is not overwritten: the board is read again, and the fault is said", async () => {
  const board = await opened();
  await settled(board);
  stored = boardOf([tileOf("a")], { name: "Of another window" }, 7);
  const changes = [board.rename("Mine"), board.rename("Mine, too")];
  expect(await Promise.all(changes)).toEqual([false, false]);
  expect(sent("board_save").length).toBe(1);
  expect(board.content?.name).toBe("Of another window");
  expect(board.error?.details["reason"]).toBe("changed");
});

test("figures with a later revision show that another window changed the board", async () => {
  const board = await opened();
  await settled(board);
  stored = boardOf([tileOf("a")], { name: "Of another window" }, 7);
  board.compute("a");
  await vi.waitFor(() => expect(board.content?.name).toBe("Of another window"));
  expect(board.said).toContain("Another window");
});

test("a removed tile is brought back to its place", async () => {
  const board = await opened();
  await settled(board);
  await board.remove("b");
  expect(stored.content.tiles.map(({ id }) => id)).toEqual(["a", "c", "d"]);
  await board.restore();
  expect(stored.content.tiles.map(({ id }) => id)).toEqual(["a", "b", "c", "d"]);
  expect(board.removed).toBeNull();
});

test("a deleted board is made again with all that it had", async () => {
  await boards.remove("board_1", 1);
  expect(boards.deleted).toBe(stored);
  const { content } = stored;
  await boards.restore();
  expect(sent("board_save")).toEqual([{ revision: 0, content }]);
  expect(boards.deleted).toBeNull();
});

test("a result is pinned to a board, or to a new one", async () => {
  const { id: _, ...tile } = tileOf("");
  await boards.pin(tile, { id: "board_1" });
  await boards.pin(tile, { name: "Ads" });
  expect(sent("board_tile_add")).toEqual([
    { board: "board_1", name: "", tile: { id: "", ...tile } },
    { name: "Ads", tile: { id: "", ...tile } },
  ]);
});
