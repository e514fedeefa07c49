// The import of one file: the findings of the host, the decisions of the user, and the jobs that follow from a decision. No rows are stored
// before the user imports the file.
import { Requests } from "../../../lib/requests";
import { asAgentError, call } from "../../../platform";
import type { AgentError } from "../../../platform/generated/AgentError";
import type { DaySpan } from "../../../platform/generated/DaySpan";
import type { FoundColumn } from "../../../platform/generated/FoundColumn";
import type { ImportDecisions } from "../../../platform/generated/ImportDecisions";
import type { ImportQuestion } from "../../../platform/generated/ImportQuestion";
import type { ImportResult } from "../../../platform/generated/ImportResult";
import type { SourceAddParams } from "../../../platform/generated/SourceAddParams";
import type { SourceJobView } from "../../../platform/generated/SourceJobView";
import { sources } from "../../../state/sources.svelte";
import { applied, choiceOf, isWhole, type Correction } from "../columns/correction";
import { Job } from "./job";

/** The phase of the import. */
export type Phase = "surveying" | "ready" | "importing" | "stored" | "undone";

/** The reason why the file cannot be imported yet. */
export type Obstacle = "reading" | "outdated" | "question" | "rejected" | "nothing" | "same" | null;

const NO_DECISIONS: ImportDecisions = {
  sheets: [],
  columns: {},
  skip_rejected: false,
  answers: {},
};

/** Names a column for the host: by its heading, or by its number if the heading is empty or used twice. */
export function columnKey(columns: readonly FoundColumn[], column: FoundColumn): string {
  const own = columns.filter(({ is_added }) => !is_added);
  const isOnly = own.filter(({ heading }) => heading === column.heading).length === 1;
  if (column.heading !== "" && isOnly) return column.heading;
  return `#${own.findIndex(({ name }) => name === column.name) + 1}`;
}

/** Returns the result that is shown: of several files, the one with a question, which ended the job, or else the last one. */
function resultOf({ results }: SourceJobView): ImportResult | null {
  return results?.find(({ questions }) => questions.length > 0) ?? results?.at(-1) ?? null;
}

export class FileImport {
  phase = $state<Phase>("surveying");
  result = $state.raw<ImportResult | null>(null);
  progress = $state.raw<SourceJobView | null>(null);
  decisions = $state.raw<ImportDecisions>(NO_DECISIONS);
  /** The source that the user named; an empty text if the host finds it. */
  name = $state("");
  forgetRemembered = $state(false);
  corrections = $state.raw<Readonly<Record<string, Correction>>>({});
  /** The first result, before the user changed anything. */
  first = $state.raw<ImportResult | null>(null);
  /** The days that the source has without this file; null for a new source. */
  daysBefore = $state.raw<DaySpan | null>(null);
  error = $state.raw<AgentError | null>(null);
  /** Whether the result is that of former decisions, because the file could not be read with the present ones. */
  isOutdated = $state(false);
  /** Whether the user stopped the last job. */
  wasStopped = $state(false);
  /** Whether the user stops the job that runs, which takes a moment. */
  isStopping = $state(false);
  private job: Job | null = null;
  /** The end of the previous job, because the host runs one job at a time. */
  private before: Promise<unknown> = Promise.resolve();
  private readonly requests = new Requests();

  constructor(readonly path: string) {}

  get isBusy(): boolean {
    return this.phase === "surveying" || this.phase === "importing";
  }

  get questions(): readonly ImportQuestion[] {
    return this.result?.questions ?? [];
  }

  /** Returns the reason why the file cannot be imported yet; null if the file can be imported. */
  get obstacle(): Obstacle {
    const { result } = this;
    if (this.isBusy || !result) return "reading";
    if (this.isOutdated) return "outdated";
    if (result.questions.length > 0) return "question";
    if (this.rejected > 0 && !result.decisions.skip_rejected) return "rejected";
    if (result.change?.is_same_content) return "same";
    return result.report.stored === 0 ? "nothing" : null;
  }

  get rejected(): number {
    return (this.result?.report.rejected ?? []).reduce((sum, { count }) => sum + count, 0);
  }

  async survey(): Promise<void> {
    this.phase = "surveying";
    const isStopped = this.requests.begin();
    const result = await this.ask("source_survey", isStopped);
    if (isStopped()) return;
    this.isOutdated = result === null;
    if (result) {
      this.result = result;
      this.first ??= result;
      this.daysBefore = result.is_new_source ? null : (sources.find(result.source)?.days ?? null);
    }
    this.phase = "ready";
  }

  /** Imports the file with the decisions that are shown. */
  async store(): Promise<void> {
    if (this.obstacle !== null) return;
    this.phase = "importing";
    const isStopped = this.requests.begin();
    const result = await this.ask("source_add", isStopped);
    if (isStopped()) return;
    if (result) this.result = result;
    this.phase = result?.is_stored ? "stored" : "ready";
    if (!result?.is_stored) return;
    await this.correctDefinitions(result);
    await sources.read();
  }

  async undo(): Promise<void> {
    if (!this.result) return;
    try {
      await sources.undo(this.result.source);
      this.phase = "undone";
      this.error = null;
    } catch (cause) {
      this.error = asAgentError(cause);
    }
  }

  /** Changes decisions and surveys the file again. */
  async decide(change: Partial<ImportDecisions>): Promise<void> {
    this.decisions = { ...this.decisions, ...change };
    await this.survey();
  }

  async answer(question: string, value: string): Promise<void> {
    await this.decide({ answers: { ...this.decisions.answers, [question]: value } });
  }

  async correct(column: FoundColumn, correction: Correction): Promise<void> {
    const key = columnKey(this.result?.report.columns ?? [], column);
    this.corrections = { ...this.corrections, [column.name]: correction };
    const choice = { ...this.decisions.columns[key], ...choiceOf(correction, column) };
    await this.decide({ columns: { ...this.decisions.columns, [key]: choice } });
  }

  /** Chooses the source: a name, or an empty text for the source that the host finds. */
  async chooseSource(name: string, isNew: boolean): Promise<void> {
    this.name = name;
    const answers = { ...this.decisions.answers };
    delete answers["source"];
    if (isNew && name === "") answers["source"] = "other";
    await this.decide({ answers });
  }

  /** Surveys the file again without the decisions for earlier files. */
  async forget(): Promise<void> {
    this.forgetRemembered = true;
    await this.survey();
  }

  /** Stops the running job and discards its results. */
  stop(): void {
    this.isStopping = true;
    this.job?.stop();
  }

  /** Stops the running job and ignores its result. */
  close(): void {
    this.requests.stop();
    this.job?.stop();
  }

  private get params(): SourceAddParams {
    return {
      place: this.path,
      ...(this.name !== "" && { name: this.name }),
      decisions: this.decisions,
      unattended: false,
      forget_remembered: this.forgetRemembered,
    };
  }

  /** Runs a job once the job before has ended. Returns null if it failed or was stopped. */
  private async ask(
    command: "source_survey" | "source_add",
    isStopped: () => boolean,
  ): Promise<ImportResult | null> {
    this.error = null;
    this.wasStopped = false;
    this.isStopping = false;
    this.progress = null;
    this.job?.stop();
    const job = new Job();
    this.job = job;
    const run = this.before
      .catch(() => {})
      .then(() => {
        if (isStopped()) return null;
        return job.run(
          () => call(command, this.params),
          (view) => {
            if (!isStopped()) this.progress = view;
          },
        );
      });
    this.before = run;
    try {
      const view = await run;
      if (isStopped() || !view) return null;
      this.progress = null;
      if (view.failure) this.error = view.failure;
      this.wasStopped = view.is_stopped;
      return resultOf(view);
    } catch (cause) {
      if (!isStopped()) this.error = asAgentError(cause);
      return null;
    }
  }

  /** Changes the definitions for corrections that the decisions of an import cannot express. */
  private async correctDefinitions(result: ImportResult): Promise<void> {
    const open = Object.entries(this.corrections).filter(([, one]) => !isWhole(one));
    if (open.length === 0) return;
    try {
      const described = await call("source_describe", { name: result.source });
      let { definitions } = described;
      for (const [name, correction] of open) {
        const column = described.source.columns.find((one) => one.name === name);
        if (column) definitions = applied(definitions, column, correction);
      }
      await call("source_define", { name: result.source, definitions, columns: {} });
    } catch (cause) {
      this.error = asAgentError(cause);
    }
  }
}
