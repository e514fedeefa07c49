// The figures of a result as a reader sees them: a value, and how it compares with another one. Pure but for the language.
import { t } from "../i18n/index.svelte";
import type { ContentColumn } from "../platform/generated/ContentColumn";
import type { ResultCell } from "../platform/generated/ResultCell";
import type { ResultContent } from "../platform/generated/ResultContent";
import type { ShapeName } from "../platform/generated/ShapeName";
import { cellText, wordsOf } from "./content";

/** Whether a change is good, by the definition of its measure. */
export type Tone = "good" | "bad" | "none";

/** A figure with its comparison, if the result has one. */
export interface Figure {
  label: string;
  value: string;
  /** The figure that it is compared with; null without a comparison. */
  before: string | null;
  /** The difference with its sign; null if there is none. */
  change: string | null;
  /** The difference in percent of the former figure with its sign; null if there is none. */
  growth: string | null;
  /** The direction of the change: 1 for more, -1 for less. */
  direction: 1 | 0 | -1;
  tone: Tone;
}

/** Whether a result is read as figures: its tool says so, or it is one row that has only measures. */
export function isFigures(shape: ShapeName, { columns, rows }: ResultContent): boolean {
  if (shape === "figures") return rows.length < 2;
  const isAnswer = shape === "table" || shape === "series";
  return isAnswer && rows.length === 1 && columns.every(({ role }) => role === "measure");
}

const NONE: ResultCell = { value: null };

/** Returns the figures of the first row. The columns of a comparison follow the figure that they belong to. */
export function figuresOf({ columns, rows }: ResultContent): Figure[] {
  const row = rows[0];
  if (!row) return [];
  const figures: Figure[] = [];
  columns.forEach((column, at) => {
    const cell = row[at] ?? NONE;
    const last = figures.at(-1);
    if (last && column.compared !== undefined && column.compared !== "now")
      compare(last, cell, column);
    else
      figures.push({
        label: wordsOf(column.label),
        value: cellText(cell, column),
        before: null,
        change: null,
        growth: null,
        direction: 0,
        tone: "none",
      });
  });
  return figures;
}

/** Adds a column of a comparison to its figure. */
function compare(figure: Figure, cell: ResultCell, column: ContentColumn): void {
  if (column.compared === "before") figure.before = cellText(cell, column);
  if (typeof cell.value !== "number") return;
  const text = signed(cell.value, cellText(cell, column));
  if (column.compared === "growth") figure.growth = text;
  if (column.compared !== "change") return;
  figure.change = text;
  figure.direction = directionOf(cell.value);
  figure.tone = toneOf(figure.direction, column.better);
}

const directionOf = (value: number): 1 | 0 | -1 => (value > 0 ? 1 : value < 0 ? -1 : 0);

/** Returns whether a change is good: more of what is better high, or less of what is better low. */
export function toneOf(direction: 1 | 0 | -1, better: ContentColumn["better"]): Tone {
  if (direction === 0 || better === undefined) return "none";
  return direction > 0 === (better === "higher") ? "good" : "bad";
}

/** A number that is not negative gets its sign, so that a change is not taken for a value. */
const signed = (value: number, text: string): string => (value > 0 ? `+${text}` : text);

/** Returns a change in words, for readers that do not see its sign and colour. */
export function toneText(tone: Tone): string {
  return tone === "none" ? "" : t(tone === "good" ? "results.better" : "results.worse");
}
