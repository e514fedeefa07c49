// Imports of delivery files since the window opened. They are started here and updated by pushes.
import { asAgentError, call, platform } from "../platform";
import type { AgentError } from "../platform/generated/AgentError";
import type { ImportView } from "../platform/generated/ImportView";
import { firstWithData, packFor } from "./datasets.svelte";

class Imports {
  /** Newest first. */
  jobs = $state<ImportView[]>([]);
  error = $state<AgentError | null>(null);
  starting = $state(false);
  private listening = false;

  async start(paths: string[]): Promise<void> {
    if (paths.length === 0) return;
    this.listen();
    this.error = null;
    this.starting = true;
    try {
      const { job } = await call("data_import", { pack: await packFor(paths), paths });
      this.take(await call("data_import_status", { job }));
    } catch (cause) {
      this.error = asAgentError(cause);
    }
    this.starting = false;
  }

  async choose(): Promise<void> {
    try {
      const { files } = await firstWithData();
      await this.start(await platform().openFiles(files ?? null));
    } catch (cause) {
      this.error = asAgentError(cause);
    }
  }

  async cancel(job: string): Promise<void> {
    try {
      await call("data_import_cancel", { job });
    } catch (cause) {
      this.error = asAgentError(cause);
    }
  }

  private listen(): void {
    if (this.listening) return;
    this.listening = true;
    platform().onPush((push) => {
      if (push.push === "import") this.take(push.import);
    });
  }

  private take(view: ImportView): void {
    const at = this.jobs.findIndex((known) => known.job === view.job);
    if (at < 0) this.jobs.unshift(view);
    // A status that was requested earlier must not replace a later push.
    else if (!this.jobs[at]!.finished) this.jobs[at] = view;
  }
}

export const imports = new Imports();
