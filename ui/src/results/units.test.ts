// Units that stand in headings.
import { expect, test } from "vitest";
import type { ResultContent } from "../platform/generated/ResultContent";
import { commonUnits, withoutUnit, withUnit } from "./units";

const columns: ResultContent["columns"] = [
  { label: { en: "Campaign" }, role: "dimension", format: "text" },
  { label: { en: "Spend" }, role: "measure", format: "money" },
  { label: { en: "Share" }, role: "measure", format: "percent" },
];
const row = (spend: string | null, unit?: string): ResultContent["rows"][number] => [
  { value: "Brand" },
  { value: spend, ...(unit !== undefined && { unit }) },
  { value: 0.5, unit: "EUR" },
];
const content = (...rows: ResultContent["rows"]): ResultContent => ({
  columns,
  rows,
  total: rows.length,
});

test("a unit of all values is one of the column, and two units are those of the values", () => {
  const one = content(row("1", "EUR"), row(null), row("2", "EUR"));
  expect(commonUnits(one)).toEqual([null, "EUR", null]);
  expect(commonUnits(content(row("1", "EUR"), row("2", "SEK")))).toEqual([null, null, null]);
  expect(commonUnits(content(row("1", "EUR"), row("2")))).toEqual([null, null, null]);
  expect(commonUnits({ ...one, totals: [row("3", "SEK")] })).toEqual([null, null, null]);
  expect(commonUnits(content())).toEqual([null, null, null]);
});

test("a heading says its unit once, and a value of the column does not", () => {
  expect(withUnit("Spend", "EUR")).toBe("Spend (EUR)");
  expect(withUnit("Cost (EUR)", "EUR")).toBe("Cost (EUR)");
  expect(withUnit("Spend", null)).toBe("Spend");
  expect(withoutUnit({ value: "1", unit: "EUR" })).toEqual({ value: "1" });
});
