// The names of actions in the language of the window, and the rows of the sheet of shortcuts.
import { t } from "../../i18n/index.svelte";
import { keyNames } from "./keys";
import { ACTIONS, PART_KEYS, type Action } from "./list";

/** Returns the name of an action. */
export function nameOf({
  name,
  names = {},
  values = {},
}: Pick<Action, "name" | "names" | "values">): string {
  const texts = Object.entries(names).map(([variable, key]) => [variable, t(key)] as const);
  return t(name, { ...values, ...Object.fromEntries(texts) });
}

/** A row of the sheet of shortcuts. */
export interface SheetRow {
  id: string;
  keys: string[];
  text: string;
}

/** Returns the rows of the sheet: every action that has keys, and the keys of single parts. */
export function sheetRows(): SheetRow[] {
  const actions = ACTIONS.flatMap((action) =>
    action.keys ? [{ id: action.id, keys: keyNames(action.keys), text: nameOf(action) }] : [],
  );
  const parts = PART_KEYS.map(({ name, keys }) => ({
    id: name,
    keys: keyNames(keys),
    text: t(name),
  }));
  return [...actions, ...parts];
}
