// Determines from a JSON schema which field edits a value, and what is wrong with the value. Only a part of the schema is checked here. The
// host checks all of it when the edited request is submitted. Pure.
import { t } from "../../i18n/index.svelte";
import { readableName } from "../../lib/names";
import { NUMBER, write, type Node } from "./json";

export type Schema = Record<string, unknown>;

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const list = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

function typesOf(schema: Schema): string[] {
  const types = schema["type"];
  return typeof types === "string" ? [types] : list(types).map(String);
}

/** Whether a schema allows this kind of value. A schema without a type allows every kind. */
function fits(schema: Schema, kind: Node["kind"]): boolean {
  const types = typesOf(schema);
  return (
    types.length === 0 || types.includes(kind) || (kind === "number" && types.includes("integer"))
  );
}

/** The most references and alternatives that are followed for one value. */
const MOST_STEPS = 500;

/** Returns the schema that describes a value of this kind. References are followed, and the first alternative that fits is used. */
export function resolve(
  schema: unknown,
  root: Schema,
  kind: Node["kind"],
  depth = 8,
  steps = { left: MOST_STEPS },
): Schema {
  if (!isObject(schema) || depth === 0 || steps.left-- <= 0) return {};
  const ref = schema["$ref"];
  if (typeof ref === "string" && ref.startsWith("#/")) {
    const target = ref
      .slice(2)
      .split("/")
      .reduce<unknown>(
        (at, step) =>
          isObject(at) ? at[step.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined,
        root,
      );
    return { ...resolve(target, root, kind, depth - 1, steps), ...without(schema, "$ref") };
  }
  for (const word of ["anyOf", "oneOf"]) {
    for (const way of list(schema[word])) {
      const one = resolve(way, root, kind, depth - 1, steps);
      if (fits(one, kind)) return { ...one, ...without(schema, word) };
    }
  }
  return schema;
}

function without(schema: Schema, name: string): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([member]) => member !== name));
}

/** Returns the schema of a member or an item, or undefined if none is known. */
export function below(schema: Schema, step: string | number): unknown {
  if (typeof step === "number") return schema["items"];
  const members = schema["properties"];
  if (isObject(members) && step in members) return members[step];
  return schema["additionalProperties"];
}

/** Returns the names that a schema has and an object lacks. */
export function missing(schema: Schema, names: readonly string[]): string[] {
  const members = schema["properties"];
  return isObject(members) ? Object.keys(members).filter((name) => !names.includes(name)) : [];
}

export function isRequired(schema: Schema, name: string): boolean {
  return list(schema["required"]).includes(name);
}

/** Returns the values of an enumeration as JSON text; empty if there is none. */
export function options(schema: Schema): string[] {
  return list(schema["enum"]).map((value) => JSON.stringify(value));
}

/** The deepest level of required fields that an added field begins with. A schema can require itself. */
const MOST_LEVELS = 8;

/** Returns the initial value of an added field. */
export function blank(schema: unknown, root: Schema, levels = MOST_LEVELS): Node {
  if (levels === 0) return { kind: "null" };
  const resolved = resolve(schema, root, "string");
  const [first] = options(resolved);
  if ("default" in resolved) return valueOf(resolved["default"]);
  if (first !== undefined) return valueOf(JSON.parse(first));
  const [type] = typesOf(resolved).filter((one) => one !== "null");
  switch (type) {
    case "object":
      return {
        kind: "object",
        members: list(resolved["required"])
          .map(String)
          .map((name) => ({ name, value: blank(below(resolved, name), root, levels - 1) })),
      };
    case "array":
      return { kind: "array", items: [] };
    case "number":
    case "integer":
      return { kind: "number", text: "" };
    case "boolean":
      return { kind: "boolean", on: false };
    default:
      return { kind: "string", text: "" };
  }
}

function valueOf(value: unknown): Node {
  if (value === null || value === undefined) return { kind: "null" };
  if (typeof value === "string") return { kind: "string", text: value };
  if (typeof value === "number") return { kind: "number", text: String(value) };
  if (typeof value === "boolean") return { kind: "boolean", on: value };
  if (Array.isArray(value)) return { kind: "array", items: value.map(valueOf) };
  return {
    kind: "object",
    members: Object.entries(value).map(([name, inner]) => ({ name, value: valueOf(inner) })),
  };
}

const limit = (schema: Schema, name: string): number | undefined =>
  typeof schema[name] === "number" ? schema[name] : undefined;

/** Returns the problem of one value, without the values inside; null if there is none. */
export function problem(node: Node, schema: Schema): string | null {
  const allowed = options(schema);
  if (allowed.length > 0 && !allowed.includes(write(node))) return t("edit.not_offered");
  switch (node.kind) {
    case "number":
      return numberProblem(node.text.trim(), schema);
    case "string":
      return textProblem(node.text, schema);
    case "array": {
      const least = limit(schema, "minItems");
      const most = limit(schema, "maxItems");
      if (least !== undefined && node.items.length < least)
        return t("edit.least_items", { count: least });
      if (most !== undefined && node.items.length > most)
        return t("edit.most_items", { count: most });
      return null;
    }
    case "object": {
      const names = node.members.map((member) => member.name);
      const absent = list(schema["required"])
        .map(String)
        .filter((name) => !names.includes(name));
      return absent.length > 0
        ? t("edit.required", { names: absent.map(readableName).join(", ") })
        : null;
    }
    case "boolean":
    case "null":
      return null;
  }
}

function numberProblem(text: string, schema: Schema): string | null {
  if (!NUMBER.test(text)) return t("edit.not_a_number");
  const number = Number(text);
  const types = typesOf(schema);
  if (types.includes("integer") && !types.includes("number") && !Number.isInteger(number))
    return t("edit.not_whole");
  const least = limit(schema, "minimum");
  const most = limit(schema, "maximum");
  const above = limit(schema, "exclusiveMinimum");
  const under = limit(schema, "exclusiveMaximum");
  if (least !== undefined && number < least) return t("edit.at_least", { value: least });
  if (most !== undefined && number > most) return t("edit.at_most", { value: most });
  if (above !== undefined && number <= above) return t("edit.more_than", { value: above });
  if (under !== undefined && number >= under) return t("edit.less_than", { value: under });
  return null;
}

function textProblem(text: string, schema: Schema): string | null {
  const length = [...text].length;
  const least = limit(schema, "minLength");
  const most = limit(schema, "maxLength");
  if (least !== undefined && length < least)
    return length === 0 ? t("edit.empty") : t("edit.least_letters", { count: least });
  if (most !== undefined && length > most) return t("edit.most_letters", { count: most });
  return null;
}

/** Whether a tree has a problem anywhere. */
export function hasProblem(node: Node, given: unknown, root: Schema): boolean {
  const schema = resolve(given, root, node.kind);
  if (problem(node, schema) !== null) return true;
  if (node.kind === "object")
    return node.members.some(({ name, value }) => hasProblem(value, below(schema, name), root));
  if (node.kind === "array")
    return node.items.some((item, index) => hasProblem(item, below(schema, index), root));
  return false;
}
