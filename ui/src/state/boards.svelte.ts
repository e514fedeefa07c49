// The boards of the profile, for their view and for results that are pinned. They are read again when the window gets the focus, because
// another window can change them.
import { SvelteMap } from "svelte/reactivity";
import { asAgentError, call } from "../platform";
import type { AgentError } from "../platform/generated/AgentError";
import type { Board } from "../platform/generated/Board";
import type { BoardContent } from "../platform/generated/BoardContent";
import type { BoardSummary } from "../platform/generated/BoardSummary";
import type { Tile } from "../platform/generated/Tile";

/** A tile that the host has not stored yet. */
export type NewTile = Omit<Tile, "id">;

/** The main figures of a board, as they were shown last. */
export interface SeenFigures {
  /** When they were computed. */
  at: string;
  figures: readonly { label: string; value: string }[];
  /** Whether nobody approved the definitions that they were computed with. */
  isProposed: boolean;
}

/** A small picture of the first chart of a board, as it was shown last. */
export interface SeenChart {
  title: string;
  isLine: boolean;
  points: readonly number[];
}

export class Boards {
  /** All boards by name; null before they are read. */
  list = $state.raw<readonly BoardSummary[] | null>(null);
  error = $state.raw<AgentError | null>(null);
  /** The board that was deleted last, until it is brought back or the person has read it. */
  deleted = $state.raw<Board | null>(null);
  /** The main figures of boards that were opened in this window. The list shows them and computes nothing. */
  readonly seen = new SvelteMap<string, SeenFigures>();
  readonly charts = new SvelteMap<string, SeenChart>();

  /** Reads the boards now and whenever they may have changed. Returns a function that stops this. */
  follow(): () => void {
    const read = (): void => void this.read();
    read();
    addEventListener("focus", read);
    return () => removeEventListener("focus", read);
  }

  async read(): Promise<void> {
    try {
      this.list = (await call("boards_list", {})).boards;
      this.error = null;
    } catch (cause) {
      this.error = asAgentError(cause);
    }
  }

  /** Makes a board. Fails if the host refuses it. */
  async create(content: BoardContent): Promise<Board> {
    const board = await call("board_save", { revision: 0, content });
    await this.read();
    return board;
  }

  /** Makes the first board of a source from its definitions. Fails if the host refuses it. */
  async createFrom(source: string, name: string): Promise<Board> {
    const content = await call("board_propose", { name: source });
    return this.create({ ...content, name: name.trim() || content.name });
  }

  /** Adds a tile to a board, or to a new one with a name. Fails if the host refuses it. */
  async pin(tile: NewTile, to: { id: string } | { name: string }): Promise<Board> {
    const place = "id" in to ? { board: to.id, name: "" } : { name: to.name };
    const board = await call("board_tile_add", { ...place, tile: { id: "", ...tile } });
    await this.read();
    return board;
  }

  /** Deletes a board as it was shown. Fails if somebody changed it meanwhile. */
  async remove(id: string, revision: number): Promise<void> {
    this.deleted = await call("board_delete", { id, revision });
    await this.read();
  }

  /** Makes the board again that was deleted last. */
  async restore(): Promise<void> {
    const { deleted } = this;
    if (!deleted) return;
    try {
      await this.create(deleted.content);
      this.deleted = null;
    } catch (cause) {
      this.error = asAgentError(cause);
    }
  }
}

export const boards = new Boards();
