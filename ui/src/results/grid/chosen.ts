// The widths that a person chose for the columns of tables, by table and column. They are kept with the settings by the app, which this
// file does not know.
import { SvelteMap } from "svelte/reactivity";

/** Widths in characters, by table and column. */
export type StoredWidths = Record<string, Record<string, number>>;

/** The number of tables whose widths are kept. */
const KEPT = 200;
/** The name of a source, which is the name of its table. Tables of results have other signs in their names. */
const SOURCE = /^[a-z][a-z0-9_]*$/;

/** The widths of all tables. The table that was used last is at the end. */
const tables = new Map<string, SvelteMap<string, number>>();
let onchange = (): void => {};

/** Returns the widths of a table. Those of a table without a name are forgotten with it. */
export function chosenOf(table: string | null): SvelteMap<string, number> {
  const known = table === null ? undefined : tables.get(table);
  const chosen = known ?? new SvelteMap<string, number>();
  if (table === null) return chosen;
  tables.delete(table);
  if (tables.size >= KEPT) tables.delete(leastNeeded());
  tables.set(table, chosen);
  return chosen;
}

/** Returns the table that was not used for the longest time, and of which no width was chosen, if there is one. */
function leastNeeded(): string {
  const names = [...tables.keys()];
  return names.find((name) => tables.get(name)?.size === 0) ?? names[0]!;
}

/** Says that a width was chosen or given up. */
export function noteChosen(): void {
  onchange();
}

/** Begins with stored widths. `change` is called whenever a width was chosen or given up. */
export function keepChosen(stored: StoredWidths, change: () => void): void {
  tables.clear();
  for (const [table, widths] of Object.entries(stored))
    tables.set(table, new SvelteMap(Object.entries(widths)));
  onchange = change;
}

/** Returns the widths as they are stored. */
export function storedChosen(): StoredWidths {
  const chosen = [...tables].filter(([, widths]) => widths.size > 0);
  return Object.fromEntries(chosen.map(([table, widths]) => [table, Object.fromEntries(widths)]));
}

/** Forgets the widths of sources that are gone. */
export function forgetOthers(sources: readonly string[]): void {
  const gone = [...tables.keys()].filter((name) => SOURCE.test(name) && !sources.includes(name));
  gone.forEach((name) => tables.delete(name));
  if (gone.length > 0) onchange();
}
