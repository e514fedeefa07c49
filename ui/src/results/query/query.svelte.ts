// The question of a drawn result: its parts, and the answer after a part was changed. The answer as given stays, and can be shown again.
import { asAgentError, call } from "../../platform";
import type { AgentError } from "../../platform/generated/AgentError";
import type { MetricQuery } from "../../platform/generated/MetricQuery";
import type { QueryPart } from "../../platform/generated/QueryPart";
import type { ResultContent } from "../../platform/generated/ResultContent";
import type { SourceDescription } from "../../platform/generated/SourceDescription";
import { Requests } from "../../lib/requests";
import { withHeadings } from "../content";
import { askedNow } from "./change";
import { contentOfResult } from "./result";

export class QueryState {
  /** The answer to the changed question; null while the answer as given is shown. */
  changed = $state.raw<ResultContent | null>(null);
  /** The source of the question; null before it is read. */
  description = $state.raw<SourceDescription | null>(null);
  busy = $state(false);
  error = $state.raw<AgentError | null>(null);
  /** The question that failed, so that it can be asked again. */
  #failed: MetricQuery | null = null;
  private readonly requests = new Requests();
  private readonly given: ResultContent;

  constructor(given: ResultContent) {
    this.given = given;
  }

  private get asked() {
    return (this.changed ?? this.given).computed?.asked;
  }
  get parts(): readonly QueryPart[] {
    return this.asked?.parts ?? [];
  }
  /** The question as it can be asked now; null if it was a SELECT. */
  get query(): MetricQuery | null {
    const query = this.asked?.query;
    return query ? askedNow(query) : null;
  }

  /** Reads what the source offers. */
  async describe(): Promise<void> {
    const name = this.given.computed?.asked.source;
    if (this.description || name === undefined) return;
    try {
      this.description = await call("source_describe", { name });
    } catch (cause) {
      this.error = asAgentError(cause);
    }
  }

  /** Asks a changed question. The former answer stays until the new one is here. Returns whether it is. */
  async ask(query: MetricQuery): Promise<boolean> {
    const isStopped = this.requests.begin();
    this.busy = true;
    this.error = null;
    try {
      const result = await call("source_measure", { query: askedNow(query) });
      if (isStopped()) return false;
      const { title, chart } = this.given;
      const content = withHeadings(contentOfResult(result));
      this.changed = { ...content, ...(title && { title }), ...(chart && { chart }) };
      return true;
    } catch (cause) {
      if (isStopped()) return false;
      this.#failed = query;
      this.error = asAgentError(cause);
      return false;
    } finally {
      if (!isStopped()) this.busy = false;
    }
  }

  /** Asks the question that failed again. */
  retry = async (): Promise<void> => {
    this.error = null;
    if (this.#failed) await this.ask(this.#failed);
    else await this.describe();
  };

  /** Shows the answer as given. */
  back(): void {
    this.requests.stop();
    [this.busy, this.error, this.changed] = [false, null, null];
    this.#failed = null;
  }
}
