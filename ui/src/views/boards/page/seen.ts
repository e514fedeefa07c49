// The picture of a chart in the list of boards: the numbers of one measure in the order of the result. Pure but for the language.
import { num } from "../../../lib/read";
import type { Tile } from "../../../platform/generated/Tile";
import type { TileFigures } from "../../../platform/generated/TileFigures";
import type { SeenChart } from "../../../state/boards.svelte";
import { tileTitle } from "../words";

/** The most points that can be told apart in a small picture. */
const MOST_POINTS = 120;

/** Returns the picture of a chart; null if it is not one row of numbers, such as a chart by two dimensions. */
export function seenChart(tile: Tile, { content, columns, query }: TileFigures): SeenChart | null {
  const at = content.columns.findIndex(({ role }) => role === "measure");
  const groups = query.by ?? [];
  if (at < 0 || groups.length !== 1 || content.rows.length > MOST_POINTS) return null;
  const points = content.rows.map((row) => num(row[at]?.value));
  const known = points.filter((point) => point !== null);
  if (known.length < 2 || known.length < points.length) return null;
  const [group] = groups;
  const isTime = typeof group === "object" && "time" in group;
  const isLine = tile.chart === undefined ? isTime : tile.chart === "lines";
  return { title: tileTitle(tile, columns), isLine, points: known };
}
