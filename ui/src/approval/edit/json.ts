// JSON as a tree that can be edited. Numbers keep their digits: JavaScript would round large numbers. Pure.

export type Node =
  | { kind: "object"; members: { name: string; value: Node }[] }
  | { kind: "array"; items: Node[] }
  | { kind: "string"; text: string }
  | { kind: "number"; text: string }
  | { kind: "boolean"; on: boolean }
  | { kind: "null" };

const TOKEN =
  /\s*(?:([{}[\],:])|("(?:[^"\\]+|\\.)*")|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null))\s*/y;

/** A number as JSON writes it. */
export const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Reads JSON text. Fails as `JSON.parse` does. */
export function read(text: string): Node {
  // The error of `JSON.parse` says what is wrong, and where.
  JSON.parse(text);
  let at = 0;
  function next(): string {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (!match) throw new SyntaxError(`unexpected text at ${at}`);
    at = TOKEN.lastIndex;
    return match[1] ?? match[2] ?? match[3] ?? match[4] ?? "";
  }
  function value(token: string): Node {
    if (token === "{") {
      const members: { name: string; value: Node }[] = [];
      for (let name = next(); name !== "}"; name = next()) {
        if (name === ",") name = next();
        next();
        members.push({ name: JSON.parse(name) as string, value: value(next()) });
      }
      return { kind: "object", members };
    }
    if (token === "[") {
      const items: Node[] = [];
      for (let item = next(); item !== "]"; item = next())
        items.push(value(item === "," ? next() : item));
      return { kind: "array", items };
    }
    if (token === "null") return { kind: "null" };
    if (token === "true" || token === "false") return { kind: "boolean", on: token === "true" };
    if (token.startsWith('"')) return { kind: "string", text: JSON.parse(token) as string };
    return { kind: "number", text: token };
  }
  return value(next());
}

/** Writes a tree as JSON text, indented by `indent`. */
export function write(node: Node, indent = "", before = ""): string {
  const inner = before + indent;
  const [open, close, comma] = indent
    ? [`\n${inner}`, `\n${before}`, `,\n${inner}`]
    : ["", "", ","];
  switch (node.kind) {
    case "object":
      if (node.members.length === 0) return "{}";
      return `{${open}${node.members
        .map(
          ({ name, value }) =>
            `${JSON.stringify(name)}:${indent && " "}${write(value, indent, inner)}`,
        )
        .join(comma)}${close}}`;
    case "array":
      if (node.items.length === 0) return "[]";
      return `[${open}${node.items.map((item) => write(item, indent, inner)).join(comma)}${close}]`;
    case "string":
      return JSON.stringify(node.text);
    case "number":
      return node.text.trim();
    case "boolean":
      return String(node.on);
    case "null":
      return "null";
  }
}

/** Whether two texts are the same JSON, whatever their layout. A text that is no JSON is like no other. */
export function isSame(one: string, other: string): boolean {
  try {
    return write(read(one)) === write(read(other));
  } catch {
    return false;
  }
}
