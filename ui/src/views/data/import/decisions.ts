// The decisions about a file in words: what a person decided, for this file or for an earlier one.
import { t } from "../../../i18n/index.svelte";
import type { ColumnChoice } from "../../../platform/generated/ColumnChoice";
import type { ImportDecisions } from "../../../platform/generated/ImportDecisions";
import { useOf } from "../columns/correction";

/** The decisions that apply to any file. The others, such as answers, are about one file. */
const LASTING = [
  "account",
  "account_from_path",
  "currency",
  "mode",
  "date_order",
  "decimal",
  "zone",
  "header_line",
  "encoding",
] as const;
type Lasting = (typeof LASTING)[number];

function valueText(name: Lasting, decisions: ImportDecisions): string {
  const value = String(decisions[name]);
  switch (name) {
    case "account_from_path":
      return t("import.decision_account_from_path", { value, account: decisions.account ?? "–" });
    case "mode":
      return t(`import.mode_${decisions.mode!}`);
    case "date_order":
      return t(`mapping.order.${decisions.date_order!}`);
    case "decimal":
      return t(`mapping.decimals.${decisions.decimal!}`);
    case "header_line":
      return t("mapping.header", { line: decisions.header_line! });
    default:
      return t(`import.decision_${name}`, { value });
  }
}

function choiceText(key: string, choice: ColumnChoice): string {
  const number = /^#(\d+)$/.exec(key)?.[1];
  const column = number ? t("import.decision_number", { number: Number(number) }) : key;
  const parts = [
    ...(choice.name !== undefined ? [choice.name] : []),
    ...(choice.use !== undefined ? [t(`columns.is_${useOf(choice.use)}`)] : []),
    ...(choice.kind !== undefined ? [t(`columns.kind_${choice.kind}`)] : []),
    ...(choice.unit !== undefined
      ? [choice.unit === "percent" ? t("columns.unit_percent") : choice.unit]
      : []),
  ];
  return t("import.decision_column", { column, value: parts.join(", ") || "–" });
}

/** Returns the decisions in words, one for each. Those that are also in `without` are left out. */
export function decisionTexts(decisions: ImportDecisions, without?: ImportDecisions): string[] {
  const isFromPath = decisions.account_from_path !== undefined;
  const lasting = LASTING.filter(
    (name) =>
      decisions[name] !== undefined &&
      without?.[name] === undefined &&
      !(name === "account" && isFromPath),
  );
  const columns = Object.entries(decisions.columns).filter(
    ([key]) => without?.columns[key] === undefined,
  );
  const hasSheets = decisions.sheets.length > 0 && (without?.sheets ?? []).length === 0;
  return [
    ...(hasSheets ? [t("import.decision_sheets", { value: decisions.sheets.join(", ") })] : []),
    ...lasting.map((name) => valueText(name, decisions)),
    ...columns.map(([key, choice]) => choiceText(key, choice)),
    ...(decisions.skip_rejected && without?.skip_rejected !== true
      ? [t("import.decision_skip")]
      : []),
  ];
}

/** Reads the number of a line as a person writes it; undefined if the field is empty, null for any other text. */
export function readLine(text: string): number | null | undefined {
  if (text.trim() === "") return undefined;
  const line = Number(text);
  return Number.isSafeInteger(line) && line > 0 ? line : null;
}
