// Costs that are known, known in part, and not known.
import { beforeEach, expect, test } from "vitest";
import { setLanguage } from "../i18n/index.svelte";
import { costWords, knownOf } from "./cost";

beforeEach(() => setLanguage("en"));
const said = (usd: number, unpriced: number | undefined, tokens: number): string =>
  costWords(usd, knownOf(usd, unpriced, tokens)).replace(/\u00a0/g, " ");

test("a model without a price is never free", () => {
  expect(said(0, 2, 500)).toBe("unknown, no price");
  expect(said(0.5, 2, 500)).toBe("at least 0.50 USD");
  expect(said(0.5, 0, 500)).toBe("0.50 USD");
  expect(said(0, 0, 500)).toBe("0.00 USD");
});

test("a record that does not count models without a price says so by a cost of nothing", () => {
  expect(said(0, undefined, 500)).toBe("unknown, no price");
  expect(said(0.0042, undefined, 500)).toBe("0.0042 USD");
  expect(said(0, undefined, 0)).toBe("0.00 USD");
});
