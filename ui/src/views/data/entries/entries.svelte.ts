// The records of a pack whose values a person enters, such as the budgets of campaigns: reading, changing and storing them.
import { Requests } from "../../../lib/requests";
import { asAgentError, call } from "../../../platform";
import type { AgentError } from "../../../platform/generated/AgentError";
import type { DataEntries } from "../../../platform/generated/DataEntries";
import type { DataEntry } from "../../../platform/generated/DataEntry";
import type { ImportProblem } from "../../../platform/generated/ImportProblem";

export type Problems = Partial<Record<string, ImportProblem>>;

export class Entries {
  found = $state.raw<DataEntries>({ fields: [], entries: [], total: 0 });
  query = $state("");
  error = $state.raw<AgentError | null>(null);
  private readonly requests = new Requests();

  constructor(readonly pack: string) {}

  async read(): Promise<void> {
    const isStopped = this.requests.begin();
    try {
      const found = await call("data_entries", { pack: this.pack, query: this.query });
      if (isStopped()) return;
      this.found = found;
      this.error = null;
    } catch (cause) {
      if (!isStopped()) this.error = asAgentError(cause);
    }
  }

  /** Stores the values of a record. Returns the problem of each value that cannot be stored. */
  async store(entry: DataEntry, values: Record<string, string>): Promise<Problems> {
    const { problems } = await call("data_entry_set", { pack: this.pack, id: entry.id, values });
    if (Object.keys(problems).length === 0) await this.read();
    return problems;
  }
}

/** Returns the entered values without spaces around them. */
export function entered(
  names: readonly string[],
  values: Record<string, string>,
): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, (values[name] ?? "").trim()]));
}

/** Whether a person changed a value. */
export function isChanged(
  entry: DataEntry,
  names: readonly string[],
  values: Record<string, string>,
): boolean {
  const now = entered(names, values);
  return names.some((name) => now[name] !== (entry.values[name] ?? ""));
}
