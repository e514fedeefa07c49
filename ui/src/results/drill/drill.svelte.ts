// A drill-down: the results from the first one to the one that is shown, each behind a row of the one before.
import { asAgentError, call } from "../../platform";
import type { AgentError } from "../../platform/generated/AgentError";
import type { Condition } from "../../platform/generated/Condition";
import type { MetricQuery } from "../../platform/generated/MetricQuery";
import type { Text } from "../../platform/generated/Text";
import { Requests } from "../../lib/requests";
import type { Cell } from "../grid/cells";
import {
  conditionsOf,
  conditionsOfValues,
  dividedQuery,
  divisionsOf,
  isSame,
  nextDivision,
  plainQuery,
  type Division,
  type DrillSource,
  type Rows,
} from "./drill";
import type { DrillStart, Opening } from "./opening";

/** A result of a drill-down. */
export interface Level extends Rows {
  /** The row of the result before; the heading of the first result. */
  title: string;
  /** The query before it is divided. Null for the first result. */
  plain: MetricQuery | null;
  by: Division | null;
  total: number;
  notes: readonly Text[];
}

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

  /** Whether the first result was to be opened at a place that no condition selects. */
  isRefused = $state(false);

  constructor(
    title: string,
    private readonly start: DrillStart,
    /** The rows that are opened at once; null for the result itself. */
    private readonly opening: Opening | null = null,
  ) {
    this.levels = [{ ...start, title, plain: null, by: null }];
  }

  /** Reads what rows can be divided by, and opens what is to be opened. */
  async open(): Promise<void> {
    await this.act(async () => {
      this.source = await call("source_describe", { name: this.start.source });
    });
    if (!this.opening || !this.source) return;
    const { values, title } = this.opening;
    const conditions = conditionsOfValues(this.start, values, this.source);
    this.isRefused = conditions === null;
    if (conditions) await this.enter(conditions, title);
  }

  /** Whether a row has rows behind it that conditions can select. */
  canOpen(row: number): boolean {
    return this.source !== null && conditionsOf(this.shown, row, this.source) !== null;
  }

  /** Opens a row, divided by the next smaller things, or by the first dimension that its query does not have yet. */
  async into(row: number, title: string): Promise<void> {
    const conditions = this.source && conditionsOf(this.shown, row, this.source);
    if (conditions) await this.enter(conditions, title);
  }

  private async enter(conditions: Condition[], title: string): Promise<void> {
    if (!this.source) return;
    const plain = plainQuery(this.shown.query, conditions, this.source);
    const used = this.levels.flatMap(({ by }) => by ?? []);
    const own = (this.levels[0]?.query.by ?? []).map((group) =>
      typeof group === "string" ? { dimension: group } : group,
    );
    const by = nextDivision(plain, [...used, ...(own as Division[])], this.source);
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
    const query = dividedQuery(plain, by, before.at(-1)?.query, this.source ?? undefined);
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
