//! Recognises the lines of an export that are not data: totals, and notes below the table.

use csv::StringRecord;

use crate::dates;

const WORDS: [&str; 7] =
    ["total", "grand total", "summa", "gesamt", "insgesamt", "summe", "results from"];

/// Recognises lines of totals and notes by the columns of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TotalLines {
    /// The column with days.
    pub(crate) day: usize,
    /// The first column that names what a row is about.
    pub(crate) name: usize,
}

impl TotalLines {
    /// Whether a line holds totals or a note instead of a row. A line with a day is always a row.
    pub fn is_total(self, record: &StringRecord) -> bool {
        let cell = |column: usize| record.get(column).unwrap_or_default().trim();
        let (day, name) = (cell(self.day), cell(self.name));
        if !day.is_empty() && dates::is_day(day) {
            return false;
        }
        let mut filled = record.iter().map(str::trim).filter(|cell| !is_blank(cell));
        let Some(first) = filled.next() else { return true };
        let is_note = filled.next().is_none();
        is_note
            || begins_with_total(first)
            || begins_with_total(name)
            || (is_blank(day) && is_blank(name))
    }
}

/// Whether a cell has no value.
pub(crate) fn is_blank(cell: &str) -> bool {
    cell.is_empty() || matches!(cell, "-" | "--" | "–" | "—")
}

fn begins_with_total(cell: &str) -> bool {
    WORDS.iter().any(|word| cell.get(..word.len()).is_some_and(|s| s.eq_ignore_ascii_case(word)))
}
