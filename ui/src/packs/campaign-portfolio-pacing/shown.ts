// The content of the card of a pacing result. Pure.
import { list, num, obj, str } from "../../lib/read";
import type { ShownRows } from "../../results/shown";
import type { ToolResult } from "../../state/transcript";
import { readPacing, type Pacing } from "./pacing";

/** The campaigns, days and figures of a pacing result. */
export function shownRows(result: ToolResult): ShownRows {
  const data = obj(result.data);
  const rows: ShownRows = { names: [], amounts: [], figures: new Set() };
  for (const campaign of list(obj(data["rollups"])["campaigns_total"]))
    rows.names.push(
      ...[str(campaign["display_name"]), str(campaign["campaign_name"])].filter((n) => n !== null),
    );
  for (const day of list(obj(data["insights"])["daily_trend"]))
    rows.amounts.push(...[num(day["spend"]) ?? []].flat());
  const pacing = readPacing(data);
  if (pacing) addFigures(rows.figures, pacing);
  return rows;
}

function addFigures(figures: Set<string>, pacing: Pacing): void {
  const add = (value: number | null, decimals: number[]): void => {
    if (value === null) return;
    for (const count of decimals) figures.add(Math.abs(value).toFixed(count).replace(".", ""));
  };
  const { budget, spent, due, variance, remaining, projection } = pacing;
  const rates = [pacing.targetRate, pacing.actualRate, pacing.requiredRate];
  for (const amount of [budget, spent, due, variance, remaining, projection, ...rates])
    add(amount, [0, 2]);
  for (const share of [pacing.spentShare, pacing.varianceShare, pacing.projectionShare])
    add(share === null ? null : share * 100, [0, 1]);
}
