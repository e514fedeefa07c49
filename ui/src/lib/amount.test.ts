// Amounts mean the same in the window and in the host: both are tested with one table.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readAmount } from "./amount";

const TABLE = join(import.meta.dirname, "../../../tests/data/amounts.json");

test("amounts are read however they are written", () => {
  const table = JSON.parse(readFileSync(TABLE, "utf8")) as { text: string; value: string | null }[];
  expect(table.length).toBeGreaterThan(0);
  for (const { text, value } of table)
    expect([text, readAmount(text)?.toFixed(2) ?? null]).toEqual([text, value]);
});
