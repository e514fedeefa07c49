// Opening the rows behind a part of a drawn result: a row, or a place of a chart. Pure but for the language.
import { t } from "../../i18n/index.svelte";
import type { ContentColumn } from "../../platform/generated/ContentColumn";
import type { DataColumn } from "../../platform/generated/DataColumn";
import type { MetricQuery } from "../../platform/generated/MetricQuery";
import type { ResultContent } from "../../platform/generated/ResultContent";
import type { Text } from "../../platform/generated/Text";
import type { TileFigures } from "../../platform/generated/TileFigures";
import { cellText } from "../content";
import { typeOf } from "../grid/result";
import { isDrillable, isOfOthers, valuesOfRow, type Rows, type Values } from "./drill";

/** Rows or a place that are opened. */
export interface Opening {
  values: Values;
  /** The names of what they are about. */
  title: string;
}

/** A result that can be opened, with the names that its query has for its columns. */
export interface DrillStart extends Rows {
  columns: readonly DataColumn[];
  total: number;
  notes: readonly Text[];
  /** The source that decides what rows can be divided by. */
  source: string;
}

/** How a drawn result is opened. */
export interface Drilling {
  /** Returns why something cannot be opened; null if it can, as far as the result says. */
  refusal: (values: Values) => string | null;
  open: (opening: Opening) => void;
}

/** Returns how a result is opened; null if its rows stand for no groups that a condition can name. */
export function drillingOf(
  start: DrillStart | null,
  open: (opening: Opening) => void,
): Drilling | null {
  if (!start || (start.query.by ?? []).length === 0 || !isDrillable(start)) return null;
  return {
    refusal: (values) => (isOfOthers(start, values) ? t("results.drill_others") : null),
    open,
  };
}

/** Returns the opening of a row. */
export function openingOfRow({ columns, rows }: ResultContent, at: number): Opening {
  const row = rows[at] ?? [];
  const values = valuesOfRow(
    columns,
    row.map(({ value }) => value),
  );
  const names = [...values.keys()].map((place) =>
    cellText(row[place] ?? { value: null }, columns[place]!),
  );
  return { values, title: names.join(", ") };
}

/** Returns an answer of a conversation as the first result of a drill-down; null if its question is no metric query. */
export function startOfContent({
  columns,
  rows,
  total,
  computed,
}: ResultContent): DrillStart | null {
  const { query, source } = computed?.asked ?? {};
  const named = query?.source ?? source;
  if (!computed || !query || named === undefined) return null;
  const known = columns.map((column, at) => namedColumn(column, unitOf(rows, at)));
  if (known.some((column) => column === null)) return null;
  return {
    query,
    columns: known as DataColumn[],
    rows: valuesOf(rows),
    total: Math.max(total, computed.row_count),
    notes: computed.notes,
    source: named,
  };
}

/** Returns the figures of a tile as the first result of a drill-down. */
export function startOfFigures({ content, query, columns, notes, fresh }: TileFigures): DrillStart {
  const asked = content.computed?.asked;
  const moment = asked?.query?.as_of;
  return {
    // The rows behind a row are those of the moment at which it was computed.
    query: moment ? { ...query, as_of: moment } : query,
    columns: columns.map((column, at) => ({
      ...column,
      label: content.columns[at]?.label ?? column.label ?? {},
    })),
    rows: valuesOf(content.rows),
    total: content.total,
    notes,
    source: sourceOf(query, asked?.source) ?? fresh[0]?.source ?? "",
  };
}

const sourceOf = (query: MetricQuery, asked: string | undefined): string | undefined =>
  query.source ?? asked;

const valuesOf = (rows: ResultContent["rows"]) => rows.map((row) => row.map(({ value }) => value));

/** Returns the unit of all cells of a column; null if they have several, or none. */
function unitOf(rows: ResultContent["rows"], at: number): string | null {
  const units = new Set(rows.flatMap((row) => row[at]?.unit ?? []));
  return units.size === 1 ? [...units][0]! : null;
}

function namedColumn(column: ContentColumn, unit: string | null): DataColumn | null {
  const { name, label, role, format, compared } = column;
  if (name === undefined) return null;
  return {
    name,
    type: typeOf(format),
    role,
    format,
    label,
    of: name,
    ...(unit !== null && { unit }),
    ...(compared && { compared }),
  };
}
