// Turns rows of a result into series that a chart draws. Pure.
import type { ChartKind } from "../platform/generated/ChartKind";
import type { ContentColumn } from "../platform/generated/ContentColumn";
import type { ResultCell } from "../platform/generated/ResultCell";
import type { ResultContent } from "../platform/generated/ResultContent";
import { daysBetween } from "./scale";

/** Series that share their places and their unit. */
export interface Chart {
  kind: ChartKind;
  /** The cells along the horizontal axis. */
  places: ResultCell[];
  /** The column of the places. */
  along: ContentColumn;
  /** The column of the values. */
  measure: ContentColumn;
  unit: string | null;
  series: Series[];
  /** How many series are left out. */
  left: number;
}

export interface Series {
  /** The measure, or null if `name` already says it. */
  column: ContentColumn;
  /** The value of a second dimension that the series belongs to. */
  name: string | null;
  /** A value for each place; null where there is none. */
  values: (number | null)[];
}

/** More series than this cannot be distinguished. */
export const MOST_SERIES = 6;
/** With more columns than this, each column would be too thin. */
const MOST_COLUMNS = 92;

/** Returns the charts of a result: one for each unit of its measures. Returns none without a measure, or a column to draw it along. */
export function chartsOf(content: ResultContent): Chart[] {
  const { columns, rows } = content;
  const along = placeColumn(columns);
  const measures = columns.flatMap(({ role }, at) => (role === "measure" ? [at] : []));
  if (along === null || measures.length === 0) return [];
  const by = columns.findIndex(({ role }, at) => role === "dimension" && at !== along);
  const places = placesOf(rows, along, columns[along]!);
  const at = new Map(places.map(({ value }, index) => [value, index]));
  const charts: Chart[] = [];
  for (const measure of measures) {
    const column = columns[measure]!;
    const unit = rows.map((row) => row[measure]?.unit).find((one) => one !== undefined) ?? null;
    const series = seriesOf(rows, { along, by, measure, column }, places.length, at);
    const shared = charts.find(
      (chart) => chart.measure.format === column.format && chart.unit === unit,
    );
    if (shared) shared.series.push(...series);
    else
      charts.push({
        kind: "columns",
        places,
        along: columns[along]!,
        measure: column,
        unit,
        series,
        left: 0,
      });
  }
  return charts.map((chart) => finish(chart, content.chart ?? null));
}

/** Returns the column along which values are drawn: time, or else the first dimension. */
function placeColumn(columns: readonly ContentColumn[]): number | null {
  const time = columns.findIndex(({ role }) => role === "time");
  const place = time >= 0 ? time : columns.findIndex(({ role }) => role === "dimension");
  return place >= 0 ? place : null;
}

function finish(chart: Chart, declared: ChartKind | null): Chart {
  const series = chart.series.slice(0, MOST_SERIES);
  const isTime = chart.along.role === "time";
  const few = chart.places.length * series.length <= MOST_COLUMNS;
  const kind = declared ?? (!isTime || (series.length === 1 && few) ? "columns" : "lines");
  return { ...chart, kind, series, left: chart.series.length - series.length };
}

/** Returns the places of all rows, each once. Times are sorted, and a day without a row has a place if rows are daily. */
function placesOf(
  rows: readonly ResultCell[][],
  along: number,
  column: ContentColumn,
): ResultCell[] {
  const places = new Map<ResultCell["value"], ResultCell>();
  for (const row of rows) {
    const cell = row[along];
    if (cell && cell.value !== null) places.set(cell.value, cell);
  }
  if (column.role !== "time") return [...places.values()];
  const texts = [...places.keys()].map(String).sort();
  const days = texts.every((text) => /^\d{4}-\d{2}-\d{2}$/.test(text)) ? texts : [];
  const daily = days.some((day, index) => daysBetween(days[index - 1] ?? "", day).length === 2);
  if (daily) return daysBetween(days[0]!, days.at(-1)!).map((value) => ({ value }));
  return [...places.values()].sort((a, b) => (String(a.value) < String(b.value) ? -1 : 1));
}

interface Picked {
  along: number;
  by: number;
  measure: number;
  column: ContentColumn;
}

function seriesOf(
  rows: readonly ResultCell[][],
  { along, by, measure, column }: Picked,
  length: number,
  at: ReadonlyMap<ResultCell["value"], number>,
): Series[] {
  const found = new Map<string | null, Series>();
  for (const row of rows) {
    const name = by < 0 ? null : String(row[by]?.value ?? "–");
    const place = at.get(row[along]?.value ?? null);
    const value = row[measure]?.value;
    if (place === undefined) continue;
    let series = found.get(name);
    if (!series) {
      series = { column, name, values: Array<number | null>(length).fill(null) };
      found.set(name, series);
    }
    if (typeof value === "number") series.values[place] = value;
  }
  return [...found.values()];
}
