// Readable forms of names.
import { expect, test } from "vitest";
import { rawName, readableName } from "./names";

test("a name of a program is written as words", () => {
  const said = [
    "partNo",
    "clientIp",
    "basket_id",
    "due-date",
    "quantity",
    "HTMLBody",
    "a.b",
    "to2",
  ];
  expect(said.map(readableName)).toEqual([
    "Part no",
    "Client IP",
    "Basket ID",
    "Due date",
    "Quantity",
    "HTML body",
    "A b",
    "To2",
  ]);
});

test("a name with other signs stays as it is, so that hidden characters stay visible", () => {
  for (const name of ["to\u202e", "tо", "", "_to", "a b", "straße", "1st", "$ref"])
    expect(readableName(name)).toBe(name);
});

test("the name itself is a detail only if it differs by more than capitals", () => {
  expect(["quantity", "partNo", "to\u202e"].map(rawName)).toEqual([null, "partNo", null]);
});
