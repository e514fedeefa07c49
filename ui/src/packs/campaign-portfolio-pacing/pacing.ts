// Parses the pacing tool's result for the dashboard. Pure.
import { list, num, obj, str } from "../../lib/read";
import { daysBetween } from "../../results/scale";

export type PacingStatus =
  "AHEAD" | "ON_TRACK" | "SLIGHTLY_BEHIND" | "BEHIND" | "AT_RISK" | "NOT_STARTED" | "NO_BASIS";

export interface Day {
  date: string;
  /** Null if there is no data for this day, which is not the same as no spend. */
  spend: number | null;
  impressions: number | null;
  /** The planned spend of this day, which follows the flights. */
  target: number | null;
  /** Null while the day is not over. */
  status: PacingStatus | null;
  partial: boolean;
}
export interface CampaignRow {
  id: string;
  name: string;
  budget: number | null;
  spend: number | null;
  share: number | null;
  /** Null in results of older versions. */
  status: PacingStatus | null;
}
export interface Pacing {
  account: string;
  advertiser: string | null;
  currency: string | null;
  start: string;
  end: string;
  status: PacingStatus;
  flags: string[];
  budget: number | null;
  spent: number;
  spentShare: number | null;
  due: number | null;
  variance: number | null;
  varianceShare: number | null;
  remaining: number | null;
  projection: number | null;
  projectionShare: number | null;
  targetRate: number | null;
  actualRate: number | null;
  requiredRate: number | null;
  totalDays: number | null;
  daysPassed: number | null;
  daysLeft: number | null;
  asOf: string | null;
  /** The account's IANA time zone. */
  zone: string | null;
  lag: number;
  days: Day[];
  campaigns: CampaignRow[];
  assumptions: string[];
  csv: string | null;
}

const STATUSES: readonly string[] = [
  "AHEAD",
  "ON_TRACK",
  "SLIGHTLY_BEHIND",
  "BEHIND",
  "AT_RISK",
  "NOT_STARTED",
  "NO_BASIS",
];

export function readPacing(data: unknown): Pacing | null {
  const source = obj(data);
  const insights = obj(source["insights"]);
  const range = obj(source["date_range"]);
  const [start, end] = [str(range["start"]), str(range["end"])];
  if (!start || !end || !insights["budget_status"]) return null;
  const budget = obj(insights["budget_status"]);
  const timeline = obj(insights["timeline"]);
  const daily = obj(insights["daily_pacing"]);
  const status = readStatus(daily["pacing_status"]) ?? "NO_BASIS";
  const [planned, spent, due] = [
    num(budget["portfolio_budget"]),
    num(budget["spent_budget"]) ?? 0,
    num(budget["should_have_spent"]),
  ];
  const [variance, projection] = [num(budget["variance"]), num(budget["projected_spend"])];
  return {
    account: str(source["account_name"]) ?? str(source["account_id"]) ?? "",
    advertiser: str(source["advertiser"]),
    currency: str(source["currency"]),
    start,
    end,
    status,
    flags: Array.isArray(source["flags"])
      ? source["flags"].filter((flag) => typeof flag === "string")
      : [],
    budget: planned,
    spent,
    spentShare: share(spent, planned),
    due,
    variance,
    varianceShare: share(variance, due),
    remaining: num(budget["remaining_budget"]),
    projection,
    projectionShare: share(projection, planned),
    targetRate: num(daily["target_daily_rate"]),
    actualRate: num(daily["actual_daily_rate"]),
    requiredRate: num(daily["required_daily_rate"]),
    totalDays: num(timeline["total_days"]),
    daysPassed: num(timeline["days_passed"]),
    daysLeft: num(timeline["days_left"]),
    asOf: str(source["as_of"]),
    zone: str(source["time_zone"]),
    lag: num(source["data_lag_days"]) ?? 0,
    days: readDays(insights["daily_trend"], start, end),
    campaigns: list(obj(source["rollups"])["campaigns_total"]).map((row) => {
      const [budget, spend] = [num(row["budget"]), num(row["spend"])];
      return {
        id: str(row["campaign_id"]) ?? "",
        name: str(row["display_name"]) ?? str(row["campaign_name"]) ?? "",
        budget,
        spend,
        share: share(spend, budget),
        status: readStatus(row["pacing_status"]),
      };
    }),
    assumptions: list(source["assumptions"])
      .map((assumption) => str(assumption["text"]))
      .filter((text) => text !== null),
    csv: str(obj(source["csv"])["text"]),
  };
}

function readStatus(value: unknown): PacingStatus | null {
  const status = str(value);
  return status !== null && STATUSES.includes(status) ? (status as PacingStatus) : null;
}

/** Returns the exact share. The percentage in the result is already rounded: rounding it again would differ from the answer. */
function share(part: number | null, whole: number | null): number | null {
  return part === null || whole === null || whole === 0 ? null : part / whole;
}

function readDays(trend: unknown, start: string, end: string): Day[] {
  const known = new Map(list(trend).map((day) => [str(day["date"]) ?? "", day]));
  return daysBetween(start, end).map((date) => {
    const day = known.get(date);
    return {
      date,
      spend: day ? num(day["spend"]) : null,
      impressions: day ? num(day["impressions"]) : null,
      target: day ? num(day["target"]) : null,
      status: readStatus(day?.["status"]),
      partial: day?.["partial"] === true,
    };
  });
}
