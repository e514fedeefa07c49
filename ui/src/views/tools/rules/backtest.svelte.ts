// A test of rules on the past calls of the log. A long log is counted in parts. It changes no rule.
import { asAgentError, call } from "../../../platform";
import type { AgentError } from "../../../platform/generated/AgentError";
import type { BacktestCall } from "../../../platform/generated/BacktestCall";
import type { PolicyBacktestResponse } from "../../../platform/generated/PolicyBacktestResponse";
import type { PolicyVerdict } from "../../../platform/generated/PolicyVerdict";

const PAGE = 100;

export class Backtest {
  isBusy = $state(false);
  error = $state.raw<AgentError | null>(null);
  totals = $state.raw<PolicyBacktestResponse | null>(null);
  calls = $state.raw<readonly BacktestCall[]>([]);
  /** The number after which more calls are read; null at the end. */
  next = $state<number | null>(null);
  /** The rules and the first moment that the shown results belong to. */
  #tested = $state.raw<{ rules: string; since?: string }>({ rules: "" });

  /** Whether the shown results belong to these rules. */
  isOf(rules: string): boolean {
    return this.totals !== null && this.#tested.rules === rules;
  }

  async test(rules: string, since = ""): Promise<void> {
    this.totals = this.error = this.next = null;
    this.calls = [];
    this.#tested = { rules, ...(since ? { since } : {}) };
    await this.#during(async () => {
      const totals = await this.#count();
      if (totals.faults.length === 0) await this.#more(0);
      this.totals = totals;
    });
  }

  async readOn(): Promise<void> {
    await this.#during(() => this.#more(this.next ?? 0));
  }

  async #during(work: () => Promise<void>): Promise<void> {
    this.isBusy = true;
    try {
      await work();
    } catch (cause) {
      this.error = asAgentError(cause);
    } finally {
      this.isBusy = false;
    }
  }

  async #count(): Promise<PolicyBacktestResponse> {
    const all = await call("policy_backtest", { ...this.#tested, after: 0, limit: 0 });
    while (all.next != null) {
      const part = await call("policy_backtest", { ...this.#tested, after: all.next, limit: 0 });
      for (const row of part.counts) {
        const same = all.counts.find(
          ({ tool, then, now }) => tool === row.tool && then === row.then && now === row.now,
        );
        if (same) same.calls += row.calls;
        else all.counts.push(row);
      }
      all.not_by_rules += part.not_by_rules;
      all.next = part.next;
    }
    return all;
  }

  async #more(after: number): Promise<void> {
    let from: number | null = after;
    do {
      const page: PolicyBacktestResponse = await call("policy_backtest", {
        ...this.#tested,
        after: from,
        limit: PAGE,
      });
      this.calls = [...this.calls, ...page.calls];
      from = page.next ?? null;
      if (page.calls.length > 0) break;
    } while (from !== null);
    this.next = from;
  }
}

/** How many past calls were tested, and how many would be decided in another way, by the new decision. */
export interface Summary {
  tested: number;
  changed: Record<PolicyVerdict | "unknown", number>;
}

/** Sums up the counts of a test. */
export function sumUp({ counts }: PolicyBacktestResponse): Summary {
  const changed = { deny: 0, ask: 0, allow: 0, unknown: 0 };
  let tested = 0;
  for (const { then, now, calls } of counts) {
    tested += calls;
    if (now !== then) changed[now ?? "unknown"] += calls;
  }
  return { tested, changed };
}
