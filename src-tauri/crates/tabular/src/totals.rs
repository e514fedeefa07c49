//! Recognises the lines of an export that are not data: totals, and notes below the table.

use csv::StringRecord;

use crate::dates;

const WORDS: [&str; 7] =
    ["total", "grand total", "summa", "gesamt", "insgesamt", "summe", "results from"];

/// Whether a line holds totals or a note instead of a row. A line with a day is always a row.
pub(crate) fn is_total(record: &StringRecord, day: usize, campaign: usize) -> bool {
    let day_cell = record.get(day).unwrap_or_default().trim();
    if !day_cell.is_empty() && dates::is_day(day_cell) {
        return false;
    }
    let mut filled = record.iter().map(str::trim).filter(|cell| !is_blank(cell));
    let Some(first) = filled.next() else { return true };
    let is_note = filled.next().is_none();
    is_note
        || begins_with_total(first)
        || begins_with_total(record.get(campaign).unwrap_or_default().trim())
        || (is_blank(day_cell) && is_blank(record.get(campaign).unwrap_or_default().trim()))
}

/// Whether a cell has no value.
pub(crate) fn is_blank(cell: &str) -> bool {
    cell.is_empty() || matches!(cell, "-" | "--" | "–" | "—")
}

fn begins_with_total(cell: &str) -> bool {
    WORDS.iter().any(|word| cell.get(..word.len()).is_some_and(|s| s.eq_ignore_ascii_case(word)))
}
