// The rows of a table that are read as they come into view, or that are all there. Knows no component and no source.
import { t } from "../../i18n/index.svelte";
import { asAgentError } from "../../platform";
import type { AgentError } from "../../platform/generated/AgentError";
import type { DataColumn } from "../../platform/generated/DataColumn";
import type { DataResult } from "../../platform/generated/DataResult";
import { sortedRows, type Cell, type GridOrder } from "./cells";

/** The rows of a table. */
export interface GridRows {
  readonly columns: readonly DataColumn[];
  /** The number of rows. If the end is not known yet, one more than those that were read. */
  readonly total: number;
  /** Whether there are rows after those that were read, which nobody counted. */
  readonly isOpenEnded: boolean;
  readonly order: GridOrder | null;
  readonly error: AgentError | null;
  /** Whether the first rows are still being read. */
  readonly isOpening: boolean;
  /** Returns a row, or null while it is being read. */
  row(index: number): readonly Cell[] | null;
  /** Reads the rows that come into view; `last` is not included. */
  show(first: number, last: number): void;
  sort(order: GridOrder | null): void;
  /** Reads rows for a copy or a file. Returns fewer at the end. */
  read(offset: number, limit: number): Promise<Cell[][]>;
  /** Reads again what could not be read. */
  retry(): void;
}

/** Reads a page of rows. */
export type ReadPage = (page: {
  offset: number;
  limit: number;
  order: GridOrder | null;
}) => Promise<DataResult>;

const PAGE = 500;
/** More pages are not kept, so that a long table needs little memory. */
const KEPT = 40;

export class PagedRows implements GridRows {
  columns = $state.raw<readonly DataColumn[]>([]);
  total = $state(0);
  isOpenEnded = $state(false);
  order = $state.raw<GridOrder | null>(null);
  error = $state.raw<AgentError | null>(null);
  isOpening = $state(true);
  private pages = $state.raw<ReadonlyMap<number, Cell[][]>>(new Map());
  private readonly asked = new Set<number>();
  private shown = { first: 0, last: 1 };
  /** The data version of the rows. */
  private version = "";
  /** Counts the orders, so that a page of a former order is ignored. */
  private turn = 0;

  constructor(private readonly readPage: ReadPage) {}

  open(): void {
    void this.load(0);
  }

  row(index: number): readonly Cell[] | null {
    return this.pages.get(Math.floor(index / PAGE))?.[index % PAGE] ?? null;
  }

  show(first: number, last: number): void {
    this.shown = { first, last };
    for (let page = Math.floor(first / PAGE); page * PAGE < last; page += 1) void this.load(page);
  }

  sort(order: GridOrder | null): void {
    this.order = order;
    this.begin();
  }

  async read(offset: number, limit: number): Promise<Cell[][]> {
    const found = await this.readPage({ offset, limit, order: this.order });
    if (JSON.stringify(found.data_version) !== this.version) {
      this.begin();
      // A file with rows of two states would be wrong without a sign of it.
      throw new Error(t("grid.changed"));
    }
    return found.rows;
  }

  retry(): void {
    this.showAgain();
  }

  /** Reads everything again, because the rows changed. */
  begin(): void {
    this.turn += 1;
    this.asked.clear();
    this.pages = new Map();
    this.showAgain();
  }

  /** Reads the rows in view. As long as none is known, nobody can say that there is none. */
  private showAgain(): void {
    this.error = null;
    this.isOpening = this.total === 0;
    this.show(this.shown.first, this.shown.last);
  }

  private async load(page: number): Promise<void> {
    if (this.asked.has(page)) return;
    this.asked.add(page);
    const turn = this.turn;
    try {
      const found = await this.readWhole(page);
      if (turn === this.turn) this.take(page, found);
    } catch (cause) {
      if (turn !== this.turn) return;
      this.asked.delete(page);
      this.error = asAgentError(cause);
      this.isOpening = false;
    }
  }

  /** Reads a page. The host may send fewer rows than asked for, if they are long. */
  private async readWhole(page: number): Promise<DataResult> {
    const { order } = this;
    const offset = page * PAGE;
    const rows: Cell[][] = [];
    let found: DataResult;
    do {
      found = await this.readPage({
        offset: offset + rows.length,
        limit: PAGE - rows.length,
        order,
      });
      rows.push(...found.rows);
    } while (
      rows.length < PAGE &&
      found.rows.length > 0 &&
      (found.more !== undefined || offset + rows.length < found.row_count)
    );
    return { ...found, rows };
  }

  private take(page: number, found: DataResult): void {
    const pages = new Map(this.pages).set(page, found.rows);
    const middle = (this.shown.first + this.shown.last) / 2 / PAGE;
    const far = [...pages.keys()].sort((a, b) => Math.abs(b - middle) - Math.abs(a - middle));
    for (const one of far.slice(0, Math.max(0, pages.size - KEPT))) this.drop(pages, one);
    // The same columns stay the same object, so that the table is not drawn again with each page.
    if (JSON.stringify(found.columns) !== JSON.stringify(this.columns))
      this.columns = found.columns;
    const version = JSON.stringify(found.data_version);
    // The rows changed while they were scrolled: those of the former state go, and so does their number.
    if (this.version !== "" && this.version !== version) {
      pages.forEach((_, one) => one !== page && this.drop(pages, one));
      this.total = 0;
    }
    this.version = version;
    this.count(found, page * PAGE + found.rows.length);
    this.pages = pages;
    this.isOpening = false;
  }

  /** Takes over the number of rows. A database does not count its rows for a page: the page only says whether there are more after its end. */
  private count({ row_count, more }: DataResult, end: number): void {
    if (more === undefined || row_count > end) {
      [this.total, this.isOpenEnded] = [row_count, false];
    } else if (end >= this.total) {
      // The row after the last one is read when it comes into view.
      [this.total, this.isOpenEnded] = [end + 1, true];
    }
  }

  private drop(pages: Map<number, Cell[][]>, page: number): void {
    pages.delete(page);
    this.asked.delete(page);
  }
}

/** Rows that are all there. They are sorted in the window. */
export class LocalRows implements GridRows {
  readonly isOpenEnded = false;
  readonly error = null;
  readonly isOpening = false;
  order = $state.raw<GridOrder | null>(null);
  private readonly sorted = $derived.by(() => sortedRows(this.rows, this.columns, this.order));

  constructor(
    readonly columns: readonly DataColumn[],
    private readonly rows: readonly Cell[][],
  ) {}

  get total(): number {
    return this.rows.length;
  }

  row(index: number): readonly Cell[] | null {
    return this.sorted[index] ?? null;
  }

  show(): void {
    // All rows are there.
  }

  sort(order: GridOrder | null): void {
    this.order = order;
  }

  read(offset: number, limit: number): Promise<Cell[][]> {
    return Promise.resolve(this.sorted.slice(offset, offset + limit));
  }

  retry(): void {
    // No read can fail.
  }
}
