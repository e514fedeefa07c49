// Rows as points between two measures.
import { t } from "../../i18n/index.svelte";
import type { ResultContent } from "../../platform/generated/ResultContent";
import { cellText, wordsOf } from "../content";
import { openingOfRow } from "../drill/opening";
import { axisOf } from "./axis";
import { MOST_SERIES, nameKey, numberOf, type Choice, type Row } from "./choosing";
import { figureName, figuresOf, type Figure } from "./figures";
import { cleanText, listNames } from "./text";
import type { Plan } from "./types";

/** Returns what a chart of points shows. */
export function planPoints(content: ResultContent, choice: Choice): Plan {
  const { columns, rows } = content;
  const [xAt, yAt] = choice.measures as [number, number];
  const notes: string[] = [];
  const drawn = rows
    .flatMap((row, at) => {
      const [x, y] = [numberOf(row[xAt]), numberOf(row[yAt])];
      return x === null || y === null ? [] : [{ row, at, x, y }];
    })
    .sort((one, other) => one.x - other.x);
  if (drawn.length < rows.length)
    notes.push(t("results.chart_no_point", { count: rows.length - drawn.length }));
  const figure = (at: number): Figure => figuresOf(content, at)[0]!;
  const headings: [string, string] = [figureName(figure(xAt)), figureName(figure(yAt))];
  const others = choice.measures.slice(2).map((at) => cleanText(wordsOf(columns[at]!.label)));
  if (others.length > 0) notes.push(t("results.chart_not_drawn", { names: listNames(others) }));
  const groups = groupsOf(content, choice, notes);
  const named = [choice.along, ...choice.by].filter((at) => at !== null);
  const text = (row: Row, at: number): string =>
    cleanText(cellText(row[at] ?? { value: null }, columns[at]!));
  const stops = drawn.map(({ row }) => [
    ...(named.length > 0 ? [named.map((at) => text(row, at)).join(" · ")] : []),
    ...[xAt, yAt].map((at) => `${cleanText(wordsOf(columns[at]!.label))}: ${text(row, at)}`),
  ]);
  return {
    kind: "points",
    panels: [],
    points: {
      x: axisOf(
        drawn.map(({ x }) => x),
        columns[xAt]!,
      ),
      y: axisOf(
        drawn.map(({ y }) => y),
        columns[yAt]!,
      ),
      headings,
      points: drawn.map(({ row, x, y }) => ({ x, y, group: groups.of(row) })),
      groups: groups.names,
    },
    isOnCalendar: false,
    stops,
    opens: drawn.map(({ at }) => openingOfRow(content, at)),
    notes,
    summary: t("results.chart_points_summary", {
      count: drawn.length,
      x: headings[0],
      y: headings[1],
    }),
  };
}

/** Returns the groups of points that have a colour. The others share the last one. */
function groupsOf(
  { columns, rows }: ResultContent,
  { by }: Choice,
  notes: string[],
): { names: string[]; of: (row: Row) => number } {
  if (by.length === 0) return { names: [], of: () => 0 };
  const names = new Map<string, string>();
  for (const row of rows) {
    const key = nameKey(row, by);
    if (!names.has(key))
      names.set(
        key,
        cleanText(by.map((at) => cellText(row[at] ?? { value: null }, columns[at]!)).join(" · ")),
      );
  }
  const keys = [...names.keys()];
  const most = keys.length > MOST_SERIES ? MOST_SERIES - 1 : MOST_SERIES;
  const shown = keys.slice(0, most).map((key) => names.get(key)!);
  const left = keys.slice(most).map((key) => names.get(key)!);
  if (left.length > 0) notes.push(t("results.chart_one_colour", { names: listNames(left) }));
  const places = new Map(keys.map((key, at) => [key, Math.min(at, most)]));
  return {
    names: left.length > 0 ? [...shown, t("results.chart_other")] : shown,
    of: (row) => places.get(nameKey(row, by)) ?? 0,
  };
}
