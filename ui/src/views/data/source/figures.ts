// Figures of a data result in words, and the columns of stored rows with their units. Pure.
import type { DataColumn } from "../../../platform/generated/DataColumn";
import type { DataResult } from "../../../platform/generated/DataResult";
import type { FoundColumn } from "../../../platform/generated/FoundColumn";
import type { ResultContent } from "../../../platform/generated/ResultContent";
import { cellText } from "../../../results/content";
import { gridText, unitOf, type StoredColumn } from "../../../results/grid/cells";
import { isCurrency } from "../columns/correction";

/** Returns the figures of all rows of a result of one measure, one for each unit; none if they are not there. */
export function totalTexts({ columns, rows, totals }: ResultContent): string[] {
  const at = columns.findIndex(({ role }) => role === "measure");
  const column = columns[at];
  if (!column) return [];
  // A figure without groups is its own total.
  const isAlone = columns.every(({ role }) => role === "measure");
  return (totals ?? (isAlone ? rows : [])).flatMap((row) => {
    const cell = row[at];
    return cell && cell.value !== null ? [cellText(cell, column)] : [];
  });
}

/** More decimal places than this are those of single long numbers. */
const MOST_PLACES = 4;

/** Returns a figure of a result. Amounts of several currencies are separate rows, and are named by their currency. */
export function figureText({ columns, rows }: DataResult, name: string): string {
  const at = columns.findIndex((column) => column.name === name);
  const column = columns[at];
  if (!column) return "–";
  const by = columns.findIndex(({ role }) => role !== "measure");
  const texts = rows.map((row) => {
    const unit = unitOf(column) ?? (by < 0 ? "" : String(row[by] ?? ""));
    const text = gridText(row[at], column);
    return unit === "" || text === "–" ? text : `${text}\u00a0${unit}`;
  });
  return texts.join(" · ") || "–";
}

/** Returns a column of stored rows with the use and unit that the source knows. A number that is an id or a name has no groups of digits. */
export function rowColumn(column: DataColumn, found: FoundColumn | undefined): StoredColumn {
  if (!found || column.role !== "measure") return column;
  const isAmount = found.use === "sum" || found.use === "ratio" || found.use === "last";
  // Numbers without a use are still numbers. Only those with another use are names.
  if (!isAmount && found.use !== "other") return { ...column, role: "dimension" };
  if (found.unit === "percent") return { ...column, format: "percent" };
  const isMoney = isCurrency(found.unit ?? "") || found.currency_column !== undefined;
  const isAligned = found.kind === "decimal" && found.scale > 0 && found.scale <= MOST_PLACES;
  return {
    ...column,
    ...(isAligned && { places: found.scale }),
    ...(isMoney && { format: "money" as const }),
    ...(found.unit !== undefined && { unit: found.unit }),
  };
}
