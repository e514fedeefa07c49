// Sums with more digits than a float keeps.
import { expect, test } from "vitest";
import {
  compareDecimals,
  isDecimal,
  isNegative,
  isNumeric,
  isZero,
  minus,
  placesFor,
  placesOf,
  significantDigits,
  sumOfDecimals,
} from "./decimal";

test("a difference keeps every digit and the decimal places of the more exact number", () => {
  expect(minus("64611.00", "65856")).toBe("-1245.00");
  expect(minus("0.3", "0.1")).toBe("0.2");
  expect(minus("12345678901234567890.01", "12345678901234567890")).toBe("0.01");
  expect(minus("-1", "-1")).toBe("0");
  expect(minus("abc", "1")).toBeNull();
});

test("numbers are compared by their value, and texts that are no numbers come last", () => {
  expect(["10", "9.5", "-3", "9.50"].sort(compareDecimals)).toEqual(["-3", "9.5", "9.50", "10"]);
  expect(compareDecimals("1.0", "1")).toBe(0);
  expect(compareDecimals("x", "1")).toBeGreaterThan(0);
});

test("zero and the sign do not depend on how a number is written", () => {
  expect(["0", "-0.00", "0.01"].map(isZero)).toEqual([true, true, false]);
  expect(["-0.01", "-0", "5"].map(isNegative)).toEqual([true, false, false]);
  expect(["", ".", "1e5", "1.", ".5"].map(isDecimal)).toEqual([false, false, false, true, true]);
  expect(placesOf("1.250")).toBe(3);
});

test("zeros at both ends are no significant digits", () => {
  expect(
    ["-0.00120", "1000000000000000000.00", "12345678901234567.89", "0", "1.5e+21"].map(
      significantDigits,
    ),
  ).toEqual([2, 1, 19, 0, 2]);
});

test("a number with an exponent is as exact as its digits", () => {
  const numbers = ["2e-7", "0.0000001", "1.5E3", "-3e2", "999"];
  expect(numbers.sort(compareDecimals)).toEqual(["-3e2", "0.0000001", "2e-7", "999", "1.5E3"]);
  expect(["-1.5e-7", "1e9999", "e5", "=1"].map(isNumeric)).toEqual([true, false, false, false]);
  expect(minus("1e3", "0.5")).toBe("999.5");
});

test("a figure below 1 has more decimals for a reader", () => {
  expect([0, 0.0044, "-0.5", 1, "-17.25"].map(placesFor)).toEqual([4, 4, 4, 2, 2]);
});

test("a sum is exact, and there is none of what is no number", () => {
  const tenths = Array.from({ length: 10 }, () => "0.1");
  expect(sumOfDecimals(tenths)).toBe("1.0");
  expect(sumOfDecimals(["12345678901234567.25", "-0.25", "1e3"])).toBe("12345678901235567.00");
  expect(sumOfDecimals(["1e308", "1e308"])).toBe(`2${"0".repeat(308)}`);
  expect([sumOfDecimals([]), sumOfDecimals(["1", "Infinity"])]).toEqual([null, null]);
});
