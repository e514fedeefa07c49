//! Files for the tests, and the reading of whole tables.

use std::{fs::File, io::Write as _};

use contract::sources::{ImportDecisions, TableReport};
use tabular::table::{Cell, Inspected, TableError, inspect};

/// Makes a file with these bytes. It has no name.
pub(crate) fn file_of(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}

/// Inspects a file.
pub(crate) fn inspect_file(
    file: &File,
    decisions: &ImportDecisions,
) -> Result<Inspected, TableError> {
    inspect(file, "export", decisions, &mut |_| {}, &|| false)
}

/// Inspects bytes.
pub(crate) fn inspect_bytes(
    bytes: &[u8],
    decisions: &ImportDecisions,
) -> Result<Inspected, TableError> {
    inspect_file(&file_of(bytes), decisions)
}

/// Reads all rows as texts.
pub(crate) fn read_rows(
    inspected: &Inspected,
    file: &File,
) -> Result<Vec<Vec<String>>, TableError> {
    let scales: Vec<u8> = inspected.report().columns.iter().map(|column| column.scale).collect();
    let mut rows = Vec::new();
    inspected.read(file, &mut |_| {}, &|| false, &mut |cells| {
        rows.push(cells.iter().zip(&scales).map(|(cell, scale)| text_of(cell, *scale)).collect());
        Ok(())
    })?;
    Ok(rows)
}

fn text_of(cell: &Cell<'_>, scale: u8) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Text(text) => (*text).to_owned(),
        Cell::Whole(number) => number.to_string(),
        Cell::Decimal(mantissa) => decimal(*mantissa, scale),
        Cell::Day(day) => day.to_string(),
        Cell::Moment(moment) => moment.to_string(),
        Cell::Flag(flag) => flag.to_string(),
    }
}

/// Returns the digits of a decimal number.
pub(crate) fn decimal(mantissa: i128, scale: u8) -> String {
    let places = usize::from(scale);
    let sign = if mantissa < 0 { "-" } else { "" };
    let digits = format!("{:0>width$}", mantissa.unsigned_abs(), width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    if places == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

/// Checks that each record is stored, left out or rejected.
#[track_caller]
pub(crate) fn check_law(report: &TableReport) {
    let rejected: u64 = report.rejected.iter().map(|rejected| rejected.count).sum();
    let left_out: u64 = report.left_out.iter().map(|left_out| left_out.count).sum();
    // Titles above the headings of the first table are no records.
    let titles = left_out + report.stored + rejected - report.records;
    let above: u64 = report
        .left_out
        .iter()
        .filter(|left_out| left_out.rule == "title")
        .take(1)
        .map(|left_out| left_out.count)
        .sum();
    assert!(titles == 0 || titles == above, "{report:#?}");
}
