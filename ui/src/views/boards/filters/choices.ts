// The filters that a board can have: the dimensions of its sources, each with some of its values. Pure.
import type { SourceDescription } from "../../../platform/generated/SourceDescription";

/** A dimension with some of its most frequent values. */
export interface FilterChoice {
  name: string;
  values: string[];
}

type Described = Pick<SourceDescription, "definitions" | "samples">;

/** Returns the dimensions of several sources by name, each once, with the values of all. */
export function filterChoices(described: readonly Described[]): FilterChoice[] {
  const found = new Map<string, Set<string>>();
  for (const { definitions, samples } of described) {
    for (const [name, dimension] of Object.entries(definitions.dimensions ?? {})) {
      const values = "column" in dimension ? (samples[dimension.column] ?? []) : [];
      const known = found.get(name) ?? new Set<string>();
      values.filter((value) => value !== "").forEach((value) => known.add(value));
      found.set(name, known);
    }
  }
  return [...found]
    .map(([name, values]) => ({ name, values: [...values] }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}
