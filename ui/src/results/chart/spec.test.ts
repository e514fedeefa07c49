// The contents of a chart and its specification: baselines, gaps, order, sums, units, and names that do harm elsewhere.
import { afterEach, describe, expect, test } from "vitest";
import { setLanguage } from "../../i18n/index.svelte";
import type { ChartKind } from "../../platform/generated/ChartKind";
import type { Period } from "../../platform/generated/Period";
import type { ResultContent } from "../../platform/generated/ResultContent";
import type { TimeGrain } from "../../platform/generated/TimeGrain";
import { cellText } from "../content";
import { chooseChart } from "./choosing";
import { escapeText, viewOf } from "./drawing";
import type { Json, Spec } from "./marks";
import { partialTimes } from "./partial";
import { planOf } from "./plan";
import { heightOf, specOf } from "./spec";
import {
  askedBy,
  CITY,
  CLICKS,
  column,
  DAY,
  dayAfter,
  DEVICE,
  GROWTH,
  HOUR,
  RATE,
  result,
  SPEND,
  THEME,
  type Value,
} from "./testing";
import type { Plan } from "./types";

afterEach(() => setLanguage("en"));

function plan(content: ResultContent, kind?: ChartKind): Plan {
  const choice = chooseChart(content)!;
  return planOf(content, choice, kind ?? choice.kinds[0]!);
}
const spec = (shown: Plan): Spec => specOf(shown, THEME, { width: 700 });
const names = ({ panels }: Plan): string[] => panels[0]!.places.map(({ name }) => name);
const cities = (...values: Value[]): Value[][] => values.map((value, at) => [`City ${at}`, value]);

/** Returns all objects of a specification. */
function* objects(value: Json): Generator<Record<string, Json>> {
  if (Array.isArray(value)) for (const one of value) yield* objects(one);
  else if (value !== null && typeof value === "object") {
    yield value;
    yield* objects(Object.values(value));
  }
}
/** Returns the data of the first layer with marks of this type. */
function dataOf(written: Spec, mark: string): Record<string, Json>[] {
  for (const part of objects(written)) {
    const { data, mark: own } = part as { data?: { values: Spec[] }; mark?: { type: string } };
    if (data && own?.type === mark) return data.values;
  }
  return [];
}
const draw = (shown: Plan): Promise<string> =>
  viewOf(specOf(shown, THEME, { width: 700, title: { text: "Title", notes: [] } })).toSVG();

describe("places", () => {
  test("bars are sorted, and those after the tenth are one bar if the values add up", () => {
    const values = Array.from({ length: 13 }, (_, at) => [2, 9, 4][at % 3]! * 100 + at);
    const shown = plan(result([CITY, SPEND], cities(...values)));
    const [panel] = shown.panels;
    const drawn = panel!.series[0]!.values as number[];
    expect(drawn).toHaveLength(11);
    expect(drawn.slice(0, 10)).toEqual(values.toSorted((a, b) => b - a).slice(0, 10));
    expect(names(shown).at(-1)).toBe("Other");
    expect(drawn.reduce((a, b) => a + b)).toBe(values.reduce((a, b) => a + b));
    expect(shown.notes).toEqual(["Other is the sum of 3 more."]);
    expect(panel!.series[0]!.texts.at(-1)).toMatch(/EUR$/);
  });
  test("ratios are never added up, and neither is a part of the rows", () => {
    const rates = plan(result([CITY, RATE], cities(...Array.from({ length: 13 }, () => 0.1))));
    expect(names(rates)).toHaveLength(10);
    expect(rates.notes).toEqual(["3 more are in the table only."]);
    const rows = cities(...Array.from({ length: 13 }, (_, at) => at));
    const cut = plan(result([CITY, SPEND], rows, { total: 900 }));
    expect(names(cut)).not.toContain("Other");
    expect(cut.notes).toEqual(["13 of 900 rows are shown.", "3 more are in the table only."]);
  });
  test("a sum has no digits that binary fractions add, and no sum is infinite", () => {
    const tenths = Array.from({ length: 13 }, (_, at) => (at < 10 ? 5 : 0.1));
    expect(plan(result([CITY, SPEND], cities(...tenths))).panels[0]!.series[0]!.values.at(-1)).toBe(
      0.3,
    );
    const huge = plan(result([CITY, SPEND], cities(...Array.from({ length: 13 }, () => 1.7e308))));
    expect(huge.panels[0]!.series[0]!.values.at(-1)).toBeNull();
  });
  test("the host's row of all other groups comes last and is a part of the others", () => {
    const rows: Value[][] = [["Other", 900], ...cities(1, 3, 2)];
    expect(names(plan(result([CITY, SPEND], rows)))).toEqual([
      "City 1",
      "City 2",
      "City 0",
      "Other",
    ]);
    const many = [["Other", 900] as Value[], ...cities(...Array.from({ length: 12 }, () => 5))];
    const shown = plan(result([CITY, SPEND], many));
    expect(names(shown).filter((name) => name === "Other")).toHaveLength(1);
    expect(shown.panels[0]!.series[0]!.values.at(-1)).toBe(910);
  });
  test("a measure without a value among the first bars has a chart without bars", () => {
    const rows = Array.from({ length: 12 }, (_, at): Value[] => [
      `c${at}`,
      50 - at,
      at > 10 ? 0.5 : null,
    ]);
    const shown = plan(result([CITY, SPEND, RATE], rows));
    expect(shown.summary).toContain("lowest –, highest –.");
  });
  test("numbers with an order keep it", () => {
    const hour = column("Hour", "dimension", "number");
    const shown = plan(
      result(
        [hour, CLICKS],
        [
          [10, 1],
          [9, 5],
          [11, 3],
        ],
      ),
    );
    expect(names(shown)).toEqual(["9", "10", "11"]);
  });
  test("a day without a row and a day without a value are gaps, not zero", () => {
    const shown = plan(
      result(
        [DAY, SPEND],
        [
          [dayAfter(3), 3],
          [dayAfter(0), 1],
          [dayAfter(1), null],
        ],
      ),
      "lines",
    );
    expect(shown.panels[0]!.series[0]!.values).toEqual([1, null, null, 3]);
    expect(shown.stops[2]).toEqual(["Oct 3, 2026", "Spend: –"]);
    expect(dataOf(spec(shown), "line").map(({ value }) => value)).toEqual([1, null, null, 3]);
    expect(
      dataOf(
        spec(
          plan(
            result(
              [DAY, SPEND],
              [
                [dayAfter(0), 0],
                [dayAfter(2), 3],
                [dayAfter(3), 3],
              ],
            ),
          ),
        ),
        "bar",
      ),
    ).toHaveLength(3);
  });
  test("months, hours and leap days follow the calendar", () => {
    const of = (times: string[], along = DAY): string[] =>
      plan(
        result(
          [along, SPEND],
          times.map((time) => [time, 1]),
        ),
        "lines",
      ).panels[0]!.places.map(({ key }) => JSON.parse(key) as string);
    expect(of(["2026-11-01", "2027-02-01", "2027-01-01"])).toEqual([
      "2026-11-01",
      "2026-12-01",
      "2027-01-01",
      "2027-02-01",
    ]);
    expect(of(["2028-02-27", "2028-02-28", "2028-03-01"])).toHaveLength(4);
    expect(of(["2026-10-01T22:00:00", "2026-10-01T23:00:00", "2026-10-02T01:00:00"], HOUR)[2]).toBe(
      "2026-10-02T00:00:00",
    );
  });
  test("a time that is not whole is dashed and named", () => {
    const rows = [0, 7, 14].map((days): Value[] => [dayAfter(days), days]);
    const content = result([DAY, SPEND], rows, {
      computed: askedBy("week", "2026-10-18T09:00:00"),
    });
    const columns = plan(content, "columns");
    expect(columns.notes).toEqual(["Dashed: not a whole period."]);
    expect(columns.stops[2]![0]).toBe("Oct 15, 2026 (not whole)");
    const isDashed = (written: Spec): Json[] =>
      [...objects(written)].flatMap(({ mark, data }) => {
        const { strokeDash } = (mark ?? {}) as { strokeDash?: Json };
        const { values } = (data ?? { values: [] }) as { values: { value: Json }[] };
        return strokeDash ? values.map(({ value }) => value) : [];
      });
    expect(isDashed(spec(columns))).toEqual([14]);
    // The line to it is dashed, too.
    expect(isDashed(spec(plan(content, "lines")))).toEqual([null, 7, 14]);
  });
});

test("a time is whole unless the question was asked in it, or its period cuts it", () => {
  const partial = (grain: TimeGrain, moment: string, period?: Period): ((day: string) => boolean) =>
    partialTimes(result([DAY, SPEND], [], { computed: askedBy(grain, moment, period) }));
  const week = partial("week", "2026-10-18T23:59:59");
  expect(["2026-10-05", "2026-10-12", "2026-10-19"].map(week)).toEqual([false, true, false]);
  const quarter = partial("quarter", "2026-12-31T00:00:00");
  expect(["2026-07-01", "2026-10-01"].map(quarter)).toEqual([false, true]);
  const cut = partial("month", "2027-05-01T00:00:00", { from: "2026-10-03", to: "2026-12-31" });
  expect(["2026-10-01", "2026-11-01", "2026-12-01"].map(cut)).toEqual([true, false, false]);
  expect(partial("weekday", "2026-10-18T00:00:00")("1")).toBe(false);
  expect(partialTimes(result([DAY, SPEND], []))("2026-10-18")).toBe(false);
});

test("a change of percentages is in points, apart from the percentages", () => {
  const change = column("CTR change", "measure", "percent", { compared: "change" });
  const rate = column("CTR", "measure", "percent", { compared: "now" });
  const { panels } = plan(
    result(
      [CITY, rate, change],
      [
        ["a", 0.04, 0.02],
        ["b", 0.06, 0.01],
      ],
    ),
  );
  expect(panels.map(({ axis }) => axis.labels.at(-1))).toEqual([
    "6%",
    expect.stringMatching(/^2 /),
  ]);
  expect(panels[1]!.series[0]!.texts[0]).not.toContain("%");
});

describe("scales", () => {
  test("bars, columns and lines start at zero, also those of values below it", () => {
    for (const values of [
      [900, 950],
      [-3, -9],
      [-5, 20],
    ]) {
      const { axis } = plan(result([CITY, CLICKS], cities(...values))).panels[0]!;
      expect(axis.ticks).toContain(0);
      expect(axis.ticks[0]).toBeLessThanOrEqual(Math.min(...values));
      expect(axis.ticks.at(-1)).toBeGreaterThanOrEqual(Math.max(...values, 0));
    }
  });
  test("points need no zero", () => {
    const rows = [1, 2, 3].map((at): Value[] => [`c${at}`, 1000 + at, 5 + at]);
    const { points } = plan(result([CITY, CLICKS, SPEND], rows), "points");
    expect(points!.x.ticks[0]).toBeGreaterThan(900);
  });
  test("measures of different units, formats or sizes have scales of their own", () => {
    const rows = [0, 1, 2].map((at): Value[] => [dayAfter(at), at + 1, 9000, 0.1, at + 2, 4]);
    const budget = column("Budget", "measure", "money");
    const shown = plan(result([DAY, SPEND, CLICKS, RATE, budget, CLICKS], rows));
    expect(shown.panels.map(({ heading, series }) => [heading, series.length])).toEqual([
      ["EUR", 2],
      ["Clicks", 1],
      ["CTR", 1],
      ["Clicks", 1],
    ]);
    expect(shown.panels[2]!.axis.labels[0]).toMatch(/%$/);
  });
  test("amounts of two currencies in one column are never on one scale", () => {
    const rows = [
      ["Oslo", { value: 5, unit: "NOK" }],
      ["Falun", { value: 7, unit: "SEK" }],
      ["Ystad", { value: 9, unit: "SEK" }],
    ];
    const shown = plan(result([CITY, SPEND], rows));
    expect(shown.panels.map(({ heading, places }) => [heading, places.length])).toEqual([
      ["Spend (NOK)", 1],
      ["Spend (SEK)", 2],
    ]);
    expect(shown.stops.flat()).toContain("Spend: 7.00\u00a0SEK");
  });
  test("more than four scales, and more than eight series, are named", () => {
    const measures = Array.from({ length: 9 }, (_, at) => column(`M${at}`, "measure", "number"));
    const row = (name: string): Value[] => [name, ...measures.map((_, at) => 100 ** at)];
    const wide = plan(result([CITY, ...measures], [row("a"), row("b")]));
    expect(wide.panels).toHaveLength(4);
    expect(wide.notes).toEqual(["In the table only: M4, M5, M6, M7, M8."]);
    const rows = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"].flatMap(
      (name, at): Value[][] => [
        [dayAfter(0), name, at + 1],
        [dayAfter(1), name, at + 1],
      ],
    );
    const many = plan(result([DAY, CITY, CLICKS], rows));
    expect(many.panels[0]!.series.map(({ name }) => name).join("")).toBe("jihgfedc");
    expect(many.notes).toEqual(["In the table only: b, a."]);
  });
});

test("the colour of a change follows its measure, and a word says the same", () => {
  const content = result([CITY, GROWTH], cities(0.2, -0.1));
  const colour = (better: "higher" | "lower"): string => {
    content.columns[1] = { ...GROWTH, better };
    const bar = [...objects(spec(plan(content)))].find(
      ({ mark }) => (mark as { type?: string } | undefined)?.type === "bar",
    ) as { encoding: { color: Json } };
    return JSON.stringify(bar.encoding.color);
  };
  expect(colour("higher")).toContain('"test":"datum.value > 0","value":"#00aa00"');
  expect(colour("lower")).toContain('"test":"datum.value > 0","value":"#aa0000"');
  expect(plan(content).stops).toEqual([
    ["City 0", "Growth: 20.0% (worse)"],
    ["City 1", "Growth: -10.0% (better)"],
  ]);
});

test("each text of a place is that of the table, in each language", () => {
  const content = result(
    [CITY, SPEND, RATE],
    [
      ["a", 1234.5, 0.256],
      ["b", 0.0044, null],
    ],
  );
  for (const language of ["en", "sv"]) {
    setLanguage(language);
    const shown = plan(content);
    const cell = (row: number, at: number): string =>
      cellText(content.rows[row]![at]!, content.columns[at]!);
    expect(shown.stops).toEqual(
      [0, 1].map((row) => [cell(row, 0), `Spend: ${cell(row, 1)}`, `CTR: ${cell(row, 2)}`]),
    );
  }
});

describe("what data may hold", () => {
  const NAMES = [
    "width",
    "__proto__",
    "constructor",
    "toString",
    "<img src=x onerror=alert(1)>",
    "a.b[0]['c']",
    "datum.value",
    "\u202egnp.exe",
    "\u0000\u001b[31m\ud800",
    "שלום",
    '"]);alert(1);//',
    "url(https://example.com/x)",
  ];
  const hostile = (kind?: ChartKind): Plan =>
    plan(
      result(
        [...NAMES, "n"].map((name, at) =>
          at === 0 ? column(name, "dimension", "text") : column(name, "measure", "number"),
        ),
        NAMES.map((name, row) => [name, ...NAMES.map((_, at) => row + at)]),
      ),
      kind,
    );
  test.each(["bars", "columns", "points"] as const)("names do no harm: %s", async (kind) => {
    const svg = await draw(hostile(kind));
    expect(svg).not.toMatch(/<(img|image|script|a|foreignObject)\b|NaN|undefined|Infinity/);
    expect(["\u0000", "\u001b", "\u202e", "\ud800"].filter((sign) => svg.includes(sign))).toEqual(
      [],
    );
    if (kind !== "points") expect(svg).toContain("constructor");
    else expect(svg.match(/>(constructor|__proto__)</g)).toHaveLength(2);
  });
  test("a specification has no address, link, picture, input or transformation", () => {
    const series = ["a", "b"].flatMap((name): Value[][] =>
      [0, 1, 9].map((day) => [dayAfter(day), name, day]),
    );
    const shown = [
      hostile("bars"),
      hostile("points"),
      plan(
        result([DAY, CITY, CLICKS], series, { computed: askedBy("day", "2026-10-10T09:00:00") }),
      ),
      plan(result([DAY, DEVICE, CLICKS], series), "columns"),
    ];
    const forbidden = ["url", "href", "image", "bind", "select", "lookup", "transform", "$schema"];
    for (const written of shown.map(spec)) {
      for (const part of objects(written)) {
        expect(Object.keys(part).filter((key) => forbidden.includes(key))).toEqual([]);
        if (typeof part["data"] === "object")
          expect(Object.keys(part["data"] as Spec)).toEqual(["values"]);
        const { type } = (part["mark"] ?? {}) as { type?: string };
        expect(["line", "bar", "point", "rect", "rule", "text", undefined]).toContain(type);
      }
    }
  });
  test("names from data are in no expression and no name of a field", () => {
    const written = spec(hostile("bars"));
    for (const part of objects(written))
      for (const key of ["labelExpr", "test", "field"])
        if (key in part) expect(JSON.stringify(part[key])).toMatch(/^"[\w.[\]() ,=>]+"$/);
    expect([...objects(written)].flatMap((part) => Object.keys(part))).not.toContain("constructor");
  });
  test.each([
    ["the greatest and the least numbers", [1.7e308, -1.7e308]],
    ["numbers next to nothing", [5e-324, 1e-300]],
    ["zeros", [0, 0]],
    ["negative numbers", [-5, -7]],
    ["numbers with many digits", [999_999_999_999_999, 1e-12]],
  ])("%s are drawn", async (_, values) => {
    for (const kind of ["bars", "columns"] as const) {
      const svg = await draw(plan(result([CITY, SPEND], cities(...values)), kind));
      expect(svg).not.toMatch(/NaN|Infinity|undefined/);
    }
    const line = values.map((value, at): Value[] => [dayAfter(at), value]);
    expect(await draw(plan(result([DAY, SPEND], line), "lines"))).not.toMatch(/NaN|Infinity/);
  });
  test("texts between numbers are counted", () => {
    const shown = plan(result([CITY, SPEND], cities(5, "NaN", "1e999", null, 3)));
    expect(shown.notes).toEqual(["2 values are not numbers and are in the table only."]);
    expect(shown.stops.map(([, value]) => value)).toContain("Spend: NaN");
  });
  test("10,000 points are all drawn", async () => {
    const rows = Array.from({ length: 10_000 }, (_, at): Value[] => [
      `c${at}`,
      at,
      (at * 7919) % 997,
    ]);
    const shown = plan(result([CITY, CLICKS, SPEND], rows), "points");
    expect(shown.stops).toHaveLength(10_000);
    expect((await draw(shown)).match(/<path [^>]*d="M[^"]*A/g)!.length).toBeGreaterThan(9_000);
    const days = Array.from({ length: 10_000 }, (_, at): Value[] => [dayAfter(at), at % 91]);
    const line = plan(result([DAY, SPEND], days));
    expect([line.kind, dataOf(spec(line), "line").length]).toEqual(["lines", 10_000]);
  }, 60_000);
  test("a tooltip is a text, whatever the data hold", () => {
    expect(escapeText('<b a="1">&')).toBe("&lt;b a=&quot;1&quot;&gt;&amp;");
  });
});

test("marks have no role of their own, because the page says what the picture shows", async () => {
  for (const kind of ["lines", "columns"] as const) {
    const shown = plan(result([DAY, SPEND], [[dayAfter(0), 4] as Value[], [dayAfter(1), 5]]), kind);
    const svg = await viewOf(spec(shown)).toSVG();
    const marks = svg.match(/<g class="mark-(?:line|symbol|rect|rule) role-mark[^>]*>/g) ?? [];
    expect(marks.length).toBeGreaterThan(1);
    for (const mark of marks) expect(mark).toContain('aria-hidden="true"');
  }
});

test("a wide plot is higher, and the page keeps as much room for it", () => {
  const shown = plan(result([DAY, SPEND], [[dayAfter(0), 4] as Value[], [dayAfter(1), 5]]));
  const heights = [400, 760, 900, 2_400].map((width) => {
    const { vconcat } = specOf(shown, THEME, { width }) as { vconcat: { height: number }[] };
    return [vconcat[0]!.height, heightOf(shown, width) - 54];
  });
  expect(heights).toEqual([190, 271, 300, 300].map((height) => [height, height]));
});

test("a saved picture has the heading, what is said below it, and the ground of the theme", async () => {
  const shown = plan(
    result(
      [DAY, SPEND],
      [
        [dayAfter(0), 4],
        [dayAfter(1), 5],
      ],
      { computed: askedBy("day", "2026-10-02T09:00:00") },
    ),
  );
  const title = { text: "Spend <by> day", notes: shown.notes };
  const svg = await viewOf(specOf(shown, THEME, { width: 700, title })).toSVG();
  expect(svg).toContain("Spend &lt;by&gt; day");
  expect(svg).toContain("Dashed: not a whole period.");
  expect(svg).toMatch(/<rect width="\d+" height="\d+" fill="#ffffff"\/>/);
});
