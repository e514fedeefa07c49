// The menu of a column: its order, whether it is shown, and how its numbers are written. Knows no component.
import { t } from "../../i18n/index.svelte";
import type { MenuAction } from "../../kit/menuAction";
import type { DataColumn } from "../../platform/generated/DataColumn";
import { isAmount } from "./cells";
import type { GridState } from "./grid.svelte";

/** The decimal places that can be chosen. */
const PLACES = [0, 1, 2, 3, 4];

/** Whether a key opens the menu of a column, as it does elsewhere. */
export function isMenuKey({
  key,
  shiftKey,
  altKey,
}: Pick<KeyboardEvent, "key" | "shiftKey" | "altKey">): boolean {
  return key === "ContextMenu" || (key === "F10" && shiftKey) || (key === "ArrowDown" && altKey);
}

/** Returns what can be done with a column. */
export function columnActions(grid: GridState, at: number): MenuAction[] {
  const column = grid.columns[at];
  if (!column) return [];
  return [
    ...orderActions(grid, column),
    ...(isAmount(column) ? numberActions(grid, at, column) : []),
    ...shownActions(grid, at),
  ];
}

function orderActions(grid: GridState, { name }: DataColumn): MenuAction[] {
  const { order } = grid.rows;
  const isOwn = order?.by === name;
  const group = t("grid.menu_order");
  const sorted = (descending: boolean): MenuAction => ({
    name: t(descending ? "grid.menu_down" : "grid.menu_up"),
    group,
    checked: isOwn && order.descending === descending,
    run: () => grid.sort({ by: name, descending }),
  });
  return [
    sorted(false),
    sorted(true),
    { name: t("grid.menu_unsorted"), group, checked: order === null, run: () => grid.sort(null) },
  ];
}

function shownActions(grid: GridState, at: number): MenuAction[] {
  const count = grid.hiddenCount;
  return [
    ...(grid.columns.length > 1 ? [{ name: t("grid.menu_hide"), run: () => grid.hide(at) }] : []),
    ...(count > 0 ? [{ name: t("grid.menu_show_all", { count }), run: () => grid.showAll() }] : []),
  ];
}

/** The unit stays, whatever the format is. */
function numberActions(grid: GridState, at: number, column: DataColumn): MenuAction[] {
  const look = grid.look.numbersOf(column.name);
  const { digits, ...rest } = look;
  const group = t("grid.menu_decimals");
  const places = PLACES.map((count) => ({
    name: t("grid.menu_places", { count }),
    group,
    checked: digits === count,
    run: () => grid.write(at, { ...look, digits: count }),
  }));
  const isCompact = look.isCompact ?? false;
  const isPercent = look.isPercent ?? column.format === "percent";
  return [
    {
      name: t("grid.menu_automatic"),
      group,
      checked: digits === undefined,
      run: () => grid.write(at, rest),
    },
    ...places,
    {
      name: t("grid.menu_compact"),
      checked: isCompact,
      run: () => grid.write(at, { ...look, isCompact: !isCompact }),
    },
    ...(isShare(grid, at, column)
      ? [
          {
            name: t("grid.menu_percent"),
            checked: isPercent,
            run: () => grid.write(at, { ...look, isPercent: !isPercent }),
          },
        ]
      : []),
  ];
}

/** Whether the values are parts of a whole: they are percentages, or have no unit and are between -1 and 1 as far as they are in view. */
function isShare(grid: GridState, at: number, { name, format, unit, type }: DataColumn): boolean {
  if (format === "percent" || grid.look.numbersOf(name).isPercent) return true;
  if (format !== "number" || unit !== undefined || type === "whole") return false;
  const place = grid.places[at]!;
  const values = grid.lines.flatMap(({ index }) => {
    const value = grid.rows.row(index)?.[place];
    return value === null || value === undefined || value === "" ? [] : [Number(value)];
  });
  return values.length > 0 && values.every((value) => Math.abs(value) <= 1);
}
