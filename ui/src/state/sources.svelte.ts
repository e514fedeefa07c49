// The sources of data, and the files that wait to be imported into one. They are read again when they change and when the window gets the
// focus, because csign changes them, too.
import { asAgentError, call, platform } from "../platform";
import type { AgentError } from "../platform/generated/AgentError";
import type { SourceView } from "../platform/generated/SourceView";
import type { StorageUse } from "../platform/generated/StorageUse";
import { forgetOthers } from "../results/grid/chosen";

/** A file that was imported without a look at it, or left because its content is stored already. */
export interface HurriedFile {
  path: string;
  isStored: boolean;
}

export class Sources {
  /** All sources by name; null before they are read. */
  list = $state.raw<readonly SourceView[] | null>(null);
  error = $state.raw<AgentError | null>(null);
  /** How much room the rows take; null if it is not known. */
  storage = $state.raw<StorageUse | null>(null);
  /** Whether the file of an earlier version is still there whose rows became sources. */
  hasOldData = $state(false);
  /** Files whose import a person has to look at; the first one is shown. */
  waiting = $state.raw<readonly string[]>([]);
  /** Whether the files after the first one are imported without a question if nothing is open. */
  isHurried = $state(false);
  /** The files of which this was done, until other files wait or the person has read it. */
  hurried = $state.raw<readonly HurriedFile[]>([]);

  /** Reads the sources now and whenever they may have changed. Returns a function that stops this. */
  follow(): () => void {
    void this.read();
    const read = (): void => void this.read();
    addEventListener("focus", read);
    const stop = platform().onPush((push) => {
      if (push.push === "lagged") read();
    });
    return () => {
      removeEventListener("focus", read);
      stop();
    };
  }

  async read(): Promise<void> {
    try {
      const found = await call("sources_list", {});
      this.list = found.sources;
      this.storage = found.storage ?? null;
      this.hasOldData = found.old_data ?? false;
      this.error = null;
      forgetOthers(found.sources.map(({ name }) => name));
    } catch (cause) {
      this.error = asAgentError(cause);
    }
  }

  find(name: string): SourceView | null {
    return this.list?.find((source) => source.name === name) ?? null;
  }

  /** Takes the newest import of a source back. */
  async undo(name: string): Promise<void> {
    await call("source_undo", { name });
    await this.read();
  }

  /** Removes a source and erases its rows. */
  async remove(name: string): Promise<void> {
    await call("source_remove", { name });
    await this.read();
  }

  /** Removes the file of an earlier version whose rows became sources. */
  async removeOldData(): Promise<void> {
    await call("source_old_data_remove", {});
    await this.read();
  }

  /** Puts files at the end of those that wait, each once. */
  add(paths: readonly string[]): void {
    if (this.waiting.length === 0 && paths.length > 0) this.hurried = [];
    const news = paths.filter((path) => !this.waiting.includes(path));
    this.waiting = [...this.waiting, ...new Set(news)];
  }

  /** Lets a person choose files. */
  async choose(): Promise<void> {
    try {
      this.add(await platform().openFiles());
    } catch (cause) {
      this.error = asAgentError(cause);
    }
  }

  /** Removes a file from those that wait. */
  leave(path: string): void {
    this.waiting = this.waiting.filter((known) => known !== path);
    if (this.waiting.length === 0) this.isHurried = false;
  }
}

export const sources = new Sources();
