// Converts a server's question into fields: a flat JSON Schema of texts, numbers, yes/no and
// choices. Knows no component.

export type FieldKind = "text" | "number" | "yes_no" | "choice" | "choices";
export type FieldValue = string | boolean | string[];
export interface FormField {
  name: string;
  label: string;
  hint: string | null;
  kind: FieldKind;
  required: boolean;
  whole: boolean;
  format: string | null;
  options: { value: string; label: string }[];
  initial: FieldValue;
}

type Schema = Record<string, unknown>;
const record = (value: unknown): Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Schema) : {};
const text = (value: unknown): string | null => (typeof value === "string" ? value : null);

function choices(schema: Schema): FormField["options"] {
  const listed = Array.isArray(schema.enum) ? schema.enum : null;
  const names = Array.isArray(schema.enumNames) ? schema.enumNames : [];
  if (listed)
    return listed.map((value, index) => ({
      value: String(value),
      label: text(names[index]) ?? String(value),
    }));
  const titled = Array.isArray(schema.oneOf)
    ? schema.oneOf
    : Array.isArray(schema.anyOf)
      ? schema.anyOf
      : [];
  return titled
    .map(record)
    .filter((one) => one.const !== undefined)
    .map((one) => ({ value: String(one.const), label: text(one.title) ?? String(one.const) }));
}

/** Returns the fields of a question. A value that is not flat becomes a text field. */
export function fields(schema: unknown): FormField[] {
  const required = record(schema).required;
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(record(record(schema).properties)).map(([name, property]) => {
    const one = record(property);
    const several = one.type === "array";
    const options = choices(several ? record(one.items) : one);
    const kind: FieldKind = several
      ? "choices"
      : options.length > 0
        ? "choice"
        : one.type === "boolean"
          ? "yes_no"
          : one.type === "number" || one.type === "integer"
            ? "number"
            : "text";
    const given = one.default;
    const initial: FieldValue =
      kind === "yes_no"
        ? given === true
        : kind === "choices"
          ? Array.isArray(given)
            ? given.map(String)
            : []
          : given === undefined || given === null
            ? ""
            : typeof given === "string"
              ? given
              : JSON.stringify(given);
    return {
      name,
      label: text(one.title) ?? name,
      hint: text(one.description),
      kind,
      required: needed.includes(name),
      whole: one.type === "integer",
      format: text(one.format),
      options,
      initial,
    };
  });
}

/** Returns why an answer cannot be sent: `missing` or `number`; null if it can be sent. */
export function problem(field: FormField, value: FieldValue): "missing" | "number" | null {
  if (typeof value === "boolean") return null;
  const empty = typeof value === "string" ? value.trim() === "" : value.length === 0;
  if (empty) return field.required ? "missing" : null;
  if (field.kind !== "number") return null;
  const number = Number(value);
  return !Number.isFinite(number) || (field.whole && !Number.isInteger(number)) ? "number" : null;
}

/** Returns the values to send, without the fields that were left empty. */
export function answer(
  all: FormField[],
  values: Record<string, FieldValue>,
): Record<string, unknown> {
  const sent: Record<string, unknown> = {};
  for (const field of all) {
    const value = values[field.name] ?? field.initial;
    if (typeof value === "string" && value.trim() === "") continue;
    if (Array.isArray(value) && value.length === 0 && !field.required) continue;
    sent[field.name] = field.kind === "number" ? Number(value) : value;
  }
  return sent;
}
