// A part of a question while a person changes it: the fields of its form, and the question that they make. Pure.
import type { MetricQuery } from "../../platform/generated/MetricQuery";
import type { QueryPart } from "../../platform/generated/QueryPart";
import type { Scalar } from "../../platform/generated/Scalar";
import type { SourceDescription } from "../../platform/generated/SourceDescription";
import type { TimeGrain } from "../../platform/generated/TimeGrain";
import {
  dimensionName,
  grainOf,
  measureName,
  orderNames,
  placeOf,
  setCompare,
  setDimension,
  setGrain,
  setLimit,
  setMeasure,
  setOrder,
  setPeriod,
  setTop,
  setValues,
  valuesOf,
} from "./change";
import { definedName } from "./choices";
import { chosenPeriod, isBackwards, periodOf, type ChosenPeriod } from "./periods";

/** The other side of a comparison. `kept` is a comparison that the form has no name for. */
export type ComparedTo = "none" | "previous" | "last_year" | "kept";

/** The fields of a form. `at` is the number in the list of its member; one behind the end adds a part. */
export type Draft =
  | { kind: "measure"; at: number; name: string }
  | { kind: "dimension"; at: number; name: string }
  | { kind: "grain"; at: number; grain: TimeGrain }
  | { kind: "filter"; at: number; name: string; values: Scalar[]; isOpposite: boolean }
  | { kind: "period"; period: ChosenPeriod }
  | { kind: "comparison"; to: ComparedTo }
  | { kind: "order"; at: number; by: string; descending: boolean }
  | { kind: "limit"; count: number }
  | { kind: "top"; count: number; lowest: boolean; others: boolean };

export type DraftKind = Draft["kind"];

/** Returns the fields of a part; null if it can only be taken away, or stays. */
export function draftOf(
  part: QueryPart,
  query: MetricQuery,
  { definitions }: SourceDescription,
): Draft | null {
  const { member, at } = placeOf(part.at);
  switch (member) {
    case "measures": {
      const used = query.measures[at];
      const name = used === undefined ? null : measureName(used);
      return {
        kind: "measure",
        at,
        name: name === null ? "" : definedName("measures", name, definitions),
      };
    }
    case "by": {
      const group = query.by?.[at];
      if (group === undefined) return null;
      if (typeof group !== "string" && "time" in group)
        return { kind: "grain", at, grain: group.time };
      const name = dimensionName(group);
      return {
        kind: "dimension",
        at,
        name: name === null ? "" : definedName("dimensions", name, definitions),
      };
    }
    case "where": {
      const found = valuesOf(query.where?.[at]);
      if (!found) return null;
      return {
        kind: "filter",
        at,
        ...found,
        name: definedName("dimensions", found.name, definitions),
      };
    }
    case "period":
      return { kind: "period", period: chosenPeriod(query.period, part) };
    case "compare":
      return query.explain ? null : { kind: "comparison", to: comparedTo(query) };
    case "order": {
      const order = query.order?.[at];
      return order
        ? { kind: "order", at, by: order.by, descending: order.descending ?? false }
        : null;
    }
    case "limit":
      return { kind: "limit", count: query.limit ?? 10 };
    case "top":
      return {
        kind: "top",
        count: query.top?.n ?? 10,
        lowest: query.top?.lowest ?? false,
        others: query.top?.others ?? false,
      };
    default:
      return null;
  }
}

function comparedTo({ compare }: MetricQuery): ComparedTo {
  if (!compare) return "none";
  const isPlain = compare.to !== undefined && compare.align === undefined && !compare.shift;
  return isPlain ? compare.to! : "kept";
}

/** Returns the kinds of parts that can be added to a question. */
export function addable(query: MetricQuery): DraftKind[] {
  const isGrouped = (query.by?.length ?? 0) > 0;
  const kinds: [DraftKind, boolean][] = [
    ["measure", !query.rows && !query.explain],
    ["dimension", !query.explain],
    ["grain", !query.rows && !query.explain && grainOf(query) === null],
    ["filter", true],
    ["comparison", !query.rows && !query.compare && query.period !== undefined],
    ["order", !query.explain && isGrouped],
    ["top", isGrouped && !query.top && !query.rows],
    ["limit", query.limit === undefined && (isGrouped || query.rows === true)],
  ];
  return kinds.filter(([, fits]) => fits).map(([kind]) => kind);
}

/** Returns the fields of a new part. */
export function newDraft(kind: DraftKind, query: MetricQuery): Draft {
  switch (kind) {
    case "measure":
      return { kind, at: query.measures.length, name: "" };
    case "dimension":
      return { kind, at: query.by?.length ?? 0, name: "" };
    case "grain":
      return { kind, at: query.by?.length ?? 0, grain: "week" };
    case "filter":
      return { kind, at: query.where?.length ?? 0, name: "", values: [], isOpposite: false };
    case "period":
      return { kind, period: chosenPeriod(query.period, undefined) };
    case "comparison":
      return { kind, to: "previous" };
    case "order": {
      const by = orderNames(query).at(-1) ?? "";
      return { kind, at: query.order?.length ?? 0, by, descending: true };
    }
    case "limit":
      return { kind, count: 10 };
    case "top":
      return { kind, count: 10, lowest: false, others: true };
  }
}

/** The most rows that a question may ask for. */
const MOST = 10_000;
const isCount = (count: number): boolean => Number.isInteger(count) && count >= 1 && count <= MOST;

/** Whether the fields make a question. */
export function isComplete(draft: Draft): boolean {
  switch (draft.kind) {
    case "measure":
    case "dimension":
      return draft.name !== "";
    case "filter":
      return draft.name !== "" && draft.values.length > 0;
    case "period":
      return !isBackwards(draft.period);
    case "order":
      return draft.by !== "";
    case "limit":
    case "top":
      return isCount(draft.count);
    case "grain":
    case "comparison":
      return true;
  }
}

/** Returns the question that the fields make. */
export function applied(query: MetricQuery, draft: Draft): MetricQuery {
  switch (draft.kind) {
    case "measure":
      return setMeasure(query, draft.at, draft.name);
    case "dimension":
      return setDimension(query, draft.at, draft.name);
    case "grain":
      return setGrain(query, draft.at, draft.grain);
    case "filter":
      return setValues(query, draft.at, draft.name, draft.values, draft.isOpposite);
    case "period":
      return setPeriod(query, periodOf(draft.period));
    case "comparison":
      if (draft.to === "kept") return query;
      return setCompare(query, draft.to === "none" ? null : { to: draft.to });
    case "order":
      return setOrder(query, draft.at, draft.by, draft.descending);
    case "limit":
      return setLimit(query, draft.count);
    case "top":
      return setTop(query, { n: draft.count, lowest: draft.lowest, others: draft.others });
  }
}
