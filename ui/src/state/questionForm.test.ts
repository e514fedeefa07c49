// A server's schema becomes fields, and typed text becomes values of the schema's types.
import { describe, expect, test } from "vitest";
import { answer, fields, problem } from "./questionForm";

const schema = {
  type: "object",
  properties: {
    name: { type: "string", title: "Name", default: "Ada" },
    age: { type: "integer" },
    score: { type: "number", default: 95.5 },
    status: {
      type: "string",
      enum: ["active", "inactive"],
      enumNames: ["On", "Off"],
      default: "active",
    },
    plan: {
      type: "string",
      oneOf: [
        { const: "a", title: "Plan A" },
        { const: "b", title: "Plan B" },
      ],
    },
    days: { type: "array", items: { type: "string", enum: ["mon", "tue"] } },
    verified: { type: "boolean", default: true },
  },
  required: ["name", "age"],
};

describe("a question's form", () => {
  const all = fields(schema);
  test("each field has its kind, label, options and default", () => {
    expect(all.map((field) => [field.name, field.kind])).toEqual([
      ["name", "text"],
      ["age", "number"],
      ["score", "number"],
      ["status", "choice"],
      ["plan", "choice"],
      ["days", "choices"],
      ["verified", "yes_no"],
    ]);
    expect(all[3]!.options).toEqual([
      { value: "active", label: "On" },
      { value: "inactive", label: "Off" },
    ]);
    expect(all[4]!.options[1]).toEqual({ value: "b", label: "Plan B" });
    expect(answer(all, {})).toEqual({ name: "Ada", score: 95.5, status: "active", verified: true });
  });
  test("a missing value and a text that is no number are reported", () => {
    expect([
      problem(all[1]!, ""),
      problem(all[1]!, "4.5"),
      problem(all[1]!, "x"),
      problem(all[1]!, "30"),
    ]).toEqual(["missing", "number", "number", null]);
    expect(problem(all[2]!, "")).toBe(null);
    expect(answer(all, { age: "30", days: ["tue"], verified: false })).toMatchObject({
      age: 30,
      days: ["tue"],
      verified: false,
    });
  });
  test("an invalid schema has no fields", () => {
    expect([fields(null), fields("x"), fields({})]).toEqual([[], [], []]);
  });
});
