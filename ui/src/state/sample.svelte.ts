// Adds the sample that ships with the app as sources, and waits until it is there.
import { asAgentError, call } from "../platform";
import type { AgentError } from "../platform/generated/AgentError";
import { sources } from "./sources.svelte";

/** The time between two questions about the import. */
const EVERY = 200;

export class Sample {
  isAdding = $state(false);
  error = $state.raw<AgentError | null>(null);

  /** Adds the sample. Returns whether it is there. */
  async add(): Promise<boolean> {
    if (this.isAdding) return false;
    [this.isAdding, this.error] = [true, null];
    let isThere = false;
    try {
      const { job } = await call("source_sample", {});
      let view = await call("source_job", { job });
      while (view.results === null && view.failure === undefined && !view.is_stopped) {
        await new Promise((resolve) => setTimeout(resolve, EVERY));
        view = await call("source_job", { job });
      }
      this.error = view.failure ?? null;
      isThere = view.results !== null;
      await sources.read();
    } catch (cause) {
      this.error = asAgentError(cause);
    }
    this.isAdding = false;
    return isThere;
  }
}

export const sample = new Sample();
