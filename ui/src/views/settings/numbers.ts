// How a number of the settings is written and read: with the signs of the language, and a long time or a large size also in a unit that a
// person knows. Knows no setting.
import { formatNumber, t } from "../../i18n/index.svelte";

/** The units of numbers in the settings. `none` has no word. */
export type Unit =
  | "seconds"
  | "minutes"
  | "hours"
  | "days"
  | "megabytes"
  | "characters"
  | "tokens"
  | "messages"
  | "dollars"
  | "none";

/** Returns a number with the groups and the decimal sign of the language, and with all its digits. */
export function writeNumber(value: number): string {
  return formatNumber(value, { maximumFractionDigits: 20 });
}

/** Returns the sign between groups and the decimal sign of the language. */
function signs(): { group: string; decimal: string } {
  const found = /^12(\D*)345(\D)6$/u.exec(formatNumber(12345.6));
  return { group: found?.[1] ?? "", decimal: found?.[2] ?? "." };
}

/** Returns the number that a person wrote; NaN if it is none. Groups may be written, and a comma or a point as the decimal sign. */
export function readNumber(text: string): number {
  const plain = text.replace(/[\s\u00a0\u202f'’]/gu, "");
  if (!/^-?[\d.,]+$/u.test(plain)) return Number.NaN;
  const { group } = signs();
  const grouped = group === "." ? /^-?[1-9]\d{0,2}(\.\d{3})+(,\d*)?$/u : null;
  const inEnglish = group === "," ? /^-?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/u : null;
  if (grouped?.test(plain)) return Number(plain.replaceAll(".", "").replace(",", "."));
  if (inEnglish?.test(plain)) return Number(plain.replaceAll(",", ""));
  return Number(plain.replace(",", "."));
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;
const TIMES: readonly (readonly [number, string])[] = [
  [2 * YEAR, "year"],
  [2 * DAY, "day"],
  [2 * HOUR, "hour"],
  [2 * MINUTE, "minute"],
];
const LENGTHS: Readonly<Record<string, number>> = {
  year: YEAR,
  day: DAY,
  hour: HOUR,
  minute: MINUTE,
};

/** Returns a large value in a unit that is easier to imagine, such as 10 minutes for 600 seconds; null if its own unit is as good. */
export function inLargerUnit(value: number, unit: Unit): string | null {
  const write = (amount: number, name: string): string =>
    formatNumber(amount, {
      style: "unit",
      unit: name,
      unitDisplay: "long",
      maximumFractionDigits: 1,
    });
  if (unit === "megabytes" && value >= 1000)
    return formatNumber(value / 1000, {
      style: "unit",
      unit: "gigabyte",
      maximumFractionDigits: 1,
    });
  const seconds = unit === "seconds" ? value : unit === "days" && value >= 730 ? value * DAY : 0;
  const found = TIMES.find(([least]) => seconds >= least);
  return found ? write(seconds / LENGTHS[found[1]]!, found[1]) : null;
}

/** The units of a time that is stored in seconds, the largest first. */
const PARTS = [
  { unit: "days", seconds: DAY },
  { unit: "hours", seconds: HOUR },
  { unit: "minutes", seconds: MINUTE },
] as const;

/** Returns the unit in which a number is written, and its size: a time of whole minutes is not written in seconds. */
export function writtenIn(value: number, unit: Unit): { unit: Unit; size: number } {
  const found = PARTS.find(({ seconds }) => value > 0 && value % seconds === 0);
  return unit === "seconds" && found
    ? { unit: found.unit, size: found.seconds }
    : { unit, size: 1 };
}

/** Returns a bound of a range in the unit in which it is written. */
export function boundText(value: number, unit: Unit): string {
  if (unit !== "seconds") return formatNumber(value);
  const found = writtenIn(value, unit);
  return t("unit.amount", {
    amount: formatNumber(value / found.size),
    unit: unitText(value / found.size, found.unit, null),
  });
}

/** Returns the words after a number: its unit, and what the number means if it is large or zero. */
export function unitText(value: number, unit: Unit, zero: string | null): string {
  const name = unit === "none" ? "" : t(`unit.${unit}`, { count: value });
  const note = value === 0 ? zero : inLargerUnit(value, unit);
  if (note === null) return name;
  return name === "" ? note : t("unit.noted", { unit: name, note });
}
