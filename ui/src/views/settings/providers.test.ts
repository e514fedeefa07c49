// A changed provider sets its own address, and never replaces one that the user entered.
import { expect, test } from "vitest";
import { addressFor, isOfThisComputer, isProvider, isSaidToRun, sayRuns } from "./providers";

test("a provider's own address is replaced by that of the next provider", () => {
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

test("only addresses of this computer ask whether a model runs there", () => {
  const here = [
    "http://localhost:11434/v1",
    " http://127.0.0.2/v1 ",
    "http://[::1]:1/v1",
    "http://ai.localhost",
  ];
  const elsewhere = [
    "https://api.openai.com/v1",
    "http://localhost.example.com/v1",
    "localhost",
    "",
  ];
  expect([...here, ...elsewhere].map(isOfThisComputer)).toEqual([
    ...here.map(() => true),
    ...elsewhere.map(() => false),
  ]);
});

test("a person's answer about an address applies to its server only", () => {
  const said = sayRuns(["http://127.0.0.1:1/v1"], " http://localhost:11434/v1 ", true);
  expect(said).toEqual(["http://127.0.0.1:1/v1", "http://localhost:11434/v1"]);
  expect(isSaidToRun(said, "http://localhost:11434/other")).toBe(true);
  expect(isSaidToRun(said, "http://localhost:11435/v1")).toBe(false);
  expect(sayRuns(said, "http://localhost:11434", true)).toEqual(said);
  expect(sayRuns(said, "http://localhost:11434", false)).toEqual(["http://127.0.0.1:1/v1"]);
  expect(isSaidToRun(["", "x"], "")).toBe(false);
});
