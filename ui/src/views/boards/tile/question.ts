// A tile as a question for a conversation, in words that the reader can change.
import { t } from "../../../i18n/index.svelte";
import type { BoardContent } from "../../../platform/generated/BoardContent";
import type { TileFigures } from "../../../platform/generated/TileFigures";
import type { Tile } from "../../../platform/generated/Tile";
import { choiceOf, periodText } from "../filters/periods";
import { queryTitle } from "../../../results/queryTitle";
import { filterText } from "../words";

/** Returns what a tile asks for, with its source, filters and period. */
export function questionOf(
  tile: Tile,
  figures: TileFigures | null,
  board: Pick<BoardContent, "filters" | "period">,
): string {
  const { query } = tile;
  const asked = figures?.query ?? {
    ...query,
    where: [...(query.where ?? []), ...board.filters],
    ...(board.period && { period: board.period }),
  };
  const source = asked.source ?? figures?.fresh[0]?.source;
  const parts = [
    queryTitle(asked, figures?.columns),
    ...(asked.where ?? []).map(filterText),
    ...(choiceOf(asked.period) === "own" ? [] : [periodText(asked.period)]),
    ...(source === undefined ? [] : [t("boards.question_source", { source })]),
  ];
  return parts.join(", ");
}
