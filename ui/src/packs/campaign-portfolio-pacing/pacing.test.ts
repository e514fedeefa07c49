// Reading a pacing result.
import { describe, expect, test } from "vitest";
import { readPacing } from "./pacing";

describe("pacing results", () => {
  const result = {
    account_id: "17",
    account_name: "Northwind Outdoor",
    currency: "EUR",
    date_range: { start: "2026-11-01", end: "2026-11-05" },
    insights: {
      budget_status: { portfolio_budget: 5000, spent_budget: 2400 },
      timeline: { total_days: 5, days_passed: 2.5, days_left: 2.5 },
      daily_pacing: { target_daily_rate: 1000, actual_daily_rate: 960, pacing_status: "ON_TRACK" },
      daily_trend: [
        { date: "2026-11-03", spend: 400, impressions: 10, partial: true },
        { date: "2026-11-01", spend: 2000, impressions: 90, target: 800, partial: false },
      ],
    },
    rollups: {
      campaigns_total: [{ campaign_id: "A", pacing_status: "BEHIND" }, { campaign_id: "B" }],
    },
  };
  test("a result becomes days in order over the whole window, with gaps for days without data", () => {
    const pacing = readPacing(result)!;
    expect(pacing.days.map((day) => [day.date, day.spend, day.partial])).toEqual([
      ["2026-11-01", 2000, false],
      ["2026-11-02", null, false],
      ["2026-11-03", 400, true],
      ["2026-11-04", null, false],
      ["2026-11-05", null, false],
    ]);
    expect(pacing.status).toBe("ON_TRACK");
    expect(pacing.days.map((day) => day.target)).toEqual([800, null, null, null, null]);
    expect(pacing.campaigns.map((campaign) => campaign.status)).toEqual(["BEHIND", null]);
  });
  test("shares are computed from the amounts, and a part of 0 or of a missing amount has no share", () => {
    const shares = (budget_status: object) => {
      const { spentShare, varianceShare, projectionShare } = readPacing({
        ...result,
        insights: { ...result.insights, budget_status },
      })!;
      return [spentShare, varianceShare, projectionShare];
    };
    const amounts = {
      portfolio_budget: 129_621.61,
      spent_budget: 86_646.86,
      spend_percentage: 66.85,
      should_have_spent: 86_414.41,
      variance: 232.45,
      projected_spend: 129_621.61,
    };
    expect(shares(amounts).map((share) => share?.toFixed(3))).toEqual(["0.668", "0.003", "1.000"]);
    expect(
      shares({
        portfolio_budget: 0,
        spent_budget: 5,
        should_have_spent: 0,
        variance: 5,
        projected_spend: 5,
      }),
    ).toEqual([null, null, null]);
    expect(shares({ spent_budget: 5, projected_spend: 5 })).toEqual([null, null, null]);
  });
  test("a result of another kind is not drawn", () => {
    expect(readPacing({ message: "no" })).toBeNull();
    expect(readPacing(null)).toBeNull();
  });
});
