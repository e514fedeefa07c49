// Results of any pack are drawn by their shape.
import { render } from "svelte/server";
import { afterEach, describe, expect, test } from "vitest";
import { setLanguage } from "../i18n/index.svelte";
import type { ContentColumn } from "../platform/generated/ContentColumn";
import type { ResultCell } from "../platform/generated/ResultCell";
import type { ResultContent } from "../platform/generated/ResultContent";
import type { ResultView } from "../platform/generated/ResultView";
import { cellText, contentOf } from "./content";
import NoRows from "./NoRows.svelte";
import ShapedResult from "./ShapedResult.svelte";

afterEach(() => setLanguage("en"));

const column = (
  label: string,
  role: ContentColumn["role"],
  format: ContentColumn["format"],
  rest: Partial<ContentColumn> = {},
): ContentColumn => ({ label: { en: label }, role, format, ...rest });
const city = column("City", "dimension", "text");
const day = column("Day", "time", "day");
const spend = column("Spend", "measure", "money");
const clicks = column("Clicks", "measure", "number");

type Value = ResultCell["value"];
const content = (columns: ContentColumn[], rows: Value[][], unit?: string): ResultContent => ({
  columns,
  rows: rows.map((row) =>
    row.map((value, at) => (columns[at]?.format === "money" ? { value, unit } : { value })),
  ),
  total: rows.length,
});
const result = (view: ResultView, parsed: unknown) => ({
  kind: "tool_result" as const,
  call: "c",
  tool: "t",
  outcome: "ok" as const,
  summary: "",
  data: null,
  view,
  parsed,
  untrusted: false,
  duration_ms: 1,
});
const drawn = (shape: ResultView["shape"], parsed: ResultContent | null): string =>
  render(ShapedResult, { props: { result: result({ shape }, parsed), title: "List" } }).body;
/** Returns the texts of a page, without its tags. */
const texts = (html: string): string =>
  html
    .replace(/<!--.*?-->/g, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();

describe("cells", () => {
  test("a cell is written in the reader's language, with its unit", () => {
    expect(cellText({ value: 1234.5, unit: "EUR" }, spend)).toBe("1,234.50\u00a0EUR");
    expect(cellText({ value: 0.256 }, column("Share", "measure", "percent"))).toBe("25.6%");
    expect(cellText({ value: 12_000, unit: "km" }, clicks)).toBe("12,000\u00a0km");
    // A price per click is not nothing.
    expect(cellText({ value: 0.0044, unit: "EUR" }, spend)).toBe("0.0044\u00a0EUR");
    expect(cellText({ value: 0.5, unit: "EUR" }, spend)).toBe("0.50\u00a0EUR");
    expect(cellText({ value: -0.00123 }, clicks)).toBe("-0.0012");
    expect(cellText({ value: "2026-11-30" }, day)).toBe("Nov 30, 2026");
    setLanguage("sv");
    expect(cellText({ value: 1234.5, unit: "SEK" }, spend)).toBe("1\u00a0234,50\u00a0SEK");
    expect(cellText({ value: true }, column("Held", "dimension", "flag"))).toBe("Ja");
  });
  test("a cell keeps text that is no number, and numbers that are names have no groups of digits", () => {
    expect(cellText({ value: "on request", unit: "EUR" }, spend)).toBe("on request");
    expect(cellText({ value: 1001 }, city)).toBe("1001");
    expect([null, ""].map((value) => cellText({ value }, city))).toEqual(["–", "–"]);
  });
});

describe("tables", () => {
  test("a table has headings, aligned numbers and a caption for screen readers", () => {
    const html = drawn("table", content([city, spend], [["Falun", 5]], "SEK"));
    expect(texts(html)).toBe("List City Spend (SEK) Falun 5.00");
    expect(html).toMatch(/<caption[^>]*>List/);
    expect(html).toMatch(/<td class="end[^"]*">(?:<!--[^>]*-->)?5\.00/);
  });
  test("a long table opens in place, and says if rows are missing", () => {
    const rows = Array.from({ length: 12 }, (_, n): Value[] => [`City ${n}`]);
    const long = { ...content([city], rows), total: 5_312 };
    const html = drawn("table", long);
    expect(html.match(/<tr/g)).toHaveLength(11);
    expect(texts(html)).toContain("Show the first 12");
    expect(texts(html)).toContain("10 of 5,312 rows are shown.");
    expect(texts(drawn("table", { ...long, total: 12 }))).toMatch(/Show all 12$/);
  });
  test("a table without rows says so, and a result that cannot be read is not drawn", () => {
    expect(texts(drawn("table", content([city], [])))).toBe("There are no rows.");
    expect(texts(drawn("table", null))).toBe("");
    const parts = [
      { kind: "measure", at: "/measures/0", text: "Spend" },
      { kind: "period", at: "/period", text: "Nov 2026" },
      { kind: "filter", at: "/where/0", text: "brand only" },
    ] as const;
    const computed = { asked: { parts: [...parts] } } as unknown as ResultContent["computed"];
    const empty = render(NoRows, { props: { content: { ...content([city], []), computed } } });
    expect(texts(empty.body)).toBe("No rows for: Nov 2026 · Brand only");
    expect(contentOf(result({ shape: "plain" }, {}))).toBeNull();
  });
  test("a table may have two columns of one name, and escapes its texts", () => {
    const html = drawn("table", content([city, city], [["<b>x</b>", "y"]]));
    expect(html).toContain("&lt;b>x&lt;/b>");
  });
});

test("a query that the model wrote is shown before the figures, and definitions that wait are mentioned", () => {
  const table = content([city, clicks], [["Oslo", 4]]);
  const query = "SELECT city, count(*) FROM ads GROUP BY 1";
  const html = drawn("table", { ...table, state: "written_by_model", query });
  expect(html).toContain('<span class="hl-keyword');
  // Each part of the query has a colour of its own.
  const marked = texts(html.replace(/<\/?span[^>]*>/g, ""));
  expect(marked.indexOf("Query written by the model")).toBeGreaterThanOrEqual(0);
  expect(marked.indexOf(query)).toBeLessThan(marked.indexOf("Oslo"));
  expect(marked).toContain(query);
  expect(texts(drawn("table", { ...table, state: "proposed" }))).toContain("nobody approved yet");
  expect(texts(drawn("table", { ...table, state: "approved" }))).not.toContain("approved");
});

test("figures of one row are names with values, and figures of several rows are a table", () => {
  const one = content([clicks, spend], [[1200, 5]], "EUR");
  expect(texts(drawn("figures", one))).toBe("Clicks 1,200 Spend 5.00 EUR");
  expect(drawn("figures", one)).toContain("<dl");
  expect(drawn("figures", content([clicks], [[1], [2]]))).toContain("<table");
});

test("records have a title, and leave out properties without a value", () => {
  const parcels = content(
    [clicks, city, day],
    [
      [1, "Ada", "2026-11-24"],
      [null, "Grace", null],
    ],
  );
  expect(texts(drawn("records", parcels))).toBe("Ada Clicks 1 Day Nov 24, 2026 Grace");
});

describe("charts", () => {
  const days = (...rows: Value[][]) => content([day, spend, clicks], rows, "EUR");
  test("a series is a chart that says what it shows, with a switch to the other charts and the table", () => {
    const html = drawn("series", days(["2026-11-01", 1, 10], ["2026-11-02", 2, null]));
    expect(html).toMatch(
      /role="img"[^>]* aria-label="Spend, from Nov 1, 2026 to Nov 2, 2026: lowest 1.00\u00a0EUR, highest 2.00\u00a0EUR. Clicks/,
    );
    const pressed = [...html.matchAll(/aria-pressed="(\w+)" aria-label="(\w+)"/g)];
    expect(pressed.map(([, isPressed, name]) => `${name} ${isPressed}`)).toEqual([
      "Columns true",
      "Lines false",
      "Table false",
    ]);
    expect(html).not.toContain("<table");
  });
  test("an answer to a query is a chart, and a list that no query answers is a table with a switch", () => {
    const rows: Value[][] = [
      ["Falun", 4],
      ["Ystad", -2],
    ];
    const list = content([city, clicks], rows);
    expect(drawn("table", { ...list, state: "approved" })).toContain(
      "Clicks, from Falun to Ystad: lowest -2, highest 4.",
    );
    const html = drawn("table", list);
    expect(html).toContain("<table");
    expect(html).toMatch(/aria-pressed="true" aria-label="Table"/);
  });
  test("one row that has only measures is read as figures, and any other row as a table", () => {
    const rows: Value[][] = [[1008, 166]];
    for (const shape of ["table", "series"] as const) {
      const html = drawn(shape, content([spend, clicks], rows, "EUR"));
      expect(texts(html)).toBe("Spend 1,008.00 EUR Clicks 166");
      expect(html).not.toContain("<table");
    }
    expect(drawn("table", content([city, clicks], [["Falun", 4]]))).toContain("<table");
  });
  test("a series without a measure, or without a column to draw it along, is a table", () => {
    expect(drawn("series", content([city], [["Falun"]]))).toContain("<table");
    expect(drawn("series", content([clicks], [[4], [5]]))).toContain("<table");
    expect(texts(drawn("series", content([day, clicks], [])))).toBe("There are no rows.");
  });
  test("a chart of a part of the rows says so", () => {
    const part = { ...days(["2026-11-01", 1, 10], ["2026-11-02", 2, 4]), total: 5_312 };
    expect(texts(drawn("series", part))).toContain("2 of 5,312 rows are shown.");
  });
});
