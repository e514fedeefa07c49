// The state of a table on screen: what is in view, which cells are selected, and what the keys do. The component only draws it.
import { copyRows, type Copied } from "./saving";
import { language, t } from "../../i18n/index.svelte";
import type { DataColumn } from "../../platform/generated/DataColumn";
import {
  gridText,
  headingOf,
  isAmount,
  nextOrder,
  type Cell,
  type GridOrder,
  type NumberLook,
} from "./cells";
import { lookOf, type TableLook } from "./looks.svelte";
import type { GridTotals } from "./result";
import { LocalRows, type GridRows } from "./rows.svelte";
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
/** A table with more columns makes the texts of those in view only. */
const MANY_COLUMNS = 200;
/** The characters by which a key makes a column wider or narrower. */
const STEP = 2;

/** A drawn row. */
export interface Line {
  index: number;
  /** The text of each shown column. Those of columns out of view may be missing. */
  texts: readonly (string | undefined)[] | null;
}

/** A row with totals. */
export interface TotalLine {
  /** The text of each shown column. */
  texts: string[];
  /** Why a figure has no total, for each shown column. */
  reasons: (string | null)[];
}

function textOf(value: Cell | undefined, column: DataColumn, look: TableLook): string {
  return gridText(value, column, look.numbersOf(column.name));
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

  /** The last change of the columns in words, for screen readers. */
  said = $state("");

  readonly widths: ColumnWidths;
  readonly look: TableLook;

  /** `table` names the table whose column widths are remembered, and `kept` the one whose look is; null for none. */
  constructor(
    readonly rows: GridRows,
    table: string | null = null,
    kept: string | null = table,
    readonly totals: GridTotals | null = null,
  ) {
    this.look = lookOf(kept);
    this.widths = new ColumnWidths(() => this.columns, table);
    const { order } = this.look;
    const isKnown = rows.columns.some(({ name }) => name === order?.by);
    if (rows instanceof LocalRows && isKnown) rows.sort(order);
  }

  /** The places of the shown columns among all. One is always shown. */
  readonly places = $derived.by<readonly number[]>(() => {
    const { hidden } = this.look;
    const { columns } = this.rows;
    const all = columns.map((_, at) => at);
    const shown = all.filter((at) => !hidden.has(columns[at]!.name));
    return shown.length > 0 ? shown : all;
  });
  /** The shown columns. Places of the selection and of widths are numbers in this list. */
  readonly columns = $derived.by<readonly DataColumn[]>(() =>
    this.places.map((at) => this.rows.columns[at]!),
  );
  readonly hiddenCount = $derived.by(() => this.rows.columns.length - this.places.length);

  readonly view = $derived.by<Viewport>(() => ({
    total: this.rows.total,
    rowHeight: this.rowHeight,
    height: this.height,
    scrollTop: this.scrollTop,
  }));
  readonly drawn = $derived.by<RowRange>(() => drawnRows(this.view, SPARE));
  readonly content = $derived.by<number>(() => contentHeight(this.view));
  readonly area = $derived.by<Area | null>(() =>
    this.isTotal(this.selection.active.row) ? null : areaOf(this.selection),
  );
  /** The columns that are drawn. */
  readonly drawnColumns = $derived.by<ColumnRange>(() => {
    const count = this.columns.length;
    if (count < FEW_COLUMNS || this.widths.shown.length !== count)
      return { first: 0, last: Math.min(FEW_COLUMNS, count) };
    const from = this.scrollLeft / this.characterWidth;
    return this.widths.within(from, from + this.width / this.characterWidth, SPARE_COLUMNS);
  });

  /** The texts of rows, which are made once for each. */
  private readonly texts = $derived.by(() => {
    // Another language, other columns or other formats make other texts.
    void language();
    void this.columns;
    void this.look.numbers;
    return new WeakMap<readonly Cell[], (string | undefined)[]>();
  });
  /** The columns whose texts are made. */
  private readonly writtenColumns = $derived.by<ColumnRange>(() => {
    const count = this.columns.length;
    return count > MANY_COLUMNS ? this.drawnColumns : { first: 0, last: count };
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
    return { index, texts: row ? this.textsOf(row) : null };
  }

  /** Returns the texts of the shown columns of a row. */
  private textsOf(row: readonly Cell[]): readonly (string | undefined)[] {
    const known = this.texts;
    const texts = known.get(row) ?? [];
    known.set(row, texts);
    const { columns, places, writtenColumns, look } = this;
    for (let at = writtenColumns.first; at < writtenColumns.last; at += 1)
      texts[at] ??= textOf(row[places[at]!], columns[at]!, look);
    return texts;
  }

  /** The rows with totals. The first column that is no figure has their name. */
  readonly totalLines = $derived.by<TotalLine[]>(() => {
    const { totals, columns, places, look } = this;
    if (!totals) return [];
    const named = columns.findIndex((column) => !isAmount(column));
    return totals.rows.map((row, line) => ({
      texts: columns.map((column, at) => {
        const isEmpty = (row[places[at]!] ?? null) === null;
        const isBlank = isEmpty && !isAmount(column);
        const text = isBlank ? "" : textOf(row[places[at]!], column, look);
        if (at !== named) return text;
        return text === "" ? totals.label : `${totals.label} · ${text}`;
      }),
      reasons: places.map((at) => totals.reasons[line]?.[at] ?? null),
    }));
  });

  /** Makes columns as wide as the rows in view and those with totals need it. */
  widen(): void {
    const texts = this.lines.flatMap((line) => (line.texts ? [line.texts] : []));
    const totals = this.totalLines.map((line) => line.texts);
    this.widths.widen([...texts, ...totals], this.writtenColumns);
  }

  /** Reads the rows that are in view. */
  showDrawn(): void {
    const { first, last } = this.drawn;
    if (last > first) this.rows.show(first, last);
  }

  /** Sorts by a column, the other way round, or not at all. */
  sortBy(column: number): void {
    const chosen = this.columns[column];
    if (chosen) this.sort(nextOrder(chosen, this.rows.order));
  }

  /** Sorts the rows; null leaves them as they came. */
  sort(order: GridOrder | null): void {
    this.look.order = order;
    this.rows.sort(order);
  }

  /** Hides a column, unless it is the only one. */
  hide(column: number): void {
    const hidden = this.columns[column];
    if (!hidden || this.columns.length < 2) return;
    this.look.hide(hidden.name);
    this.said = t("grid.hid", { column: headingOf(hidden) });
    const { row } = this.selection.active;
    const place = { row, column: Math.min(column, this.columns.length - 1) };
    this.selection = { active: place, anchor: place };
  }

  showAll(): void {
    this.look.showAll();
    this.said = t("grid.all_shown");
  }

  /** Shows the numbers of a column in another way. */
  write(column: number, look: NumberLook): void {
    const chosen = this.columns[column];
    if (chosen) this.look.choose(chosen.name, look);
  }

  /** Whether a row is one with totals, which is part of no selection. */
  isTotal(row: number): boolean {
    return row >= this.rows.total;
  }

  choose(place: Place, isExtended: boolean): void {
    const isPart = isExtended && !this.isTotal(this.selection.anchor.row);
    this.selection = moved(this.selection, place, isPart);
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
      columns: this.columns.length,
      page: Math.max(1, Math.floor(this.height / this.rowHeight) - 1),
      totals: event.shiftKey ? 0 : this.totalLines.length,
    });
    if (!to) return { isUsed: false, scrollTo: null };
    this.choose(to, event.shiftKey);
    // Headings and totals are always in view.
    const isFixed = to.row < 0 || this.isTotal(to.row);
    return { isUsed: true, scrollTo: isFixed ? null : positionFor(this.view, to.row) };
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
    const last = { row: this.rows.total - 1, column: this.columns.length - 1 };
    if (last.row >= 0) this.selection = { active: { row: 0, column: 0 }, anchor: last };
  }

  /** Copies the selected cells, or the whole table if only one cell or none is selected and `all` is set. */
  async copy(all = false): Promise<void> {
    const isWhole = this.area === null || (all && sizeOfArea(this.area) < 2);
    [this.isCopying, this.copied] = [true, ""];
    try {
      this.copied = await copyRows(this.rows, isWhole ? null : this.area, this.places);
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
