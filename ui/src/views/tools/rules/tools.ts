// The tools that a rule names, found as the host finds them, and what the form takes from the description of a tool. Pure.
import type { Node } from "../../../approval/edit/json";
import { below, blank, type Schema } from "../../../approval/edit/schema";
import type { RuleAction } from "../../../platform/generated/RuleAction";
import type { ToolSpec } from "../../../platform/generated/ToolSpec";

/** Whether a text matches a pattern in which `*` stands for any text. */
export function matchesPattern(pattern: string, text: string): boolean {
  const [signs, letters] = [[...pattern], [...text]];
  let row = letters.concat("").map((_, at) => at === 0);
  for (const sign of signs) {
    const next = [sign === "*" && row[0] === true];
    letters.forEach((letter, at) => {
      const isMet =
        sign === "*"
          ? row[at + 1] === true || next[at] === true
          : row[at] === true && sign === letter;
      next.push(isMet);
    });
    row = next;
  }
  return row[letters.length] === true;
}

/** Returns a tool's id without its pack. */
function plainId({ id, pack }: Pick<ToolSpec, "id" | "pack">): string {
  return id.startsWith(`${pack}:`) ? id.slice(pack.length + 1) : id;
}

/** Whether the pattern of a rule names a tool. A rule that restricts holds for an id with and without its pack; one that allows must name a single tool. */
export function namesTool(
  action: RuleAction,
  pattern: string,
  tool: Pick<ToolSpec, "id" | "pack">,
): boolean {
  const plain = plainId(tool);
  if (action !== "allow")
    return matchesPattern(pattern, plain) || matchesPattern(pattern, `${tool.pack}:${plain}`);
  const [pack = "", id] = pattern.split(/:(.*)/su);
  if (id !== undefined) return matchesPattern(pack, tool.pack) && matchesPattern(id, plain);
  return pattern === "*" || (tool.id === plain && matchesPattern(pattern, plain));
}

/** Returns the tools whose id or title holds a text, those that begin with it first. */
export function findTools(
  tools: readonly ToolSpec[],
  text: string,
  title: (tool: ToolSpec) => string,
): ToolSpec[] {
  const wanted = text.trim().toLowerCase();
  const rank = (tool: ToolSpec): number => {
    const names = [tool.id, title(tool), `${tool.pack}:${plainId(tool)}`].map((name) =>
      name.toLowerCase(),
    );
    if (names.some((name) => name.startsWith(wanted))) return 0;
    return names.some((name) => name.includes(wanted)) ? 1 : 2;
  };
  const ranked = tools.map((tool) => ({ tool, at: rank(tool) })).filter(({ at }) => at < 2);
  return ranked.sort((a, b) => a.at - b.at).map(({ tool }) => tool);
}

/** The most arguments of a tool, and values of a choice, that the form offers. */
const MOST_MEMBERS = 60;
const MOST_CHOICES = 200;
/** The most parts of a schema that are looked at. A server writes the schema. */
const MOST_PARTS = 2_000;

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns the schema of a tool's arguments for the form: no argument is required, and what is too large to be offered is left out, so that the value is typed. */
export function formSchema(schema: unknown): Schema {
  let left = MOST_PARTS;
  const shorten = (value: unknown): unknown => {
    if (left-- <= 0) return {};
    if (Array.isArray(value)) return value.slice(0, MOST_CHOICES).map(shorten);
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name, inner]) => name !== "enum" || !isTooLong(inner))
        .slice(0, MOST_MEMBERS)
        .map(([name, inner]) => [name, shorten(inner)]),
    );
  };
  const short = shorten(schema);
  return isObject(short) ? { ...short, required: [] } : {};
}

/** Returns the schema of a tool's arguments for a call that is tried: as for a rule, with the arguments that a call needs. */
export function callSchema(schema: unknown): Schema {
  const form = formSchema(schema);
  const required = isObject(schema) ? schema["required"] : undefined;
  const known = isObject(form["properties"]) ? Object.keys(form["properties"]) : [];
  const needed = Array.isArray(required) ? required.map(String) : [];
  return { ...form, required: needed.filter((name) => known.includes(name)) };
}

/** Returns the arguments that a call begins with: those that it needs, empty. */
export function firstArguments(schema: Schema): Node {
  const required = Array.isArray(schema["required"]) ? schema["required"].map(String) : [];
  const members = required.map((name) => ({ name, value: blank(below(schema, name), schema) }));
  return { kind: "object", members };
}

const isTooLong = (choices: unknown): boolean =>
  Array.isArray(choices) && choices.length > MOST_CHOICES;
