// Tests of the problems of a source.
import { beforeEach, expect, test } from "vitest";
import { setLanguage } from "../../../i18n/index.svelte";
import type { SourceDescription } from "../../../platform/generated/SourceDescription";
import { reportOf, sourceOf } from "../testing";
import { problemsOf } from "./problems";

const described = (
  source: Partial<SourceDescription["source"]>,
  rest: Partial<SourceDescription> = {},
): SourceDescription => ({
  source: sourceOf("ads", source),
  definitions: { source: "ads", time: { column: "Day" } },
  text: "",
  definitions_hash: "",
  states: [],
  faults: [],
  samples: {},
  models_get: "all",
  ...rest,
});
const texts = (description: SourceDescription): string[] =>
  problemsOf(description).map(({ text, tab }) => `${text} (${tab ?? "-"})`);

beforeEach(() => setLanguage("en"));

test("definitions that wait, days without rows and lines that could not be read are problems", () => {
  const [entry] = sourceOf("ads").imports;
  const cause = { cause: "x", reason: "x", column: "", lines: [3], count: 2, sample: "" };
  const imports = [{ ...entry!, report: reportOf({ rejected: [cause] }) }];
  const days = { first: "2026-10-01", last: "2026-10-31", days: 28 };
  const faults = [{ line: 1, text: "x" }];
  expect(texts(described({ proposed: 3, days, imports }, { faults }))).toEqual([
    "The definitions file has 1 fault. The former definitions are used. (definitions)",
    "3 definitions to approve (definitions)",
    "3 days between the first and the last one have no rows (-)",
    "2 lines of the newest import could not be read and were left out (imports)",
  ]);
});

test("a source that is whole has no problem, and rows of whole weeks lack no days", () => {
  expect(texts(described({}))).toEqual([]);
  const days = { first: "2026-10-01", last: "2026-10-31", days: 5 };
  const time = { column: "Day", covers: "week" as const };
  expect(texts(described({ days }, { definitions: { source: "ads", time } }))).toEqual([]);
  expect(texts(described({ status: "damaged" }))).toEqual(["Damaged (-)"]);
});
