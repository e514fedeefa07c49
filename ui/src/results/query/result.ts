// The result of a question that was asked again, as the rows and columns that are drawn. The host reads those of an answer in the same way.
// Pure.
import type { ContentColumn } from "../../platform/generated/ContentColumn";
import type { DataColumn } from "../../platform/generated/DataColumn";
import type { DataResult } from "../../platform/generated/DataResult";
import type { ResultCell } from "../../platform/generated/ResultCell";
import type { ResultContent } from "../../platform/generated/ResultContent";

type Value = DataResult["rows"][number][number];

function columnOf(column: DataColumn): ContentColumn {
  const { label, name, role, format, better, compared, adds_up } = column;
  const isNamed = label !== undefined && Object.keys(label).length > 0;
  return {
    name,
    label: isNamed ? label : { en: name },
    role,
    format,
    ...(adds_up && { adds_up }),
    ...(better && { better }),
    ...(compared && { compared }),
  };
}

/** Returns columns as they are drawn. */
export const contentColumns = (columns: readonly DataColumn[]): ContentColumn[] =>
  columns.map(columnOf);

const NUMBERS: readonly DataColumn["format"][] = ["number", "money", "percent"];

function cellOf(value: Value | undefined, column: DataColumn, row: readonly Value[]): ResultCell {
  const isDigits = typeof value === "string" && NUMBERS.includes(column.format);
  const number = isDigits && value.trim() !== "" ? Number(value) : NaN;
  const unit = unitOfCell(column, row);
  return {
    value: Number.isFinite(number) ? number : (value ?? null),
    ...(unit !== null && { unit }),
  };
}

/** Returns the unit of a cell: that of the column, or the text of the column that has it. */
export function unitOfCell({ unit }: DataColumn, row: readonly Value[]): string | null {
  if (unit === undefined || typeof unit === "string") return unit ?? null;
  const found = row[Number(unit.at.slice(1))];
  return typeof found === "string" && found !== "" ? found : null;
}

/** Returns the rows and columns of a result. */
export function contentOfResult(result: DataResult): ResultContent {
  const { columns, rows, row_count, asked, sql, definitions, data_version, notes, record } = result;
  const cells = (row: readonly Value[]): ResultCell[] =>
    columns.map((column, at) => cellOf(row[at], column, row));
  const totals = (result.totals ?? []).map(cells);
  return {
    columns: contentColumns(columns),
    rows: rows.map(cells),
    total: row_count,
    ...(totals.length > 0 && { totals }),
    state: result.definition_state,
    // A calculation that a model wrote stays its own, whoever changes another part of the question.
    ...(result.definition_state === "written_by_model" && {
      query: JSON.stringify(asked?.query ?? asked?.sql ?? sql),
    }),
    ...(asked && {
      computed: {
        asked,
        sql,
        definitions,
        data_version,
        row_count,
        notes,
        ...(record !== undefined && { record }),
      },
    }),
  };
}
