// How a person wants to see a table: hidden columns, the numbers of columns, and the order. It is kept for as long as the window is open, and
// never stored, because the names of columns are texts of a conversation.
import type { GridOrder, NumberLook } from "./cells";

/** The number of tables that are remembered. */
const KEPT = 200;

export class TableLook {
  /** The names of the columns that are hidden. */
  hidden = $state.raw<ReadonlySet<string>>(new Set());
  /** The numbers of columns, by the names of these. */
  numbers = $state.raw<ReadonlyMap<string, NumberLook>>(new Map());
  /** The order of rows that are sorted in the window. */
  order: GridOrder | null = null;

  numbersOf(column: string): NumberLook {
    return this.numbers.get(column) ?? {};
  }

  /** Shows the numbers of a column in another way. */
  choose(column: string, look: NumberLook): void {
    this.numbers = new Map(this.numbers).set(column, look);
  }

  hide(column: string): void {
    this.hidden = new Set([...this.hidden, column]);
  }

  showAll(): void {
    this.hidden = new Set();
  }
}

/** The looks by table. The table that was used last is at the end. */
const looks = new Map<string, TableLook>();

/** Returns how a table is seen. That of a table without a name is forgotten with it. */
export function lookOf(table: string | null): TableLook {
  if (table === null) return new TableLook();
  const look = looks.get(table) ?? new TableLook();
  looks.delete(table);
  looks.set(table, look);
  if (looks.size > KEPT) looks.delete(looks.keys().next().value!);
  return look;
}
