// A definition in words: its name, how its values are found, and how they are written. The text of the definitions file has the rest.
// Pure but for the language.
import { formatNumber, t, tMaybe } from "../../i18n/index.svelte";
import type { Condition } from "../../platform/generated/Condition";
import type { Definitions } from "../../platform/generated/Definitions";
import type { Dimension } from "../../platform/generated/Dimension";
import type { Measure } from "../../platform/generated/Measure";
import { wordsOf } from "../content";
import { plainName } from "../names";
import { currencyOf } from "../units";
import { valuesOf } from "./change";

/** A definition as a person reads it. */
export interface DefinitionWords {
  title: string;
  /** How the values are found, such as “sum of Cost”. */
  formula: string;
  /** How the values are written, such as “in EUR”; empty if the definition says nothing. */
  format: string;
}

/** Returns a definition in words; null if there is no such one. */
export function definitionWords(name: string, definitions: Definitions): DefinitionWords | null {
  const measure = definitions.measures?.[name];
  if (measure)
    return {
      title: titleOf(name, definitions),
      formula: joined([measureFormula(measure, definitions), rowsOf(measure.where)], ", "),
      format: formatOf(measure, definitions),
    };
  const dimension = definitions.dimensions?.[name];
  const formula = dimension ? dimensionFormula(dimension) : otherFormula(name);
  return formula === "" ? null : { title: plainName(name), formula, format: "" };
}

const joined = (parts: readonly string[], sign: string): string =>
  parts.filter((part) => part !== "").join(sign);

/** Returns the name of a measure for people. */
function titleOf(name: string, definitions: Definitions): string {
  return wordsOf(definitions.measures?.[name]?.title) || plainName(name);
}

function measureFormula(measure: Measure, definitions: Definitions): string {
  const named = (names: readonly string[], sign: string): string =>
    names.map((name) => titleOf(name, definitions)).join(` ${sign} `);
  if ("ratio" in measure) return named(measure.ratio, "÷");
  if ("plus" in measure) return named(measure.plus, "+");
  if ("minus" in measure) return named(measure.minus, "−");
  if ("of" in measure) return titleOf(measure.of, definitions);
  if ("sum" in measure) return t("computed.how_sum", { column: measure.sum });
  if ("count" in measure)
    return measure.count === "rows"
      ? t("computed.how_rows")
      : t("computed.how_count", { column: measure.count });
  if ("distinct" in measure) return t("computed.how_distinct", { column: measure.distinct });
  if ("average" in measure) return t("computed.how_average", { column: measure.average });
  if ("least" in measure) return t("computed.how_least", { column: measure.least });
  if ("greatest" in measure) return t("computed.how_greatest", { column: measure.greatest });
  if ("median" in measure) return t("computed.how_median", { column: measure.median });
  if ("single" in measure) return t("computed.how_single", { column: measure.single });
  if ("weighted" in measure) return t("computed.how_weighted", { ...measure.weighted });
  if ("percentile" in measure) {
    const { column, at } = measure.percentile;
    return t("computed.how_percentile", { column, at: formatNumber(at) });
  }
  const { column, per } = measure.last;
  return per.length === 0
    ? t("computed.how_last", { column })
    : t("computed.how_last_per", { column, per: per.join(", ") });
}

function dimensionFormula(dimension: Dimension): string {
  if ("column" in dimension) {
    const { column, key } = dimension;
    return key === undefined
      ? t("computed.how_column", { column })
      : t("computed.how_key", { column, key });
  }
  if ("when" in dimension) {
    const condition = conditionWords(dimension.when);
    return condition === null
      ? t("computed.how_when_other")
      : t("computed.how_when", { condition });
  }
  if ("groups" in dimension) {
    const { of, groups, other } = dimension.groups;
    const names = [...Object.keys(groups), ...(other === undefined ? [] : [other])].join(", ");
    return t("computed.how_groups", { of, names });
  }
  if ("split" in dimension) {
    const { of, by, part } = dimension.split;
    return t("computed.how_split", { of, by, part: formatNumber(part) });
  }
  if ("bins" in dimension) {
    const { of, edges } = dimension.bins;
    return t("computed.how_bins", {
      of,
      edges: edges.map((edge) => formatNumber(edge)).join(", "),
    });
  }
  if ("first" in dimension) return t("computed.how_first", { ...dimension.first });
  return t("computed.how_lookup", { ...dimension.lookup });
}

/** Returns the words for a part of the definitions that is neither a measure nor a dimension, such as `rates` or `join:plan`. */
function otherFormula(name: string): string {
  const [part = ""] = name.split(":");
  return tMaybe(`definitions.risk_${part}`, "");
}

/** Returns the rows that count; empty for all. */
function rowsOf(where: readonly Condition[] = []): string {
  if (where.length === 0) return "";
  const words = where.map(conditionWords);
  return words.includes(null)
    ? t("computed.how_where_other")
    : t("computed.how_where", { conditions: words.join("; ") });
}

/** Returns a condition that lists values; null for any other one. */
function conditionWords(condition: Condition): string | null {
  const found = valuesOf(condition);
  if (!found) return null;
  const { name, isOpposite } = found;
  const values = found.values
    .map((value) => (value === null || value === "" ? t("query.value_empty") : String(value)))
    .join(", ");
  return isOpposite ? t("computed.how_not", { name, values }) : `${name}: ${values}`;
}

function formatOf(measure: Measure, definitions: Definitions): string {
  const { unit, better } = measure;
  return joined(
    [
      unitWords(unit, currencyOf(measure, definitions)),
      better ? t(`computed.better_${better}`) : "",
    ],
    ", ",
  );
}

function unitWords(unit: Measure["unit"], currency: Measure["currency"]): string {
  if (unit === undefined) return "";
  if (unit === "percent") return t("computed.unit_percent");
  if (unit !== "money") return t("computed.unit_named", { unit });
  if (currency === undefined) return t("computed.unit_none");
  return typeof currency === "string"
    ? t("computed.unit_named", { unit: currency })
    : t("computed.unit_column", { column: currency.column });
}
