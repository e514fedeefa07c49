// The findings about a file in words, one phrase each.
import { t, type MessageKey } from "../../../i18n/index.svelte";
import type { FileSurvey } from "../../../platform/generated/FileSurvey";
import type { ImportProblem } from "../../../platform/generated/ImportProblem";
import type { TextEncoding } from "../../../platform/generated/TextEncoding";

const ENCODINGS: Record<TextEncoding, string> = {
  utf8: "UTF-8",
  utf16: "UTF-16",
  windows1252: "Windows-1252",
};

const SEPARATORS: Partial<Record<string, MessageKey>> = {
  ",": "mapping.separator.comma",
  ";": "mapping.separator.semicolon",
  "\t": "mapping.separator.tab",
  "|": "mapping.separator.bar",
};

/** Returns the problem of a file or a cell in words. */
export function problemText({ code, ...values }: ImportProblem): string {
  return t(`import.problem.${code}`, values);
}

function formats(survey: FileSurvey): string[] {
  const { dates, decimals, check } = survey;
  const thousands = check?.thousands;
  return [
    ...(dates?.order && !dates.is_ambiguous ? [t(`mapping.order.${dates.order}`)] : []),
    ...(decimals ? [t(`mapping.decimals.${decimals}`)] : []),
    ...(thousands
      ? [
          thousands === " "
            ? t("mapping.thousands_space")
            : t("mapping.thousands", { sign: thousands }),
        ]
      : []),
  ];
}

/** Returns the phrases about a file, in the order in which they are shown. */
export function foundPhrases(survey: FileSurvey): string[] {
  const { check, encoding, separator, title_lines: titles } = survey;
  const sign = SEPARATORS[separator ?? ""];
  return [
    survey.layout ? t("mapping.recognised", { layout: survey.layout }) : t("mapping.unknown"),
    encoding ? ENCODINGS[encoding] : t("mapping.workbook"),
    ...(sign ? [t(sign)] : []),
    t("mapping.header", { line: survey.header_line }),
    ...(titles > 0 ? [t("mapping.titles", { count: titles })] : []),
    ...formats(survey),
    ...(check && check.currencies.length > 0 ? [check.currencies.join(", ")] : []),
    ...(check ? [t("mapping.lines", { count: check.accepted + check.rejected })] : []),
    ...(check && check.totals > 0 ? [t("mapping.totals", { count: check.totals })] : []),
  ];
}
