// The widths of a table's columns, in characters: as wide as the rows in view need it, or as a person chose.
import type { SvelteMap } from "svelte/reactivity";
import type { DataColumn } from "../../platform/generated/DataColumn";
import { widthsOf } from "./cells";
import { chosenOf, noteChosen } from "./chosen";

/** The narrowest and the widest column that a person can choose. The host takes no others. */
const NARROWEST = 4;
const WIDEST = 400;

/** The range of columns that are drawn; `last` is not included. */
export interface ColumnRange {
  first: number;
  last: number;
}

/** Whether these are the same columns in the same places. */
function areSame(one: readonly DataColumn[], other: readonly DataColumn[]): boolean {
  if (one === other) return true;
  return one.length === other.length && one.every(({ name }, at) => name === other[at]!.name);
}

export class ColumnWidths {
  /** The width that each column needs. A column only becomes wider while it is scrolled, so that it does not jump back and forth. */
  private needed = $state.raw<readonly number[]>([]);
  /** The columns that the widths are those of. */
  private measured: readonly DataColumn[] = [];
  private readonly chosen: SvelteMap<string, number>;

  /** `table` names the table whose widths are remembered; null for none. */
  constructor(
    private readonly columns: () => readonly DataColumn[],
    private readonly table: string | null,
  ) {
    this.chosen = chosenOf(table);
  }

  /** The widths that are shown. */
  readonly shown = $derived.by<readonly number[]>(() => {
    const columns = this.columns();
    return this.needed.map((width, at) => this.chosen.get(columns[at]?.name ?? "") ?? width);
  });
  /** The place at which each column begins, and the width of all at the end. */
  readonly starts = $derived.by<readonly number[]>(() => {
    const starts = [0];
    for (const width of this.shown) starts.push(starts.at(-1)! + width);
    return starts;
  });

  get whole(): number {
    return this.starts.at(-1) ?? 0;
  }

  /** Makes columns as wide as these rows need it. Columns out of the range have no texts, and are as wide as their headings until they have. */
  widen(rows: readonly (readonly (string | undefined)[])[], range?: ColumnRange): void {
    const columns = this.columns();
    const { first, last } = range ?? { first: 0, last: columns.length };
    const isSame = areSame(columns, this.measured);
    const widths = isSame ? [...this.needed] : widthsOf(columns, []);
    const texts = rows.map((row) => row.slice(first, last));
    widthsOf(columns.slice(first, last), texts).forEach((width, at) => {
      widths[first + at] = Math.max(width, widths[first + at] ?? 0);
    });
    this.measured = columns;
    if (!isSame || widths.some((width, at) => width > this.needed[at]!)) this.needed = widths;
  }

  /** Gives a column the width that a person chose. */
  choose(at: number, width: number): void {
    const name = this.columns()[at]?.name;
    const chosen = Math.min(WIDEST, Math.max(NARROWEST, Math.round(width)));
    if (name === undefined || this.chosen.get(name) === chosen) return;
    this.chosen.set(name, chosen);
    if (this.table !== null) noteChosen();
  }

  /** Gives a column the width again that its rows need. */
  reset(at: number): void {
    const wasChosen = this.chosen.delete(this.columns()[at]?.name ?? "");
    if (wasChosen && this.table !== null) noteChosen();
  }

  /** Returns the columns that lie within a part of the table, which is given in characters, and some beside them. */
  within(from: number, to: number, spare: number): ColumnRange {
    const { starts } = this;
    const count = starts.length - 1;
    let first = 0;
    while (first < count && starts[first + 1]! <= from) first += 1;
    let last = first;
    while (last < count && starts[last]! < to) last += 1;
    return { first: Math.max(0, first - spare), last: Math.min(count, last + spare) };
  }
}
