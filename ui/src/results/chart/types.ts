// The contents of a chart, as data: places, series, scales and texts.
import type { Better } from "../../platform/generated/Better";
import type { ChartKind } from "../../platform/generated/ChartKind";
import type { Opening } from "../drill/opening";
import type { Axis } from "./axis";

/** The rows that are opened at a place of a chart, or the reason why none are: it is the sum of several places, or has no rows. */
export type PlaceOpening = Opening | "others" | "gap";

/** A place along the axis that has no values. */
export interface Place {
  /** Tells it from all others. */
  key: string;
  /** The name as the table has it. */
  name: string;
  /** The name at the axis. */
  label: string;
  /** Milliseconds on a calendar, else the number of the place. */
  at: number;
  /** Whether its time is not over, or not whole. */
  isPartial: boolean;
  opens: PlaceOpening;
}

export interface Series {
  name: string;
  /** A value for each place; null where there is none. */
  values: (number | null)[];
  texts: string[];
}

/** Series that share their places and one scale. */
export interface Panel {
  /** The measure and its unit, as far as the names of the series do not say them. */
  heading: string;
  /** The measure of all series, if their names do not say it. */
  measure: string | null;
  places: Place[];
  series: Series[];
  axis: Axis;
  /** Which values are good, if they are changes. */
  better: Better | null;
  /** The number of the stop of the first place. */
  firstStop: number;
}

export interface Point {
  x: number;
  y: number;
  group: number;
}

/** Rows as points between the scales of two measures. */
export interface Points {
  x: Axis;
  y: Axis;
  headings: [string, string];
  points: Point[];
  groups: string[];
}

export interface Plan {
  kind: ChartKind;
  panels: Panel[];
  points: Points | null;
  /** Whether places have a distance in time. */
  isOnCalendar: boolean;
  /** The texts that the pointer and the arrow keys find, each as lines. */
  stops: string[][];
  /** The rows that are opened at each of these places. */
  opens: PlaceOpening[];
  /** The parts that are left out or drawn differently. */
  notes: string[];
  /** The chart in one sentence. */
  summary: string;
}
