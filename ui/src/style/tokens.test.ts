// Every pair of colours that texts, controls and charts use keeps its contrast in all three themes (WCAG 2.2: 4.5 for text,
// 3 for outlines and shapes that carry meaning).
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const css = readFileSync(new URL("./tokens.css", import.meta.url), "utf8");

function theme(name: string): Map<string, string> {
  const block = new RegExp(`data-theme="${name}"\\]\\s*\\{([^}]*)\\}`).exec(css)?.[1] ?? "";
  return new Map(
    [...block.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/g)].map((match) => [match[1]!, match[2]!]),
  );
}

function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [
    number,
    number,
  ];
  return (light + 0.05) / (dark + 0.05);
}

const PAGES = ["bg", "surface", "surface-2", "surface-3"];
const SOFT = ["ok-soft", "warn-soft", "danger-soft", "accent-soft"];
const TEXT: [string, string[]][] = [
  ["text", [...PAGES, ...SOFT]],
  ["text-2", [...PAGES, ...SOFT]],
  ["text-3", PAGES],
  ["accent-text", ["bg", "surface", "surface-2", "surface-3", "accent-soft"]],
  ["ok", ["bg", "surface", "ok-soft"]],
  ["warn", ["bg", "surface", "surface-2", "surface-3", "warn-soft"]],
  ["danger", ["bg", "surface", "danger-soft"]],
  ["on-accent", ["accent", "accent-hover"]],
  ["on-danger", ["danger-fill", "danger-fill-hover"]],
  ...["keyword", "string", "number", "comment", "name"].map((part): [string, string[]] => [
    `code-${part}`,
    ["bg"],
  ]),
];
const SHAPES: [string, string[]][] = [
  ["border-strong", ["bg", "surface"]],
  ["focus", PAGES],
  ["chart-bar", ["surface"]],
  ...[2, 3, 4, 5, 6, 7, 8].map((at): [string, string[]] => [`chart-${at}`, ["bg", "surface"]]),
];

describe.each(["light", "dark", "contrast"])("%s", (name) => {
  const colours = theme(name);
  const tooWeak = (pairs: [string, string[]][], least: number): string[] =>
    pairs
      .flatMap(([front, backs]) =>
        backs.map((back) => ({
          pair: `${front} on ${back}`,
          ratio: contrast(colours.get(front)!, colours.get(back)!),
        })),
      )
      .filter(({ ratio }) => !(ratio >= least))
      .map(({ pair, ratio }) => `${pair}: ${ratio.toFixed(2)}`);

  test("text has enough contrast on its background", () => expect(tooWeak(TEXT, 4.5)).toEqual([]));
  test("outlines and charts have enough contrast", () => expect(tooWeak(SHAPES, 3)).toEqual([]));
});
