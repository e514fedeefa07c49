// The state of a table on screen: what is in view, which cells are selected, and what the keys do. The component only draws it.
import { copyRows, type Copied } from "./saving";
import { language } from "../../i18n/index.svelte";
import { nextOrder, rowTexts, type Cell } from "./cells";
import type { GridRows } from "./rows.svelte";
import {
  areaOf,
  moved,
  placeAfter,
  sizeOfArea,
  type Area,
  type Place,
  type Selection,
} from "./selection";
import { ColumnWidths, type ColumnRange } from "./widths.svelte";
import { contentHeight, drawnRows, positionFor, type RowRange, type Viewport } from "./viewport";

/** The rows that are drawn above and below the visible ones. */
const SPARE = 8;
/** The columns that are drawn beside the visible ones. */
const SPARE_COLUMNS = 4;
/** A table with fewer columns draws all of them. */
const FEW_COLUMNS = 24;
/** The characters by which a key makes a column wider or narrower. */
const STEP = 2;

/** A drawn row. */
export interface Line {
  index: number;
  texts: readonly string[] | null;
}

export class GridState {
  scrollTop = $state(0);
  height = $state(400);
  rowHeight = $state(28);
  scrollLeft = $state(0);
  width = $state(1200);
  /** The width of a character in pixels. */
  characterWidth = $state(7);
  selection = $state.raw<Selection>({
    active: { row: 0, column: 0 },
    anchor: { row: 0, column: 0 },
  });
  /** How the last copy ended. */
  copied = $state<"" | Copied>("");
  isCopying = $state(false);

  readonly widths: ColumnWidths;

  /** `table` names the table whose column widths are remembered; null for none. */
  constructor(
    readonly rows: GridRows,
    table: string | null = null,
  ) {
    this.widths = new ColumnWidths(() => this.rows.columns, table);
  }

  readonly view = $derived.by<Viewport>(() => ({
    total: this.rows.total,
    rowHeight: this.rowHeight,
    height: this.height,
    scrollTop: this.scrollTop,
  }));
  readonly drawn = $derived.by<RowRange>(() => drawnRows(this.view, SPARE));
  readonly content = $derived.by<number>(() => contentHeight(this.view));
  readonly area = $derived.by<Area | null>(() => areaOf(this.selection));
  /** The columns that are drawn. */
  readonly drawnColumns = $derived.by<ColumnRange>(() => {
    const count = this.rows.columns.length;
    if (count < FEW_COLUMNS || this.widths.shown.length !== count)
      return { first: 0, last: Math.min(FEW_COLUMNS, count) };
    const from = this.scrollLeft / this.characterWidth;
    return this.widths.within(from, from + this.width / this.characterWidth, SPARE_COLUMNS);
  });

  /** The texts of rows, which are made once for each. */
  private readonly texts = $derived.by(() => {
    // Another language or other columns make other texts.
    void language();
    void this.rows.columns;
    return new WeakMap<readonly Cell[], string[]>();
  });
  /** The drawn rows with their texts; null while a row is being read. */
  readonly lines = $derived.by<Line[]>(() => {
    const { first, last } = this.drawn;
    return Array.from({ length: last - first }, (_, at) => this.lineOf(first + at));
  });
  /** The number of elements for rows. An element that leaves at one end is used again at the other. */
  readonly pool = $derived(Math.max(1, Math.ceil(this.lines.length / 16) * 16));

  private lineOf(index: number): Line {
    const row = this.rows.row(index);
    if (!row) return { index, texts: null };
    let texts = this.texts.get(row);
    if (!texts) {
      texts = rowTexts(row, this.rows.columns);
      this.texts.set(row, texts);
    }
    return { index, texts };
  }

  /** Makes columns as wide as the rows in view need it. */
  widen(): void {
    this.widths.widen(this.lines.flatMap(({ texts }) => (texts ? [texts] : [])));
  }

  /** Reads the rows that are in view. */
  showDrawn(): void {
    const { first, last } = this.drawn;
    if (last > first) this.rows.show(first, last);
  }

  /** Sorts by a column, the other way round, or not at all. */
  sortBy(column: number): void {
    const chosen = this.rows.columns[column];
    if (chosen) this.rows.sort(nextOrder(chosen, this.rows.order));
  }

  choose(place: Place, isExtended: boolean): void {
    this.selection = moved(this.selection, place, isExtended);
  }

  /** Does what a key says. Returns the scroll position that shows the active cell, and whether the key was used. */
  press(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey">): {
    isUsed: boolean;
    scrollTo: number | null;
  } {
    const isControl = event.ctrlKey || event.metaKey;
    const key = event.key.toLowerCase();
    if (isControl && key === "c") return this.used(() => void this.copy());
    if (isControl && key === "a") return this.used(() => this.selectAll());
    const { active } = this.selection;
    if (active.row < 0 && (event.key === "Enter" || event.key === " "))
      return this.used(() => this.sortBy(active.column));
    if (active.row < 0 && this.resizeBy(event)) return { isUsed: true, scrollTo: null };
    const to = placeAfter(event.key, isControl, active, {
      rows: this.rows.total,
      columns: this.rows.columns.length,
      page: Math.max(1, Math.floor(this.height / this.rowHeight) - 1),
    });
    if (!to) return { isUsed: false, scrollTo: null };
    this.choose(to, event.shiftKey);
    return { isUsed: true, scrollTo: to.row < 0 ? null : positionFor(this.view, to.row) };
  }

  /** Changes the width of the active column with Shift and an arrow key, or makes it automatic again. Returns whether the key was used. */
  private resizeBy({ key, shiftKey }: Pick<KeyboardEvent, "key" | "shiftKey">): boolean {
    const { column } = this.selection.active;
    const width = this.widths.shown[column];
    if (width === undefined) return false;
    if (key === "Delete" || key === "Backspace") this.widths.reset(column);
    else if (shiftKey && key === "ArrowRight") this.widths.choose(column, width + STEP);
    else if (shiftKey && key === "ArrowLeft") this.widths.choose(column, width - STEP);
    else return false;
    return true;
  }

  selectAll(): void {
    const last = { row: this.rows.total - 1, column: this.rows.columns.length - 1 };
    if (last.row >= 0) this.selection = { active: { row: 0, column: 0 }, anchor: last };
  }

  /** Copies the selected cells, or the whole table if only one cell or none is selected and `all` is set. */
  async copy(all = false): Promise<void> {
    const isWhole = this.area === null || (all && sizeOfArea(this.area) < 2);
    [this.isCopying, this.copied] = [true, ""];
    try {
      this.copied = await copyRows(this.rows, isWhole ? null : this.area);
    } catch {
      this.copied = "failed";
    }
    this.isCopying = false;
  }

  private used(act: () => void): { isUsed: boolean; scrollTo: null } {
    act();
    return { isUsed: true, scrollTo: null };
  }
}
