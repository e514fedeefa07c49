// One glance at an import: what is shown, and what has a colour.
import { expect, test } from "vitest";
import { changeOf, reportOf } from "../testing";
import { countsOf, lengthOf, rangeOf, stripOf, sumsOf, totalsAgree, unusedColumns } from "./glance";

test("only numbers that are not zero have a colour", () => {
  const found = { report: reportOf(), change: changeOf({ vanished_rows: 3 }) };
  expect(countsOf(found).map(({ id, count, tone }) => `${id} ${count} ${tone}`)).toEqual([
    "new 60 info",
    "changed 0 plain",
    "vanished 3 warn",
    "left_out 1 info",
    "rejected 0 plain",
    "unused 1 info",
  ]);
});

test("a file that cannot be compared yet has no numbers of a change", () => {
  expect(countsOf({ report: reportOf() }).map(({ id }) => id)).toEqual([
    "left_out",
    "rejected",
    "unused",
  ]);
  expect(unusedColumns(reportOf()).map(({ name }) => name)).toEqual(["Labels"]);
});

test("the sums of the file, its total line and the source are one line for each currency", () => {
  const change = changeOf({
    sums: [
      { column: "Cost", currency: "EUR", before: "65856", after: "64611.00", vanished: "1245.00" },
    ],
  });
  const [cost, clicks] = sumsOf({ report: reportOf(), change });
  expect(cost).toMatchObject({
    inFile: "750.00",
    stated: "750.00",
    agrees: true,
    difference: "-1245.00",
    vanished: "1245.00",
  });
  expect(clicks).toMatchObject({ inFile: "90", stated: null, before: null, difference: null });
});

test("amounts of two currencies stay apart, and the total line of both belongs to neither", () => {
  const report = reportOf({
    sums: [
      { column: "Cost", currency: "GBP", sum: "200" },
      { column: "Cost", currency: "JPY", sum: "40000" },
    ],
  });
  expect(
    sumsOf({ report }).map(({ currency, inFile, stated }) => [currency, inFile, stated]),
  ).toEqual([
    ["GBP", "200", null],
    ["JPY", "40000", null],
    [null, null, "750.00"],
  ]);
});

test("a total line that differs is said", () => {
  const columns = [{ column: "Cost", stated: "751", computed: "750.00", agrees: false }];
  expect(totalsAgree(reportOf({ file_total: { line: 9, columns } }))).toBe(false);
  expect(totalsAgree(reportOf())).toBe(true);
  expect(totalsAgree({ ...reportOf(), file_total: undefined })).toBeNull();
});

test("the strip shows the stated range, the days before, and days without rows at the edges and between", () => {
  const found = { report: reportOf(), change: changeOf() };
  expect(rangeOf(found)).toEqual({ first: "2026-11-01", last: "2026-11-30" });
  expect(lengthOf({ first: "2026-10-24", last: "2026-10-26" })).toBe(3);
  const strip = stripOf(found, { first: "2026-10-01", last: "2026-11-30", days: 61 })!;
  expect([strip.first, strip.last]).toEqual(["2026-10-01", "2026-11-30"]);
  expect(strip.before).toEqual({ start: 0, size: 1 });
  expect(strip.file.start).toBeCloseTo(31 / 61, 6);
  expect(strip.gaps.map(({ size }) => Math.round(size * 61))).toEqual([1, 2]);
  expect(
    stripOf({ report: { ...reportOf(), stated_range: undefined, days: undefined } }, null),
  ).toBeNull();
});
