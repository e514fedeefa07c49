// The page of a board: its figures and what is said about them, and nothing that runs or loads.
import { beforeEach, expect, test } from "vitest";
import { setLanguage } from "../../../i18n/index.svelte";
import { boardOf, figuresOf, tileOf } from "../testing";
import { pageOf, pictureOnly } from "./export";

const COLOURS = { ground: "#fff", text: "#111", muted: "#555", grid: "#ccc" };
const now = new Date("2026-11-30T10:00:00Z");
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>';

beforeEach(() => setLanguage("en"));

test("a page has the figures, what did not reach them, their freshness and the data version", () => {
  const tile = tileOf("a", { title: "By campaign" });
  const figures = figuresOf(tile.query, [["Brand", 1234.5]], {
    unreached: ["The filter on device does not reach this tile."],
    notes: ["The period is not over."],
  });
  const { content } = boardOf([tile], { filters: [{ device: ["Mobile"] }] });
  const page = pageOf(content, [{ tile, figures, svg: SVG }], COLOURS, now);
  for (const text of [
    '<h1 dir="auto">Weekly</h1>',
    "<h2>By campaign</h2>",
    "<td>Brand</td>",
    '<td class="end">1,234.5</td>',
    "Filters: Device: Mobile",
    "The filter on device does not reach this tile.",
    "The period is not over.",
    "Data version: ab12",
    "data until Nov 29, 2026",
    SVG,
  ])
    expect(page).toContain(text);
});

test("names with markup are texts, and colours end no rule", () => {
  const name = "<script>alert(1)</script>\"'&";
  const tile = tileOf("a", { title: "</h2><img src=x onerror=alert(1)>" });
  const figures = figuresOf(tile.query, [["<b onclick=x>\u202e</b>", 1]]);
  const { content } = boardOf([tile], { name, filters: [{ "<i>": ["<u>"] }] });
  const colours = { ...COLOURS, text: "red}</style><script>" };
  const page = pageOf(content, [{ tile, figures, svg: null }], colours, now);
  expect(page).not.toMatch(/<script|<img|<b |<i>|<u>/);
  expect(page).toContain("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;");
  expect(page.match(/<\/style>/g)).toHaveLength(1);
  expect(page).toContain("default-src 'none'");
});

test("a chart that is more than a picture is left out", () => {
  expect(pictureOnly(SVG)).toBe(SVG);
  for (const part of [
    "<script>1</script>",
    '<a href="https://example.com"><path/></a>',
    '<image xlink:href="x.png"/>',
    '<path onload="1"/>',
    "<foreignObject><p/></foreignObject>",
    "<style>@import url(x)</style>",
    "<!-- x -->",
    '<svg:script xmlns:svg="x"/>',
    `<path x=" aria-label='" onload="1" y="'"/>`,
    "<path onload=1 />",
  ])
    expect(pictureOnly(`<svg>${part}</svg>`)).toBeNull();
  expect(pictureOnly("<p>no picture</p>")).toBeNull();
  // Texts of the data are no parts of the picture.
  const named = '<svg aria-label="Conversion data: weekly"><text>Online=Shop</text></svg>';
  expect(pictureOnly(named)).toBe(named);
  expect(pictureOnly("<svg><text>1 < 2</text></svg>")).toBeNull();
});

test("the table of a tile ends with its totals, and says how many columns are left out", () => {
  const tile = tileOf("a");
  const figures = figuresOf(tile.query, [
    ["<b>", 0.1],
    ["Brand", 0.2],
  ]);
  figures.content.columns[1]!.adds_up = true;
  figures.content.all_columns = 5;
  const { content } = boardOf([tile]);
  const page = pageOf(content, [{ tile, figures, svg: null }], COLOURS, now);
  expect(page).toContain('<th scope="row">Total, 2 rows</th><td class="end">0.3</td>');
  expect(page).toContain("3 columns are left out.");
});

test("a tile without figures says so, and cut rows are counted", () => {
  const tile = tileOf("a");
  const figures = figuresOf(tile.query, [["Brand", 1]]);
  figures.content.total = 900;
  const { content } = boardOf([tile]);
  const page = (shown: typeof figures | null) =>
    pageOf(content, [{ tile, figures: shown, svg: null }], COLOURS, now);
  expect(page(null)).toContain("This tile had no figures");
  expect(page(figures)).toContain("1 of 900 rows are shown.");
});
