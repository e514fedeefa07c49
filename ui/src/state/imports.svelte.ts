// Imports of delivery files since the window opened, and the files whose columns a person has to map first. Jobs are updated by pushes.
import { asAgentError, call, platform } from "../platform";
import type { AgentError } from "../platform/generated/AgentError";
import type { ImportOptions } from "../platform/generated/ImportOptions";
import type { ImportProblem } from "../platform/generated/ImportProblem";
import type { ImportView } from "../platform/generated/ImportView";
import { firstWithData, packFor } from "./datasets.svelte";

/** A file and the pack that takes it. */
export interface PackFile {
  pack: string;
  path: string;
}

/** The files of a job, and a person's decisions about them. */
interface Begun {
  files: PackFile[];
  options: ImportOptions | null;
  settled: boolean;
}

/** Problems that no mapping of columns solves. */
const UNREADABLE: ReadonlySet<ImportProblem["code"]> = new Set([
  "missing",
  "forbidden",
  "is_folder",
  "not_a_file",
  "file_too_large",
  "line_too_long",
  "too_many_columns",
  "cell_too_long",
  "sheet_too_large",
  "too_many_sheets",
  "unpacks_too_large",
  "unreadable",
  "broken_off",
  "empty_file",
  "spreadsheet",
  "no_header",
  "no_rows",
]);

/** Returns the name of a file without its folders. */
export const baseName = (path: string): string => path.split(/[\\/]/).at(-1) ?? path;

/** Returns the files that were refused for their columns or for some of their lines. */
export function refusedFiles(view: ImportView, files: readonly PackFile[]): PackFile[] {
  return files.filter(({ path }) => {
    const errors = view.errors.filter((error) => baseName(error.file) === baseName(path));
    return errors.length > 0 && errors.every(({ problem }) => !UNREADABLE.has(problem.code));
  });
}

export class Imports {
  /** All imports, newest first. */
  jobs = $state<ImportView[]>([]);
  /** The files to map or to check; the first one is shown. */
  waiting = $state<PackFile[]>([]);
  error = $state<AgentError | null>(null);
  starting = $state(false);
  private listening = false;
  private readonly begun = new Map<string, Begun>();

  /** Imports files that are recognised. Any other file waits to be mapped. */
  async start(paths: string[]): Promise<void> {
    if (paths.length === 0) return;
    await this.begin(async () => {
      const pack = await packFor(paths);
      return paths.map((path) => ({ pack, path }));
    }, null);
  }

  /** Imports a file as a person mapped it. The file then no longer waits. */
  async startMapped(file: PackFile, options: ImportOptions): Promise<void> {
    if (await this.begin(() => Promise.resolve([file]), options)) this.leave(file);
  }

  async choose(): Promise<void> {
    await this.withChosen((paths) => this.start(paths));
  }

  /** Lets a person choose files and check their columns before anything is imported. */
  async chooseToCheck(): Promise<void> {
    await this.withChosen(async (paths) => {
      if (paths.length === 0) return;
      const pack = await packFor(paths);
      this.check(paths.map((path) => ({ pack, path })));
    });
  }

  /** Shows the columns of files that are not shown already. */
  check(files: readonly PackFile[]): void {
    for (const file of files)
      if (!this.waiting.some(({ path }) => path === file.path)) this.waiting.push(file);
  }

  /** Removes a file from the files to map. */
  leave(file: PackFile): void {
    this.waiting = this.waiting.filter(({ path }) => path !== file.path);
  }

  /** Returns the files of a job; none if another window began the job. */
  filesOf(job: string): readonly PackFile[] {
    return this.begun.get(job)?.files ?? [];
  }

  /** Whether rejected lines were left out, as a person decided. */
  skipsRejected(job: string): boolean {
    return this.begun.get(job)?.options?.skip_rejected ?? false;
  }

  async cancel(job: string): Promise<void> {
    try {
      await call("data_import_cancel", { job });
    } catch (cause) {
      this.error = asAgentError(cause);
    }
  }

  private async withChosen(use: (paths: string[]) => Promise<void>): Promise<void> {
    try {
      const { files } = await firstWithData();
      await use(await platform().openFiles(files ?? null));
    } catch (cause) {
      this.error = asAgentError(cause);
    }
  }

  private async begin(
    find: () => Promise<PackFile[]>,
    options: ImportOptions | null,
  ): Promise<boolean> {
    this.listen();
    this.error = null;
    this.starting = true;
    try {
      const files = await find();
      const pack = files[0]!.pack;
      const paths = files.map(({ path }) => path);
      const { job } = await call("data_import", { pack, paths, ...(options && { options }) });
      this.begun.set(job, { files, options, settled: false });
      this.take(await call("data_import_status", { job }));
      return true;
    } catch (cause) {
      this.error = asAgentError(cause);
      return false;
    } finally {
      this.starting = false;
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
    this.settle(view.job);
  }

  /** Lets a person map the files that an ended import refused. A job with only such files needs no card and is removed. */
  private settle(job: string): void {
    const begun = this.begun.get(job);
    const view = this.jobs.find((known) => known.job === job);
    if (!begun || begun.settled || !view?.finished) return;
    begun.settled = true;
    if (begun.options?.skip_rejected) return;
    const refused = refusedFiles(view, begun.files);
    this.check(refused);
    if (refused.length > 0 && refused.length === begun.files.length)
      this.jobs = this.jobs.filter((known) => known.job !== job);
  }
}

export const imports = new Imports();
