// Saves a board as a page, with the charts that it shows.
import { platform } from "../../../platform";
import type { BoardContent } from "../../../platform/generated/BoardContent";
import type { Tile } from "../../../platform/generated/Tile";
import type { TileFigures } from "../../../platform/generated/TileFigures";
import { chooseChart } from "../../../results/chart/choosing";
import { planOf } from "../../../results/chart/plan";
import { pictureOf } from "../../../results/chart/saving";
import { chartTheme } from "../../../results/chart/theme.svelte";
import { fileName } from "../../../results/grid/saving";
import { tileTitle } from "../words";
import type { TileRun } from "./board.svelte";
import { pageOf, type PageTile } from "./export";

/** The width of a chart on the page, in pixels. */
const WIDTH = 900;

/** Returns the figures of a tile; null if they are those of a run before, which may have had other filters. */
function presentFigures({ figures, error, status, isStopped }: TileRun): TileFigures | null {
  return error !== null || status !== "idle" || isStopped ? null : figures;
}

/** Returns the chart of a tile as an SVG; null if it is not shown as one. */
async function chartOf(tile: Tile, figures: TileFigures): Promise<string | null> {
  const choice = tile.view === "chart" ? chooseChart(figures.content) : null;
  if (!choice) return null;
  const kind = choice.kinds.find((one) => one === tile.chart) ?? choice.kinds[0]!;
  const plan = planOf(figures.content, choice, kind);
  const title = tileTitle(tile, figures.columns);
  return new TextDecoder().decode(await pictureOf("svg", plan, chartTheme(), title, WIDTH));
}

/** Saves a board where the user says. Returns the path, or null if the user chose none. */
export async function saveBoard(
  content: BoardContent,
  runOf: (tile: string) => TileRun,
): Promise<string | null> {
  const tiles: PageTile[] = [];
  // All figures are taken at one moment, because a filter may change while charts are drawn.
  const present = content.tiles.map((tile) => ({ tile, figures: presentFigures(runOf(tile.id)) }));
  for (const { tile, figures } of present) {
    // A chart that cannot be drawn leaves its table.
    const svg = figures && (await chartOf(tile, figures).catch(() => null));
    tiles.push({ tile, figures, svg });
  }
  const page = pageOf(content, tiles, chartTheme(), new Date());
  return platform().saveFile(`${fileName(content.name)}.html`, new TextEncoder().encode(page));
}
