// The colours and sizes of charts, read from the style sheet's tokens, because pictures cannot use its variables.

export interface ChartTheme {
  ground: string;
  text: string;
  muted: string;
  grid: string;
  axis: string;
  series: string[];
  good: string;
  bad: string;
  font: string;
  /** The size of small text in pixels. */
  size: number;
}

/** Which tokens the series have, in order. */
const SERIES = ["chart-bar", ...[2, 3, 4, 5, 6, 7, 8].map((at) => `chart-${at}`)];
/** The size of small text as a part of the page's size. */
const SMALL = 0.75;

/** Counts the changes of theme and size on the page. */
class Watch {
  changes = $state(0);

  constructor() {
    if (typeof MutationObserver === "undefined") return;
    const observer = new MutationObserver(() => (this.changes += 1));
    observer.observe(document.documentElement, { attributes: true });
  }
}

// It is made with the module, because an effect does not depend on a state that it made itself.
const watch = new Watch();

/** Returns the theme of the page. An effect that reads it runs again after a change. */
export function chartTheme(): ChartTheme {
  void watch.changes;
  const style = getComputedStyle(document.documentElement);
  const token = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    ground: token("surface"),
    text: token("text"),
    muted: token("text-3"),
    grid: token("chart-grid"),
    axis: token("border-strong"),
    series: SERIES.map(token),
    good: token("ok"),
    bad: token("danger"),
    font: token("font"),
    size: parseFloat(style.fontSize) * SMALL,
  };
}
