// The words on the buttons of a question.
import { afterEach, expect, test } from "vitest";
import { setLanguage } from "../../i18n/index.svelte";
import { chipText } from "./chipText";

afterEach(() => setLanguage("en"));

test("words begin with a capital letter in each language, and names stay as they are", () => {
  const by = { key: "by {name}", text: "by eCPM", params: { name: { text: "eCPM", names: {} } } };
  const named = { key: "{name}", text: "eCPM", params: by.params };
  for (const one of ["en", "sv", "de"] as const) {
    setLanguage(one);
    for (const text of ["all days", by]) {
      const [first] = chipText({ text });
      expect(first, one).toBe(first!.toUpperCase());
    }
    expect(chipText({ text: named })).toBe("eCPM");
  }
  setLanguage("en");
  const renamed = { key: "{group} as {name}", text: "by eCPM as x", params: { group: by } };
  const texts = ["all days", by, renamed].map((text) => chipText({ text }));
  expect(texts).toEqual(["All days", "By eCPM", "By eCPM as x"]);
});
