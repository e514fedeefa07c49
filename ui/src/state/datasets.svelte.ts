// The active data set: the sample or the imported data. Read again after an import, which may
// switch it.
import { asAgentError, call, platform } from "../platform";
import type { AgentError } from "../platform/generated/AgentError";
import type { Dataset } from "../platform/generated/Dataset";
import type { PackDatasets } from "../platform/generated/PackDatasets";

/** The data of the first pack that takes files. The host fails if no pack does. */
export async function firstWithData(): Promise<PackDatasets> {
  const { packs } = await call("data_list", {});
  return packs[0]!;
}

/** The pack that files are imported into: the first that takes files with these endings, or else the first that takes any. */
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
  /** The set that is being put in force. */
  switching = $state<Dataset | null>(null);

  /** Reads now and after every import; gives back how to stop that. */
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
