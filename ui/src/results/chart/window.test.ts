// The libraries of charts in the window: they are loaded when a chart is shown, evaluate no text, and change no prototype.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { build } from "vite";
import { expect, test } from "vitest";
import { frozenPrototype } from "../../../vite.config";
import { chooseChart } from "./choosing";
import { planOf } from "./plan";
import { specOf } from "./spec";
import { askedBy, CITY, CLICKS, DAY, dayAfter, result, THEME, type Value } from "./testing";

const SOURCES = resolve(import.meta.dirname, "../..");

/** Returns the modules that a file imports when it is loaded. Types and later imports are none of them. */
function importsOf(file: string): string[] {
  const source = readFileSync(file, "utf8");
  const found = source.matchAll(/(?:^|\n)\s*(?:import|export)\s([^;]*?from\s+)?"([^"]+)"/g);
  return [...found].filter(([, names]) => !names?.startsWith("type ")).map(([, , name]) => name!);
}

function fileOf(name: string, from: string): string | null {
  const base = resolve(dirname(from), name);
  for (const end of ["", ".ts", ".js", "/index.ts"]) {
    try {
      readFileSync(`${base}${end}`);
      return `${base}${end}`;
    } catch {
      // Another ending may fit.
    }
  }
  return null;
}

test("no page loads the libraries of charts and workbooks before they are needed", () => {
  const seen = new Set<string>();
  const libraries = new Set<string>();
  const waiting = ["main.ts", "approval/main.ts"].map((name) => join(SOURCES, name));
  for (let file = waiting.pop(); file; file = waiting.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    for (const name of importsOf(file)) {
      if (!name.startsWith(".")) libraries.add(name);
      const next = name.startsWith(".") ? fileOf(name, file) : null;
      if (next && /\.(ts|svelte)$/.test(next)) waiting.push(next);
    }
  }
  expect(seen.size).toBeGreaterThan(50);
  expect([...libraries].filter((name) => /^(vega|hucre)/.test(name))).toEqual([]);
  // The walk has reached the libraries that the window loads first.
  expect(libraries.size).toBeGreaterThan(3);
});

test("a chart is drawn where no text is evaluated and Object.prototype is frozen", async () => {
  const folder = mkdtempSync(join(tmpdir(), "chart-"));
  const rows = ["toString", "__proto__"].flatMap((name): Value[][] =>
    [0, 1, 3].map((day) => [dayAfter(day), name, day + 0.5]),
  );
  const content = result([DAY, CITY, CLICKS], rows, {
    computed: askedBy("day", "2026-10-04T09:00:00"),
  });
  const choice = chooseChart(content)!;
  const specs = choice.kinds.map((kind) =>
    specOf(planOf(content, choice, kind), THEME, { width: 640 }),
  );
  const entry = join(folder, "entry.js");
  writeFileSync(
    entry,
    `import { viewOf } from ${JSON.stringify(join(import.meta.dirname, "drawing.ts"))};
     for (const spec of ${JSON.stringify(specs)}) console.log(await viewOf(spec).toSVG());`,
  );
  writeFileSync(
    join(folder, "run.mjs"),
    `Object.freeze(Object.prototype); await import("./out/entry.mjs");`,
  );
  try {
    await build({
      configFile: false,
      logLevel: "error",
      plugins: [frozenPrototype()],
      ssr: { noExternal: true },
      build: {
        ssr: entry,
        outDir: join(folder, "out"),
        rollupOptions: { output: { entryFileNames: "entry.mjs" } },
      },
    });
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ["--disallow-code-generation-from-strings", join(folder, "run.mjs")],
      { encoding: "utf8" },
    );
    expect(stderr).toBe("");
    expect(stdout.match(/<svg /g)).toHaveLength(specs.length);
    expect(stdout).toContain("__proto__");
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 120_000);
