// The scale of an axis of values, with its texts in the reader's language.
import { formatNumber, t } from "../../i18n/index.svelte";
import type { ContentColumn } from "../../platform/generated/ContentColumn";
import { ticksWithin } from "../scale";

export interface Axis {
  /** Values with a line, in ascending order, as they are drawn. The first and last one are the ends. */
  ticks: number[];
  labels: string[];
  /** Values are divided by it before they are drawn. It is 1, except for values that arithmetic has no room for. */
  divisor: number;
}

/** Between these sizes, differences and quotients of values are numbers. */
const [LEAST, MOST] = [1e-150, 1e150];
/** From this size on, and below its inverse, a number is shorter as a power of ten. */
const LONG = 1e15;

/** Returns an axis that has all values. A scale of bars has zero among them. */
export function axisOf(values: readonly number[], column: ContentColumn): Axis {
  const least = values.reduce((one, other) => Math.min(one, other), values[0] ?? 0);
  const most = values.reduce((one, other) => Math.max(one, other), values[0] ?? 0);
  const size = Math.max(Math.abs(least), Math.abs(most));
  const divisor = size > MOST || (size > 0 && size < LEAST) ? size : 1;
  const ticks = ticksWithin(least / divisor, most / divisor);
  const step = (ticks[1]! - ticks[0]!) * divisor;
  return { ticks, divisor, labels: ticks.map((tick) => tickText(tick * divisor, step, column)) };
}

function tickText(value: number, step: number, column: ContentColumn): string {
  const { format, compared } = column;
  const size = Math.abs(value);
  if (size >= LONG || (size > 0 && size < 1 / LONG))
    return formatNumber(value, { notation: "scientific", maximumFractionDigits: 2 });
  const places = (unit: number): number =>
    Math.min(20, Math.max(0, Math.ceil(-Math.log10(step * unit) + 0.5)));
  // The difference of two percentages is in points.
  if (format === "percent" && compared === "change")
    return t("results.points", {
      points: formatNumber(value * 100, { maximumFractionDigits: places(100) }),
    });
  if (format === "percent")
    return formatNumber(value, { style: "percent", maximumFractionDigits: places(100) });
  if (step < 1) return formatNumber(value, { maximumFractionDigits: places(1) });
  return formatNumber(value, { notation: "compact", maximumFractionDigits: 2 });
}
