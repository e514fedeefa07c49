// Figures of a data result in words, and the columns of stored rows with their units. Pure.
import type { DataColumn } from "../../../platform/generated/DataColumn";
import type { DataResult } from "../../../platform/generated/DataResult";
import type { FoundColumn } from "../../../platform/generated/FoundColumn";
import { gridText, unitOf } from "../../../results/grid/cells";
import { isCurrency } from "../columns/correction";

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
export function rowColumn(column: DataColumn, found: FoundColumn | undefined): DataColumn {
  if (!found || column.role !== "measure") return column;
  const isAmount = found.use === "sum" || found.use === "ratio" || found.use === "last";
  // Numbers without a use are still numbers. Only those with another use are names.
  if (!isAmount && found.use !== "other") return { ...column, role: "dimension" };
  if (found.unit === "percent") return { ...column, format: "percent" };
  const isMoney = isCurrency(found.unit ?? "") || found.currency_column !== undefined;
  return {
    ...column,
    ...(isMoney && { format: "money" as const }),
    ...(found.unit !== undefined && { unit: found.unit }),
  };
}
