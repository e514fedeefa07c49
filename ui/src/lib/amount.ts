// Parses amounts of money as shops write them, in the same way as the host (the engine's
// `amounts`). Both are tested with one table. Pure.

/** Decimal digits that are kept while calculating. */
const PLACES = 4;
const SPACE = /^\p{White_Space}+|\p{White_Space}+$/gu;
const LETTER = /^\p{Alphabetic}$/u;
/** Words as short as a currency that make a number the end of a range, not a price; before a number alone "fr." is such a word. */
const BOUNDS = ["from", "från", "max", "min", "ca", "over", "över"];
const SIGN = /^(\$|[^\p{ASCII}\p{Alphabetic}\p{N}\p{White_Space}])$/u;

const trimmed = (text: string): string => text.replace(SPACE, "");
const count = (text: string, sign: string): number => text.split(sign).length - 1;

/** Reads an amount ("1 299.00", "1299,5", "-1,299.00 kr", "SEK 12"), rounded to two decimals. A sentence with a number in it is
 *  none, nor is what may be two different amounts. */
export function readAmount(written: string): number | null {
  const text = trimmed(written);
  const first = text.search(/[0-9]/);
  if (first < 0) return null;
  const last = text.search(/[0-9][^0-9]*$/) + 1;
  // A number may begin with a decimal sign (".50"), but the point in "kr.15" belongs to the unit.
  const start = /(?<!\p{Alphabetic})[.,]$/u.test(text.slice(0, first)) ? first - 1 : first;
  const [signs, after] = [text.slice(0, start), trimmed(text.slice(last))];
  const minus = signs.match(/[-−]/g)?.length ?? 0;
  const before = trimmed(signs.replace(/[-−]/g, " "));
  if (
    minus > 1 ||
    /^fr\.*$/i.test(before) ||
    !isUnit(before) ||
    !(isUnit(after) || [":-", ",-", ".-"].includes(after))
  )
    return null;
  const number = text.slice(start, last).replace(/[\p{White_Space}']/gu, "");
  const [whole, fraction] = parts(number);
  // "1.299 kr" is written with both meanings.
  const isBare = before === "" && after === "";
  if (
    number.includes(".") &&
    !number.includes(",") &&
    fraction.length === 3 &&
    whole !== "0" &&
    !isBare
  )
    return null;
  const digits = whole.replace(/[.,]/g, "");
  if (digits.length > 20 || !/^[0-9]*$/.test(digits + fraction)) return null;
  const value = rounded(BigInt(digits + fraction.padEnd(PLACES, "0").slice(0, PLACES)));
  return minus === 1 ? 0 - value : value;
}

/** A currency beside a number: a sign or a short word, or nothing. */
function isUnit(text: string): boolean {
  if (BOUNDS.includes(text.replace(/\.+$/, "").toLowerCase())) return false;
  const chars = [...text];
  return (
    chars.length <= 4 && chars.every((char) => char === "." || LETTER.test(char) || SIGN.test(char))
  );
}

/** Before and behind the decimal sign: the last of two kinds, or the only one. One that comes more often groups digits, and so does
 *  a comma before three of them. */
function parts(number: string): [whole: string, fraction: string] {
  const last = Math.max(number.lastIndexOf("."), number.lastIndexOf(","));
  if (last < 0) return [number, ""];
  const [sign, before, behind] = [
    number.charAt(last),
    number.slice(0, last),
    number.slice(last + 1),
  ];
  // "1,299" has no decimals; "1.299" has, as in numbers of programs.
  const groups =
    count(number, sign) > 1 ||
    (sign === "," &&
      behind.length === 3 &&
      before.length >= 1 &&
      before.length <= 3 &&
      before !== "0");
  return groups ? [number, ""] : [before, behind];
}

/** Two decimals, rounded half away from zero. */
function rounded(value: bigint): number {
  const unit = 10n ** BigInt(PLACES - 2);
  return Number((value + unit / 2n) / unit) / 100;
}
