// A changed provider sets its own address, and never replaces one that the user entered.
import { expect, test } from "vitest";
import { addressFor, isProvider } from "./providers";

test("a provider's own address gives way to the other's", () => {
  expect(addressFor("anthropic", "https://api.openai.com/v1")).toBe("https://api.anthropic.com/v1");
  expect(addressFor("gemini", "")).toBe("https://generativelanguage.googleapis.com/v1beta");
});

test("an address that somebody entered stays", () => {
  expect(addressFor("anthropic", "http://127.0.0.1:11434/v1")).toBe("http://127.0.0.1:11434/v1");
  expect(addressFor("offline", "https://api.openai.com/v1")).toBe("https://api.openai.com/v1");
});

test("only known names are providers", () => {
  expect([isProvider("gemini"), isProvider("telex")]).toEqual([true, false]);
});
