// An import job of the host: begins it, follows it to its end, and stops it.
import { call } from "../../../platform";
import type { SourceJob } from "../../../platform/generated/SourceJob";
import type { SourceJobView } from "../../../platform/generated/SourceJobView";

/** The time between two questions about a job. */
const EVERY = 200;

export const hasEnded = (view: SourceJobView): boolean =>
  view.results !== null || view.failure !== undefined || view.is_stopped;

const wait = (millis: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, millis));

export class Job {
  private id: string | null = null;
  private isStopped = false;

  /** Begins a job and follows it to its end. */
  async run(
    begin: () => Promise<SourceJob>,
    onprogress: (view: SourceJobView) => void,
  ): Promise<SourceJobView> {
    const { job } = await begin();
    this.id = job;
    if (this.isStopped) this.send();
    try {
      for (;;) {
        const view = await call("source_job", { job });
        if (hasEnded(view)) return view;
        onprogress(view);
        await wait(EVERY);
      }
    } catch (cause) {
      // A job that nobody follows would go on, and no other one could begin.
      this.send();
      throw cause;
    }
  }

  stop(): void {
    this.isStopped = true;
    this.send();
  }

  private send(): void {
    // A job that has just ended cannot be stopped, and its end is read anyway.
    if (this.id !== null) call("source_job_stop", { job: this.id }).catch(() => {});
  }
}
