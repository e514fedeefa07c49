// Reports of files and sources as the host sends them in tests.
import type { FoundColumn } from "../../platform/generated/FoundColumn";
import type { ImportChange } from "../../platform/generated/ImportChange";
import type { ImportResult } from "../../platform/generated/ImportResult";
import type { SourceView } from "../../platform/generated/SourceView";
import type { TableReport } from "../../platform/generated/TableReport";

export function foundColumn(name: string, rest: Partial<FoundColumn> = {}): FoundColumn {
  return {
    name,
    heading: name,
    samples: [],
    kind: "text",
    scale: 0,
    use: "dimension",
    empty: 0,
    is_added: false,
    ...rest,
  };
}

export const COLUMNS: FoundColumn[] = [
  foundColumn("Day", { kind: "day", use: "time", samples: ["2026-11-01"] }),
  foundColumn("Campaign", { samples: ["Brand", "Shoes"] }),
  foundColumn("Campaign ID", { kind: "whole", use: "id", samples: ["17"] }),
  foundColumn("Cost", { kind: "decimal", scale: 2, use: "sum", unit: "EUR", samples: ["12.50"] }),
  foundColumn("Clicks", { kind: "whole", use: "sum" }),
  foundColumn("Labels", { use: "other", empty: 12 }),
];

export function reportOf(rest: Partial<TableReport> = {}): TableReport {
  return {
    file: "november.csv",
    hash: "ab",
    bytes: 1000,
    format: "text",
    encoding: "windows-1252",
    separator: ";",
    decimal: "comma",
    sheets: [],
    header_line: 3,
    columns: COLUMNS,
    records: 61,
    stored: 60,
    left_out: [
      {
        rule: "total",
        reason: "Total lines are no rows.",
        lines: [64],
        count: 1,
        sample: "Total;750,00",
      },
    ],
    rejected: [],
    file_total: {
      line: 64,
      columns: [{ column: "Cost", stated: "750.00", computed: "750.00", agrees: true }],
    },
    stated_range: { first: "2026-11-01", last: "2026-11-30" },
    days: { first: "2026-11-01", last: "2026-11-29", days: 27 },
    gaps: [{ first: "2026-11-10", last: "2026-11-11" }],
    sums: [
      { column: "Cost", currency: "EUR", sum: "750.00" },
      { column: "Clicks", sum: "90" },
    ],
    questions: [],
    notes: ["The currency is in the heading."],
    ...rest,
  };
}

export function changeOf(rest: Partial<ImportChange> = {}): ImportChange {
  return {
    is_same_content: false,
    mode: "replace",
    scope: {
      values: { Account: ["Shop"] },
      days: { first: "2026-11-01", last: "2026-11-30" },
      is_range_stated: true,
    },
    new_rows: 60,
    changed_rows: 0,
    vanished_rows: 0,
    sums: [{ column: "Cost", currency: "EUR", before: "0", after: "750.00", vanished: "0" }],
    ...rest,
  };
}

export function resultOf(rest: Partial<ImportResult> = {}): ImportResult {
  return {
    source: "november",
    is_new_source: true,
    report: reportOf(),
    decisions: { sheets: [], columns: {}, skip_rejected: false, answers: {} },
    change: changeOf(),
    questions: [],
    is_stored: false,
    ...rest,
  };
}

export function sourceOf(name: string, rest: Partial<SourceView> = {}): SourceView {
  return {
    name,
    kind: { at: "files" },
    rows: 60,
    columns: COLUMNS,
    days: { first: "2026-10-01", last: "2026-10-31", days: 31 },
    version: "v1",
    imports: [
      {
        id: "i1",
        at: "2026-11-30T09:00:00Z",
        by: "chat_window",
        report: reportOf(),
        decisions: { sheets: [], columns: {}, skip_rejected: false, answers: {} },
        change: changeOf(),
      },
    ],
    approved: 2,
    proposed: 0,
    status: "ready",
    bytes: 1_540_000,
    notes: [],
    ...rest,
  };
}

/** Returns the texts of a page, without its tags. */
export function textsOf(html: string): string {
  return html
    .replace(/<!--.*?-->/gs, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}
