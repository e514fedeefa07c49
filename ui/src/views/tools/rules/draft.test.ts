// The draft of the rules: what the form changes, and what it keeps.
import { expect, test } from "vitest";
import { write } from "../../../approval/edit/json";
import {
  freeId,
  inOrder,
  isCaller,
  localTime,
  newRule,
  nodeOf,
  problems,
  readFile,
  storedTime,
  withoutGrant,
  writeFile,
} from "./draft";

const TEXT = `{"$schema":"https://s.example/p.json","version":2,"grants":[{"id":"g","tool":"b","expires_at":"2030-01-01T00:00:00Z"}],
"rules":[{"id":"a","action":"deny","tool":"cart.*","effect":"write","arguments":{"n":9007199254740993,"x":1.10,"to":{"b":[1,null]}},
"callers":["agent:x"],"expires_at":"2030-01-01T00:00:30Z","reason":"No."}]}`;

test("a file that is not edited is written as it was read", () => {
  const written = writeFile(readFile(TEXT));
  expect(written).toBe(TEXT.replaceAll("\n", ""));
  expect(writeFile(readFile(written))).toBe(written);
  expect(writeFile(readFile("{}"))).toBe('{"rules":[]}');
});

test("a rule without limits has no members for them", () => {
  expect(write(nodeOf({ ...newRule("a"), id: "r" }))).toBe('{"id":"r","action":"ask","tool":"a"}');
});

test("a permission is removed and everything else stays", () => {
  expect(withoutGrant(TEXT, "g")).toBe(
    TEXT.replaceAll("\n", "").replace(/"grants":\[.*?\],/u, '"grants":[],'),
  );
  expect(withoutGrant(TEXT, "other")).toBe(TEXT.replaceAll("\n", ""));
});

test("each field that cannot be stored has a problem", () => {
  const other = { ...newRule("b"), id: "b" };
  const of = (change: object): unknown =>
    problems({ ...newRule("a"), id: "a", ...change }, [other]);
  expect(of({})).toEqual({});
  expect(of({ tool: " " })).toEqual({ tool: "rule_form.no_tool" });
  expect(of({ tool: "å".repeat(101) })).toEqual({ tool: "rule_form.too_long" });
  expect(of({ id: "b" })).toEqual({ id: "rule_form.id_taken" });
  expect(of({ callers: ["window", "nobody"] })).toEqual({ callers: "rule_form.no_caller" });
  expect(of({ until: "soon" })).toEqual({ until: "rule_form.no_time" });
  expect(["window", "agent", "agent:x", "schedule:a:b"].every(isCaller)).toBe(true);
  expect(["", "agent:", "window:x", "caller"].some(isCaller)).toBe(false);
});

test("a rule without a name gets a free one", () => {
  const rule = { ...newRule("shop:cart.*"), action: "deny" as const };
  expect(freeId(rule, [])).toBe("deny-shop-cart.all");
  expect(freeId(rule, ["deny-shop-cart.all"])).toBe("deny-shop-cart.all-2");
});

test("a time that is not changed keeps its seconds", () => {
  const until = "2030-01-01T00:00:30Z";
  const local = localTime(until);
  expect(local).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/u);
  expect(storedTime(local, until)).toBe(until);
  expect(storedTime("", until)).toBe("");
  expect(Date.parse(storedTime(local, ""))).toBe(Date.parse("2030-01-01T00:00:00Z"));
  expect(localTime("soon")).toBe("");
});

test("rules are shown in the order in which they are examined", () => {
  const rules = (["allow", "ask", "deny", "ask"] as const).map((action, at) => {
    return { ...newRule("a"), action, id: String(at) };
  });
  expect(inOrder(rules).map(({ id }) => id)).toEqual(["2", "1", "3", "0"]);
});
