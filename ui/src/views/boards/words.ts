// Titles, filters and freshness of boards in words. Knows no component.
import { formatAgo, formatDate, t } from "../../i18n/index.svelte";
import type { Condition } from "../../platform/generated/Condition";
import type { DataColumn } from "../../platform/generated/DataColumn";
import type { DataVersion } from "../../platform/generated/DataVersion";
import type { Freshness } from "../../platform/generated/Freshness";
import type { Tile } from "../../platform/generated/Tile";
import { plainName, queryTitle } from "../../results/queryTitle";

/** Returns the title of a tile: its own, else what it asks for. */
export function tileTitle(tile: Tile, columns: readonly DataColumn[] = []): string {
  return tile.title || queryTitle(tile.query, columns);
}

/** Returns a value of a condition. */
function valueText(value: unknown): string {
  if (value === null) return t("boards.empty_value");
  if (typeof value === "boolean") return t(value ? "common.yes" : "common.no");
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Returns a filter in words. One that the board's own form does not make is shown as it is written. */
export function filterText(filter: Condition): string {
  const [name, test] = Object.entries(filter)[0] ?? ["", null];
  const list = Array.isArray(test) ? test : [test];
  if (!list.every((one) => one === null || typeof one !== "object")) return JSON.stringify(filter);
  return `${plainName(name)}: ${list.map(valueText).join(", ")}`;
}

/** Returns how fresh the rows of a source are. */
export function freshText({ source, imported_at, last_day }: Freshness, now: Date): string {
  if (imported_at === undefined) return t("boards.fresh_database", { source });
  const ago = formatAgo(imported_at, now);
  return last_day === undefined
    ? t("boards.fresh", { source, ago })
    : t("boards.fresh_until", { source, ago, day: formatDate(last_day) });
}

/** Returns the hashes of the data, each beginning with its source if there are several. */
export function versionText(version: DataVersion): string {
  if (typeof version === "string") return version;
  const each = Object.entries(version).map(([source, hash]) => `${source} ${hash ?? "–"}`);
  return each.join(", ");
}
