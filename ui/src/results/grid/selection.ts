// The active cell of a table, and the rectangle of selected cells. Pure. Row -1 is the line of headings, and the rows with totals follow the last
// row.

export interface Place {
  row: number;
  column: number;
}

export interface Selection {
  active: Place;
  /** The other corner of the rectangle; the active cell itself if only one cell is selected. */
  anchor: Place;
}

export interface Size {
  rows: number;
  columns: number;
  /** The number of rows that fit into view. */
  page: number;
  /** The number of rows with totals. */
  totals: number;
}

/** A rectangle of cells; the last row and column are not included. */
export interface Area {
  firstRow: number;
  lastRow: number;
  firstColumn: number;
  lastColumn: number;
}

const HEADINGS = -1;

function within({ row, column }: Place, { rows, columns, totals }: Size): Place {
  return {
    row: Math.max(HEADINGS, Math.min(rows + totals - 1, row)),
    column: Math.max(0, Math.min(columns - 1, column)),
  };
}

/** Returns the cell that a key leads to, or null for a key that moves nothing. */
export function placeAfter(
  key: string,
  isControl: boolean,
  { row, column }: Place,
  size: Size,
): Place | null {
  const last = { row: size.rows - 1, column: size.columns - 1 };
  const end = { ...last, row: last.row + size.totals };
  // From the last row, the same keys lead to the totals.
  const down = (by: number): number => (row >= last.row ? row + 1 : Math.min(last.row, row + by));
  const moves: Record<string, Place> = {
    ArrowDown: { row: down(isControl ? size.rows : 1), column },
    ArrowUp: { row: isControl ? 0 : row - 1, column },
    ArrowRight: { row, column: isControl ? last.column : column + 1 },
    ArrowLeft: { row, column: isControl ? 0 : column - 1 },
    PageDown: { row: down(size.page), column },
    PageUp: { row: Math.max(0, row - size.page), column },
    Home: isControl ? { row: 0, column: 0 } : { row, column: 0 },
    End: isControl ? end : { row, column: last.column },
  };
  const to = moves[key];
  return to ? within(to, size) : null;
}

/** Returns the selection after a move. A move with Shift extends the rectangle. */
export function moved(selection: Selection, to: Place, isExtended: boolean): Selection {
  // Headings are not part of a rectangle.
  const extends_ = isExtended && to.row > HEADINGS && selection.anchor.row > HEADINGS;
  return { active: to, anchor: extends_ ? selection.anchor : to };
}

/** Returns the selected cells. The line of headings selects nothing. */
export function areaOf({ active, anchor }: Selection): Area | null {
  if (active.row <= HEADINGS) return null;
  return {
    firstRow: Math.min(active.row, anchor.row),
    lastRow: Math.max(active.row, anchor.row) + 1,
    firstColumn: Math.min(active.column, anchor.column),
    lastColumn: Math.max(active.column, anchor.column) + 1,
  };
}

/** Whether a cell is selected. */
export function isSelected(area: Area | null, row: number, column: number): boolean {
  return (
    area !== null &&
    row >= area.firstRow &&
    row < area.lastRow &&
    column >= area.firstColumn &&
    column < area.lastColumn
  );
}

/** Returns the number of selected cells. */
export const sizeOfArea = (area: Area | null): number =>
  area === null ? 0 : (area.lastRow - area.firstRow) * (area.lastColumn - area.firstColumn);
