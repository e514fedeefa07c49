// Draws specifications of charts by Vega-Lite and Vega. Expressions are interpreted, because the window evaluates no text. The libraries fetch nothing.
// It is loaded when the first chart is drawn.
import { logger, parse, View, Warn, type Item } from "vega";
import { expressionInterpreter } from "vega-interpreter";
import { compile, type TopLevelSpec } from "vega-lite";
import { Handler } from "vega-tooltip";
import type { Spec } from "./marks";

/** With more marks than this, one picture is quicker than an element for each mark. */
const MOST_ELEMENTS = 2_000;
/** The points of a saved picture for each pixel. */
const SHARPNESS = 2;

const refuse = (): Promise<never> => Promise.reject(new Error("a chart loads nothing"));
/** Stands in the place of Vega's loader. */
const NO_LOADER = { load: refuse, sanitize: refuse, http: refuse, file: refuse };

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Returns a text of the data as HTML that says the same. */
export function escapeText(value: unknown): string {
  return String(value).replace(/[&<>"]/g, (sign) => ESCAPES[sign]!);
}

/** Returns a view without a place on the page. */
export function viewOf(spec: Spec): View {
  const { spec: compiled } = compile(spec as unknown as TopLevelSpec);
  const runtime = parse(compiled, undefined, { ast: true });
  const log = logger(Warn);
  // Vega writes errors to the console, and shows what it has drawn until then.
  log.error = (cause: unknown) => {
    throw cause;
  };
  return new View(runtime, {
    expr: expressionInterpreter,
    loader: NO_LOADER,
    renderer: "none",
    logger: log,
  });
}

export interface Drawing {
  /** Marks the place with this number; -1 marks none. */
  mark(stop: number): void;
  end(): void;
}

/** Called with the places of a chart, which are numbers. */
export interface Handlers {
  /** Called with the place under the pointer, or -1. */
  onpoint: (stop: number) => void;
  /** Called with the place that is clicked. */
  onopen: (stop: number) => void;
}

/** Returns the number of the place that a mark belongs to; -1 if it belongs to none. */
function stopOf(item: Item | null | undefined): number {
  const stop = (item?.datum as { stop?: unknown } | undefined)?.stop;
  return typeof stop === "number" ? stop : -1;
}

/** Draws a chart at the end of an element. */
export async function draw(
  element: HTMLElement,
  spec: Spec,
  marks: number,
  { onpoint, onopen }: Handlers,
): Promise<Drawing> {
  const tooltip = new Handler({ disableDefaultStyle: true, formatTooltip: escapeText });
  const view = viewOf(spec)
    .renderer(marks > MOST_ELEMENTS ? "canvas" : "svg")
    .tooltip(tooltip.call);
  const own = document.createElement("div");
  element.append(own);
  view.initialize(own);
  view.addEventListener("mousemove", (_, item) => onpoint(stopOf(item)));
  view.addEventListener("click", (_, item) => {
    const stop = stopOf(item);
    if (stop >= 0) onopen(stop);
  });
  view.addEventListener("mouseout", () => onpoint(-1));
  try {
    await view.runAsync();
  } catch (cause) {
    own.remove();
    throw cause;
  }
  return {
    mark: (stop) => void view.signal("at", stop).runAsync(),
    end: () => {
      view.finalize();
      document.getElementById("vg-tooltip-element")?.remove();
      own.remove();
    },
  };
}

/** Returns a chart as a file of the kind SVG. */
export async function svgOf(spec: Spec): Promise<Uint8Array> {
  const view = viewOf(spec);
  const svg = await view.toSVG();
  view.finalize();
  return new TextEncoder().encode(svg);
}

/** Returns a chart as a file of the kind PNG. */
export async function pngOf(spec: Spec): Promise<Uint8Array> {
  const view = viewOf(spec);
  const canvas = await view.toCanvas(SHARPNESS);
  view.finalize();
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  if (!blob) throw new Error("the picture has no content");
  return new Uint8Array(await blob.arrayBuffer());
}
