// Exact arithmetic with decimal numbers that are written as digits, such as "-1234.50" or "1e-7". No number passes through a float.

/** A whole number of units, each 10^-scale. */
interface Scaled {
  units: bigint;
  scale: number;
}

const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i;

function scaled(digits: string): Scaled | null {
  const [, sign = "", whole = "", part = "", exponent = "0"] = NUMBER.exec(digits.trim()) ?? [];
  if (whole === "" && part === "") return null;
  const scale = part.length - Number(exponent);
  const units = BigInt(`${whole}${part}`) * 10n ** BigInt(Math.max(0, -scale));
  return { units: sign === "-" ? -units : units, scale: Math.max(0, scale) };
}

function raised({ units, scale }: Scaled, to: number): bigint {
  return units * 10n ** BigInt(to - scale);
}

function written(units: bigint, scale: number): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, "0");
  const whole = digits.slice(0, digits.length - scale);
  const part = scale === 0 ? "" : `.${digits.slice(digits.length - scale)}`;
  return `${units < 0n ? "-" : ""}${whole}${part}`;
}

/** Returns the first number minus the second one, with the decimal places of the more exact one. Null if a text is no number. */
export function minus(one: string, other: string): string | null {
  const [a, b] = [scaled(one), scaled(other)];
  if (!a || !b) return null;
  const scale = Math.max(a.scale, b.scale);
  return written(raised(a, scale) - raised(b, scale), scale);
}

/** Returns the sum of numbers, with the decimal places of the most exact one. Null if there is none, or if a text is no number. */
export function sumOfDecimals(values: readonly string[]): string | null {
  const parts: Scaled[] = [];
  for (const value of values) {
    const part = scaled(value);
    if (!part) return null;
    parts.push(part);
  }
  if (parts.length === 0) return null;
  const scale = parts.reduce((most, part) => Math.max(most, part.scale), 0);
  const units = parts.reduce((sum, part) => sum + raised(part, scale), 0n);
  return written(units, scale);
}

/** Compares two numbers: negative, zero or positive. A text that is no number comes last. */
export function compareDecimals(one: string, other: string): number {
  const [a, b] = [scaled(one), scaled(other)];
  if (!a || !b) return Number(a === null) - Number(b === null);
  const scale = Math.max(a.scale, b.scale);
  const [left, right] = [raised(a, scale), raised(b, scale)];
  return left < right ? -1 : Number(left > right);
}

/** Whether the number is zero. */
export const isZero = (digits: string): boolean => scaled(digits)?.units === 0n;

/** Whether the number is below zero. */
export const isNegative = (digits: string): boolean => (scaled(digits)?.units ?? 0n) < 0n;

/** Returns the number of decimal places. */
export const placesOf = (digits: string): number => scaled(digits)?.scale ?? 0;

/** Whether a text is a number, also one with an exponent. */
export const isNumeric = (text: string): boolean => scaled(text) !== null;

/** Whether a text is a number that is written with digits and a point. */
export const isDecimal = (text: string): boolean => !/e/i.test(text) && isNumeric(text);

/** Returns the number of digits between the first and the last one that is not zero. */
export const significantDigits = (digits: string): number =>
  digits
    .replace(/e.*$/i, "")
    .replace(/\D/g, "")
    .replace(/^0+|0+$/g, "").length;

/** Returns the decimal places of a computed figure for a reader. A price per click can be far below 1. */
export const placesFor = (value: number | string): number => (Math.abs(Number(value)) < 1 ? 4 : 2);
