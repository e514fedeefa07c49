//! Crafted workbooks: each costs no more than a large honest one, and says which limit it exceeds.

use std::{
    io::{Cursor, Write as _},
    time::Instant,
};

use contract::sources::ImportDecisions;
use tabular::{
    Limit,
    limits::{MAX_AREA, MAX_CELL, MAX_COLUMNS, MAX_SHEETS, MAX_UNPACKED},
    table::{Inspected, TableError},
};
use zip::{ZipWriter, write::SimpleFileOptions};

use crate::support::{check_law, inspect_bytes};

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

fn inspect(bytes: &[u8]) -> Result<Inspected, TableError> {
    inspect_bytes(bytes, &ImportDecisions::default())
}

/// Returns a workbook whose sheets are all one part with these rows, and which has these other
/// parts.
fn workbook(sheets: usize, rows: &str, parts: &[(&str, &str)]) -> Vec<u8> {
    let list: String = (1..=sheets)
        .map(|n| format!("<sheet name=\"s{n}\" sheetId=\"{n}\" r:id=\"r1\"/>"))
        .collect();
    let book =
        format!("<workbook xmlns=\"{MAIN}\" xmlns:r=\"{RELS}\"><sheets>{list}</sheets></workbook>");
    let relation = |id: &str, kind: &str, target: &str| {
        format!(
            "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"{id}\" Type=\"{RELS}/{kind}\" Target=\"{target}\"/></Relationships>"
        )
    };
    let sheet = format!("<worksheet xmlns=\"{MAIN}\"><sheetData>{rows}</sheetData></worksheet>");
    let own = [
        ("_rels/.rels", relation("r0", "officeDocument", "xl/workbook.xml")),
        ("xl/workbook.xml", book),
        ("xl/_rels/workbook.xml.rels", relation("r1", "worksheet", "worksheets/sheet1.xml")),
        ("xl/worksheets/sheet1.xml", sheet),
    ];
    let own = own.iter().map(|(name, text)| (*name, text.as_str()));
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in own.chain(parts.iter().copied()) {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn cell(place: &str, text: &str) -> String {
    format!("<c r=\"{place}\" t=\"str\"><v>{text}</v></c>")
}

/// Returns a row with texts in these columns.
fn row(number: u32, columns: [&str; 3], texts: [&str; 3]) -> String {
    let cells: String = columns
        .iter()
        .zip(texts)
        .map(|(column, text)| cell(&format!("{column}{number}"), text))
        .collect();
    format!("<row r=\"{number}\">{cells}</row>")
}

#[track_caller]
fn assert_refused(book: &[u8], limit: Limit) {
    match inspect(book) {
        Err(TableError::Limit(found)) => assert_eq!(found, limit),
        other => panic!("{limit:?} is expected, not {other:?}"),
    }
}

#[test]
fn a_cell_in_the_last_column_and_row_costs_one_cell() {
    let last = ["XFB", "XFC", "XFD"];
    let rows = [
        row(1_048_575, last, ["Day", "Campaign", "Cost"]),
        row(1_048_576, last, ["2026-11-01", "Oak", "5"]),
    ];
    let inspected = inspect(&workbook(1, &rows.concat(), &[])).unwrap();
    assert_eq!((inspected.report().stored, inspected.report().columns.len()), (1, 3));
    check_law(inspected.report());
    let rows = format!(
        "<row r=\"1\">{}</row><row r=\"1048576\">{}</row>",
        cell("A1", "Day"),
        cell("XFD1048576", "x")
    );
    assert_refused(&workbook(1, &rows, &[]), Limit::Columns);
}

#[test]
fn the_area_of_a_sheet_has_a_bound() {
    let rows = MAX_AREA / MAX_COLUMNS;
    let column = format!("<row>{}</row>", "<c t=\"str\"><v>x</v></c>").repeat(rows);
    let last = rows + 1;
    let wide = format!("{column}<row r=\"{last}\">{}</row>", cell(&format!("BXX{last}"), "x"));
    assert_refused(&workbook(1, &wide, &[]), Limit::Sheet);
}

#[test]
fn a_workbook_that_unpacks_to_too_much_is_refused_before_it_is_read() {
    let rows = format!("<row>{}</row>", cell("A1", "x"));
    let styles = "<a/>".repeat((16 << 20) + 1);
    assert_refused(&workbook(1, &rows, &[("xl/styles.xml", &styles)]), Limit::Unpacked);
    // The sizes in the list of parts can be wrong in both directions.
    let mut book = workbook(1, &rows, &[]);
    let at = book.windows(4).rposition(|four| four == b"PK\x01\x02").unwrap();
    let huge = u32::try_from(MAX_UNPACKED).unwrap().to_le_bytes();
    book[at + 24..at + 28].copy_from_slice(&huge);
    assert_refused(&book, Limit::Unpacked);
}

#[test]
fn a_declared_string_count_does_not_cause_preallocation() {
    let rows = format!("<row>{}</row>", cell("A1", "x"));
    for count in ["20000001", "99999999999", "9223372036854775807"] {
        let shared = format!("<sst xmlns=\"{MAIN}\" uniqueCount=\"{count}\"></sst>");
        assert_refused(&workbook(1, &rows, &[("xl/sharedStrings.xml", &shared)]), Limit::Sheet);
        assert_refused(&workbook(1, &rows, &[("XL\\SharedStrings.XML", &shared)]), Limit::Sheet);
    }
}

#[test]
fn a_cell_and_the_number_of_sheets_have_bounds() {
    let rows = format!("<row>{}</row>", cell("A1", &"x".repeat(MAX_CELL + 1)));
    assert_refused(&workbook(1, &rows, &[]), Limit::Cell);
    assert_refused(&workbook(MAX_SHEETS + 1, "", &[]), Limit::Sheets);
    let empty = inspect(&workbook(MAX_SHEETS, "", &[]));
    assert!(!matches!(empty, Ok(_) | Err(TableError::Limit(_))), "{empty:?}");
}

#[test]
fn a_part_that_several_sheets_name_is_read_once() {
    let rows = "<row/>".repeat(2_000_000);
    let time_of = |sheets: usize| {
        let book = workbook(sheets, &rows, &[]);
        let began = Instant::now();
        let empty = inspect(&book);
        assert!(!matches!(empty, Ok(_) | Err(TableError::Limit(_))), "{empty:?}");
        began.elapsed()
    };
    let (one, many) = (time_of(1), time_of(MAX_SHEETS));
    assert!(many < 20 * one, "{many:?} and not about {one:?}");
}
