// The marks of lines, columns and bars as parts of a specification of Vega-Lite.
import type { Panel } from "./types";

/** A part of a specification, as JSON. */
export type Json = string | number | boolean | null | Json[] | { [member: string]: Json };
export type Spec = Record<string, Json>;

/** Lines of more series than one differ in their dashes, too. */
const DASHES = [
  [1, 0],
  [7, 4],
  [2, 4],
  [10, 3, 2, 3],
  [4, 2],
  [12, 5],
  [1, 3],
  [8, 2, 2, 2, 2, 2],
];
/** Dashes of what is not whole. */
const PARTIAL = [4, 3];
/** A line with no more places than this has a sign at each of them. */
const MOST_SIGNS = 40;

interface LineChannels {
  x: Spec;
  y: Spec;
  colour: Spec;
}

/** Returns the marks of lines. A line ends at a gap, and is dashed where it leads to or from a place that is not whole. */
export function linesOf(panel: Panel, { x, y, colour }: LineChannels): Spec[] {
  const { places, series, axis } = panel;
  const isTime = x["type"] === "quantitative";
  const whole: Spec[] = [];
  const partial: Spec[] = [];
  const signs: Spec[] = [];
  const isDashed = (at: number): boolean =>
    [at - 1, at, at + 1].some((near) => places[near]?.isPartial);
  series.forEach(({ values }, number) => {
    values.forEach((value, at) => {
      const drawn = value === null ? null : value / axis.divisor;
      const point = { place: isTime ? places[at]!.at : at, value: drawn, series: number };
      const isPartial = places[at]!.isPartial;
      whole.push(isPartial ? { ...point, value: null } : point);
      partial.push(isDashed(at) ? point : { ...point, value: null });
      const isAlone = (values[at - 1] ?? null) === null && (values[at + 1] ?? null) === null;
      if (drawn !== null && (isAlone || places.length <= MOST_SIGNS))
        signs.push({ ...point, partial: isPartial });
    });
  });
  const line = {
    type: "line",
    strokeWidth: 2,
    strokeJoin: "round",
    invalid: "break-paths-show-domains",
  };
  const encoding = { x, y, color: colour };
  const scale = { ...(colour["scale"] as Spec), range: DASHES.slice(0, series.length) };
  const dashes: Spec = series.length > 1 ? { strokeDash: { ...colour, scale } } : {};
  const hasPartial = places.some(({ isPartial }) => isPartial);
  return [
    { data: { values: whole }, mark: line, encoding: { ...encoding, ...dashes } },
    ...(hasPartial
      ? [
          {
            data: { values: partial },
            mark: { ...line, strokeDash: PARTIAL },
            encoding: { ...encoding, detail: { field: "series", type: "nominal" } },
          },
        ]
      : []),
    ...[false, ...(hasPartial ? [true] : [])].map((isPartial) => ({
      data: { values: signs.filter(({ partial }) => partial === isPartial) },
      mark: { type: "point", filled: !isPartial, size: 26, strokeWidth: 1.5, opacity: 1 },
      encoding,
    })),
  ];
}

interface BarChannels {
  place: Spec;
  value: Spec;
  colour: Spec;
  /** Whether bars lie flat. */
  isFlat?: boolean;
}

/** Returns the marks of columns or bars. Those of places that are not whole are dashed outlines. */
export function columnsOf(panel: Panel, { place, value, colour, isFlat }: BarChannels): Spec[] {
  const { places, series, axis } = panel;
  const rows = series.flatMap(({ values }, number) =>
    values.flatMap((one, at) =>
      one === null ? [] : [{ place: at, value: one / axis.divisor, series: number }],
    ),
  );
  const isPartial = (row: { place: number }): boolean => places[row.place]!.isPartial;
  const [whole, partial] = [rows.filter((row) => !isPartial(row)), rows.filter(isPartial)];
  const offset: Spec =
    series.length > 1
      ? {
          [isFlat ? "yOffset" : "xOffset"]: {
            field: "series",
            type: "nominal",
            scale: { domain: series.map((_, at) => at) },
          },
        }
      : {};
  const encoding: Spec = {
    ...(isFlat ? { x: value, y: place } : { x: place, y: value }),
    ...offset,
    color: colour,
  };
  const bar = { type: "bar", ...(isFlat ? { height: { band: 1 } } : { width: { band: 1 } }) };
  return [
    { data: { values: whole }, mark: bar, encoding },
    ...(partial.length > 0
      ? [
          {
            data: { values: partial },
            mark: { ...bar, filled: false, strokeWidth: 1.5, strokeDash: PARTIAL },
            encoding,
          },
        ]
      : []),
  ];
}
