// The content of a result as columns and rows of a long table. Pure.
import type { ContentColumn } from "../../platform/generated/ContentColumn";
import type { DataColumn } from "../../platform/generated/DataColumn";
import type { DataType } from "../../platform/generated/DataType";
import type { ResultContent } from "../../platform/generated/ResultContent";
import { t } from "../../i18n/index.svelte";
import { wordsOf } from "../content";
import type { Cell } from "./cells";

const TYPES: Record<ContentColumn["format"], DataType> = {
  text: "text",
  number: "decimal",
  money: "decimal",
  percent: "decimal",
  day: "day",
  moment: "moment",
  flag: "flag",
};

/** A longer text does not name a kind. */
const LONGEST = 200;

/** Returns the kind of a result, which has no text of the conversation in it, because it is kept with the settings. */
export function kindOf(tool: string, { columns }: ResultContent): string {
  const kinds = columns.map(({ role, format }) => `${role} ${format}`);
  return `${tool} (${columns.length}): ${kinds.join(", ")}`.slice(0, LONGEST);
}

/** Returns the units of a column's cells, each once. */
function unitsOf(content: ResultContent, at: number): string[] {
  return [...new Set(content.rows.flatMap((row) => row[at]?.unit ?? []))];
}

/** Returns the columns and rows. A column with several units has a column of units after it, so that rows with different currencies stay apart. */
export function gridOf(content: ResultContent): { columns: DataColumn[]; rows: Cell[][] } {
  const columns: DataColumn[] = [];
  const cells: ((row: ResultContent["rows"][number]) => Cell)[] = [];
  content.columns.forEach((column, at) => {
    const units = unitsOf(content, at);
    const isAmount =
      column.format === "number" || column.format === "money" || column.format === "percent";
    columns.push({
      // Two columns can have the same heading.
      name: String(at),
      type: TYPES[column.format],
      role: isAmount ? "measure" : column.role === "measure" ? "dimension" : column.role,
      format: column.format,
      label: column.label,
      // The figures were computed, so they are rounded for the reader.
      of: String(at),
      ...(units.length === 1 && { unit: units[0]! }),
    });
    cells.push((row) => row[at]?.value ?? null);
    if (units.length < 2) return;
    columns.push({
      name: `${at} unit`,
      type: "text",
      role: "dimension",
      format: "text",
      label: { en: t("grid.unit_of", { column: wordsOf(column.label) }) },
    });
    cells.push((row) => row[at]?.unit ?? null);
  });
  return { columns, rows: content.rows.map((row) => cells.map((cell) => cell(row))) };
}
