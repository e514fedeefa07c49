// The parts of code that are coloured.
import { expect, test } from "vitest";
import { codeParts, type CodeLanguage } from "./code";

/** Returns the coloured parts as texts with their kinds. */
const coloured = (code: string, language: CodeLanguage): string[] =>
  codeParts(code, language).flatMap(({ kind, text }) => (kind ? [`${kind}: ${text}`] : []));

test("SQL has keywords, functions, texts, numbers and comments, and names stay plain", () => {
  const sql = `SELECT "from" AS "spend", sum(o."cost") * 1.5 -- all
FROM "ads" o WHERE city = 'Växjö''s' AND left(name, 3) IN ('a', $$select$$)`;
  expect(coloured(sql, "sql")).toEqual([
    "keyword: SELECT",
    "keyword: AS",
    "function: sum",
    "number: 1.5",
    "comment: -- all",
    "keyword: FROM",
    "keyword: WHERE",
    "string: 'Växjö''s'",
    "keyword: AND",
    "function: left",
    "number: 3",
    "keyword: IN",
    "string: 'a'",
    "string: $$select$$",
  ]);
});

test("a digit in a name is no number, and a bracket after IN or OVER calls no function", () => {
  expect(
    coloured("SELECT _b1, col2 FROM t WHERE a in(1) AND rank() over(ORDER BY x)", "sql"),
  ).toEqual([
    "keyword: SELECT",
    "keyword: FROM",
    "keyword: WHERE",
    "keyword: in",
    "number: 1",
    "keyword: AND",
    "function: rank",
    "keyword: over",
    "keyword: ORDER",
    "keyword: BY",
  ]);
});

test("JSON has names, texts, numbers and constants", () => {
  expect(coloured('{"a": "x: 1", "b\\"": [-2.5e3, true, null]}', "json")).toEqual([
    'type: "a"',
    'string: "x: 1"',
    'type: "b\\""',
    "number: -2.5e3",
    "constant: true",
    "constant: null",
  ]);
});

test("the parts together are the code, whatever it is", () => {
  for (const code of ["", "'open", '"open', "/* open", "$$ open", "a'b\"c`d", "😀 -- 😀\n'é'"]) {
    for (const language of ["sql", "json"] as const)
      expect(
        codeParts(code, language)
          .map(({ text }) => text)
          .join(""),
      ).toBe(code);
  }
  const long = "SELECT 1;".repeat(10_000);
  expect(codeParts(long, "sql")).toEqual([{ kind: null, text: long }]);
  expect(codeParts("SELECT 1", null)).toEqual([{ kind: null, text: "SELECT 1" }]);
});
