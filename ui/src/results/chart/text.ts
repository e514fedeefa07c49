// Texts and sums of charts. Names come from data, so they can hold anything. Pure.
import { t } from "../../i18n/index.svelte";
import { sumOfDecimals } from "../../lib/decimal";

/** A longer name is cut. The table has all of it. */
const LONGEST = 120;
/** The most names of a sentence. */
const MOST_NAMES = 5;
// eslint-disable-next-line no-control-regex -- these characters cannot be in a picture
const NO_SIGN = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/g;
/** Half of a sign that needs two units. */
const HALF = /\p{Cs}/gu;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Returns a text that a picture can have: without signs that change the direction of what follows, and cut if it is very long. A text that is
 *  read from the right keeps its direction to itself. */
export function cleanText(text: string): string {
  const signs = [...text.replace(NO_SIGN, " ").replace(HALF, "\ufffd")];
  const cut = signs.length > LONGEST ? `${signs.slice(0, LONGEST - 1).join("")}…` : signs.join("");
  return RIGHT_TO_LEFT.test(cut) ? `\u2068${cut}\u2069` : cut;
}

/** Returns names as a list. Many names are a few, and the number of the others. */
export function listNames(names: readonly string[]): string {
  if (names.length <= MOST_NAMES) return names.join(", ");
  const shown = names.slice(0, MOST_NAMES - 1).join(", ");
  return t("results.chart_more", { names: shown, count: names.length - MOST_NAMES + 1 });
}

/** Returns the exact sum of the numbers. Null if there is no number, or no number can hold the sum. */
export function sumOf(values: readonly (number | null)[]): number | null {
  const numbers = values.filter((value) => value !== null);
  if (numbers.length < 2) return numbers[0] ?? null;
  const sum = Number(sumOfDecimals(numbers.map(String)));
  return Number.isFinite(sum) ? sum : null;
}
