// The texts of a language are loaded when it is chosen. Until they are here, the window keeps the language that it has.
import { beforeEach, expect, test, vi } from "vitest";

/** The modules as they are when a window opens, with English texts only. */
async function opened() {
  vi.resetModules();
  const { hasTexts } = await import("./catalogue");
  return { hasTexts, ...(await import("./index.svelte")), ...(await import("./host")) };
}
let page: Awaited<ReturnType<typeof opened>>;
beforeEach(async () => {
  page = await opened();
});

test("the window stays as it is until the texts of a language are here, and then all of it changes", async () => {
  const { hasTexts, setLanguage, languageSet, language, t, named, formatNumber } = page;
  const shown = () => [language(), t("common.cancel"), named("Show cart"), formatNumber(1234.5)];
  expect(["en", "sv", "de"].map(hasTexts)).toEqual([true, false, false]);
  const before = shown();
  expect(before).toEqual(["en", "Cancel", "Show cart", "1,234.5"]);
  setLanguage("de-DE");
  expect(shown()).toEqual(before);
  await languageSet();
  expect(shown()).toEqual(["de", "Abbrechen", "Warenkorb anzeigen", "1.234,5"]);
  expect(["en", "sv", "de"].map(hasTexts)).toEqual([true, false, true]);
});

test("the language that was chosen last is used, also if the texts of another one arrive later", async () => {
  const { hasTexts, setLanguage, languageSet, language } = page;
  setLanguage("sv");
  setLanguage("de");
  await languageSet();
  expect(language()).toBe("de");
  setLanguage("sv");
  setLanguage("en");
  await languageSet();
  await vi.waitFor(() => expect(hasTexts("sv")).toBe(true));
  expect(language()).toBe("en");
});

test("a language that is chosen again is in use at once", async () => {
  const { setLanguage, languageSet, language } = page;
  setLanguage("sv");
  await languageSet();
  setLanguage("en");
  setLanguage("sv-FI");
  expect(language()).toBe("sv");
});
