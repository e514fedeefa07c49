// Results for tests of charts.
import type { Computation } from "../../platform/generated/Computation";
import type { ContentColumn } from "../../platform/generated/ContentColumn";
import type { MetricQuery } from "../../platform/generated/MetricQuery";
import type { Period } from "../../platform/generated/Period";
import type { ResultCell } from "../../platform/generated/ResultCell";
import type { ResultContent } from "../../platform/generated/ResultContent";
import type { TimeGrain } from "../../platform/generated/TimeGrain";
import type { ChartTheme } from "./theme.svelte";

export type Value = ResultCell["value"];

export function column(
  label: string,
  role: ContentColumn["role"],
  format: ContentColumn["format"],
  rest: Partial<ContentColumn> = {},
): ContentColumn {
  return { label: { en: label }, role, format, ...rest };
}

export const DAY = column("Day", "time", "day");
export const HOUR = column("Hour", "time", "moment");
export const CITY = column("City", "dimension", "text");
export const DEVICE = column("Device", "dimension", "text");
export const SPEND = column("Spend", "measure", "money", { adds_up: true });
export const CLICKS = column("Clicks", "measure", "number", { adds_up: true });
export const RATE = column("CTR", "measure", "percent");
export const GROWTH = column("Growth", "measure", "percent", { better: "higher" });

/** Returns a result. A value of a column of money is in EUR, unless it is a cell. */
export function result(
  columns: ContentColumn[],
  rows: (Value | ResultCell)[][],
  rest: Partial<ResultContent> = {},
): ResultContent {
  const cell = (value: Value | ResultCell, at: number): ResultCell => {
    if (value !== null && typeof value === "object") return value;
    return columns[at]?.format === "money" ? { value, unit: "EUR" } : { value };
  };
  return { columns, rows: rows.map((row) => row.map(cell)), total: rows.length, ...rest };
}

/** Returns how a result was computed that answers a question by time. */
export function askedBy(grain: TimeGrain, moment: string, period?: Period): Computation {
  const query: MetricQuery = {
    measures: ["spend"],
    by: [{ time: grain }],
    ...(period && { period }),
    as_of: { moment, zone: "UTC" },
  };
  return {
    asked: { query },
    sql: "",
    definitions: {},
    data_version: "v",
    row_count: 0,
    notes: [],
  };
}

/** Returns the day that is some days after 2026-10-01. */
export const dayAfter = (days: number): string =>
  new Date(Date.UTC(2026, 9, 1 + days)).toISOString().slice(0, 10);

export const THEME: ChartTheme = {
  ground: "#ffffff",
  text: "#000000",
  muted: "#444444",
  grid: "#dddddd",
  axis: "#888888",
  series: ["#000001", "#000002", "#000003", "#000004", "#000005", "#000006", "#000007", "#000008"],
  good: "#00aa00",
  bad: "#aa0000",
  font: "sans-serif",
  size: 12,
};
