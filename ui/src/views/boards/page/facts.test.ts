// Tests of the facts that a board says once for all its tiles, and of those that a tile says itself.
import { beforeEach, expect, test } from "vitest";
import { setLanguage, t } from "../../../i18n/index.svelte";
import type { TileFigures } from "../../../platform/generated/TileFigures";
import { figuresOf, tileOf } from "../testing";
import { factsOf, lacksCurrency, ownFacts } from "./facts";

beforeEach(() => setLanguage("en"));

const now = new Date("2026-11-30T09:10:00Z");
const fresh = "ads: imported 10 min. ago, data until Nov 29, 2026";
const { query } = tileOf("a");

function figures(rest: Partial<TileFigures> = {}, state?: "proposed"): TileFigures {
  const own = figuresOf(query, [["Brand", 1]], rest);
  return state ? { ...own, content: { ...own.content, state } } : own;
}

/** Returns figures whose amounts have a currency, or none. */
function amounts(unit?: string): TileFigures {
  const own = figures();
  const cell = { value: "12.50", ...(unit !== undefined && { unit }) };
  const [name, spend] = own.content.columns;
  const columns = [name!, { ...spend!, format: "money" as const }];
  return { ...own, content: { ...own.content, columns, rows: [[{ value: "Brand" }, cell]] } };
}

test("what holds for all tiles is said once, and by no tile", () => {
  const all = [figures({}, "proposed"), figures({ at: "2026-11-30T09:02:00Z" }, "proposed")];
  const common = factsOf(all, now);
  expect(common).toEqual({
    at: "2026-11-30T09:00:00Z",
    lines: [fresh, t("results.proposed")],
  });
  expect(all.map((one) => ownFacts(one, common, now))).toEqual([[], []]);
});

test("a tile says what is its own: an earlier moment, other rows, definitions that are not approved", () => {
  const other = [{ source: "crm", imported_at: "2026-11-30T09:00:00Z" }];
  const old = figures({ at: "2026-11-30T08:00:00Z", fresh: other }, "proposed");
  const all = [figures(), old, figures()];
  const common = factsOf(all, now);
  expect(common).toEqual({ at: "2026-11-30T09:00:00Z", lines: [] });
  expect(ownFacts(all[0]!, common, now)).toEqual([fresh]);
  const [time, ...rest] = ownFacts(old, common, now);
  expect(time).toMatch(/^As of /);
  expect(rest).toEqual(["crm: imported 10 min. ago", t("results.proposed")]);
});

test("a board without figures says nothing", () => {
  expect(factsOf([], now)).toEqual({ at: null, lines: [] });
});

test("amounts without a currency are told, and other figures do not make it a matter of single tiles", () => {
  const without = amounts();
  expect([without, amounts("EUR"), figures()].map(({ content }) => lacksCurrency(content))).toEqual(
    [true, false, false],
  );
  const line = t("boards.no_currency");
  expect(factsOf([without, figures()], now).lines).toContain(line);
  const mixed = factsOf([without, amounts("EUR")], now);
  expect(mixed.lines).not.toContain(line);
  expect(ownFacts(without, mixed, now)).toEqual([line]);
});
