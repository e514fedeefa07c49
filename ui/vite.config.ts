// Two pages, one per window: index.html (chat) and approval.html. No script is inlined, so that a strict CSP holds.
import { svelte } from "@sveltejs/vite-plugin-svelte";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

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

export default defineConfig({
  plugins: [packSentences, svelte()],
  clearScreen: false,
  // The texts are in other folders than this one, so the dev server needs access to those folders.
  server: {
    port: 5173,
    strictPort: true,
    host: "127.0.0.1",
    fs: { allow: [".", "../messages", "../tools"] },
  },
  preview: { port: 5174, strictPort: true, host: "127.0.0.1" },
  build: {
    target: "safari18",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: { input: { index: "index.html", approval: "approval.html" } },
  },
  test: {
    include: ["src/**/*.test.ts"],
    setupFiles: ["src/i18n/testing.ts"],
    environment: "node",
  },
});
