// The active data set: the sample or the imported data. Read again after an import, which may
// switch it.
import { asAgentError, call, platform } from "../platform";
import type { AgentError } from "../platform/generated/AgentError";
import type { Dataset } from "../platform/generated/Dataset";
import type { DatasetsResponse } from "../platform/generated/DatasetsResponse";

class Datasets {
  found = $state<DatasetsResponse | null>(null);
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
      this.found = await call("datasets_list", {});
      this.error = null;
    } catch (cause) {
      this.error = asAgentError(cause);
    }
  }

  async use(dataset: Dataset): Promise<void> {
    this.switching = dataset;
    try {
      this.found = await call("dataset_use", { dataset });
      this.error = null;
    } catch (cause) {
      this.error = asAgentError(cause);
    }
    this.switching = null;
  }
}

export const datasets = new Datasets();
