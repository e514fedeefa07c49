//! Writes a result as CSV (RFC 4180 with the line ends of Unix, UTF-8). A text that a spreadsheet would run as a formula gets an
//! apostrophe before it, and how many do is counted. Knows no terminal.

use contract::metric_query::{DataResult, DataType};
use serde_json::Value;

use super::figures::Digits;

/// The signs that begin a formula, also in the width of East Asian letters.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
/// Characters before a formula that some programs skip.
const SKIPPED: [char; 4] = ['\t', '\r', '\n', ' '];
/// Characters at which a spreadsheet splits a line where decimals have a comma.
const SEPARATORS: [char; 4] = [';', '\t', '\r', '\n'];

/// A result as CSV.
pub(super) struct Csv {
    pub(super) text: String,
    /// The number of texts that are marked with an apostrophe.
    pub(super) marked: u64,
}

/// Returns a result with a line of headings.
pub(super) fn write_csv(result: &DataResult) -> Csv {
    let mut csv = Csv { text: String::new(), marked: 0 };
    csv.add_line(result.columns.iter().map(|column| (column.name.clone(), true)));
    for row in &result.rows {
        csv.add_line(
            result.columns.iter().zip(row).map(|(column, cell)| cell_text(column.kind, cell)),
        );
    }
    csv
}

impl Csv {
    /// Adds a line of cells, each with a flag for a text, which could be a formula.
    fn add_line(&mut self, cells: impl Iterator<Item = (String, bool)>) {
        for (at, (cell, is_text)) in cells.enumerate() {
            let shown = if is_text { guard_text(&cell) } else { cell.clone() };
            self.marked += u64::from(shown != cell);
            if at > 0 {
                self.text.push(',');
            }
            self.text.push_str(&quote(&shown));
        }
        self.text.push('\n');
    }
}

/// Returns a cell, and whether it is a text.
fn cell_text(kind: DataType, cell: &Value) -> (String, bool) {
    let is_number = matches!(kind, DataType::Whole | DataType::Decimal | DataType::Float);
    match (cell, Digits::of_cell(cell)) {
        (Value::Null, _) => (String::new(), false),
        (Value::String(_) | Value::Number(_), Some(number)) if is_number => {
            (number.to_string(), false)
        }
        (Value::String(text), _) => (text.clone(), true),
        (other, _) => (other.to_string(), false),
    }
}

/// Keeps a spreadsheet from running a text, or a part of it behind a sign that separates cells.
fn guard_text(text: &str) -> String {
    let begins = text.trim_start_matches(SKIPPED).starts_with(FORMULA);
    let mut guarded = String::with_capacity(text.len());
    if begins || text.starts_with(['\t', '\r']) {
        guarded.push('\'');
    }
    let mut is_cell_start = false;
    for letter in text.chars() {
        if is_cell_start && FORMULA.contains(&letter) {
            guarded.push('\'');
        }
        is_cell_start = SEPARATORS.contains(&letter) || (is_cell_start && letter == ' ');
        guarded.push(letter);
    }
    guarded
}

fn quote(cell: &str) -> String {
    // A semicolon or a tab separates cells for some spreadsheets, too.
    if cell.contains(['"', ',', ';', '\t', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use contract::{
        metric_query::DataColumn,
        result::{ColumnRole, ValueFormat},
    };
    use serde_json::json;

    use super::*;

    fn column(name: &str, kind: DataType) -> DataColumn {
        DataColumn::new(name, kind, ColumnRole::Dimension, ValueFormat::Text)
    }

    fn written(columns: Vec<DataColumn>, rows: Vec<Vec<Value>>) -> Csv {
        write_csv(&DataResult { columns, rows, ..DataResult::default() })
    }

    #[test]
    fn cells_are_quoted_and_formulas_are_text() {
        let columns = vec![column("a, b", DataType::Text), column("cost", DataType::Decimal)];
        let rows = vec![
            vec![json!("say \"x\"\n"), json!(-1.5)],
            vec![json!("=1+1"), json!("-12345678901234567890.25")],
            vec![json!(null), json!(null)],
        ];
        let csv = written(columns, rows);
        let lines = [
            "\"a, b\",cost\n",
            "\"say \"\"x\"\"\n\",-1.5\n",
            "'=1+1,-12345678901234567890.25\n",
            ",\n",
        ];
        assert_eq!((csv.text, csv.marked), (lines.concat(), 1));
    }

    #[test]
    fn a_formula_is_marked_wherever_a_spreadsheet_could_find_one_and_nothing_else_is() {
        for (text, marked) in [
            ("＝1+1", "'＝1+1"),
            (" \t-2+3", "' \t'-2+3"),
            ("Sizes;=cmd|x", "Sizes;'=cmd|x"),
            ("Sizes; =cmd|x", "Sizes; '=cmd|x"),
            ("two\r\n=1", "two\r\n'=1"),
            ("\tx", "'\tx"),
            ("a=b+c; d-e, 5", "a=b+c; d-e, 5"),
            ("", ""),
        ] {
            assert_eq!(guard_text(text), marked, "{text:?}");
        }
        assert_eq!(quote("a;b"), "\"a;b\"");
        // A text in a column of numbers is no number, and a heading can be a formula, too.
        let columns = vec![column("=x", DataType::Decimal)];
        let csv = written(columns, vec![vec![json!("=1+1")], vec![json!(-1)]]);
        assert_eq!((csv.text.as_str(), csv.marked), ("'=x\n'=1+1\n-1\n", 2));
    }
}
