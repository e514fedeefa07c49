// Titles of metric queries: their figures and groups in a few words. Knows no component.
import { language, t, type MessageKey } from "../i18n/index.svelte";
import type { DataColumn } from "../platform/generated/DataColumn";
import type { MetricQuery } from "../platform/generated/MetricQuery";
import { headingOf } from "./grid/cells";
import { inSentence, plainName } from "./names";
import { figureName, groupName } from "./query/change";

export { plainName } from "./names";

type Group = NonNullable<MetricQuery["by"]>[number];

/** The languages that write nouns with a capital letter. */
const CAPITAL_NOUNS: readonly string[] = ["de"];

function shownName(name: string, columns: readonly DataColumn[]): string {
  const column = columns.find((one) => one.name === name);
  const heading = column ? headingOf(column) : name;
  return heading === name ? plainName(name) : heading;
}

function groupWords(group: Group, columns: readonly DataColumn[]): string {
  if (typeof group === "object" && "time" in group)
    return t(`boards.grain_${group.time}` satisfies MessageKey);
  const name = groupName(group);
  const shown = shownName(name, columns);
  // A heading of somebody's own is kept as it is written.
  const isPlain = shown === plainName(name) && !CAPITAL_NOUNS.includes(language());
  return isPlain ? inSentence(shown) : shown;
}

/** Returns what a query asks for, such as "Spend, Clicks by week, campaign". The columns of its result have better names, once they are there. */
export function queryTitle(query: MetricQuery, columns: readonly DataColumn[] = []): string {
  const explained = query.explain ? [query.explain.measure] : [];
  const names = [...query.measures.map(figureName), ...explained].filter((name) => name !== "");
  const measures = names.map((name) => shownName(name, columns)).join(", ");
  const groups = (query.by ?? []).map((group) => groupWords(group, columns)).join(", ");
  if (groups === "") return measures || t("boards.rows");
  return measures === "" ? groups : t("boards.title_by", { measures, groups });
}
