// The measures, dimensions and values that a source offers for a question. Pure.
import type { Definitions } from "../../platform/generated/Definitions";
import type { Scalar } from "../../platform/generated/Scalar";
import type { SourceDescription } from "../../platform/generated/SourceDescription";
import type { TimeGrain } from "../../platform/generated/TimeGrain";
import { wordsOf } from "../content";

export interface Option {
  value: string;
  label: string;
}

/** The grains that are offered. */
export const GRAINS = [
  "day",
  "week",
  "month",
  "quarter",
  "year",
  "weekday",
  "hour_of_day",
  "month_of_year",
] as const satisfies readonly TimeGrain[];

/** Returns a name of a definition as words, or its title. */
function label(name: string, title: Record<string, string> | undefined): string {
  return wordsOf(title) || name.replaceAll("_", " ");
}

/** Returns the measures of a source. */
export function measureOptions({ definitions }: SourceDescription): Option[] {
  return Object.entries(definitions.measures ?? {}).map(([value, { title }]) => ({
    value,
    label: label(value, title),
  }));
}

/** Returns the dimensions of a source. */
export function dimensionOptions({ definitions }: SourceDescription): Option[] {
  return Object.keys(definitions.dimensions ?? {}).map((value) => ({
    value,
    label: label(value, undefined),
  }));
}

/** Returns options with a value that is chosen but not among them. */
export function withChosen(options: readonly Option[], value: string): Option[] {
  const isKnown = value === "" || options.some((option) => option.value === value);
  return isKnown ? [...options] : [{ value, label: value }, ...options];
}

/** Returns the name that definitions have for a name as a person or a model wrote it, which may be a synonym. */
export function definedName(
  kind: "measures" | "dimensions",
  name: string,
  definitions: Definitions,
): string {
  const defined: Record<string, { synonyms?: Record<string, string[]> }> = definitions[kind] ?? {};
  const lower = name.toLowerCase();
  const isMeant = (one: string): boolean => one.toLowerCase() === lower;
  const found = Object.entries(defined).find(
    ([own, { synonyms = {} }]) => isMeant(own) || Object.values(synonyms).flat().some(isMeant),
  );
  return found?.[0] ?? name;
}

/** Returns values of a dimension or column: the frequent ones, with those that are chosen first. */
export function valueOptions(
  description: SourceDescription,
  name: string,
  chosen: readonly Scalar[],
): Scalar[] {
  const dimension = description.definitions.dimensions?.[name];
  if (dimension && "when" in dimension) return [true, false];
  const column = dimension && "column" in dimension ? dimension.column : name;
  const frequent = description.samples[column] ?? [];
  const isNew = (value: string): boolean => !chosen.some((one) => String(one) === value);
  return [...chosen, ...frequent.filter(isNew)];
}
