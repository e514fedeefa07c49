// One board: its content, what a person changes, and the figures of its tiles. A change names the revision that it was made from, so that
// two windows do not overwrite one another.
import { t } from "../../../i18n/index.svelte";
import { asAgentError, call } from "../../../platform";
import type { AgentError } from "../../../platform/generated/AgentError";
import type { Board } from "../../../platform/generated/Board";
import type { BoardContent } from "../../../platform/generated/BoardContent";
import type { Condition } from "../../../platform/generated/Condition";
import type { Period } from "../../../platform/generated/Period";
import type { Tile } from "../../../platform/generated/Tile";
import type { TileFigures } from "../../../platform/generated/TileFigures";
import { withHeadings } from "../../../results/content";
import { figuresOf } from "../../../results/figures";
import { boards } from "../../../state/boards.svelte";
import { TaskQueue } from "./queue";
import { seenChart } from "./seen";

/** The tiles that are computed at once. The others wait, so that the first ones are there soon. */
const AT_ONCE = 2;
/** The most figures that the list of boards shows of one. */
const MOST_SEEN = 4;
/** Names of runs begin with it, so that another window has others. */
const WINDOW = crypto.getRandomValues(new Uint32Array(2)).join("-");
let runs = 0;

/** The figures of a tile, and the run that computes them. */
export class TileRun {
  /** The figures of the last run that ended well. They stay while the next one runs. */
  figures = $state.raw<TileFigures | null>(null);
  error = $state.raw<AgentError | null>(null);
  status = $state<"idle" | "waiting" | "running">("idle");
  /** Whether a person stopped the last run. */
  isStopped = $state(false);
  /** The name of the present run; null if none runs. */
  run: string | null = null;
}

/** A tile that was removed, with its place. */
interface Removed {
  tile: Tile;
  at: number;
}

export class BoardState {
  board = $state.raw<Board | null>(null);
  error = $state.raw<AgentError | null>(null);
  /** The last action in words, if the page does not show what it did. */
  said = $state("");
  /** The last tile that was removed, until another change. */
  removed = $state.raw<Removed | null>(null);
  readonly content = $derived(this.board?.content ?? null);
  private readonly runs = new Map<string, TileRun>();
  private readonly queue = new TaskQueue(AT_ONCE);
  /** The changes that are sent one after another, each with the revision that the one before made. */
  private sending: Promise<unknown> = Promise.resolve();
  /** Counts how often the board was read. Changes of a board that was read again meanwhile are not sent. */
  private reads = 0;

  constructor(readonly id: string) {}

  /** Returns the run of a tile. */
  runOf(tile: string): TileRun {
    const run = this.runs.get(tile) ?? new TileRun();
    this.runs.set(tile, run);
    return run;
  }

  /** Whether a tile is computed or waits for it. */
  get isBusy(): boolean {
    return (this.content?.tiles ?? []).some(({ id }) => this.runOf(id).status !== "idle");
  }

  /** Reads the board and computes its tiles. */
  async open(): Promise<void> {
    this.reads += 1;
    try {
      this.show(await call("board_open", { id: this.id }));
      this.error = null;
      this.removed = null;
      this.refresh();
    } catch (cause) {
      this.error = asAgentError(cause);
      // No tile waits for a board that cannot be read.
      this.close();
      for (const run of this.runs.values()) run.isStopped = true;
    }
  }

  /** Shows a board. Its tiles have their runs before anything is drawn, because what is drawn follows only states that are older than it. */
  private show(board: Board): void {
    for (const { id } of board.content.tiles) this.runOf(id);
    this.board = board;
  }

  /** Stops all runs. */
  close(): void {
    this.queue.clear();
    for (const run of this.runs.values()) this.end(run);
  }

  /** Computes all tiles again, in their order. */
  refresh(): void {
    for (const { id } of this.content?.tiles ?? []) this.compute(id);
  }

  /** Marks all figures as old, because they are those of other filters. */
  private outdate(): void {
    this.queue.clear();
    for (const { id } of this.content?.tiles ?? []) {
      const run = this.runOf(id);
      this.end(run);
      [run.status, run.isStopped] = ["waiting", false];
    }
  }

  /** Computes a tile again. Its figures stay until the new ones are there. */
  compute(tile: string): void {
    const run = this.runOf(tile);
    this.end(run);
    this.queue.free(tile);
    run.status = "waiting";
    run.isStopped = false;
    this.queue.add({ id: tile, run: () => this.measure(tile, run) });
  }

  /** Stops computing a tile. The next one begins. */
  stop(tile: string): void {
    const run = this.runOf(tile);
    this.queue.drop(tile);
    run.isStopped = true;
    this.end(run);
    this.queue.free(tile);
  }

  private end(run: TileRun): void {
    const name = run.run;
    run.run = null;
    run.status = "idle";
    // The host would compute on for nobody.
    if (name !== null) void call("board_tile_stop", { run: name }).catch(() => {});
  }

  private async measure(tile: string, run: TileRun): Promise<void> {
    const name = `${WINDOW}-${++runs}`;
    run.run = name;
    run.status = "running";
    try {
      const figures = await call("board_tile", { board: this.id, tile, run: name });
      if (run.run !== name) return;
      run.figures = { ...figures, content: withHeadings(figures.content) };
      run.error = null;
      this.remember(tile, run.figures);
      this.notice(figures);
    } catch (cause) {
      if (run.run === name) run.error = asAgentError(cause);
    }
    if (run.run !== name) return;
    run.run = null;
    run.status = "idle";
  }

  /** Keeps the figures of the first tile with figures, and the first chart, for the list of boards. */
  private remember(tile: string, shown: TileFigures): void {
    const { at, content } = shown;
    const first = this.content?.tiles.find(({ view }) => view === "chart");
    if (first?.id === tile) {
      const chart = seenChart(first, shown);
      if (chart) boards.charts.set(this.id, chart);
      else boards.charts.delete(this.id);
    }
    const main = this.content?.tiles.find(({ view }) => view === "figures");
    if (main?.id !== tile || content.rows.length !== 1) return;
    const figures = figuresOf(content).slice(0, MOST_SEEN);
    boards.seen.set(this.id, {
      at,
      figures: figures.map(({ label, value }) => ({ label, value })),
      isProposed: content.state === "proposed",
    });
  }

  /** Reads the board again if figures show that another window changed it. */
  private notice({ revision }: TileFigures): void {
    const reads = this.reads;
    // A change of this window may still be on its way.
    void this.sending.then(() => {
      if (reads !== this.reads || revision <= (this.board?.revision ?? revision)) return;
      this.said = t("boards.changed_elsewhere");
      return this.open();
    });
  }

  /** Changes the content, and stores it after the changes before. Returns whether it was stored. */
  change(edit: (content: BoardContent) => BoardContent): Promise<boolean> {
    if (!this.board) return Promise.resolve(false);
    const { reads } = this;
    const content = edit(this.board.content);
    this.show({ ...this.board, content });
    this.removed = null;
    this.said = "";
    const sent = this.sending.then(() => this.save(content, reads));
    this.sending = sent;
    return sent;
  }

  private async save(content: BoardContent, reads: number): Promise<boolean> {
    if (reads !== this.reads || !this.board) return false;
    try {
      const { revision } = this.board;
      const stored = await call("board_save", { id: this.id, revision, content });
      // Later changes of this window are kept; their turn comes.
      const isLast = this.board.content === content;
      this.show({ ...stored, content: isLast ? stored.content : this.board.content });
      this.error = null;
      return true;
    } catch (cause) {
      // The page shows what is stored, and says what was not.
      await this.open();
      this.error = asAgentError(cause);
      return false;
    }
  }

  async rename(name: string): Promise<boolean> {
    return this.change((content) => ({ ...content, name }));
  }

  async setFilters(filters: Condition[]): Promise<void> {
    const stored = this.change((content) => ({ ...content, filters }));
    this.outdate();
    if (await stored) this.refresh();
  }

  async setPeriod(period: Period | null): Promise<void> {
    const set = ({ period: _, ...rest }: BoardContent): BoardContent =>
      period ? { ...rest, period } : rest;
    const stored = this.change(set);
    this.outdate();
    if (await stored) this.refresh();
  }

  /** Changes the title, the view or the width of a tile. */
  async edit(tile: string, change: Partial<Pick<Tile, "title" | "view" | "chart" | "width">>) {
    const edited = (one: Tile): Tile => (one.id === tile ? { ...one, ...change } : one);
    const stored = await this.change((content) => ({
      ...content,
      tiles: content.tiles.map(edited),
    }));
    // Only a table has totals, which are computed with it.
    if (stored && change.view === "table") this.compute(tile);
    return stored;
  }

  /** Moves a tile one place up or down. */
  async move(tile: string, step: -1 | 1): Promise<void> {
    const tiles = [...(this.content?.tiles ?? [])];
    const at = tiles.findIndex(({ id }) => id === tile);
    const to = at + step;
    if (at < 0 || to < 0 || to >= tiles.length) return;
    [tiles[at], tiles[to]] = [tiles[to]!, tiles[at]!];
    const moved = this.change((content) => ({ ...content, tiles }));
    this.said = t("boards.moved", { place: to + 1, count: tiles.length });
    await moved;
  }

  /** Removes a tile, which can be brought back until the next change. */
  async remove(tile: string): Promise<void> {
    const tiles = this.content?.tiles ?? [];
    const at = tiles.findIndex(({ id }) => id === tile);
    const found = tiles[at];
    if (!found) return;
    this.stop(tile);
    const left = tiles.filter(({ id }) => id !== tile);
    const stored = this.change((content) => ({ ...content, tiles: left }));
    this.removed = { tile: found, at };
    if (!(await stored)) this.removed = null;
  }

  /** Brings the last removed tile back to its place. */
  async restore(): Promise<void> {
    const { removed } = this;
    if (!removed) return;
    const stored = await this.change((content) => ({
      ...content,
      tiles: content.tiles.toSpliced(removed.at, 0, removed.tile),
    }));
    if (stored) this.compute(removed.tile.id);
  }
}
