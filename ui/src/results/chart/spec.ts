// Writes what a chart shows as a specification of Vega-Lite. It holds values and texts only: no address, no link, no picture, no input.
// Places and series are numbers in it, and texts stand in lists beside them, so that a name from data is never a key or an expression.
import { labelled } from "../scale";
import type { Axis } from "./axis";
import type { Panel, Place, Plan, Points } from "./types";
import { columnsOf, linesOf, type Json, type Spec } from "./marks";
import type { ChartTheme } from "./theme.svelte";
import { slotsOf } from "./times";

export interface Frame {
  /** The width of the picture in pixels. */
  width: number;
  /** A heading within the picture, with lines below it. A chart on a page has its heading beside it. */
  title?: { text: string; notes: string[] };
}

/** The room at the right end, where half of the last name can stand. */
const END = 28;
const EDGE = 4;
const [PLOT, SMALL_PLOT, POINTS_PLOT] = [190, 120, 260];
/** A wide plot grows with its width up to this height, so that its lines are not flat. */
const HIGHEST_PLOT = 300;
/** The width of a plot for each pixel of its height, from where it grows on. */
const FLATNESS = 2.8;
/** The width of a character as a part of its size. */
const CHARACTER = 0.62;

/** The parts that each chart of a picture has for itself. */
const OWN = { color: "independent", strokeDash: "independent" };

/** Returns the specification of a chart. */
export function specOf(plan: Plan, theme: ChartTheme, frame: Frame): Spec {
  const writer = new Writer(plan, theme, frame);
  const views = plan.points
    ? [writer.points(plan.points)]
    : plan.panels.map((panel, at) => writer.panel(panel, at));
  const title = frame.title && {
    text: writer.text("title", frame.title.text),
    ...(frame.title.notes.length > 0 && { subtitle: writer.text("notes", frame.title.notes) }),
    anchor: "start",
    fontSize: theme.size * 1.25,
    subtitleFontSize: theme.size,
    subtitleColor: theme.muted,
    subtitlePadding: 4,
    offset: 8,
  };
  return {
    ...(title && { title }),
    background: theme.ground,
    padding: { left: EDGE / 2, right: END, top: 4, bottom: 4 },
    params: [{ name: "at", value: -1 }, ...writer.params],
    vconcat: views,
    // The series of one chart are not those of the next one.
    resolve: {
      scale: { ...OWN, xOffset: "independent", yOffset: "independent" },
      legend: OWN,
    },
    spacing: 14,
    config: configOf(theme),
  };
}

/** Returns the height that a chart is likely to have in pixels, so that the page keeps its place while it is drawn. */
export function heightOf({ kind, panels, points }: Plan, width: number): number {
  if (points) return POINTS_PLOT + 60;
  const heights = panels.map(
    (panel) =>
      (kind === "bars" ? barsHeight(panel) : plotHeight(panels.length, width)) +
      (panel.series.length > 1 ? 72 : 54),
  );
  return heights.reduce((sum, height) => sum + height, 0);
}

const plotHeight = (panels: number, width: number): number =>
  panels > 1 ? SMALL_PLOT : Math.round(Math.min(HIGHEST_PLOT, Math.max(PLOT, width / FLATNESS)));
const barsHeight = ({ places, series }: Panel): number =>
  places.length * (series.length > 1 ? 8 + series.length * 9 : 24);

function configOf({ font, size, text, muted, grid, axis }: ChartTheme): Spec {
  return {
    // The page says what the picture shows. Marks do not follow the first of these.
    aria: false,
    mark: { aria: false },
    font,
    view: { stroke: null },
    axis: {
      labelColor: muted,
      labelFontSize: size,
      titleColor: muted,
      titleFontSize: size,
      titleFontWeight: "normal",
      gridColor: grid,
      domainColor: axis,
      tickColor: axis,
      labelPadding: 6,
    },
    legend: {
      labelColor: text,
      labelFontSize: size,
      labelLimit: 180,
      symbolStrokeWidth: 2,
      offset: 6,
    },
    title: { color: text, fontSize: size, fontWeight: 500, anchor: "start", offset: 6 },
  };
}

/** Writes the views of one chart, and the lists of texts that they use. */
class Writer {
  readonly params: Spec[] = [];

  constructor(
    private readonly plan: Plan,
    private readonly theme: ChartTheme,
    private readonly frame: Frame,
  ) {}

  panel(panel: Panel, number: number): Spec {
    const view = this.plan.kind === "bars" ? this.bars(panel, number) : this.upright(panel, number);
    const title = { text: this.text(`heading_${number}`, panel.heading) };
    return panel.heading === "" ? view : { title, ...view };
  }

  /** Returns a text for a heading. Written in its place, it would be the value of what has its name in Vega, such as `width`. */
  text(name: string, text: Json): Spec {
    return { expr: this.list(name, text) };
  }

  /** Adds a list of texts or values, and returns its name. */
  private list(name: string, values: Json): string {
    this.params.push({ name, value: values });
    return name;
  }

  /** Returns the width of texts in pixels, as far as it can be known before they are drawn. */
  private widthOf(texts: readonly string[]): number {
    return (
      texts.reduce((most, text) => Math.max(most, text.length), 0) * this.theme.size * CHARACTER
    );
  }

  /** Returns an axis with lines at its ticks. */
  private valueAxis(axis: Axis, number: string, room: number | null): Spec {
    const ticks = this.list(`ticks_${number}`, axis.ticks);
    const labels = this.list(`tick_names_${number}`, axis.labels);
    return {
      title: null,
      values: axis.ticks,
      labelExpr: `${labels}[indexof(${ticks}, datum.value)]`,
      domain: false,
      ticks: false,
      grid: true,
      ...(room !== null && { minExtent: room, maxExtent: room, labelLimit: room }),
    };
  }

  private valueScale({ ticks }: Axis): Spec {
    return { domain: [ticks[0]!, ticks.at(-1)!], nice: false, zero: false };
  }

  /** Returns the channel of colours, with a legend if there are several series. */
  private colours(names: readonly string[], number: string, width: number): Spec {
    if (names.length < 2) return { value: this.theme.series[0]! };
    const domain = names.map((_, at) => at);
    const legend = {
      title: null,
      orient: "top",
      direction: "horizontal",
      columns: Math.max(1, Math.floor(width / 170)),
      // Dashes need some length to be seen.
      ...(this.plan.kind === "lines"
        ? { symbolType: "stroke", symbolSize: 420 }
        : { symbolType: "circle" }),
      labelExpr: `${this.list(`series_${number}`, [...names])}[datum.value]`,
    };
    return {
      field: "series",
      type: "nominal",
      scale: { domain, range: this.theme.series.slice(0, names.length) },
      legend,
    };
  }

  /** Returns the text of each place, and the channel that marks the one that is read. */
  private stops(first: number, count: number): { texts: Spec[]; channels: Spec } {
    const texts = Array.from({ length: count }, (_, at) => ({
      stop: first + at,
      text: (this.plan.stops[first + at] ?? []).join("\n"),
    }));
    const channels = {
      opacity: { condition: { test: "datum.stop === at", value: 0.12 }, value: 0 },
      tooltip: { field: "text", type: "nominal" },
    };
    return { texts, channels };
  }

  /** Returns a chart whose places lie from left to right: lines or columns. */
  private upright(panel: Panel, number: number): Spec {
    const { panels, kind, isOnCalendar } = this.plan;
    const rooms = panels.map(({ axis }) => this.widthOf(axis.labels) + 12);
    const room = Math.max(34, ...rooms);
    const width = Math.max(80, this.frame.width - room - END - EDGE);
    const y = this.valueChannel(panel.axis, String(number), room);
    const names = panel.series.map(({ name }) => name);
    const colour = this.colours(names, String(number), width);
    const isByTime = kind === "lines" && isOnCalendar;
    const x = isByTime
      ? this.timeChannel(panel.places, number, width)
      : this.placeChannel(panel.places, number, width, kind === "lines");
    const marks =
      kind === "lines"
        ? linesOf(panel, { x, y, colour })
        : columnsOf(panel, { place: x, value: y, colour: this.changeColours(panel, colour) });
    return {
      width,
      height: plotHeight(panels.length, this.frame.width),
      layer: [this.zero("y", y), ...marks, ...this.slots(panel, { x }, isByTime)],
    };
  }

  /** Returns a chart whose places lie below each other. */
  private bars(panel: Panel, number: number): Spec {
    const { places, series } = panel;
    const [only] = series;
    const isSigned = panel.axis.ticks[0]! < 0;
    // Values stand at the ends of bars that all grow to the right.
    const texts = series.length === 1 && !isSigned ? only!.texts : [];
    const names = places.map(({ label }) => label);
    const room = Math.min(this.frame.width * 0.4, this.widthOf(names) + 14);
    const tail = Math.min(this.frame.width * 0.3, this.widthOf(texts) + 8);
    const width = Math.max(80, this.frame.width - room - Math.max(END, tail) - EDGE);
    // A line would cross the values that are written, which say more than it does.
    const value = this.valueChannel(panel.axis, String(number), null, texts.length === 0);
    const colour = this.colours(
      series.map(({ name }) => name),
      String(number),
      width,
    );
    const list = this.list(`place_names_${number}`, names);
    const place = {
      field: "place",
      type: "ordinal",
      scale: { domain: places.map((_, at) => at), paddingInner: 0.25, paddingOuter: 0.1 },
      axis: {
        title: null,
        labelExpr: `${list}[datum.value]`,
        labelLimit: room - 8,
        minExtent: room,
        maxExtent: room,
        ticks: false,
        domain: false,
        labelColor: this.theme.text,
      },
    };
    const marks = columnsOf(panel, {
      place,
      value,
      colour: this.changeColours(panel, colour),
      isFlat: true,
    });
    return {
      width,
      height: barsHeight(panel),
      layer: [
        this.zero("x", value),
        ...marks,
        ...(texts.length > 0 ? [this.valueTexts(panel, texts, place, value, tail)] : []),
        ...this.slots(panel, { y: place }, false),
      ],
    };
  }

  private valueTexts(
    { places, series, axis }: Panel,
    texts: readonly string[],
    place: Spec,
    value: Spec,
    room: number,
  ): Spec {
    const values = places.map((_, at) => ({
      place: at,
      value: (series[0]!.values[at] ?? 0) / axis.divisor,
      text: texts[at]!,
    }));
    return {
      data: { values },
      mark: {
        type: "text",
        align: "left",
        dx: 5,
        limit: room,
        color: this.theme.muted,
        fontSize: this.theme.size,
      },
      encoding: { x: value, y: place, text: { field: "text", type: "nominal" } },
    };
  }

  /** Returns rows as points between two measures. */
  points({ x, y, headings, points, groups }: Points): Spec {
    const room = Math.max(34, this.widthOf(y.labels) + 12);
    const width = Math.max(80, this.frame.width - room - END - EDGE);
    const { texts } = this.stops(0, points.length);
    const values = points.map((point, at) => ({
      ...texts[at]!,
      x: point.x / x.divisor,
      y: point.y / y.divisor,
      series: point.group,
    }));
    const isRead = "datum.stop === at";
    const marks = {
      data: { values },
      mark: { type: "point", filled: true, strokeWidth: 2 },
      encoding: {
        x: { ...this.valueChannel(x, "x", null), field: "x" },
        y: { ...this.valueChannel(y, "y", room), field: "y" },
        color: this.colours(groups, "points", width),
        size: { condition: { test: isRead, value: 200 }, value: 48 },
        opacity: { condition: { test: isRead, value: 1 }, value: 0.65 },
        tooltip: { field: "text", type: "nominal" },
      },
    };
    const { muted, size } = this.theme;
    const heading = {
      data: { values: [{ text: headings[0] }] },
      mark: {
        type: "text",
        align: "right",
        x: width,
        y: POINTS_PLOT + 2.4 * size,
        color: muted,
        fontSize: size,
      },
      encoding: { text: { field: "text", type: "nominal" } },
    };
    return {
      title: { text: this.text("heading_y", headings[1]) },
      width,
      height: POINTS_PLOT,
      layer: [marks, heading],
    };
  }

  private valueChannel(axis: Axis, number: string, room: number | null, grid = true): Spec {
    return {
      field: "value",
      type: "quantitative",
      scale: this.valueScale(axis),
      axis: { ...this.valueAxis(axis, number, room), grid },
      stack: null,
    };
  }

  /** Returns the rectangles above all places, which the pointer finds and which mark the place that is read. */
  private slots({ places, firstStop }: Panel, channel: Spec, isByTime: boolean): Spec[] {
    // Nobody points at a saved picture.
    if (this.frame.title) return [];
    const edges = isByTime ? slotsOf(places.map(({ at }) => at)) : [];
    const { texts, channels } = this.stops(firstStop, places.length);
    const values = texts.map((text, at) =>
      isByTime ? { ...text, place: edges[at]!, end: edges[at + 1]! } : { ...text, place: at },
    );
    return [
      {
        data: { values },
        mark: { type: "rect", color: this.theme.text },
        encoding: { ...channel, ...(isByTime && { x2: { field: "end" } }), ...channels },
      },
    ];
  }

  /** Returns the line at zero, from which all bars grow. */
  private zero(channel: "x" | "y", encoding: Spec): Spec {
    return {
      data: { values: [{ value: 0 }] },
      mark: { type: "rule", color: this.theme.axis },
      encoding: { [channel]: encoding },
    };
  }

  private timeChannel(places: readonly Place[], number: number, width: number): Spec {
    const at = this.labelled(places, width);
    const ticks = at.map((index) => places[index]!.at);
    const names = this.list(
      `place_names_${number}`,
      at.map((index) => places[index]!.label),
    );
    const known = this.list(`places_${number}`, ticks);
    const edges = slotsOf(places.map((place) => place.at));
    return {
      field: "place",
      type: "quantitative",
      scale: { domain: [edges[0]!, edges.at(-1)!], nice: false, zero: false },
      axis: placeAxis(ticks, `${names}[indexof(${known}, datum.value)]`),
    };
  }

  private placeChannel(
    places: readonly Place[],
    number: number,
    width: number,
    isLine: boolean,
  ): Spec {
    const { isOnCalendar } = this.plan;
    // Names are cut, and of times only as many are shown as have room.
    const at = isOnCalendar ? this.labelled(places, width) : places.map((_, index) => index);
    const names = this.list(
      `place_names_${number}`,
      places.map(({ label }) => label),
    );
    const room = Math.max(20, width / Math.max(1, places.length) - 4);
    return {
      field: "place",
      type: "ordinal",
      scale: {
        domain: places.map((_, index) => index),
        ...(!isLine && { paddingInner: 0.25, paddingOuter: 0.1 }),
      },
      axis: {
        ...placeAxis(at, `${names}[datum.value]`),
        ...(!isOnCalendar && { labelLimit: room }),
      },
    };
  }

  private labelled(places: readonly Place[], width: number): number[] {
    return labelled(places.length, width, this.widthOf(places.map(({ label }) => label)) + 14);
  }

  /** Returns the colours of changes: those of good and bad ones, if one series has them and its measure says which are good. */
  private changeColours({ better, series, axis }: Panel, colours: Spec): Spec {
    if (!better || series.length > 1) return colours;
    const { good, bad } = this.theme;
    const isUp = "datum.value > 0";
    return {
      condition: { test: isUp, value: better === "higher" ? good : bad },
      value: axis.ticks[0]! < 0 && better === "higher" ? bad : good,
    };
  }
}

function placeAxis(values: Json[], labelExpr: string): Spec {
  return { title: null, values, labelExpr, grid: false, labelAngle: 0, labelOverlap: false };
}
