// Reads values of unknown JSON without trusting its shape.
export type Obj = Record<string, unknown>;

export function obj(value: unknown): Obj {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Obj) : {};
}
export function list(value: unknown): Obj[] {
  return Array.isArray(value) ? value.map(obj) : [];
}
export function str(value: unknown): string | null {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value.trim() !== "" ? value.trim() : null;
}
/** Returns the first of these members that is a text and not blank. */
export function first(source: Obj, names: readonly string[]): string | null {
  for (const name of names) {
    const found = str(source[name]);
    if (found !== null) return found;
  }
  return null;
}
/** Returns a number, also from text such as "1299.00". */
export function num(value: unknown): number | null {
  const parsed =
    typeof value === "number"
      ? value
      : typeof value === "string" && value.trim() !== ""
        ? Number(value)
        : NaN;
  return Number.isFinite(parsed) ? parsed : null;
}
