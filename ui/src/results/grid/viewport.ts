// Which rows of a long table are in view. Pure. Browsers limit the height of an element, so a table with very many rows is scrolled in
// proportion: the position of the scroll bar then stands for a row, and not for a pixel.

/** A greater height is not reliable in all browsers. */
export const MOST_PIXELS = 8_000_000;

/** The measures of a scrolled table. */
export interface Viewport {
  /** The number of all rows. */
  total: number;
  rowHeight: number;
  /** The visible height for rows. */
  height: number;
  scrollTop: number;
}

/** A range of rows; `last` is not included. */
export interface RowRange {
  first: number;
  last: number;
}

/** Returns the height of the scrolled content. */
export function contentHeight({ total, rowHeight }: Pick<Viewport, "total" | "rowHeight">): number {
  return Math.min(total * rowHeight, MOST_PIXELS);
}

/** Returns the number of rows that cannot be above the visible ones: those of the last screen. */
function rowsAbove({ total, rowHeight, height }: Viewport): number {
  return Math.max(0, total - height / rowHeight);
}

function isScaled({ total, rowHeight }: Viewport): boolean {
  return total * rowHeight > MOST_PIXELS;
}

/** Returns the row at the upper edge, with a part of a row. */
export function rowAtTop(view: Viewport): number {
  if (!isScaled(view)) return view.scrollTop / view.rowHeight;
  const way = contentHeight(view) - view.height;
  const part = way <= 0 ? 0 : Math.min(1, Math.max(0, view.scrollTop / way));
  return part * rowsAbove(view);
}

/** Returns the rows that are drawn: the visible ones, and some before and after them. */
export function drawnRows(view: Viewport, spare: number): RowRange {
  const top = rowAtTop(view);
  const first = Math.max(0, Math.floor(top) - spare);
  const last = Math.min(view.total, Math.ceil(top + view.height / view.rowHeight) + spare);
  return { first, last: Math.max(first, last) };
}

/** Returns the position of a row within the content. */
export function topOfRow(view: Viewport, row: number): number {
  if (!isScaled(view)) return row * view.rowHeight;
  return view.scrollTop + (row - rowAtTop(view)) * view.rowHeight;
}

/** Returns the scroll position that shows a row, or null if the row is in view already. */
export function positionFor(view: Viewport, row: number): number | null {
  const top = rowAtTop(view);
  const visible = view.height / view.rowHeight;
  if (row >= top && row + 1 <= top + visible) return null;
  const wanted = row < top ? row : Math.max(0, row + 1 - visible);
  if (!isScaled(view)) return wanted * view.rowHeight;
  const above = rowsAbove(view);
  return above === 0 ? 0 : (wanted / above) * (contentHeight(view) - view.height);
}
