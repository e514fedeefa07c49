// Alerts and rules in words. Knows no component.
import { formatDate, formatNumber, t } from "../../../i18n/index.svelte";
import type { Alert } from "../../../platform/generated/Alert";
import type { AlertCondition } from "../../../platform/generated/AlertCondition";
import type { AlertFigure } from "../../../platform/generated/AlertFigure";
import type { AlertGroup } from "../../../platform/generated/AlertGroup";
import type { AlertRuleContent } from "../../../platform/generated/AlertRuleContent";
import { gridText, headingOf, unitOf } from "../../../results/grid/cells";
import { plainName, queryTitle } from "../../../results/queryTitle";

/** Returns the values that an alert is about; empty for all rows together. */
export function groupText(group: readonly AlertGroup[]): string {
  const text = ({ value }: AlertGroup): string =>
    value === null ? t("boards.empty_value") : String(value);
  return group.map(text).join(", ");
}

/** Returns the heading of an alert: the name of its rule, and the group. */
export function alertTitle({ name, group }: Pick<Alert, "name" | "group">): string {
  return [name, groupText(group)].filter(Boolean).join(" · ");
}

/** Returns a figure with its name and unit. */
export function figureText({ column, value }: AlertFigure): string {
  const unit = unitOf(column);
  const text = gridText(value, column);
  return `${headingOf(column)}: ${unit === null ? text : `${text} ${unit}`}`;
}

/** Returns since when an alert holds, and until when it did. */
export function spanText({ since, resolved_on }: Alert): string {
  const from = formatDate(since);
  return resolved_on === undefined
    ? t("alerts.since", { day: from })
    : t("alerts.since_until", { day: from, until: formatDate(resolved_on) });
}

/** Returns what a rule compares its figure with. */
export function conditionText(condition: AlertCondition): string {
  if ("changed" in condition) {
    const { percent, amount } = condition.changed;
    return t("alerts.if_changed", { percent: formatNumber(percent), amount: formatNumber(amount) });
  }
  if ("beyond" in condition) {
    const { side, value } = condition.beyond;
    return t(side === "above" ? "alerts.if_above" : "alerts.if_below", {
      value: formatNumber(value),
    });
  }
  if ("no_data_for" in condition)
    return t("alerts.if_no_data", { count: condition.no_data_for.days });
  if ("runs_out_within" in condition)
    return t("alerts.if_runs_out", { count: condition.runs_out_within.days });
  return t("alerts.if_status", { name: plainName(condition.status_changed.dimension) });
}

/** Returns what a rule is about: its figures, its source and its condition. */
export function ruleText({ query, condition }: AlertRuleContent): string {
  const source = query.source === undefined ? [] : [query.source];
  return [queryTitle(query), ...source, conditionText(condition)].join(" · ");
}
