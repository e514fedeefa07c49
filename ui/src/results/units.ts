// The unit that all values of a column share. Its heading says it once, and the values need not repeat it. Pure.
import type { Definitions } from "../platform/generated/Definitions";
import type { Measure } from "../platform/generated/Measure";
import type { ResultCell } from "../platform/generated/ResultCell";
import type { ResultContent } from "../platform/generated/ResultContent";

const NO_CELL: ResultCell = { value: null };

/** Returns for each column the unit that its values and totals share; null if there is none, or several. Percentages have their sign. */
export function commonUnits({ columns, rows, totals = [] }: ResultContent): (string | null)[] {
  return columns.map(({ format }, at) => {
    if (format !== "money" && format !== "number") return null;
    const units = new Set<string | undefined>();
    for (const row of [...rows, ...totals]) {
      const { value, unit } = row[at] ?? NO_CELL;
      if (value !== null && value !== "") units.add(unit);
    }
    const [only] = units;
    return units.size === 1 ? (only ?? null) : null;
  });
}

/** Returns a heading with the unit of its values, unless it says it itself. */
export const withUnit = (heading: string, unit: string | null): string =>
  unit === null || heading.includes(`(${unit})`) ? heading : `${heading} (${unit})`;

/** Returns a cell without its unit, which the heading says. */
export const withoutUnit = ({ value }: ResultCell): ResultCell => ({ value });

/** Returns the measure whose currency a computed one has: the numerator of a ratio, and the first part of a sum; null if it is not computed. */
function currencyFrom(measure: Measure): string | null {
  if ("ratio" in measure) return measure.ratio[0];
  if ("plus" in measure) return measure.plus[0] ?? null;
  if ("minus" in measure) return measure.minus[0];
  return "of" in measure ? measure.of : null;
}

/** Returns the currency of an amount. One that is computed has that of the measure that it is computed from. */
export function currencyOf(
  measure: Measure,
  { measures = {} }: Pick<Definitions, "measures">,
): Measure["currency"] {
  let found: Measure | undefined = measure;
  // A definition with a fault can name itself.
  for (let left = Object.keys(measures).length; found && left >= 0; left -= 1) {
    if (found.currency !== undefined) return found.currency;
    found = measures[currencyFrom(found) ?? ""];
  }
  return undefined;
}
