// Boards as the host sends them in tests.
import type { Board } from "../../platform/generated/Board";
import type { BoardContent } from "../../platform/generated/BoardContent";
import type { MetricQuery } from "../../platform/generated/MetricQuery";
import type { Tile } from "../../platform/generated/Tile";
import type { TileFigures } from "../../platform/generated/TileFigures";
import type { Cell } from "../../results/grid/cells";

const at = "2026-11-30T09:00:00Z";

export function tileOf(id: string, rest: Partial<Tile> = {}): Tile {
  const query = { source: "ads", measures: ["spend"], by: ["campaign"] };
  return { id, title: "", query, view: "table", width: "half", ...rest };
}

export function boardOf(tiles: Tile[], rest: Partial<BoardContent> = {}, revision = 1): Board {
  const content = { name: "Weekly", filters: [], tiles, ...rest };
  return { id: "board_1", revision, created_at: at, changed_at: at, content };
}

/** Returns the figures of a tile with a dimension and a measure. */
export function figuresOf(
  query: MetricQuery,
  rows: Cell[][],
  rest: Partial<TileFigures> = {},
): TileFigures {
  const cells = rows.map((row) => row.map((value) => ({ value })));
  return {
    revision: 1,
    at,
    query,
    content: {
      columns: [
        { label: { en: "Campaign" }, role: "dimension", format: "text" },
        { label: { en: "Spend" }, role: "measure", format: "number" },
      ],
      rows: cells,
      total: rows.length,
    },
    columns: [
      { name: "campaign", type: "text", role: "dimension", format: "text", of: "campaign" },
      { name: "spend", type: "decimal", role: "measure", format: "number", of: "spend" },
    ],
    unreached: [],
    notes: [],
    fresh: [{ source: "ads", imported_at: at, last_day: "2026-11-29" }],
    data_version: "ab12",
    ...rest,
  };
}
