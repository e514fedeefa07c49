// Two pages, one per window: index.html (chat) and approval.html. No script is inlined, so that a strict CSP holds.
import { svelte } from "@sveltejs/vite-plugin-svelte";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { components } from "./components";
import { crates } from "./crates";

/** Excludes the words of packs' answers from the pages. The window shows only names and sentences, which are their own keys. */
const packSentences: Plugin = {
  name: "pack-sentences",
  enforce: "pre",
  transform(code, id) {
    if (!/\/tools\/[^/]+\/messages\/\w+\.json$/.test(id)) return null;
    const texts = Object.entries(JSON.parse(code) as Record<string, unknown>);
    return JSON.stringify(Object.fromEntries(texts.filter(([key]) => !/^[a-z]\w*$/.test(key))));
  },
};

/** A change of a library. */
interface Edit {
  /** A part of the module's path. */
  module: string;
  from: string;
  to: string;
}

const EDITS: readonly Edit[] = [
  {
    module: "/d3-format/",
    from: "FormatSpecifier.prototype.toString = ",
    to: 'Object.defineProperty(FormatSpecifier.prototype, "toString", { writable: true }).toString = ',
  },
  {
    module: "/d3-color/",
    from: "prototype.constructor = ",
    to: 'Object.defineProperty(prototype, "constructor", { writable: true }).constructor = ',
  },
  {
    // The names of functions, `toString` among them, are members of this object.
    module: "/vega-functions/",
    from: "const fn = functions(codegen);",
    to: "const fn = Object.assign(Object.create(null), functions(codegen));",
  },
];

/** Changes libraries so that they load in the window, where Object.prototype is frozen (`freezePrototype` in tauri.conf.json). There, a member such as
 *  `toString` can be defined on an object, and not assigned. A test draws a chart with what the plugin makes. */
export function frozenPrototype(): Plugin {
  return {
    name: "frozen-prototype",
    transform(code, id) {
      const edits = EDITS.filter(
        ({ module, from }) => id.includes(`node_modules${module}`) && code.includes(from),
      );
      if (edits.length === 0) return null;
      // The pages are built without source maps.
      return {
        code: edits.reduce((text, { from, to }) => text.replace(from, () => to), code),
        map: null,
      };
    },
  };
}

export default defineConfig({
  plugins: [packSentences, components, crates, frozenPrototype(), svelte()],
  clearScreen: false,
  // The dev server bundles libraries without the plugins above.
  optimizeDeps: { rolldownOptions: { plugins: [frozenPrototype()] } },
  // The texts, the changelog and the licences are outside this folder, so the dev server needs access to them.
  server: {
    port: 5173,
    strictPort: true,
    host: "127.0.0.1",
    fs: {
      allow: [
        ".",
        "../messages",
        "../tools",
        "../CHANGELOG.md",
        "../LICENSE-MIT",
        "../LICENSE-APACHE",
      ],
    },
  },
  preview: { port: 5174, strictPort: true, host: "127.0.0.1" },
  build: {
    target: "safari18",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: { input: { index: "index.html", approval: "approval.html" } },
  },
  test: {
    // A busy machine is slow; the bench measures time, and not a test.
    testTimeout: 30_000,
    include: ["src/**/*.test.ts"],
    setupFiles: ["src/i18n/testing.ts"],
    environment: "node",
  },
});
