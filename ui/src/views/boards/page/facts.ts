// The facts that the figures of a board have in common: when they were computed, how fresh their rows are, and what to know about them. The board says
// it once, and a tile says only what is its own. Knows no component.
import { worded } from "../../../i18n/host";
import { formatPoint, t } from "../../../i18n/index.svelte";
import type { ResultContent } from "../../../platform/generated/ResultContent";
import type { TileFigures } from "../../../platform/generated/TileFigures";
import { freshText } from "../words";

/** Figures that were computed within this time in milliseconds are of one moment. */
const TOGETHER = 5 * 60_000;

export interface Facts {
  /** The moment of the figures; null without figures. */
  at: string | null;
  lines: readonly string[];
}

const isAmount = ({ columns }: ResultContent): boolean =>
  columns.some(({ format }) => format === "money");

/** Whether amounts have no currency, because the data has none. */
export function lacksCurrency({ columns, rows }: ResultContent): boolean {
  return columns.some(
    ({ format }, at) =>
      format === "money" &&
      rows.some((row) => {
        const { value, unit } = row[at] ?? { value: null };
        return value !== null && value !== "" && unit === undefined;
      }),
  );
}

/** Returns what to know about the figures of a tile, except when they were computed. */
function linesOf({ content, fresh, notes }: TileFigures, now: Date): string[] {
  return [
    ...fresh.map((one) => freshText(one, now)),
    ...notes.map(worded),
    ...(lacksCurrency(content) ? [t("boards.no_currency")] : []),
    ...(content.state === "proposed" ? [t("results.proposed")] : []),
  ];
}

/** Returns what holds for all figures. Their moment is the earliest of those that were computed together with the newest ones. */
export function factsOf(all: readonly TileFigures[], now: Date): Facts {
  const times = all.map(({ at }) => Date.parse(at));
  const newest = Math.max(...times);
  const first = Math.min(...times.filter((time) => newest - time < TOGETHER));
  const at = all.find((one) => Date.parse(one.at) === first)?.at ?? null;
  const said = all.map((one) => ({ one, lines: new Set(linesOf(one, now)) }));
  const lines = new Set(said.flatMap((each) => [...each.lines]));
  // Other figures than amounts say nothing about the currency.
  const concerns = (line: string, { content }: TileFigures): boolean =>
    line !== t("boards.no_currency") || isAmount(content);
  const isCommon = (line: string): boolean =>
    said.every((each) => each.lines.has(line) || !concerns(line, each.one));
  return { at, lines: [...lines].filter(isCommon) };
}

/** Returns the moment of figures in words. */
export function asOfText(at: string, now: Date): string {
  return t("boards.as_of", { time: formatPoint(at, null, now).time });
}

/** Returns what a tile says that the board does not. */
export function ownFacts(figures: TileFigures, common: Facts, now: Date): string[] {
  const isOlder = common.at === null || Date.parse(figures.at) < Date.parse(common.at);
  const own = linesOf(figures, now).filter((line) => !common.lines.includes(line));
  return [...(isOlder ? [asOfText(figures.at, now)] : []), ...own];
}
