// Changes of a metric query, one for each kind of part. A changed query is one that could have been asked: it is relative again, and names
// that are gone are not used elsewhere. Pure: knows no component and no host.
import type { Compare } from "../../platform/generated/Compare";
import type { Condition } from "../../platform/generated/Condition";
import type { Group } from "../../platform/generated/Group";
import type { MeasureUse } from "../../platform/generated/MeasureUse";
import type { MetricQuery } from "../../platform/generated/MetricQuery";
import type { NameOr } from "../../platform/generated/NameOr";
import type { Period } from "../../platform/generated/Period";
import type { Scalar } from "../../platform/generated/Scalar";
import type { TimeGrain } from "../../platform/generated/TimeGrain";
import type { Top } from "../../platform/generated/Top";

/** The endings of the figures of a comparison. */
export const COMPARED = ["", "_before", "_compared", "_change", "_growth"] as const;

/** The place of a part: the member, and the number in its list. */
export interface Place {
  member: keyof MetricQuery;
  at: number;
}

/** Returns the place that a JSON pointer such as `/measures/0` names. */
export function placeOf(pointer: string): Place {
  const [member = "", at = "0"] = pointer.split("/").slice(1);
  return { member: member as keyof MetricQuery, at: Number(at) };
}

/** Returns a query without a member, so that it is not sent as null. */
function without(query: MetricQuery, ...members: (keyof MetricQuery)[]): MetricQuery {
  const kept = Object.entries(query).filter(
    ([member]) => !members.includes(member as keyof MetricQuery),
  );
  return Object.fromEntries(kept) as unknown as MetricQuery;
}

/** Returns a query with a list, or without the member if the list is empty. */
function withList<K extends "by" | "where" | "order">(
  query: MetricQuery,
  member: K,
  list: NonNullable<MetricQuery[K]>,
): MetricQuery {
  return list.length === 0 ? without(query, member) : { ...query, [member]: list };
}

/** Returns a list with a value at a place. A place behind the end adds it. */
const put = <T>(list: readonly T[], at: number, value: T): T[] =>
  at >= list.length ? [...list, value] : list.map((one, own) => (own === at ? value : one));
const drop = <T>(list: readonly T[], at: number): T[] => list.filter((_, own) => own !== at);

/** Returns the measure of a figure; null for a calculation without a definition. */
export function measureName(used: NameOr<MeasureUse>): string | null {
  return typeof used === "string" ? used : (used.measure ?? null);
}

/** Returns the name of a figure in the result. */
export function figureName(used: NameOr<MeasureUse>): string {
  if (typeof used === "string") return plain(used);
  if (used.as !== undefined) return used.as;
  const own = plain(used.measure ?? "figure");
  if (used.share_of?.length) return `${own}_share`;
  if (used.running) return `${own}_running`;
  if (used.rolling) return `${own}_rolling`;
  return used.per ? `${own}_per_${used.per}` : own;
}

/** A measure of another source is named without it in the result. */
const plain = (name: string): string => name.slice(name.lastIndexOf(".") + 1);

/** Returns the name of a group in the result. */
export function groupName(group: NameOr<Group>): string {
  if (typeof group === "string") return group;
  if (group.as !== undefined) return group.as;
  if ("time" in group) return group.time;
  return "dimension" in group ? group.dimension : "group";
}

/** Returns the dimension of a group; null for a time and for one without a definition. */
export function dimensionName(group: NameOr<Group>): string | null {
  if (typeof group === "string") return group;
  return "dimension" in group ? group.dimension : null;
}

/** Returns the grain of the query's time; null if it is not grouped by one. */
export function grainOf(query: MetricQuery): TimeGrain | null {
  const time = query.by?.find((group) => typeof group !== "string" && "time" in group);
  return typeof time === "object" && "time" in time ? time.time : null;
}

/** Returns the columns that the rows can be ordered by: groups, figures, and those of a comparison. */
export function orderNames(query: MetricQuery): string[] {
  const endings = query.compare
    ? query.compare.values
      ? ["", "_compared", "_change", "_growth"]
      : ["", "_before", "_change", "_growth"]
    : [""];
  const figures = query.measures.flatMap((used) =>
    endings.map((ending) => `${figureName(used)}${ending}`),
  );
  return [...(query.by ?? []).map(groupName), ...figures];
}

/** Returns a query in which a name of the result is another one, or is gone. Conditions stay: they may be about what is not shown. */
function renamed(query: MetricQuery, from: string, to: string | null): MetricQuery {
  if (from === to) return query;
  const rename = (name: string): string | null => {
    const ending = COMPARED.find((ending) => name === `${from}${ending}`);
    if (ending === undefined) return name;
    return to === null ? null : `${to}${ending}`;
  };
  const order = (query.order ?? []).flatMap((one) => {
    const by = rename(one.by);
    return by === null ? [] : [{ ...one, by }];
  });
  let changed = withList(query, "order", order);
  if (query.pivot !== undefined) {
    const pivot = rename(query.pivot);
    changed = pivot === null ? without(changed, "pivot") : { ...changed, pivot };
  }
  const top = query.top && renamedTop(query.top, rename);
  return top === null ? without(changed, "top") : { ...changed, ...(top && { top }) };
}

/** Returns the first groups with their names; null if the dimension that is ranked is gone. */
function renamedTop(top: Top, rename: (name: string) => string | null): Top | null {
  const { of, by, per, ...rest } = top;
  const ranked = of === undefined ? undefined : rename(of);
  if (ranked === null) return null;
  const deciding = by === undefined ? undefined : (rename(by) ?? undefined);
  const within = per?.flatMap((name) => rename(name) ?? []);
  return {
    ...rest,
    ...(ranked !== undefined && { of: ranked }),
    ...(deciding !== undefined && { by: deciding }),
    ...(within?.length && { per: within }),
  };
}

/** Returns a query that refers to the moment at which it is asked. */
export const askedNow = (query: MetricQuery): MetricQuery => without(query, "as_of");

/** Sets or adds a figure. Its conditions, its share and its window stay. */
export function setMeasure(query: MetricQuery, at: number, name: string): MetricQuery {
  const former = query.measures[at];
  if (former === undefined) return { ...query, measures: [...query.measures, name] };
  let next: NameOr<MeasureUse> = name;
  if (typeof former !== "string") {
    // A name that was given to the former figure does not fit, and a calculation is no measure.
    const { as: _as, define: _define, measure: _measure, ...rest } = former;
    next = Object.keys(rest).length === 0 ? name : { ...rest, measure: name };
  }
  const changed = { ...query, measures: put(query.measures, at, next) };
  return renamed(changed, figureName(former), figureName(next));
}

/** Sets or adds a dimension to group by. */
export function setDimension(query: MetricQuery, at: number, name: string): MetricQuery {
  const by = query.by ?? [];
  const former = by[at];
  if (former === undefined) {
    // Times stay behind the dimensions, as in the words of a query.
    const first = by.findIndex((group) => typeof group !== "string" && "time" in group);
    const place = first < 0 ? by.length : first;
    return { ...query, by: [...by.slice(0, place), name, ...by.slice(place)] };
  }
  const changed = { ...query, by: put(by, at, name) };
  return renamed(changed, groupName(former), name);
}

/** Sets or adds the grain of the time. */
export function setGrain(query: MetricQuery, at: number, grain: TimeGrain): MetricQuery {
  const by = query.by ?? [];
  const former = by[at];
  const changed = { ...query, by: put(by, at, { time: grain }) };
  return former === undefined ? changed : renamed(changed, groupName(former), grain);
}

/** Sets or adds a condition that a value is one of some, or none of them. Without values there is no condition. */
export function setValues(
  query: MetricQuery,
  at: number,
  name: string,
  values: readonly Scalar[],
  isOpposite: boolean,
): MetricQuery {
  const where = query.where ?? [];
  if (values.length === 0) return withList(query, "where", drop(where, at));
  const test = isOpposite ? { not: [...values] } : [...values];
  return { ...query, where: put(where, at, { [name]: test }) };
}

/** A condition that a value is one of some, or none of them; null for any other condition. */
export function valuesOf(
  condition: Condition | undefined,
): { name: string; values: Scalar[]; isOpposite: boolean } | null {
  const entries = Object.entries(condition ?? {});
  const [name, test] = entries[0] ?? [];
  if (entries.length !== 1 || name === undefined || ["and", "or", "not"].includes(name))
    return null;
  if (isScalar(test)) return { name, values: [test], isOpposite: false };
  if (Array.isArray(test) && test.every(isScalar)) return { name, values: test, isOpposite: false };
  if (typeof test !== "object" || Object.keys(test).join() !== "not") return null;
  const { not } = test as { not: unknown };
  if (isScalar(not)) return { name, values: [not], isOpposite: true };
  return Array.isArray(not) && not.every(isScalar) ? { name, values: not, isOpposite: true } : null;
}

const isScalar = (value: unknown): value is Scalar => value === null || typeof value !== "object";

/** Sets the period; null for all days, which cannot be compared with a period before. */
export function setPeriod(query: MetricQuery, period: Period | null): MetricQuery {
  if (period !== null) return { ...query, period };
  const isCompared = query.compare !== undefined && query.compare.values === undefined;
  const changed = isCompared ? setCompare(query, null) : query;
  return without(changed, "period");
}

/** Sets the comparison; null for none. Orders and conditions by its figures are gone with it. */
export function setCompare(query: MetricQuery, compare: Compare | null): MetricQuery {
  if (compare !== null) return { ...query, compare };
  const plainQuery = without(query, "compare", "explain");
  const names = new Set(orderNames(plainQuery));
  const gone = orderNames(query).filter((name) => !names.has(name));
  return gone.reduce((changed, name) => withoutName(changed, name), plainQuery);
}

function withoutName(query: MetricQuery, name: string): MetricQuery {
  const order = (query.order ?? []).filter(({ by }) => by !== name);
  const where = (query.where ?? []).filter((condition) => !(name in condition));
  return withList(withList(query, "order", order), "where", where);
}

/** Sets or adds a part of the order. */
export function setOrder(
  query: MetricQuery,
  at: number,
  by: string,
  descending: boolean,
): MetricQuery {
  return { ...query, order: put(query.order ?? [], at, { by, ...(descending && { descending }) }) };
}

/** Sets the most rows. */
export const setLimit = (query: MetricQuery, limit: number): MetricQuery => ({ ...query, limit });

/** Sets the number of the first groups, and what becomes of the others. */
export function setTop(
  query: MetricQuery,
  top: { n: number; lowest: boolean; others: boolean },
): MetricQuery {
  const { lowest: _lowest, others: _others, ...rest } = query.top ?? {};
  return {
    ...query,
    top: {
      ...rest,
      n: top.n,
      ...(top.lowest && { lowest: true }),
      ...(top.others && { others: true }),
    },
  };
}

/** Whether the figures of all groups together can be asked for. */
export function canTotal(query: MetricQuery): boolean {
  const isGrouped = (query.by?.length ?? 0) > 0 && query.measures.length > 0;
  return isGrouped && !query.totals && !query.rows && !query.then && !query.explain;
}

/** Asks for the figures of all groups together, too. */
export const setTotals = (query: MetricQuery): MetricQuery => ({ ...query, totals: true });

/** Whether a part can be taken away so that a question is left. */
export function canRemove(query: MetricQuery, pointer: string): boolean {
  const { member } = placeOf(pointer);
  switch (member) {
    case "measures":
      return query.measures.length > 1 || query.rows === true;
    case "period":
      return query.period !== undefined && query.explain === undefined;
    case "compare":
      return query.explain === undefined;
    case "source":
    case "rows":
    case "explain":
      return false;
    default:
      return true;
  }
}

/** Takes a part away. */
export function removePart(query: MetricQuery, pointer: string): MetricQuery {
  const { member, at } = placeOf(pointer);
  switch (member) {
    case "measures": {
      const former = query.measures[at];
      const changed = { ...query, measures: drop(query.measures, at) };
      return former === undefined ? changed : renamed(changed, figureName(former), null);
    }
    case "by": {
      const former = query.by?.[at];
      const changed = withList(query, "by", drop(query.by ?? [], at));
      if (former === undefined) return changed;
      // Windows and times without rows need the time.
      const isTime = typeof former !== "string" && "time" in former;
      const left = isTime ? without(changed, "fill") : changed;
      return renamed(left, groupName(former), null);
    }
    case "where":
      return withList(query, "where", drop(query.where ?? [], at));
    case "order":
      return withList(query, "order", drop(query.order ?? [], at));
    case "period":
      return setPeriod(query, null);
    case "compare":
      return setCompare(query, null);
    default:
      return without(query, member);
  }
}
