// How the figures of a result were computed: the definitions in words, the record, and the comparison with figures that are computed again.
import { asAgentError, call } from "../../platform";
import type { AgentError } from "../../platform/generated/AgentError";
import type { Computation } from "../../platform/generated/Computation";
import type { DefinitionView } from "../../platform/generated/DefinitionView";
import type { FigureCheck } from "../../platform/generated/FigureCheck";
import type { SourceDescription } from "../../platform/generated/SourceDescription";
import { definitionWords, type DefinitionWords } from "./definitionWords";

/** The call of a tool that a result is from. */
export interface CallOfResult {
  tool: string;
  call: string;
}

/** A definition that was used. */
export interface UsedDefinition {
  name: string;
  /** The definition as its file writes it; null if the one of now is another. */
  written: string | null;
  /** The definition in words; null if there are none. */
  words: DefinitionWords | null;
}

/** The most records of a tool that are looked through for its call. */
const MOST_RECORDS = 500;

/** Returns the definitions that were used, as they are written if they did not change since. */
export function usedDefinitions(
  { definitions }: Computation,
  described: readonly SourceDescription[],
): UsedDefinition[] {
  return Object.entries(definitions).map(([name, hash]) => {
    const { source, own } = nameOf(name);
    const description = described.find((one) => one.source.name === source);
    const view: DefinitionView | undefined = description?.states.find((one) => one.name === own);
    if (!description || view?.hash !== hash) return { name, written: null, words: null };
    return { name, written: view.written, words: definitionWords(own, description.definitions) };
  });
}

/** Returns the source and the name of a definition such as `ads.spend`. */
export function nameOf(full: string): { source: string; own: string } {
  const at = full.indexOf(".");
  return { source: full.slice(0, at), own: full.slice(at + 1) };
}

/** Returns the versions of the data by source; the source is empty if there is one version. Databases have none. */
export function versionsOf({
  data_version,
}: Computation): { source: string; version: string | null }[] {
  if (typeof data_version === "string")
    return data_version === "" ? [] : [{ source: "", version: data_version }];
  return Object.entries(data_version).map(([source, version]) => ({ source, version }));
}

/** The number of digits by which people tell one hash from another. */
const SHORT = 12;

/** Returns the beginning of a hash. */
export const shortHash = (hash: string): string => hash.slice(0, SHORT);

/** Returns the sources whose rates amounts were converted with. */
export function ratesOf({ asked, definitions }: Computation): string[] {
  if (asked.query?.in_currency === undefined) return [];
  return Object.keys(definitions).flatMap((full) => {
    const { source, own } = nameOf(full);
    return own === "rates" ? [source] : [];
  });
}

export class ComputedState {
  /** The descriptions of the sources whose definitions were used; null before they are read. */
  described = $state.raw<readonly SourceDescription[] | null>(null);
  /** The number of the record; null if it is not known. */
  record = $state<number | null>(null);
  /** Whether the record was looked for. */
  isSearched = $state(false);
  check = $state.raw<FigureCheck | null>(null);
  busy = $state(false);
  error = $state.raw<AgentError | null>(null);
  readonly computed: Computation;
  private readonly from: CallOfResult | null;

  constructor(computed: Computation, from: CallOfResult | null) {
    this.computed = computed;
    this.from = from;
    this.record = computed.record ?? null;
    this.isSearched = this.record !== null;
  }

  /** Reads the definitions, and finds the record. */
  async open(): Promise<void> {
    if (this.described) return;
    await Promise.all([this.#describe(), this.#find()]);
  }

  async #describe(): Promise<void> {
    const names = new Set(
      Object.keys(this.computed.definitions).map((full) => nameOf(full).source),
    );
    const read = [...names].map((name) => call("source_describe", { name }));
    // A source that is gone has no definitions, and its names are still shown.
    const found = await Promise.allSettled(read);
    this.described = found.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  }

  /** Finds the record of the call that the result is from. */
  async #find(): Promise<void> {
    if (this.isSearched || !this.from) return;
    const { tool, call: id } = this.from;
    try {
      const found = await call("audit_find", {
        filter: { tool, event: "tool_outcome", search: "" },
        limit: MOST_RECORDS,
      });
      const own = found.records.find(({ fields }) => fields["call"] === id);
      this.record = own?.seq ?? null;
    } catch (cause) {
      this.error = asAgentError(cause);
    } finally {
      this.isSearched = true;
    }
  }

  /** Computes the recorded figures again. */
  verify = async (): Promise<void> => {
    if (this.record === null) return;
    this.busy = true;
    this.error = null;
    try {
      this.check = await call("source_verify", { record: this.record });
    } catch (cause) {
      this.error = asAgentError(cause);
    } finally {
      this.busy = false;
    }
  };
}
