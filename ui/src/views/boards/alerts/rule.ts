// The form of a rule, and the rule that it makes. A rule from elsewhere keeps what the form does not show. Pure.
import type { AlertCondition } from "../../../platform/generated/AlertCondition";
import type { AlertRuleContent } from "../../../platform/generated/AlertRuleContent";
import type { Definitions } from "../../../platform/generated/Definitions";
import type { MetricQuery } from "../../../platform/generated/MetricQuery";

/** The kinds of conditions, in the order in which they are offered. */
export const KINDS = ["changed", "above", "below", "no_data", "runs_out", "status"] as const;
export type Kind = (typeof KINDS)[number];

/** The fields of the form, as a person writes them. */
export interface RuleForm {
  name: string;
  source: string;
  measure: string;
  /** The dimension whose values have an alert each; empty for all rows together. */
  by: string;
  kind: Kind;
  /** The column whose changes are told. */
  status: string;
  percent: string;
  amount: string;
  value: string;
  /** The days of a condition about days. */
  days: string;
  /** The days of the period. */
  period: string;
  isOn: boolean;
}

/** The measure that every source has: the number of its rows. */
export const ROWS = "rows";
/** The largest number of days. */
const MOST_DAYS = 366;

/** Returns the measures of a source: sums of money, other sums, and then the others. */
export function measuresOf({ measures }: Definitions): string[] {
  const rank = (measure: object): number => {
    if (!("sum" in measure)) return 2;
    return "unit" in measure && measure.unit === "money" ? 0 : 1;
  };
  const ranked = Object.entries(measures ?? {}).map(([name, measure], at) => ({
    name,
    rank: rank(measure as object),
    at,
  }));
  ranked.sort((one, other) => one.rank - other.rank || one.at - other.at);
  return [...ranked.map(({ name }) => name), ...(ROWS in (measures ?? {}) ? [] : [ROWS])];
}

export function dimensionsOf({ dimensions }: Definitions): string[] {
  return Object.keys(dimensions ?? {});
}

/** Returns the form of the rule that is proposed for a source. */
export function proposal(definitions: Definitions, name: string): RuleForm {
  return {
    name,
    source: definitions.source,
    measure: measuresOf(definitions)[0] ?? ROWS,
    by: "",
    kind: "changed",
    status: dimensionsOf(definitions)[0] ?? "",
    percent: "20",
    amount: "0",
    value: "0",
    days: "2",
    period: "7",
    isOn: true,
  };
}

/** Reads a number with a decimal point or comma; null if it is none, or could be read both ways. */
export function numberOf(text: string): number | null {
  const written = text.trim().replaceAll(/\s/g, "");
  if (!/^[-−]?\d+([.,]\d+)?$/.test(written) || /[1-9]\d*,\d{3}$/.test(written)) return null;
  return Number(written.replace("−", "-").replace(",", "."));
}

function daysOf(text: string): number | null {
  const days = numberOf(text);
  return days !== null && Number.isInteger(days) && days >= 1 && days <= MOST_DAYS ? days : null;
}

function conditionOf(form: RuleForm): AlertCondition | null {
  const { kind, status } = form;
  if (kind === "changed") {
    const [percent, amount] = [numberOf(form.percent), numberOf(form.amount)];
    const isKnown = percent !== null && amount !== null && percent >= 0 && amount >= 0;
    return isKnown ? { changed: { percent, amount } } : null;
  }
  if (kind === "above" || kind === "below") {
    const value = numberOf(form.value);
    return value === null ? null : { beyond: { side: kind, value } };
  }
  if (kind === "status") return status === "" ? null : { status_changed: { dimension: status } };
  const days = daysOf(form.days);
  if (days === null) return null;
  return kind === "no_data" ? { no_data_for: { days } } : { runs_out_within: { days } };
}

/** Returns the rule of a form; null while a field is missing or wrong. `query` is that of the rule before. */
export function contentOf(form: RuleForm, query: MetricQuery | null): AlertRuleContent | null {
  const condition = conditionOf(form);
  const days = daysOf(form.period);
  if (!condition || days === null || form.source === "") return null;
  const groups = [form.by, form.kind === "status" ? form.status : ""];
  const by = [...new Set(groups.filter((name) => name !== ""))];
  const kept = query?.source === form.source ? query : null;
  return {
    name: form.name.trim(),
    condition,
    is_on: form.isOn,
    query: {
      source: form.source,
      measures: [form.measure],
      ...(by.length > 0 && { by }),
      ...(kept?.where && { where: kept.where }),
      ...(kept?.in_currency !== undefined && { in_currency: kept.in_currency }),
      period: { last: { days } },
      ...(form.kind === "changed" && { compare: { to: "previous" } }),
    },
  };
}

const nameOf = (part: unknown, member: string): string => {
  if (typeof part === "string") return part;
  const value = (part as Record<string, unknown> | undefined)?.[member];
  return typeof value === "string" ? value : "";
};

/** Returns the form of a rule. */
export function formOf({ name, query, condition, is_on }: AlertRuleContent): RuleForm {
  const form: RuleForm = {
    name,
    source: query.source ?? "",
    measure: nameOf(query.measures[0], "measure"),
    by: "",
    kind: "changed",
    status: "",
    percent: "20",
    amount: "0",
    value: "0",
    days: "2",
    period: String(lastDays(query) ?? 7),
    isOn: is_on,
  };
  if ("changed" in condition) {
    const { percent, amount } = condition.changed;
    [form.percent, form.amount] = [String(percent), String(amount)];
  } else if ("beyond" in condition) {
    [form.kind, form.value] = [condition.beyond.side, String(condition.beyond.value)];
  } else if ("status_changed" in condition) {
    [form.kind, form.status] = ["status", condition.status_changed.dimension];
  } else {
    form.kind = "no_data_for" in condition ? "no_data" : "runs_out";
    const { days } = "no_data_for" in condition ? condition.no_data_for : condition.runs_out_within;
    form.days = String(days);
  }
  const groups = (query.by ?? []).map((group) => nameOf(group, "dimension"));
  form.by = groups.find((group) => group !== "" && group !== form.status) ?? "";
  return form;
}

function lastDays({ period }: MetricQuery): number | null {
  if (!period || !("last" in period)) return null;
  return "days" in period.last ? period.last.days : null;
}

/** Whether the form shows all of a rule. Another one can be switched and deleted only. */
export function isWholeForm(content: AlertRuleContent): boolean {
  const written = contentOf(formOf(content), content.query);
  const plain = (value: unknown): string => JSON.stringify(sorted(value));
  return written !== null && plain(written) === plain(content);
}

/** Orders the members of objects, and writes names in their short form. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  if (members.length === 1 && ["measure", "dimension"].includes(members[0]![0])) {
    return members[0]![1];
  }
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]));
}
