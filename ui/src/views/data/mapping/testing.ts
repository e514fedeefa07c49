// Surveys of files as the host answers them in tests.
import type { FileCheck } from "../../../platform/generated/FileCheck";
import type { FileSurvey } from "../../../platform/generated/FileSurvey";
import type { SurveyedField } from "../../../platform/generated/SurveyedField";

const field = (name: string, label: string, rest: Partial<SurveyedField> = {}): SurveyedField => ({
  name,
  label,
  is_required: false,
  takes_constant: false,
  ...rest,
});

export const FIELDS: SurveyedField[] = [
  field("day", "Day", { is_required: true }),
  field("campaign", "Campaign", { is_required: true, instead: "campaign_id" }),
  field("spend", "Spend", { is_required: true }),
  field("account", "Account", { takes_constant: true, instead: "account_id" }),
  field("currency", "Currency", { takes_constant: true }),
  field("campaign_id", "Campaign ID"),
  field("account_id", "Account ID"),
];

export const CHECK: FileCheck = {
  accepted: 1203,
  rejected: 0,
  totals: 1,
  causes: [],
  rows: [{ day: "2026-11-01", campaign: "Alpha", spend: "1234.50" }],
  thousands: ".",
  currencies: [],
};

/** Returns a survey of a file with an unknown layout, of which only the day is recognised. */
export function surveyOf(rest: Partial<FileSurvey> = {}): FileSurvey {
  return {
    encoding: "windows1252",
    separator: ";",
    header_line: 3,
    title_lines: 2,
    shape: "when | what | how much",
    is_remembered: false,
    is_fixed: false,
    columns: [
      { heading: "When", samples: ["1/11/2026"], field: "day" },
      { heading: "What", samples: ["Alpha", "Beta"] },
      { heading: "How much", samples: ["1.234,50"] },
    ],
    fields: FIELDS,
    missing: ["campaign", "spend"],
    dates: { is_ambiguous: true, example: "1/11/2026" },
    ...rest,
  };
}
