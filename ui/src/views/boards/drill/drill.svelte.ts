// A drill-down: the results from that of a tile to the one that is shown, each behind a row of the one before.
import { asAgentError, call } from "../../../platform";
import type { AgentError } from "../../../platform/generated/AgentError";
import type { MetricQuery } from "../../../platform/generated/MetricQuery";
import type { Text } from "../../../platform/generated/Text";
import type { TileFigures } from "../../../platform/generated/TileFigures";
import { Requests } from "../../../lib/requests";
import type { Cell } from "../../../results/grid/cells";
import {
  conditionsOf,
  dividedQuery,
  divisionsOf,
  plainQuery,
  type Division,
  type DrillSource,
  type Rows,
} from "./drill";

/** A result of a drill-down. */
export interface Level extends Rows {
  /** The row of the result before; the title of the tile for the first result. */
  title: string;
  /** The query before it is divided. Null for the result of the tile. */
  plain: MetricQuery | null;
  by: Division | null;
  total: number;
  notes: readonly Text[];
}

const isSame = (one: Division | null, other: Division): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

export class Drill {
  levels = $state.raw<readonly Level[]>([]);
  error = $state.raw<AgentError | null>(null);
  isRunning = $state(false);
  readonly shown = $derived(this.levels.at(-1)!);
  private source: DrillSource | null = $state.raw(null);
  private readonly requests = new Requests();
  /** The ways to divide the shown result. */
  readonly divisions = $derived(
    this.source && this.shown.plain ? divisionsOf(this.shown.plain, this.source) : [],
  );

  constructor(
    title: string,
    private readonly figures: TileFigures,
  ) {
    const { content, notes } = figures;
    const moment = content.computed?.asked.query?.as_of;
    // The rows behind a row are those of the moment at which it was computed.
    const query = moment ? { ...figures.query, as_of: moment } : figures.query;
    const columns = figures.columns.map((column, at) => ({
      ...column,
      label: content.columns[at]?.label ?? column.label ?? {},
    }));
    const rows = content.rows.map((row) => row.map(({ value }) => value));
    const total = content.total;
    this.levels = [{ title, plain: null, by: null, query, columns, rows, total, notes }];
  }

  /** Reads what rows can be divided by. */
  async open(): Promise<void> {
    const { query, content, fresh } = this.figures;
    const name = query.source ?? content.computed?.asked.source ?? fresh[0]?.source ?? "";
    await this.act(async () => {
      this.source = await call("source_describe", { name });
    });
  }

  /** Whether a row has rows behind it that conditions can select. */
  canOpen(row: number): boolean {
    return this.source !== null && conditionsOf(this.shown, row, this.source) !== null;
  }

  /** Opens a row, divided by the first dimension that its query does not have yet. */
  async into(row: number, title: string): Promise<void> {
    const conditions = this.source && conditionsOf(this.shown, row, this.source);
    if (!conditions || !this.source) return;
    const plain = plainQuery(this.shown.query, conditions, this.source);
    const used = this.levels.map(({ by }) => by);
    const own = (this.levels[0]?.query.by ?? []).map((group) =>
      typeof group === "string" ? { dimension: group } : group,
    );
    const choices = divisionsOf(plain, this.source);
    const isNew = (choice: Division): boolean =>
      ![...used, ...own].some((one) => JSON.stringify(one) === JSON.stringify(choice));
    const by = choices.find(isNew) ?? choices[0];
    if (by) await this.measure([...this.levels], title, plain, by);
  }

  /** Divides the shown result in another way. */
  async divide(by: Division): Promise<void> {
    const { title, plain, by: now } = this.shown;
    if (plain && !isSame(now, by)) await this.measure(this.levels.slice(0, -1), title, plain, by);
  }

  /** Goes back to a result before. */
  back(level: number): void {
    this.requests.stop();
    this.isRunning = false;
    this.error = null;
    this.levels = this.levels.slice(0, level + 1);
  }

  private async measure(
    before: readonly Level[],
    title: string,
    plain: MetricQuery,
    by: Division,
  ): Promise<void> {
    const query = dividedQuery(plain, by);
    await this.act(async (isStopped) => {
      const found = await call("source_measure", { query });
      if (isStopped()) return;
      const { columns, row_count: total, notes } = found;
      const rows = found.rows as Cell[][];
      this.levels = [...before, { title, plain, by, query, columns, rows, total, notes }];
    });
  }

  private async act(run: (isStopped: () => boolean) => Promise<void>): Promise<void> {
    const isStopped = this.requests.begin();
    this.isRunning = true;
    this.error = null;
    try {
      await run(isStopped);
    } catch (cause) {
      if (!isStopped()) this.error = asAgentError(cause);
    }
    if (!isStopped()) this.isRunning = false;
  }
}
