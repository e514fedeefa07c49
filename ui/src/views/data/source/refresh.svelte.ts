// A refresh of a source: new and changed files of its place are imported, or the columns of its table are read again. A question is answered
// here, and the place is then read with the answer. Content that is stored already is recognised, so nothing is stored twice.
import { worded } from "../../../i18n/host";
import { t } from "../../../i18n/index.svelte";
import { asAgentError, call } from "../../../platform";
import type { AgentError } from "../../../platform/generated/AgentError";
import type { ImportQuestion } from "../../../platform/generated/ImportQuestion";
import type { ImportResult } from "../../../platform/generated/ImportResult";
import type { SourceJob } from "../../../platform/generated/SourceJob";
import type { SourceView } from "../../../platform/generated/SourceView";
import { sources } from "../../../state/sources.svelte";
import { Job } from "../import/job";
import { notesOf } from "../import/words";

/** Returns the place that a refresh of a source reads: an address, or a path or pattern of files; null if there is none. */
export function placeOf({ kind, place }: SourceView): string | null {
  return kind.at === "database" ? kind.address : (place ?? null);
}

export class Refresh {
  isRunning = $state(false);
  error = $state.raw<AgentError | null>(null);
  /** The outcome in words; empty before the first refresh. */
  said = $state("");
  /** The results of the last run; null before it. */
  results = $state.raw<readonly ImportResult[] | null>(null);
  private answers = $state.raw<Readonly<Record<string, string>>>({});
  private job: Job | null = null;

  constructor(private readonly name: string) {}

  /** The questions that are open. */
  get questions(): readonly ImportQuestion[] {
    return (this.results ?? []).flatMap(({ questions }) => questions);
  }

  /** Reads the place again. Returns whether rows changed. */
  async run(): Promise<boolean> {
    this.answers = {};
    return this.follow(() => call("source_refresh", { name: this.name }));
  }

  /** Answers a question and imports again. Returns whether rows changed. */
  async answer(question: string, value: string): Promise<boolean> {
    const source = sources.find(this.name);
    const place = source && placeOf(source);
    if (place === null) return false;
    this.answers = { ...this.answers, [question]: value };
    const decisions = { sheets: [], columns: {}, skip_rejected: false, answers: this.answers };
    return this.follow(() =>
      call("source_add", { place, name: this.name, decisions, unattended: false }),
    );
  }

  stop(): void {
    this.job?.stop();
  }

  /** Leaves the open questions. No file was imported. */
  leave(): void {
    [this.results, this.said, this.answers] = [null, "", {}];
  }

  private async follow(begin: () => Promise<SourceJob>): Promise<boolean> {
    if (this.isRunning) return false;
    [this.isRunning, this.error, this.said, this.results] = [true, null, "", null];
    this.job = new Job();
    try {
      const view = await this.job.run(begin, () => {});
      this.error = view.failure ?? null;
      this.results = view.results;
      const notes = (view.notes ?? []).map(worded);
      this.said = view.is_stopped
        ? t("data.stopped_text")
        : [this.outcome(), ...notes].filter((text) => text !== "").join(" ");
      if (this.results?.some(({ is_stored }) => is_stored)) await sources.read();
    } catch (cause) {
      this.error = asAgentError(cause);
    }
    // An answer can be a password.
    if (this.questions.length === 0) this.answers = {};
    this.isRunning = false;
    return this.results?.some(({ is_stored }) => is_stored) ?? false;
  }

  private outcome(): string {
    if (this.results === null || this.questions.length > 0) return "";
    if (sources.find(this.name)?.kind.at === "database") {
      const notes = this.results.flatMap(({ report }) => notesOf(report));
      return [t("database.refreshed"), ...notes].join(" ");
    }
    if (this.results.length === 0) return t("sources.refresh_none");
    const stored = this.results.filter(({ is_stored }) => is_stored);
    const files = stored.map(({ report }) => report.file).join(", ");
    if (stored.length > 0) return t("sources.refreshed", { count: stored.length, files });
    for (const { report } of this.results) {
      const count = report.rejected.reduce((sum, cause) => sum + cause.count, 0);
      if (count > 0) return t("sources.refresh_rejected", { file: report.file, count });
    }
    return t("sources.refresh_same");
  }
}
