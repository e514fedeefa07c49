// The form of an edited request: values stay exact, and each problem is shown at its field.
import { describe, expect, test } from "vitest";
import { isSame, read, write } from "./json";
import {
  below,
  blank,
  hasProblem,
  isRequired,
  missing,
  options,
  problem,
  resolve,
  type Schema,
} from "./schema";

const schema: Schema = {
  type: "object",
  required: ["partNo"],
  properties: {
    partNo: { type: "string", minLength: 1, maxLength: 8 },
    quantity: { type: "integer", minimum: 1, maximum: 999, default: 1 },
    speed: { enum: ["slow", "fast"] },
    to: { $ref: "#/$defs/Address" },
    notes: { type: "array", items: { type: "string" }, maxItems: 2 },
    after: { anyOf: [{ type: "null" }, { type: "string" }] },
  },
  $defs: {
    Address: { type: "object", required: ["city"], properties: { city: { type: "string" } } },
  },
};

describe("json", () => {
  test("a tree is written as the text that it was read from", () => {
    for (const text of [
      '{"a":[1,2.50,-0.0,1e5],"b":{"c":null,"d":true},"e":"x\\n\\u202e\\"","f":{},"g":[]}',
      '{"big":123456789012345678901234567890}',
      '"text"',
      "[]",
    ])
      expect(JSON.parse(write(read(text)))).toEqual(JSON.parse(text));
    expect(write(read('{"big":12345678901234567890, "p": 1.10}'))).toBe(
      '{"big":12345678901234567890,"p":1.10}',
    );
  });
  test("an indented text is read as the same tree", () => {
    const text = '{"a":[1,{"b":"c"}],"d":{}}';
    expect(write(read(write(read(text), "  ")))).toBe(text);
  });
  test("a value that was changed and changed back is not edited", () => {
    const before = '{"a":1.10,"b":"x"}';
    expect(isSame('{ "a": 1.10,\n "b": "x" }', before)).toBe(true);
    for (const other of ['{"a":1.1,"b":"x"}', '{"a":1.10}', "{"])
      expect(isSame(other, before)).toBe(false);
  });
  test("text that is not JSON fails", () => {
    for (const text of ["{", '{"a":}', "nope", "[1,]", "01"]) expect(() => read(text)).toThrow();
  });
});

test("the search through references that multiply ends", () => {
  const ways = Array.from({ length: 200 }, () => ({ $ref: "#/$defs/A" }));
  const root: Schema = { $defs: { A: { type: "null", anyOf: ways } } };
  const start = performance.now();
  expect(resolve({ $ref: "#/$defs/A" }, root, "string")).toBeDefined();
  expect(performance.now() - start).toBeLessThan(1_000);
});

test("a field that requires itself begins with an end", () => {
  const root: Schema = {
    $defs: { A: { type: "object", required: ["a"], properties: { a: { $ref: "#/$defs/A" } } } },
  };
  expect(write(blank({ $ref: "#/$defs/A" }, root))).toMatch(/^(\{"a":){8}null\}{8}$/u);
});

describe("fields", () => {
  const of = (name: string, json: string) => {
    const node = read(json);
    return problem(node, resolve(below(schema, name), schema, node.kind));
  };
  test("each kind of invalid value has a problem", () => {
    expect(of("partNo", '"A-1"')).toBeNull();
    expect(of("partNo", '""')).not.toBeNull();
    expect(of("partNo", '"far too long"')).not.toBeNull();
    expect(of("quantity", "2")).toBeNull();
    for (const wrong of ["0", "1000", "1.5"]) expect(of("quantity", wrong)).not.toBeNull();
    expect(problem({ kind: "number", text: "two" }, {})).not.toBeNull();
    expect(of("speed", '"slow"')).toBeNull();
    expect(of("speed", '"odd"')).not.toBeNull();
    expect(of("notes", '["a","b","c"]')).not.toBeNull();
    expect(of("to", "{}")).toContain("City");
    expect(of("after", "null")).toBeNull();
  });
  test("a problem of a nested value is a problem of the whole", () => {
    expect(hasProblem(read('{"partNo":"A","to":{"city":"Umeå"}}'), schema, schema)).toBe(false);
    expect(hasProblem(read('{"partNo":"A","to":{}}'), schema, schema)).toBe(true);
    expect(hasProblem(read('{"quantity":2}'), schema, schema)).toBe(true);
  });
  test("an added field begins with its default", () => {
    expect(missing(schema, ["partNo", "quantity"])).toEqual(["speed", "to", "notes", "after"]);
    expect(write(blank(below(schema, "quantity"), schema))).toBe("1");
    expect(write(blank(below(schema, "speed"), schema))).toBe('"slow"');
    expect(write(blank(below(schema, "to"), schema))).toBe('{"city":""}');
    expect(isRequired(schema, "partNo")).toBe(true);
    expect(options({ enum: [1, "a"] })).toEqual(["1", '"a"']);
  });
});
