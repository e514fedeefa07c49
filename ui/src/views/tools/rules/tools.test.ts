// Tools are found as the host finds them, and a hostile description of a tool is cut.
import { expect, test } from "vitest";
import { blank, options, resolve } from "../../../approval/edit/schema";
import type { ToolSpec } from "../../../platform/generated/ToolSpec";
import {
  callSchema,
  firstArguments,
  findTools,
  formSchema,
  matchesPattern,
  namesTool,
} from "./tools";

const tool = (id: string, pack = "shop", title = id): ToolSpec =>
  ({ id, pack, title }) as unknown as ToolSpec;

test("only the star is a wildcard", () => {
  for (const [pattern, text, isMet] of [
    ["cart.*", "cart.add", true],
    ["cart.*", "cart.", true],
    ["*", "", true],
    ["*a*b*", "xaxbx", true],
    ["*a*b", "xbxa", false],
    ["c.rt", "cart", false],
    ["cart?", "carts", false],
    ["", "", true],
  ] as const)
    expect([pattern, text, matchesPattern(pattern, text)]).toEqual([pattern, text, isMet]);
});

test("a rule that restricts holds with and without the pack, and one that allows names one tool", () => {
  for (const [pattern, restricts, alone, shared] of [
    ["cart.add", true, true, false],
    ["cart.*", true, true, false],
    ["shop:cart.add", true, true, true],
    ["shop:*", true, true, true],
    ["*:cart.add", true, true, true],
    ["*", true, true, true],
    ["other:cart.add", false, false, false],
    ["sho*", true, false, false],
  ] as const) {
    expect([pattern, namesTool("deny", pattern, tool("cart.add"))]).toEqual([pattern, restricts]);
    expect([pattern, namesTool("ask", pattern, tool("shop:cart.add"))]).toEqual([
      pattern,
      restricts,
    ]);
    expect([pattern, namesTool("allow", pattern, tool("cart.add"))]).toEqual([pattern, alone]);
    expect([pattern, namesTool("allow", pattern, tool("shop:cart.add"))]).toEqual([
      pattern,
      shared,
    ]);
  }
});

test("tools are found by id and title, those that begin with the text first", () => {
  const tools = [tool("a.cart"), tool("b", "shop", "Fill the cart"), tool("cart.add"), tool("c")];
  const found = findTools(tools, " CART", ({ title }) => title);
  expect(found.map(({ id }) => id)).toEqual(["cart.add", "a.cart", "b"]);
  expect(findTools(tools, "", ({ title }) => title)).toHaveLength(4);
});

test("no argument is required, and what is too large is not offered", () => {
  const many = Array.from({ length: 10_000 }, (_, at) => String(at));
  const schema = {
    type: "object",
    required: ["a"],
    properties: {
      a: { enum: ["x", "y"] },
      b: { enum: many },
      enum: { type: "string" },
      ...Object.fromEntries(many.map((name) => [`p${name}`, { type: "string" }])),
    },
  };
  const short = formSchema(schema) as { required: string[]; properties: Record<string, object> };
  expect(short.required).toEqual([]);
  expect(options({ ...short.properties["a"] })).toEqual(['"x"', '"y"']);
  expect(short.properties["b"]).toEqual({});
  expect(short.properties["enum"]).toEqual({ type: "string" });
  expect(Object.keys(short.properties).length).toBeLessThanOrEqual(60);
  expect(formSchema("markup")).toEqual({});
  expect(formSchema(undefined)).toEqual({});
});

test("a schema that contains itself ends", () => {
  const inner = { type: "object", required: ["a"], properties: { a: { $ref: "#/$defs/A" } } };
  const short = formSchema({ $defs: { A: inner }, $ref: "#/$defs/A" });
  expect(resolve(short, short, "object")).toBeDefined();
  expect(blank(short, short).kind).toBe("object");
});

test("a call that is tried begins with the arguments that it needs", () => {
  const schema = callSchema({
    type: "object",
    required: ["query", "limit", "gone"],
    properties: {
      query: { type: "string" },
      limit: { type: "integer" },
      only_new: { type: "boolean" },
    },
  });
  expect(schema["required"]).toEqual(["query", "limit"]);
  expect(firstArguments(schema)).toEqual({
    kind: "object",
    members: [
      { name: "query", value: { kind: "string", text: "" } },
      { name: "limit", value: { kind: "number", text: "" } },
    ],
  });
  expect(firstArguments(callSchema(undefined))).toEqual({ kind: "object", members: [] });
});
