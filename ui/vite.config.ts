// Two pages, one per window: index.html (chat) and approval.html. No script is inlined, so that a strict CSP holds.
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [svelte()],
  clearScreen: false,
  // The texts are beside this folder.
  server: { port: 5173, strictPort: true, host: "127.0.0.1", fs: { allow: [".", "../messages"] } },
  preview: { port: 5174, strictPort: true, host: "127.0.0.1" },
  build: {
    target: "safari18",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: { input: { index: "index.html", approval: "approval.html" } },
  },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
