// Definitions in words, as a person approves them: how their values are found, with all conditions, and what else is known about them. Pure
// but for the language.
import { formatNumber, language, t, type MessageKey } from "../../../i18n/index.svelte";
import type { Condition } from "../../../platform/generated/Condition";
import type { DefinitionView } from "../../../platform/generated/DefinitionView";
import type { Definitions } from "../../../platform/generated/Definitions";
import type { Dimension } from "../../../platform/generated/Dimension";
import type { Join } from "../../../platform/generated/Join";
import type { Measure } from "../../../platform/generated/Measure";
import { wordsOf } from "../../../results/content";
import { plainName } from "../../../results/names";
import { definitionWords } from "../../../results/query/definitionWords";

/** The parts of the list: figures, values to group by, and what joins sources. */
export const PARTS = ["figures", "groups", "relations"] as const;
export type Part = (typeof PARTS)[number];

export interface DefinitionText {
  part: Part;
  name: string;
  /** How the values are found; empty if only the code says it. */
  text: string;
  /** Unit, direction, other names and such. */
  facts: string[];
}

/** More synonyms than this are not shown. */
const MOST_NAMES = 8;

function listed(texts: readonly string[], type: "conjunction" | "disjunction"): string {
  return new Intl.ListFormat(language(), { type }).format(texts);
}

/** Returns a definition in words. */
export function definitionText(view: DefinitionView, definitions: Definitions): DefinitionText {
  const { measures = {}, dimensions = {}, joins = {} } = definitions;
  const { name, risks } = view;
  const other = name.startsWith("join:") ? name.slice("join:".length) : null;
  if (other !== null) {
    const join = joins[other];
    return {
      part: "relations",
      name: other,
      text: join ? joinText(other, join) : "",
      facts: join ? [t(`definitions.unmatched_${join.unmatched}`)] : [],
    };
  }
  // A measure can have the name of such a part. Only the part has its risk.
  const special = (["rates", "spread", "pacing"] as const).find((risk) => risks.includes(risk));
  if (special && special === name) return specialText(special, definitions);
  const titled = wordsOf(view.title) || plainName(name);
  const measure = measures[name];
  if (measure) return { part: "figures", name: titled, ...measureText(name, measure, definitions) };
  const dimension = dimensions[name];
  const text = dimension ? dimensionText(name, dimension, definitions) : "";
  return { part: "groups", name: titled, text, facts: synonymFacts(dimension?.synonyms) };
}

function measureText(
  name: string,
  measure: Measure,
  definitions: Definitions,
): Pick<DefinitionText, "text" | "facts"> {
  const { where = [], settles_after, synonyms } = measure;
  // The conditions are said here, because a person approves them.
  const whole = { ...measure, where: [] };
  const measures = { ...definitions.measures, [name]: whole };
  const words = definitionWords(name, { ...definitions, measures });
  const text = words?.formula ?? "";
  const condition = listed(where.map(conditionText), "conjunction");
  const days = parseInt(settles_after ?? "", 10);
  return {
    text: where.length === 0 ? text : t("definitions.only_where", { text, condition }),
    facts: [
      ...(words && words.format !== "" ? [words.format] : []),
      ...(days > 0 ? [t("sources.settles", { count: days })] : []),
      ...synonymFacts(synonyms),
    ],
  };
}

function dimensionText(name: string, dimension: Dimension, definitions: Definitions): string {
  if ("when" in dimension)
    return t("definitions.dim_when", { condition: conditionText(dimension.when) });
  return definitionWords(name, definitions)?.formula ?? "";
}

function synonymFacts(synonyms: Measure["synonyms"]): string[] {
  const names = [...new Set(Object.values(synonyms ?? {}).flat())];
  if (names.length === 0) return [];
  const shown = names.slice(0, MOST_NAMES);
  if (names.length > MOST_NAMES) shown.push("…");
  return [t("definitions.synonyms", { names: shown.join(", ") })];
}

function joinText(source: string, { on }: Join): string {
  const pairs = Object.entries(on).map(([own, other]) =>
    t("definitions.join_pair", { own, other }),
  );
  return t("definitions.join", { source, pairs: listed(pairs, "conjunction") });
}

function specialText(
  name: "rates" | "spread" | "pacing",
  { rates, spread, pacing }: Definitions,
): DefinitionText {
  const found = { part: "relations" as const, name: t(`definitions.name_${name}`), facts: [] };
  if (name === "rates" && rates) return { ...found, text: t("definitions.rates", { ...rates }) };
  if (name === "pacing" && pacing) {
    const sources = { delivery: pacing.delivery.source, plan: pacing.plan.source };
    return { ...found, text: t("definitions.pacing", sources) };
  }
  if (name !== "spread" || !spread) return { ...found, text: "" };
  if ("months" in spread) return { ...found, text: t("definitions.spread_months") };
  const columns = [...(spread.total ?? []), ...(spread.daily ?? [])];
  return {
    ...found,
    text: t("definitions.spread_days", {
      columns: listed(columns, "conjunction"),
      until: spread.until,
    }),
  };
}

/** Returns a condition in words, such as “campaign contains brand”. */
export function conditionText(condition: Condition): string {
  return listed(
    Object.entries(condition).map(([name, test]) => {
      if (name === "and" || name === "or") {
        const parts = (test as Condition[]).map(conditionText);
        return listed(parts, name === "and" ? "conjunction" : "disjunction");
      }
      if (name === "not")
        return t("definitions.test_not", { condition: conditionText(test as Condition) });
      return testText(name.replaceAll("_", " "), test);
    }),
    "conjunction",
  );
}

/** The tests of a value by the name that a file has for them. */
const TESTS: Record<string, MessageKey> = {
  not: "definitions.test_is_not",
  contains: "definitions.test_contains",
  not_contains: "definitions.test_contains_not",
  starts: "definitions.test_starts",
  ends: "definitions.test_ends",
  ">": "definitions.test_above",
  ">=": "definitions.test_from",
  "<": "definitions.test_below",
  "<=": "definitions.test_to",
};

function valuesText(test: unknown): string {
  const values = Array.isArray(test) ? test : [test];
  const texts = values.map((value) => {
    if (value === null) return t("definitions.test_nothing");
    return typeof value === "number" ? formatNumber(value) : String(value);
  });
  return listed(texts, "disjunction");
}

function testText(name: string, test: unknown): string {
  if (test === null || typeof test !== "object" || Array.isArray(test))
    return t("definitions.test_is", { name, values: valuesText(test) });
  const texts = Object.entries(test).map(([kind, value]) => {
    if (kind === "empty")
      return t(value ? "definitions.test_empty" : "definitions.test_full", { name });
    const key = TESTS[kind];
    return key
      ? t(key, { name, values: valuesText(value) })
      : t("definitions.test_query", { name });
  });
  return listed(texts, "conjunction");
}
