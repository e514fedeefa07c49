//! From the rows that a database returned to the result: hidden columns become notes, and numbers keep
//! their digits.

use std::collections::BTreeSet;

use contract::{
    Text,
    metric_query::{DataColumn, DataResult, ENGINE},
    result::ColumnRole,
    text,
};
use serde_json::Value;

use crate::{
    Compiled, Problem, Purpose, Resolved, compile::rates::OLDEST_RATE, pivot::pivot, units::moved,
};

/// The most significant digits of a number that JSON readers keep.
const MAX_DIGITS: usize = 15;

/// Returns an exact decimal as a cell: a JSON number without zeros at its end if it has at most 15
/// significant digits, else a text with the digits.
pub fn decimal_cell(unscaled: i128, scale: u8) -> Value {
    let digits = decimal_text(unscaled, scale);
    let significant = digits.bytes().filter(u8::is_ascii_digit).skip_while(|byte| *byte == b'0');
    if significant.count() > MAX_DIGITS {
        return Value::String(digits);
    }
    serde_json::from_str(&digits).unwrap_or(Value::String(digits))
}

/// Returns an exact decimal as digits, without zeros at the end of its decimal places.
pub(crate) fn decimal_text(unscaled: i128, scale: u8) -> String {
    let digits = unscaled.unsigned_abs().to_string();
    let scale = usize::from(scale);
    let padded = format!("{digits:0>width$}", width = scale + 1);
    let (whole, part) = padded.split_at(padded.len() - scale);
    let part = part.trim_end_matches('0');
    let sign = if unscaled < 0 { "-" } else { "" };
    if part.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part}") }
}

/// Returns the result of a compiled query, without the hash of the data.
pub fn finish(
    compiled: &Compiled,
    resolved: &Resolved,
    rows: Vec<Vec<Value>>,
) -> Result<DataResult, Problem> {
    let mut notes = compiled.notes.clone();
    let (totals, rows) = split_totals(compiled, rows);
    notes.extend(notes_of_rows(compiled, &rows));
    let row_count = count_of(compiled, &rows);
    if !totals.is_empty() && row_count > u64::try_from(rows.len()).unwrap_or(u64::MAX) {
        notes.push(text!("The totals are of all rows, not only of those listed."));
    }
    let (columns, kept) = shown_columns(compiled, &rows, &mut notes);
    let cells = |row: Vec<Value>| -> Vec<Value> {
        kept.iter().map(|place| row.get(*place).cloned().unwrap_or(Value::Null)).collect()
    };
    let result = DataResult {
        columns,
        rows: rows.into_iter().map(cells).collect(),
        totals: totals.into_iter().map(cells).collect(),
        row_count,
        more: None,
        query: resolved.hash.clone(),
        sql: compiled.sql.clone(),
        definitions: resolved.definitions.clone(),
        definition_state: resolved.state,
        data_version: contract::metric_query::DataVersion::default(),
        notes,
        asked: None,
        record: None,
        engine: Some(ENGINE),
    };
    match &compiled.pivot {
        Some(dimension) => pivot(result, dimension, compiled.limit),
        None => Ok(result),
    }
}

/// Splits the rows with totals off.
fn split_totals(compiled: &Compiled, rows: Vec<Vec<Value>>) -> (Vec<Vec<Value>>, Vec<Vec<Value>>) {
    match place_of(compiled, &Purpose::Total) {
        Some(place) => {
            rows.into_iter().partition(|row| row.get(place).and_then(Value::as_bool) == Some(true))
        }
        None => (Vec::new(), rows),
    }
}

fn place_of(compiled: &Compiled, purpose: &Purpose) -> Option<usize> {
    compiled.columns.iter().position(|column| column.purpose == *purpose)
}

fn count_of(compiled: &Compiled, rows: &[Vec<Value>]) -> u64 {
    let all = place_of(compiled, &Purpose::AllRows);
    let counted = all.and_then(|place| rows.first()?.get(place)?.as_u64());
    counted.unwrap_or(u64::try_from(rows.len()).unwrap_or(u64::MAX))
}

fn notes_of_rows(compiled: &Compiled, rows: &[Vec<Value>]) -> Vec<Text> {
    let mut notes = Vec::new();
    let shown = u64::try_from(rows.len()).unwrap_or(u64::MAX);
    let all = count_of(compiled, rows);
    if all > shown {
        notes.push(text!("{shown} of {all} rows are listed.", shown, all));
    }
    let place = place_of(compiled, &Purpose::LastPlace);
    let last = place.and_then(|place| rows.last()?.get(place)?.as_u64());
    if last.is_some_and(|last| last > shown && all > shown) {
        notes.push(text!("The last row listed has the same values as rows that are not listed."));
    }
    for (place, column) in compiled.columns.iter().enumerate() {
        notes.extend(note_of_column(&column.purpose, place, rows));
    }
    notes
}

/// Returns the note about the counts in a column that is not shown.
fn note_of_column(purpose: &Purpose, place: usize, rows: &[Vec<Value>]) -> Option<Text> {
    let numbers = || rows.iter().map(|row| row.get(place).and_then(Value::as_u64).unwrap_or(0));
    // Each row has the same count.
    let count = numbers().next().unwrap_or(0);
    match purpose {
        Purpose::WithoutRate => (count > 0).then(|| {
            text!(
                "{count} rows have no rate of their currency. Their amounts are not counted.",
                count
            )
        }),
        Purpose::OldRate => (count > 0).then(|| {
            text!(
                "{count} rows are converted with a rate that is more than {days} days older than they are.",
                count,
                days = OLDEST_RATE
            )
        }),
        Purpose::RowsOf(source) => {
            let missing = numbers().filter(|count| *count == 0).count();
            without_partner(u64::try_from(missing).unwrap_or(u64::MAX), source)
        }
        Purpose::RowsWithout(source) => without_partner(count, source),
        Purpose::CutRows(source) if rows.is_empty() => Some(text!(
            "Rows of {source} cover more than a day. Each counts with its whole amount on one day.",
            source
        )),
        Purpose::CutRows(source) => (count > 0).then(|| {
            text!(
                "{count} rows of {source} cover more than a day and lie only partly in the period or in one of its times. Each counts with its whole amount on one day.",
                count,
                source
            )
        }),
        Purpose::WithoutPartner(source) => (count > 0)
            .then(|| text!("{count} rows of the period have no partner in {source}.", count, source)),
        Purpose::Ambiguous(source) => (count > 0).then(|| {
            text!(
                "{source} has several values for {count} rows of the period. They count without a value.",
                source,
                count
            )
        }),
        Purpose::Several(column) => numbers().any(|count| count > 1).then(|| {
            text!(
                "{column} does not add up: it is empty where several rows have a value. Group by all that tells the rows apart.",
                column
            )
        }),
        Purpose::TopTies => (count > 0).then(|| {
            text!("A group that is not listed has the same value as the last one of the first ones.")
        }),
        Purpose::WithoutBudget(name) => (count > 0).then(|| {
            text!(
                "{count} of {name} have spend without a budget. They are not judged: spend_without_budget has their amounts.",
                count,
                name
            )
        }),
        Purpose::Shown
        | Purpose::Key
        | Purpose::Rest
        | Purpose::AllRows
        | Purpose::LastPlace
        | Purpose::Total
        | Purpose::Hidden => None,
    }
}

fn without_partner(missing: u64, source: &str) -> Option<Text> {
    (missing > 0).then(|| text!("{missing} rows have no partner in {source}.", missing, source))
}

/// Returns the columns that are shown, and their places. Keys are shown if names are not unique.
fn shown_columns(
    compiled: &Compiled,
    rows: &[Vec<Value>],
    notes: &mut Vec<Text>,
) -> (Vec<DataColumn>, Vec<usize>) {
    let is_name = |place: &usize| {
        let column = &compiled.columns[*place];
        column.column.role != ColumnRole::Measure && column.purpose == Purpose::Shown
    };
    let names: Vec<usize> = (0..compiled.columns.len()).filter(is_name).collect();
    let mut seen = BTreeSet::new();
    let mut are_unique = true;
    for row in rows {
        let rest = place_of(compiled, &Purpose::Rest).and_then(|place| row.get(place));
        let key: Vec<String> = names
            .iter()
            .filter_map(|place| row.get(*place))
            .chain(rest)
            .map(Value::to_string)
            .collect();
        are_unique &= seen.insert(key);
    }
    let has_keys = place_of(compiled, &Purpose::Key).is_some();
    let shows_keys = has_keys && !are_unique;
    if shows_keys {
        notes.push(text!("Several things have the same name. Their keys tell them apart."));
    }
    let kept: Vec<usize> = (0..compiled.columns.len())
        .filter(|place| match compiled.columns[*place].purpose {
            Purpose::Shown => true,
            Purpose::Key => shows_keys,
            Purpose::Rest
            | Purpose::AllRows
            | Purpose::LastPlace
            | Purpose::WithoutRate
            | Purpose::OldRate
            | Purpose::RowsOf(_)
            | Purpose::RowsWithout(_)
            | Purpose::Total
            | Purpose::CutRows(_)
            | Purpose::WithoutPartner(_)
            | Purpose::Ambiguous(_)
            | Purpose::Several(_)
            | Purpose::TopTies
            | Purpose::WithoutBudget(_)
            | Purpose::Hidden => false,
        })
        .collect();
    let columns = kept.iter().map(|place| moved(&compiled.columns[*place].column, &kept)).collect();
    (columns, kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_decimal_keeps_its_digits_and_becomes_a_text_beyond_fifteen() {
        assert_eq!(decimal_cell(1234, 2), json!(12.34));
        assert_eq!(decimal_cell(-1200, 2), json!(-12));
        assert_eq!(decimal_cell(5, 9), json!(0.000000005));
        assert_eq!(decimal_cell(123_456_789_012_345, 2), json!(1_234_567_890_123.45));
        assert_eq!(decimal_cell(1_234_567_890_123_456, 2), json!("12345678901234.56"));
        assert_eq!(decimal_cell(0, 4), json!(0));
    }
}
