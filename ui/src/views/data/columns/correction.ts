// Corrections of a column: how its values are added up, and their unit. Pure: returns the decision for the import and the
// changed definitions.
import type { Calculation } from "../../../platform/generated/Calculation";
import type { ColumnChoice } from "../../../platform/generated/ColumnChoice";
import type { ColumnUse } from "../../../platform/generated/ColumnUse";
import type { Definitions } from "../../../platform/generated/Definitions";
import type { Dimension } from "../../../platform/generated/Dimension";
import type { FoundColumn } from "../../../platform/generated/FoundColumn";
import type { Measure } from "../../../platform/generated/Measure";

/** How a column is used, in the order in which the choices are shown. */
export const USES = [
  "sum",
  "average",
  "last",
  "distinct",
  "ratio",
  "name",
  "time",
  "currency",
  "account",
  "other",
] as const;
export type Use = (typeof USES)[number];

export const UNITS = ["none", "money", "percent", "named"] as const;
export type UnitKind = (typeof UNITS)[number];

export interface Correction {
  use: Use;
  /** The column that weights an average, or by which a ratio is divided; empty for none. */
  by: string;
  /** The column above the line of a ratio. */
  of: string;
  /** The columns of the key whose last values are added up. */
  per: readonly string[];
  unit: UnitKind;
  /** The currency code of `money`; empty if a column has it. */
  currency: string;
  /** The text of `named`. */
  unitName: string;
}

const USE_OF: Record<ColumnUse, Use> = {
  sum: "sum",
  ratio: "average",
  last: "last",
  id: "distinct",
  dimension: "name",
  time: "time",
  currency: "currency",
  account: "account",
  other: "other",
};

const COLUMN_USE: Record<Use, ColumnUse> = {
  sum: "sum",
  average: "ratio",
  last: "last",
  distinct: "id",
  ratio: "ratio",
  name: "dimension",
  time: "time",
  currency: "currency",
  account: "account",
  other: "other",
};

const CURRENCY = /^[A-Z]{3}$/;
export const isCurrency = (text: string): boolean => CURRENCY.test(text);

/** Whether a use gives a figure, which has a unit. */
export const isFigure = (use: Use): boolean =>
  use === "sum" || use === "average" || use === "last" || use === "ratio";

/** Returns the use as the choices name it. */
export const useOf = (use: ColumnUse): Use => USE_OF[use];

function unitOf(column: FoundColumn): Pick<Correction, "unit" | "currency" | "unitName"> {
  const unit = column.unit ?? "";
  if (unit === "percent") return { unit: "percent", currency: "", unitName: "" };
  if (isCurrency(unit)) return { unit: "money", currency: unit, unitName: "" };
  if (column.currency_column !== undefined) return { unit: "money", currency: "", unitName: "" };
  return { unit: unit === "" ? "none" : "named", currency: "", unitName: unit };
}

/** Returns how a column is used now, as a correction that changes nothing. */
export function correctionOf(column: FoundColumn, columns: readonly FoundColumn[]): Correction {
  return { use: USE_OF[column.use], by: "", of: "", per: keysOf(columns), ...unitOf(column) };
}

/** Returns the columns that tell rows apart at one time. */
export function keysOf(columns: readonly FoundColumn[]): string[] {
  const ids = columns.filter(({ use }) => use === "id" || use === "account");
  const keys = ids.length > 0 ? ids : columns.filter(({ use }) => use === "dimension");
  return keys.filter(({ constant }) => constant === undefined).map(({ name }) => name);
}

/** Returns the columns whose values add up, which weight averages and make ratios. */
export function amountsOf(columns: readonly FoundColumn[], without: string): string[] {
  return columns
    .filter(({ name, use, kind }) => name !== without && use === "sum" && isNumberKind(kind))
    .map(({ name }) => name);
}

export const isNumberKind = (kind: FoundColumn["kind"]): boolean =>
  kind === "whole" || kind === "decimal";

/** The part that a correction still lacks. */
export type Lack = "ratio" | "currency" | "unit" | null;

export function lackOf(correction: Correction): Lack {
  if (correction.use === "ratio" && (correction.of === "" || correction.by === "")) return "ratio";
  if (!isFigure(correction.use)) return null;
  if (correction.unit === "money" && correction.currency !== "" && !isCurrency(correction.currency))
    return "currency";
  return correction.unit === "named" && correction.unitName.trim() === "" ? "unit" : null;
}

/** Returns the decision about a column for the import of a file. */
export function choiceOf(correction: Correction, column: FoundColumn): ColumnChoice {
  const choice: ColumnChoice = { use: COLUMN_USE[correction.use] };
  // A number that is a name is text, so that leading zeros and all digits stay.
  if (correction.use === "name" && isNumberKind(column.kind)) choice.kind = "text";
  if (!isFigure(correction.use)) return choice;
  if (correction.unit === "money" && correction.currency !== "") choice.unit = correction.currency;
  else if (correction.unit === "percent") choice.unit = "percent";
  else if (correction.unit === "named") choice.unit = correction.unitName.trim();
  return choice;
}

/** Whether the decision of the import says all of a correction. If not, the definitions are changed after the import. */
export const isWhole = (correction: Correction): boolean =>
  !["average", "ratio", "last", "distinct"].includes(correction.use);

/** Returns the calculation of a corrected column; null if it gives no figure. `nameOf` finds the measure of a column that adds up. */
export function calculationOf(
  column: string,
  correction: Correction,
  nameOf: (column: string) => string,
): Calculation | null {
  switch (correction.use) {
    case "sum":
      return { sum: column };
    case "average":
      return correction.by === ""
        ? { average: column }
        : { weighted: { column, by: correction.by } };
    case "last":
      return { last: { column, per: [...correction.per] } };
    case "distinct":
      return { distinct: column };
    case "ratio":
      return { ratio: [nameOf(correction.of), nameOf(correction.by)] };
    case "name":
    case "time":
    case "currency":
    case "account":
    case "other":
      return null;
  }
}

const CALCULATIONS = [
  "sum",
  "count",
  "distinct",
  "average",
  "weighted",
  "last",
  "least",
  "greatest",
  "median",
  "percentile",
  "single",
] as const;

/** Returns the column that a measure is computed from; null for figures of other measures. */
export function columnOf(measure: Measure): string | null {
  const members = measure as Partial<Record<(typeof CALCULATIONS)[number], unknown>>;
  for (const name of CALCULATIONS) {
    const value = members[name];
    if (typeof value === "string") return value;
    if (typeof value === "object" && value !== null)
      return (value as { column?: string }).column ?? null;
  }
  return null;
}

function columnOfDimension(dimension: Dimension): string | null {
  return "column" in dimension ? dimension.column : null;
}

/** Returns a name for a definition: small letters, digits and underscores. */
export function definitionName(column: string): string {
  const name = column
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "_")
    .replace(/^_+|_+$/g, "");
  return name === "" ? "column" : name;
}

/** Returns the measure of a column: the one whose definition is the column's sum, or else any of it. */
export function measureOf(definitions: Definitions, column: string): string | null {
  const own = Object.entries(definitions.measures ?? {}).filter(
    ([, measure]) => columnOf(measure) === column,
  );
  const sum = own.find(([, measure]) => "sum" in measure);
  return (sum ?? own[0])?.[0] ?? null;
}

function unitMembers(
  correction: Correction,
  before: Measure | undefined,
  currencyColumn: string | undefined,
): Pick<Measure, "unit" | "currency"> {
  if (!isFigure(correction.use) || correction.unit === "none") return {};
  if (correction.unit === "percent") return { unit: "percent" };
  if (correction.unit === "named") return { unit: correction.unitName.trim() };
  if (correction.currency !== "") return { unit: "money", currency: correction.currency };
  const known = currencyColumn === undefined ? before?.currency : { column: currencyColumn };
  return known === undefined ? { unit: "money" } : { unit: "money", currency: known };
}

function unitOfMeasure({
  unit,
  currency,
}: Measure): Pick<Correction, "unit" | "currency" | "unitName"> {
  const code = typeof currency === "string" ? currency : "";
  if (unit === "money") return { unit, currency: code, unitName: "" };
  if (unit === "percent") return { unit, currency: "", unitName: "" };
  return { unit: unit === undefined ? "none" : "named", currency: "", unitName: unit ?? "" };
}

/** Returns how a column is defined now, as a correction that changes nothing. */
export function definedCorrection(
  definitions: Definitions,
  column: FoundColumn,
  columns: readonly FoundColumn[],
): Correction {
  const found = correctionOf(column, columns);
  const name = measureOf(definitions, column.name);
  const measure = name === null ? undefined : definitions.measures?.[name];
  if (!measure) return found;
  const defined = { ...found, ...unitOfMeasure(measure) };
  if ("sum" in measure) return { ...defined, use: "sum" };
  if ("average" in measure) return { ...defined, use: "average" };
  if ("weighted" in measure) return { ...defined, use: "average", by: measure.weighted.by };
  if ("last" in measure) return { ...defined, use: "last", per: measure.last.per };
  return "distinct" in measure ? { ...defined, use: "distinct" } : found;
}

/** Returns the members of a table of definitions that pass. */
function kept<T>(
  all: Record<string, T> | undefined,
  passes: (name: string, one: T) => boolean,
): Record<string, T> {
  return Object.fromEntries(Object.entries(all ?? {}).filter(([name, one]) => passes(name, one)));
}

/** Returns the definitions with a corrected column. Those of other columns stay as they are. */
export function applied(
  definitions: Definitions,
  column: FoundColumn,
  correction: Correction,
): Definitions {
  const { name } = column;
  const known = measureOf(definitions, name);
  const before = known === null ? undefined : definitions.measures?.[known];
  const isGrouped = ["name", "account", "currency", "distinct"].includes(correction.use);
  const isMeasured = isFigure(correction.use) || correction.use === "distinct";
  // A column without figures has no measure. Otherwise only the corrected one is replaced.
  const measures = kept(definitions.measures, (key, measure) =>
    isMeasured ? key !== known : columnOf(measure) !== name,
  );
  const dimensions = kept(
    definitions.dimensions,
    (_, dimension) => isGrouped || columnOfDimension(dimension) !== name,
  );
  const nameOf = (other: string): string => {
    const found = measureOf({ ...definitions, measures }, other) ?? definitionName(other);
    if (!(found in measures)) measures[found] = { sum: other };
    return found;
  };
  const calculation = calculationOf(name, correction, nameOf);
  if (calculation !== null) {
    const { title, synonyms, better, settles_after } = before ?? {};
    // A measure and a dimension cannot have the same name.
    const own = isGrouped ? `${definitionName(name)}_count` : definitionName(name);
    measures[known ?? freeName(own, { ...measures, ...dimensions })] = {
      ...calculation,
      ...unitMembers(correction, before, column.currency_column),
      ...(title && { title }),
      ...(synonyms && { synonyms }),
      ...(better && { better }),
      ...(settles_after && { settles_after }),
    };
  }
  const isListed = Object.values(dimensions).some((one) => columnOfDimension(one) === name);
  if (isGrouped && !isListed)
    dimensions[freeName(definitionName(name), { ...measures, ...dimensions })] = { column: name };
  if (correction.use === "currency")
    for (const [key, measure] of Object.entries(measures))
      if (measure.unit === "money") measures[key] = { ...measure, currency: { column: name } };
  const time = correction.use === "time" && { time: { ...definitions.time, column: name } };
  return { ...definitions, measures, dimensions, ...time };
}

function freeName(name: string, taken: object): string {
  if (!(name in taken)) return name;
  for (let number = 2; ; number += 1) {
    const other = `${name}_${number}`;
    if (!(other in taken)) return other;
  }
}
