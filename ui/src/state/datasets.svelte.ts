// The active data set: the sample or the imported data. It is read again after an import, because an import may switch it.
import { asAgentError, call, platform } from "../platform";
import type { AgentError } from "../platform/generated/AgentError";
import type { Dataset } from "../platform/generated/Dataset";
import type { PackDatasets } from "../platform/generated/PackDatasets";

/** Returns the data of the first pack that takes files. The host fails if no pack does. */
export async function firstWithData(): Promise<PackDatasets> {
  const { packs } = await call("data_list", {});
  return packs[0]!;
}

/** Returns the pack that files are imported into: the first that takes files with these endings, or else the first that takes any files. */
export async function packFor(paths: readonly string[]): Promise<string> {
  const { packs } = await call("data_list", {});
  const takes = ({ files }: PackDatasets): boolean =>
    paths.every((path) =>
      files?.extensions.some((ending) => path.toLowerCase().endsWith(`.${ending}`)),
    );
  return (packs.find(takes) ?? packs[0]!).pack;
}

class Datasets {
  found = $state<PackDatasets | null>(null);
  error = $state<AgentError | null>(null);
  /** The data set that is being activated. */
  switching = $state<Dataset | null>(null);

  /** Reads the data sets now and after every import. Returns a function that stops this. */
  follow(): () => void {
    void this.read();
    return platform().onPush((push) => {
      if (push.push === "lagged" || (push.push === "import" && push.import.finished))
        void this.read();
    });
  }

  async read(): Promise<void> {
    try {
      this.found = await firstWithData();
      this.error = null;
    } catch (cause) {
      this.error = asAgentError(cause);
    }
  }

  async use(dataset: Dataset): Promise<void> {
    this.switching = dataset;
    try {
      this.found = await call("data_use", {
        pack: this.found?.pack ?? (await firstWithData()).pack,
        dataset,
      });
      this.error = null;
    } catch (cause) {
      this.error = asAgentError(cause);
    }
    this.switching = null;
  }
}

export const datasets = new Datasets();
