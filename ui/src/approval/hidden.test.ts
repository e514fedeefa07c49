// Characters that a reader cannot see are shown.
import { describe, expect, test } from "vitest";
import { argumentRows, pieces } from "./hidden";

describe("pieces", () => {
  test("plain text, also in other scripts, stays whole", () => {
    for (const text of ["", "two shoes", "röda skor 👟", "靴 2"])
      expect(pieces(text).every((p) => !p.code)).toBe(true);
  });
  test("zero-width, direction and control characters are named", () => {
    expect(pieces("pay\u200bpal\u202etxt\n").map((p) => p.code ?? p.text)).toEqual([
      "pay",
      "U+200B",
      "pal",
      "U+202E",
      "txt",
      "U+000A",
    ]);
    expect(pieces("\u{e0041}")[0]?.code).toBe("U+E0041");
  });
  test("characters that Unicode calls invisible are named, in every plane", () => {
    const hidden =
      /[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/u;
    const blank = [0x2800, 0xfffc, 0xfffd, 0x1107f, 0x13441, 0x13442, 0x16fe4, 0x1d159];
    const points = Array.from({ length: 0x110000 }, (_, point) => point).filter(
      (point) => point < 0xd800 || point > 0xdfff,
    );
    const chars = points.map((point) => String.fromCodePoint(point));
    const expected = chars.filter(
      (char) => char !== " " && (hidden.test(char) || blank.includes(char.codePointAt(0)!)),
    );
    const named = pieces(chars.join("")).filter((piece) => piece.code);
    expect(named.map((piece) => piece.text)).toEqual(expected);
  });
  test("the pieces of a text contain all its characters", () => {
    const text = "a\u00a0b\u2066c\ufeff";
    expect(
      pieces(text)
        .map((p) => p.text)
        .join(""),
    ).toBe(text);
  });
});

describe("argumentRows", () => {
  test("an indented value keeps its lines, and a line feed inside its texts is still named", () => {
    const shown = argumentRows(JSON.stringify({ list: ["a\nb"], text: "a\nb" }))!.map((row) =>
      pieces(row.value, row.laidOut)
        .map((p) => p.code ?? p.text)
        .join(""),
    );
    expect(shown).toEqual(['[\n  "a\\nb"\n]', "aU+000Ab"]);
  });
  test("every argument is shown in full", () => {
    const long = "x".repeat(5000);
    expect(
      argumentRows(JSON.stringify({ a: long, n: 2, o: { k: [1] } }))?.map((r) => r.value.length),
    ).toEqual([5000, 1, 22]);
  });
  test("a large number keeps its digits", () => {
    const rows = argumentRows('{"id":12345678901234567890,"list":[1.10]}')!;
    expect(rows.map((row) => row.value)).toEqual(["12345678901234567890", "[\n  1.10\n]"]);
  });
  test("arguments that are not an object have no rows", () => {
    expect(argumentRows("[1]")).toBeNull();
    expect(argumentRows("{")).toBeNull();
  });
});
