// Rules for the code of the pages. Prettier owns the formatting; svelte-check owns the types of templates.
import js from "@eslint/js";
import prettier from "eslint-config-prettier";
import svelte from "eslint-plugin-svelte";
import { defineConfig } from "eslint/config";
import globals from "globals";
import ts from "typescript-eslint";
import svelteConfig from "./svelte.config.js";

export default defineConfig(
  { ignores: ["dist/", "src/platform/generated/", "src/packs/shop/generated/"] },
  js.configs.recommended,
  ts.configs.strictTypeChecked,
  svelte.configs.recommended,
  prettier,
  svelte.configs.prettier,
  {
    languageOptions: {
      globals: globals.browser,
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_" },
      ],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      // Texts are split into code points on purpose.
      "@typescript-eslint/no-misused-spread": ["error", { allow: ["string"] }],
      // `void value` in an effect names what the effect depends on.
      "@typescript-eslint/no-meaningless-void-operator": "off",
      // `noUncheckedIndexedAccess` is on: an index that is known to exist is marked with `!`.
      "@typescript-eslint/no-non-null-assertion": "off",
      // Maps and sets that no template reads are plain.
      "svelte/prefer-svelte-reactivity": "off",
      // A $derived object is not deeply reactive, so drafts that are edited stay $state.
      "svelte/prefer-writable-derived": "off",
      // Spaces at the edge of an element are written as mustaches, so that formatting keeps them.
      "svelte/no-useless-mustaches": "off",
    },
  },
  {
    files: ["**/*.svelte", "**/*.svelte.ts"],
    languageOptions: {
      parserOptions: { parser: ts.parser, extraFileExtensions: [".svelte"], svelteConfig },
    },
  },
  {
    // ESLint sees components, and the parameters of snippets, as `any`. svelte-check sees their types.
    files: ["**/*.svelte"],
    rules: {
      "@typescript-eslint/no-unsafe-argument": "off",
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-call": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
      "@typescript-eslint/no-unsafe-return": "off",
      "@typescript-eslint/no-unnecessary-condition": "off",
      // The compiler's warnings, too, are svelte-check's.
      "svelte/no-unused-svelte-ignore": "off",
    },
  },
  {
    // Snapshots of $state have a type of Svelte's, which the code names by an assertion.
    files: ["**/*.svelte.ts"],
    rules: { "@typescript-eslint/no-unnecessary-type-assertion": "off" },
  },
  { files: ["**/*.test.ts"], rules: { "@typescript-eslint/no-extraneous-class": "off" } },
  { files: ["*.js"], extends: [ts.configs.disableTypeChecked] },
);
