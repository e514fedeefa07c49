// The values of a column in one unit. Values in different units never share a scale.
import type { ContentColumn } from "../../platform/generated/ContentColumn";
import type { ResultContent } from "../../platform/generated/ResultContent";
import { wordsOf } from "../content";
import { numberOf } from "./choosing";
import { cleanText } from "./text";

/** The values of one column in one unit. */
export interface Figure {
  at: number;
  column: ContentColumn;
  unit: string | null;
  /** The greatest size of a value. */
  greatest: number;
}

/** Returns the figures of a column, one for each of its units. */
export function figuresOf({ columns, rows }: ResultContent, at: number): Figure[] {
  const column = columns[at]!;
  const greatest = new Map<string | null, number>();
  for (const row of rows) {
    const value = numberOf(row[at]);
    if (value === null) continue;
    const unit = row[at]?.unit ?? null;
    greatest.set(unit, Math.max(greatest.get(unit) ?? 0, Math.abs(value)));
  }
  return [...greatest].map(([unit, greatest]) => ({ at, column, unit, greatest }));
}

/** Returns the heading of a column, with the unit. */
export function figureName({ column, unit }: Figure): string {
  const name = cleanText(wordsOf(column.label));
  return unit === null || column.format === "percent" ? name : `${name} (${cleanText(unit)})`;
}
