// The names of actions in the language of the window, and the rows of the sheet of shortcuts.
import { t } from "../../i18n/index.svelte";
import { keyNames } from "./keys";
import { ACTIONS, PART_KEYS, SHORTCUT_GROUPS, type Action, type ShortcutGroup } from "./list";

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
  group: ShortcutGroup;
  keys: string[];
  text: string;
}

/** A part of the sheet: the shortcuts that are for one thing. */
export interface SheetGroup {
  group: ShortcutGroup;
  title: string;
  rows: SheetRow[];
}

const VIEW_ACTIONS = ACTIONS.filter(({ view, keys }) => view && keys);

/** Returns the one row for all views, from the first to the last one: they are opened in the same way. */
function viewRow(group: ShortcutGroup): SheetRow {
  const [first, last] = [VIEW_ACTIONS[0], VIEW_ACTIONS.at(-1)].map((action) =>
    action?.keys ? keyNames(action.keys) : [],
  );
  const keys = [...(first ?? []).slice(0, -1), `${first?.at(-1) ?? ""} … ${last?.at(-1) ?? ""}`];
  return { id: "views", group, keys, text: t("help.views") };
}

/** Returns the rows: every action that has keys, and the keys of single parts. */
function sheetRows(): SheetRow[] {
  const actions = ACTIONS.flatMap((action) => {
    const { id, group, keys } = action;
    if (!keys) return [];
    if (action.view) return action === VIEW_ACTIONS[0] ? [viewRow(group)] : [];
    return [{ id, group, keys: keyNames(keys), text: nameOf(action) }];
  });
  const parts = PART_KEYS.map(({ name, group, keys }) => ({
    id: name,
    group,
    keys: keyNames(keys),
    text: t(name),
  }));
  return [...actions, ...parts];
}

/** Returns the parts of the sheet, in their order. */
export function sheetGroups(): SheetGroup[] {
  const rows = sheetRows();
  return SHORTCUT_GROUPS.map((group) => ({
    group,
    title: t(`help.group_${group}`),
    rows: rows.filter((row) => row.group === group),
  })).filter((part) => part.rows.length > 0);
}
