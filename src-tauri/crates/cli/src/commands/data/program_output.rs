//! The machine-readable result of an import, which docs/data.md describes. Later versions only add
//! members.

use contract::{
    AgentError, SourceName, Text,
    sources::{
        ColumnKind, ColumnSum, ColumnUse, DateOrder, DayRange, DaySpan, FileTotal, FoundColumn,
        ImportChange, ImportDecisions, ImportQuestion, ImportResult, LeftOut, NumberSign,
        RejectedRows, SheetFound,
    },
};
use serde::Serialize;

use super::{decisions::account_of, questions::PASSWORD};

/// The outcome of importing one file.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum FileOutcome {
    Read(Box<FileOutput>),
    Failed { file: String, error: Box<AgentError> },
}

/// The content of a file and the result of its import.
#[derive(Debug, Serialize)]
pub(super) struct FileOutput {
    source: SourceName,
    is_new_source: bool,
    file: String,
    /// The number of rows of the file that the source contains. 0 if no rows were stored.
    rows: u64,
    is_stored: bool,
    /// The number of records below the headings. Each record is stored, left out or rejected.
    records: u64,
    left_out: Vec<LeftOut>,
    rejected: Vec<RejectedRows>,
    columns: Vec<ColumnOutput>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_total: Option<FileTotal>,
    sums: Vec<ColumnSum>,
    #[serde(skip_serializing_if = "Option::is_none")]
    days: Option<DaySpan>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stated_range: Option<DayRange>,
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    separator: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decimal: Option<NumberSign>,
    #[serde(skip_serializing_if = "Option::is_none")]
    date_order: Option<DateOrder>,
    header_line: u64,
    sheets: Vec<SheetFound>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<ImportChange>,
    questions: Vec<ImportQuestion>,
    notes: Vec<Text>,
    decisions: ImportDecisions,
    /// The SHA-256 of the content.
    hash: String,
}

/// A column of the file.
#[derive(Debug, Serialize)]
struct ColumnOutput {
    name: String,
    heading: String,
    role: ColumnUse,
    #[serde(rename = "type")]
    kind: ColumnKind,
    unit: Option<String>,
    /// Whether figures can use the column.
    used: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    constant: Option<String>,
    empty: u64,
    is_added: bool,
}

impl FileOutcome {
    pub(super) fn failed(file: &str, error: AgentError) -> Self {
        Self::Failed { file: file.to_owned(), error: Box::new(error) }
    }

    pub(super) fn read(result: ImportResult) -> Self {
        let account = account_of(&result).map(str::to_owned);
        let ImportResult {
            source,
            is_new_source,
            report,
            mut decisions,
            change,
            questions,
            is_stored,
        } = result;
        decisions.answers.remove(PASSWORD);
        let is_there = is_stored || change.as_ref().is_some_and(|change| change.is_same_content);
        Self::Read(Box::new(FileOutput {
            source,
            is_new_source,
            file: report.file,
            rows: if is_there { report.stored } else { 0 },
            is_stored,
            records: report.records,
            left_out: report.left_out,
            rejected: report.rejected,
            columns: report.columns.into_iter().map(ColumnOutput::from).collect(),
            file_total: report.file_total,
            sums: report.sums,
            days: report.days,
            stated_range: report.stated_range,
            account,
            encoding: report.encoding,
            separator: report.separator,
            decimal: report.decimal,
            date_order: report.date_order,
            header_line: report.header_line,
            sheets: report.sheets,
            change,
            questions,
            notes: report.notes,
            decisions,
            hash: report.hash,
        }))
    }
}

impl From<FoundColumn> for ColumnOutput {
    fn from(column: FoundColumn) -> Self {
        Self {
            used: is_used(&column),
            name: column.name,
            heading: column.heading,
            role: column.usage,
            kind: column.kind,
            unit: column.unit,
            constant: column.constant,
            empty: column.empty,
            is_added: column.is_added,
        }
    }
}

/// Whether figures can use a column.
pub(super) fn is_used(column: &FoundColumn) -> bool {
    column.usage != ColumnUse::Other
}

#[cfg(test)]
mod tests {
    use contract::sources::TableReport;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_output_for_programs_has_the_promised_members() {
        let column = |name: &str, usage| FoundColumn {
            name: name.to_owned(),
            usage,
            ..FoundColumn::default()
        };
        let result = ImportResult {
            source: SourceName::new("ads"),
            is_new_source: true,
            report: TableReport {
                records: 4,
                stored: 3,
                columns: vec![column("Cost", ColumnUse::Sum), column("Memo", ColumnUse::Other)],
                file_total: Some(FileTotal::default()),
                ..TableReport::default()
            },
            decisions: ImportDecisions::default(),
            change: None,
            questions: Vec::new(),
            is_stored: true,
        };
        let output = serde_json::to_value(FileOutcome::read(result.clone())).unwrap();
        assert_eq!(output["source"], "ads");
        assert_eq!(output["rows"], 3);
        assert_eq!((&output["left_out"], &output["rejected"]), (&json!([]), &json!([])));
        assert_eq!(output["columns"][0]["role"], "sum");
        assert_eq!(output["columns"][0]["type"], "text");
        assert_eq!(output["columns"][1]["used"], false);
        assert!(output["file_total"].is_object());
        let open = ImportResult { is_stored: false, ..result };
        let output = serde_json::to_value(FileOutcome::read(open)).unwrap();
        assert_eq!(output["rows"], 0, "nothing was stored");
    }
}
