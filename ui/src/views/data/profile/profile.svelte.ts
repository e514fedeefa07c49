// The profile of a source's columns. It is read in parts, so that the first columns are there at once and a slow one does not hold up the
// others. Knows no component.
import { Requests } from "../../../lib/requests";
import { asAgentError, call } from "../../../platform";
import type { AgentError } from "../../../platform/generated/AgentError";
import type { ColumnProfile } from "../../../platform/generated/ColumnProfile";
import type { SourceProfile } from "../../../platform/generated/SourceProfile";

/** The most columns of one request. */
const MOST = 12;
/** The reason of a request that was stopped because it took too long. */
const TOO_LONG = "question_too_long";

export class ProfileState {
  /** The profiles by the names of their columns. */
  columns = $state.raw<ReadonlyMap<string, ColumnProfile>>(new Map());
  /** The columns whose profile takes too long. */
  slow = $state.raw<ReadonlySet<string>>(new Set());
  /** Which rows count; null before the first answer. */
  basis = $state.raw<Omit<SourceProfile, "columns" | "left"> | null>(null);
  error = $state.raw<AgentError | null>(null);
  isRunning = $state(false);
  private readonly requests = new Requests();

  constructor(readonly name: string) {}

  /** Reads the profiles of these columns that are not known yet, in their order. */
  async read(names: readonly string[]): Promise<void> {
    const isStopped = this.requests.begin();
    this.error = null;
    this.isRunning = true;
    try {
      await this.readAll(names, isStopped);
    } catch (cause) {
      if (!isStopped()) this.error = asAgentError(cause);
    }
    if (!isStopped()) this.isRunning = false;
  }

  private async readAll(names: readonly string[], isStopped: () => boolean): Promise<void> {
    let size = MOST;
    const missing = (): string[] =>
      names.filter((name) => !this.columns.has(name) && !this.slow.has(name));
    for (let left = missing(); left.length > 0; left = missing()) {
      const columns = left.slice(0, size);
      try {
        const found = await call("source_profile", { name: this.name, columns });
        if (isStopped()) return;
        this.take(found);
        // An answer without a column would be asked for without end.
        if (found.columns.length === 0) return;
        size = Math.min(MOST, size * 2);
      } catch (cause) {
        if (isStopped()) return;
        if (asAgentError(cause).details["reason"] !== TOO_LONG) throw cause;
        // It is not known which column was slow, unless there was only one.
        if (columns.length === 1) this.slow = new Set([...this.slow, columns[0]!]);
        size = 1;
      }
    }
  }

  private take({ columns, left: _, ...basis }: SourceProfile): void {
    // Figures of two states of the rows do not stand beside each other.
    const known = this.basis === null || this.basis.version === basis.version ? this.columns : [];
    this.columns = new Map([...known, ...columns.map((column) => [column.name, column] as const)]);
    this.basis = basis;
  }

  /** Stops reading. The profiles that were read stay. */
  stop(): void {
    this.requests.stop();
    this.isRunning = false;
  }

  /** Forgets all, because the rows or the columns changed. */
  forget(): void {
    this.stop();
    this.columns = new Map();
    this.slow = new Set();
    this.basis = null;
    this.error = null;
  }
}
