// SQL in lines: clauses, columns and inner queries, with every text as it was.
import { expect, test } from "vitest";
import { sqlText, writtenQuery } from "./sqlText";

test("clauses and selected columns begin lines, and a query in brackets is indented", () => {
  const sql =
    'WITH _a AS (\nSELECT "Account", sum("Cost") AS spend FROM t WHERE "Day" >= DATE \'2026-11-01\' GROUP BY 1\n), _b AS (SELECT 1) SELECT * FROM _a LEFT JOIN _b ON true ORDER BY spend DESC, 1 LIMIT 10';
  expect(sqlText(sql).split("\n")).toEqual([
    "WITH _a AS (",
    '  SELECT "Account",',
    '    sum("Cost") AS spend',
    "  FROM t",
    "  WHERE \"Day\" >= DATE '2026-11-01'",
    "  GROUP BY 1",
    "),",
    "_b AS (",
    "  SELECT 1",
    ")",
    "SELECT *",
    "FROM _a",
    "LEFT JOIN _b ON true",
    "ORDER BY spend DESC, 1",
    "LIMIT 10",
  ]);
});

test("words in functions, windows, names and texts begin no line", () => {
  for (const part of [
    "extract(year FROM d)",
    "row_number() OVER (PARTITION BY k ORDER BY x)",
    "a IS NOT DISTINCT FROM b",
    "'x  FROM y, SELECT it''s'",
    '"Order by  from"',
    "t.from",
    "left('abc', 2)",
    "CAST(x AS TIMESTAMP WITH TIME ZONE)",
    "$q$ a  FROM b $q$",
  ])
    expect(sqlText(`SELECT ${part} FROM t`)).toBe(`SELECT ${part}\nFROM t`);
});

test("a comment keeps its line", () => {
  expect(sqlText("SELECT 1 -- from here\nFROM t /* a  b */")).toBe(
    "SELECT 1 -- from here\nFROM t /* a  b */",
  );
});

test("SQL that is not surely understood stays as it is", () => {
  for (const sql of ["SELECT 'a\\' FROM  t", "SELECT ((1) FROM  t", ""])
    expect(sqlText(sql)).toBe(sql);
});

test("a query of a model is SQL in lines or the members of a metric query", () => {
  expect(writtenQuery("SELECT a FROM b")).toEqual({ value: "SELECT a\nFROM b", language: "sql" });
  expect(writtenQuery('{"measures":["spend"]}')).toEqual({
    value: { measures: ["spend"] },
    language: "json",
  });
  expect(writtenQuery("{broken")).toEqual({ value: "{broken", language: "sql" });
});
