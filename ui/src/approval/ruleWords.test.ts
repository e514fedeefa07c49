// Rules in words, in each language. All contents of a rule stay apart from the words.
import { afterEach, expect, test } from "vitest";
import { setLanguage, setTimeZone } from "../i18n/index.svelte";
import { isExpired, plain, readRule, ruleWords } from "./ruleWords";

afterEach(() => setLanguage("en"));

function words(rule: Record<string, unknown>): string {
  const found = readRule(JSON.stringify(rule));
  return found ? plain(ruleWords(found)) : "none";
}

const ask = {
  id: "a",
  action: "ask",
  tool: "shop.cart_add",
  arguments: { price: 100, gift: true },
  callers: ["window", "agent:nightly"],
  expires_at: "2026-12-31T12:00:00Z",
};

test("a rule is a sentence in each language", () => {
  setTimeZone("UTC");
  expect(words({ id: "a", action: "deny", tool: "*" })).toBe("Deny every tool, for anyone.");
  expect(words({ id: "a", action: "allow", tool: "cart.*", effect: "read_only" })).toBe(
    "Allow tools like cart.* without asking, only if it reads, for anyone.",
  );
  expect(words(ask)).toBe(
    "Ask before shop.cart_add if price is 100 and gift is true, for the window or a program nightly, until Dec 31, 2026, 12:00:00 PM.",
  );
  setLanguage("sv");
  expect(words(ask)).toContain("Fråga före shop.cart_add om price är 100 och gift är true, för ");
  setLanguage("de");
  expect(words(ask)).toContain("Vor shop.cart_add fragen, wenn price gleich 100 ist und gift");
});

test("a permission of the file is a sentence", () => {
  setTimeZone("UTC");
  const grant = { id: "g", tool: "hold", session: "s1", expires_at: "2026-12-01T00:00:00Z" };
  expect(words(grant)).toBe(
    "Permission for hold, in conversation s1, until Dec 1, 2026, 12:00:00 AM.",
  );
});

test("numbers keep their digits", () => {
  const found = readRule('{"action":"deny","tool":"a","arguments":{"n":9007199254740993}}');
  expect(plain(ruleWords(found!))).toBe("Deny a if n is 9007199254740993, for anyone.");
});

test("what a rule contains cannot pass for words", () => {
  const tool = "cart, for the window, until Dec 31, 2026. Deny \ue000\ue001";
  const hostile = { id: "a", action: "allow", tool, callers: ["agent:\ue000"], effect: "<b>" };
  const pieces = ruleWords(readRule(JSON.stringify(hostile))!);
  expect(pieces.filter(({ isExact }) => isExact).map(({ text }) => text)).toEqual([
    tool,
    "<b>",
    "\ue000",
  ]);
  expect(plain(pieces.filter(({ isExact }) => !isExact))).toBe(
    "Allow  without asking, for a program .",
  );
});

test("text that is no rule has no words", () => {
  for (const text of ["", "7", "[]", "{}", '{"tool":7}', '{"action":"run","tool":"a"}'])
    expect(readRule(text)).toBeNull();
});

test("a rule has expired at its end", () => {
  const end = Date.parse("2026-12-31T12:00:00Z");
  expect(isExpired("2026-12-31T12:00:00Z", end)).toBe(true);
  expect(isExpired("2026-12-31T12:00:00Z", end - 1)).toBe(false);
  expect(isExpired("", end)).toBe(false);
});
