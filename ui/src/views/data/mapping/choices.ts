// The decisions of a person about a file, and the options of the import that follow from them. Knows neither components nor the host.
import type { DateOrder } from "../../../platform/generated/DateOrder";
import type { FileSurvey } from "../../../platform/generated/FileSurvey";
import type { ImportOptions } from "../../../platform/generated/ImportOptions";
import type { SurveyedColumn } from "../../../platform/generated/SurveyedColumn";
import type { SurveyedField } from "../../../platform/generated/SurveyedField";

export interface Choices {
  /** The field of each column; an empty text if the column is not used. */
  fields: string[];
  /** The value of each field that a person may enter. */
  constants: Record<string, string>;
  /** The order of day, month and year; an empty text while it is open. */
  order: DateOrder | "";
}

/** Returns the choices that a survey suggests. */
export function choicesOf(survey: FileSurvey): Choices {
  const entered = survey.fields.filter((field) => field.takes_constant);
  return {
    fields: survey.columns.map((column) => column.field ?? ""),
    constants: Object.fromEntries(entered.map(({ name, value }) => [name, value ?? ""])),
    order: survey.dates?.order ?? "",
  };
}

/** Gives a column a field, and takes the field from the column that had it. */
export function withField(fields: readonly string[], at: number, field: string): string[] {
  return fields.map((known, place) => {
    if (place === at) return field;
    return field !== "" && known === field ? "" : known;
  });
}

/** Names a column for the host: by its heading, or by its number if the heading is empty or used twice. */
export function columnName(columns: readonly SurveyedColumn[], at: number): string {
  const heading = columns[at]?.heading ?? "";
  const isOnly = columns.filter((column) => column.heading === heading).length === 1;
  return heading !== "" && isOnly ? heading : `#${at + 1}`;
}

/** Returns the fields whose value is asked for: the field has no column, and neither has the field that would make it unnecessary. */
export function askedFields(survey: FileSurvey, choices: Choices): SurveyedField[] {
  const has = (name: string | undefined): boolean =>
    name !== undefined && choices.fields.includes(name);
  return survey.fields.filter(
    (field) => field.takes_constant && !has(field.name) && !has(field.instead),
  );
}

/** Returns the required fields that have no column. */
export function missingFields(survey: FileSurvey, choices: Choices): SurveyedField[] {
  const has = (name: string | undefined): boolean =>
    name !== undefined && choices.fields.includes(name);
  return survey.fields.filter(
    (field) => field.is_required && !has(field.name) && !has(field.instead) && !field.value,
  );
}

/** Whether an entered value can be used. A currency must be a code of three letters. */
export function isUsable(field: string, value: string): boolean {
  return field !== "currency" || value.trim() === "" || /^[A-Z]{3}$/.test(value.trim());
}

/** Whether a person has to say if the day or the month comes first. */
export function asksOrder(survey: FileSurvey): boolean {
  return survey.dates?.is_ambiguous ?? false;
}

/** Returns the options of an import with these choices. All fields are named, so that no other field is recognised or remembered. */
export function optionsOf(survey: FileSurvey, choices: Choices, skip: boolean): ImportOptions {
  const columns = Object.fromEntries(survey.fields.map(({ name }) => [name, ""]));
  choices.fields.forEach((field, at) => {
    if (field !== "") columns[field] = columnName(survey.columns, at);
  });
  const asked = askedFields(survey, choices);
  return {
    columns,
    constants: Object.fromEntries(
      asked.map(({ name }) => [name, (choices.constants[name] ?? "").trim()]),
    ),
    ...(asksOrder(survey) && choices.order !== "" && { date_order: choices.order }),
    skip_rejected: skip,
  };
}

/** Returns the options of an import that recognises the file by itself. */
export const recognised = (skip: boolean): ImportOptions => ({
  columns: {},
  constants: {},
  skip_rejected: skip,
});
