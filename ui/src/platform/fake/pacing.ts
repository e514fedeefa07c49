// A pacing result of the in-memory host, by the same formulas as the real one, around today.
export function pacingResult(kind: "behind" | "ahead" = "behind", long = false): unknown {
  const now = new Date();
  const month = new Date(Date.UTC(now.getFullYear(), now.getMonth(), 1));
  const total = new Date(Date.UTC(now.getFullYear(), now.getMonth() + 1, 0)).getUTCDate();
  const today = now.getDate();
  const budget = 30_000;
  const target = budget / total;
  const factor = kind === "behind" ? 0.93 : 1.09;
  const iso = (day: number): string => new Date(month.getTime() + (day - 1) * 86_400_000).toISOString().slice(0, 10);
  const trend = Array.from({ length: today }, (_, index) => {
    const wave = 1 + 0.16 * Math.sin(index * 1.7) - (index % 7 === 5 ? 0.18 : 0);
    const partial = index === today - 1;
    const spend = Math.round(target * factor * wave * (partial ? 0.55 : 1) * 100) / 100;
    return { date: iso(index + 1), spend, impressions: Math.round(spend * 212), target, partial };
  }).filter((_, index) => index !== 8);
  const spent = trend.reduce((sum, day) => sum + day.spend, 0);
  const elapsed = today - 0.4;
  const due = target * elapsed;
  const rate = spent / elapsed;
  const round = (value: number): number => Math.round(value * 100) / 100;
  const name = long ? "Northwind Outdoor Equipment, Camping & Mountaineering Supplies International Holding (Nordics, Baltics and the Rest of Northern Europe), including the former Ridgeway & Sons Trading Company of Aberdeen" : "Northwind Outdoor";
  return {
    status: "success",
    account_id: "17",
    account_name: name,
    advertiser: null,
    currency: "EUR",
    campaigns_analyzed: 4,
    date_range: { start: iso(1), end: iso(total) },
    insights: {
      budget_status: { portfolio_budget: budget, spent_budget: round(spent), remaining_budget: round(budget - spent), spend_percentage: round((100 * spent) / budget), should_have_spent: round(due), variance: round(spent - due), variance_percentage: round((100 * (spent - due)) / due), budget_projection: round((100 * rate * total) / budget), projected_spend: round(rate * total) },
      timeline: { start_date: iso(1), end_date: iso(total), today: iso(today), total_days: total, days_passed: round(elapsed), days_left: round(total - elapsed) },
      daily_pacing: { target_daily_rate: round(target), actual_daily_rate: round(rate), required_daily_rate: round((budget - spent) / (total - elapsed)), pacing_status: kind === "behind" ? "SLIGHTLY_BEHIND" : "AHEAD", budget_projection: round((100 * rate * total) / budget) },
      daily_trend: trend.toReversed(),
    },
    rollups: {
      campaigns_total: ["Autumn trail", "Winter boots", "Tents clearance", long ? name : "Brand search"].map((campaign, index) => ({ campaign_id: `c${index}`, campaign_name: campaign, display_name: campaign, advertiser: "Fernhill Boots", budget: index === 3 ? null : 7500 + index * 500, spend: round(spent * [0.4, 0.3, 0.2, 0.1][index]!), share: [0.41, 0.33, 0.21, 0][index] })),
    },
    as_of: now.toISOString(),
    data_lag_days: long ? 3 : 0,
    flags: kind === "ahead" ? ["overspend_risk"] : ["partial_day"],
    assumptions: [{ code: "budget_from_campaigns", text: "The budget is the sum of the campaigns' own budgets, each for the days of its flight within the window." }],
    csv: { file_name: "pacing_17.csv", text: "Date,Spend\r\n" + trend.map((day) => `${day.date},${day.spend}`).join("\r\n") },
  };
}
