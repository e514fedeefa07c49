// How wide each tile of a board is: the tiles of a line share its whole width, and lines are equally long as far as possible. Pure.
import type { Tile } from "../../../platform/generated/Tile";

/** The columns of the grid. A line has one to four tiles, so that each of them takes whole columns. */
export const COLUMNS = 12;
/** The least width of a tile and the space between two, in rem. */
const [LEAST, SPACE] = [28, 1];
/** With more tiles, a wide window has a tile more in a line. */
const FEW = 7;

/** Returns how many tiles stand side by side at most in this width in rem. */
export function mostInLine(width: number, tiles: number): number {
  const fit = Math.floor((width + SPACE) / (LEAST + SPACE));
  return Math.max(1, Math.min(fit, tiles > FEW ? 4 : 3));
}

/** Whether a tile takes a whole line. Figures that come first are a band above the other tiles. */
export const isBand = ({ view, width }: Pick<Tile, "view" | "width">, at: number): boolean =>
  width === "full" || (at === 0 && view === "figures");

/** Returns the columns that each tile takes. */
export function spansOf(tiles: readonly Pick<Tile, "view" | "width">[], most: number): number[] {
  const spans: number[] = [];
  let waiting = 0;
  const place = (): void => {
    const lines = Math.ceil(waiting / most);
    for (let line = 0; line < lines; line++) {
      // The first lines have a tile more if they cannot all have the same number.
      const count = Math.floor(waiting / lines) + (line < waiting % lines ? 1 : 0);
      spans.push(...Array<number>(count).fill(COLUMNS / count));
    }
    waiting = 0;
  };
  tiles.forEach((tile, at) => {
    if (!isBand(tile, at)) return void waiting++;
    place();
    spans.push(COLUMNS);
  });
  place();
  return spans;
}
