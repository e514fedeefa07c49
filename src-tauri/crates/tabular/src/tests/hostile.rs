//! Crafted files: each costs no more than a large honest one, and says which limit it exceeds.

use std::{fs, io::Write as _, path::PathBuf};

use tempfile::TempDir;
use zip::{ZipWriter, write::SimpleFileOptions};

use super::survey_of;
use crate::{
    Limit, TableError,
    limits::{MAX_AREA, MAX_CELL, MAX_COLUMNS, MAX_LINE, MAX_SHEETS, MAX_UNPACKED},
};

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// Writes a workbook with these rows in each of its sheets, and these other parts.
fn workbook(sheets: usize, rows: &str, parts: &[(&str, &str)]) -> (TempDir, PathBuf) {
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
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("book.xlsx");
    let mut zip = ZipWriter::new(fs::File::create(&path).unwrap());
    let own = [
        ("_rels/.rels", relation("r0", "officeDocument", "xl/workbook.xml")),
        ("xl/workbook.xml", book),
        ("xl/_rels/workbook.xml.rels", relation("r1", "worksheet", "worksheets/sheet1.xml")),
        ("xl/worksheets/sheet1.xml", sheet),
    ];
    let own = own.iter().map(|(name, text)| (*name, text.as_str()));
    for (name, text) in own.chain(parts.iter().copied()) {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap();
    (folder, path)
}

fn cell(place: &str, text: &str) -> String {
    format!("<c r=\"{place}\" t=\"str\"><v>{text}</v></c>")
}

#[track_caller]
fn assert_refused(file: &(TempDir, PathBuf), limit: Limit) {
    match survey_of(&file.1) {
        Err(TableError::Limit(found)) => assert_eq!(found, limit),
        other => panic!("{limit:?} is expected, not {other:?}"),
    }
}

#[test]
fn a_cell_in_the_last_column_and_row_costs_one_cell() {
    let far = workbook(1, &format!("<row r=\"1048576\">{}</row>", cell("XFD1048576", "x")), &[]);
    let survey = survey_of(&far.1).unwrap();
    assert_eq!((survey.header_line, survey.columns.len()), (1_048_576, 1));
    let rows = format!(
        "<row r=\"1\">{}</row><row r=\"1048576\">{}</row>",
        cell("A1", "Day"),
        cell("XFD1048576", "x")
    );
    assert_refused(&workbook(1, &rows, &[]), Limit::Columns);
    let rows = format!(
        "<row r=\"1\">{}</row><row r=\"2\">{}</row>",
        cell("A1", "Day"),
        cell("A4294967295", "x")
    );
    assert_eq!(survey_of(&workbook(1, &rows, &[]).1).unwrap().columns.len(), 1);
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
fn cells_without_text_and_rows_without_cells_cost_nothing() {
    let blank: String = (1..=26).map(|_| "<c s=\"1\"/>").collect();
    let blanks = format!("<row>{blank}</row>").repeat(40_000);
    let head =
        ["Day", "Campaign", "Cost"].map(|text| cell("", text).replace(" r=\"\"", "")).concat();
    let rows = format!(
        "<row r=\"1\">{head}</row>{blanks}<row r=\"90000\">{}{}{}</row>",
        cell("A90000", "2026-11-01"),
        cell("B90000", "Alpha"),
        cell("C90000", "5")
    );
    let (_folder, path) = workbook(1, &rows, &[]);
    let survey = survey_of(&path).unwrap();
    let mut rows = survey.rows().unwrap();
    let (line, record) = rows.next_row().unwrap().unwrap();
    assert_eq!(line, 90_000);
    assert_eq!(record.iter().collect::<Vec<_>>(), ["2026-11-01", "Alpha", "5"]);
    assert!(rows.next_row().unwrap().is_none());
}

#[test]
fn cells_out_of_order_are_put_in_order_and_the_last_of_a_place_counts() {
    let rows = [("B2", "b"), ("A1", "Day"), ("B1", "Campaign"), ("A2", "x"), ("A2", "a")];
    let cells: String = rows.iter().map(|(place, text)| cell(place, text)).collect();
    let (_folder, path) = workbook(1, &format!("<row r=\"1\">{cells}</row>"), &[]);
    let survey = survey_of(&path).unwrap();
    let headings: Vec<_> = survey.columns.iter().map(|c| c.heading.as_str()).collect();
    assert_eq!(headings, ["Day", "Campaign"]);
    let mut rows = survey.rows().unwrap();
    let (_, record) = rows.next_row().unwrap().unwrap();
    assert_eq!(record.iter().collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn a_workbook_that_unpacks_to_too_much_is_refused_before_it_is_read() {
    let row = format!("<row>{}</row>", cell("A1", "x"));
    let styles = "<a/>".repeat((16 << 20) + 1);
    assert_refused(&workbook(1, &row, &[("xl/styles.xml", &styles)]), Limit::Unpacked);
    // The sizes in the list of parts can be wrong in both directions.
    let (folder, path) = workbook(1, &row, &[]);
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(4).rposition(|four| four == b"PK\x01\x02").unwrap();
    let huge = u32::try_from(MAX_UNPACKED).unwrap().to_le_bytes();
    bytes[at + 24..at + 28].copy_from_slice(&huge);
    fs::write(&path, bytes).unwrap();
    assert_refused(&(folder, path), Limit::Unpacked);
}

#[test]
fn a_declared_string_count_does_not_cause_preallocation() {
    let row = format!("<row>{}</row>", cell("A1", "x"));
    for count in ["20000001", "99999999999", "9223372036854775807"] {
        let shared = format!("<sst xmlns=\"{MAIN}\" uniqueCount=\"{count}\"></sst>");
        assert_refused(&workbook(1, &row, &[("xl/sharedStrings.xml", &shared)]), Limit::Sheet);
        assert_refused(&workbook(1, &row, &[("XL\\SharedStrings.XML", &shared)]), Limit::Sheet);
    }
}

#[test]
fn a_cell_and_the_number_of_sheets_have_bounds() {
    let rows = format!("<row>{}</row>", cell("A1", &"x".repeat(MAX_CELL + 1)));
    assert_refused(&workbook(1, &rows, &[]), Limit::Cell);
    assert_refused(&workbook(MAX_SHEETS + 1, "", &[]), Limit::Sheets);
    assert!(matches!(survey_of(&workbook(MAX_SHEETS, "", &[]).1), Err(TableError::Empty)));
}

#[test]
fn a_part_that_several_sheets_name_is_read_once() {
    let rows = "<row/>".repeat(2_000_000);
    let time_of = |sheets: usize| {
        let (_folder, path) = workbook(sheets, &rows, &[]);
        let began = std::time::Instant::now();
        assert!(matches!(survey_of(&path), Err(TableError::Empty)));
        began.elapsed()
    };
    let (one, many) = (time_of(1), time_of(MAX_SHEETS));
    assert!(many < 20 * one, "{many:?} and not about {one:?}");
}

#[test]
fn a_line_and_the_number_of_columns_have_bounds() {
    let line = usize::try_from(MAX_LINE).unwrap();
    let text = |bytes: Vec<u8>| {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("export.csv");
        fs::write(&path, bytes).unwrap();
        (folder, path)
    };
    let rows = b"2026-11-01,A,1\n".repeat(line / 10);
    let open = [b"Day,Campaign,Cost\n2026-11-01,\"A,1\n".as_slice(), &rows].concat();
    assert_refused(&text(open), Limit::Line { line: 2 });
    assert_refused(&text(vec![b'a'; 2 * line]), Limit::Line { line: 1 });
    assert_refused(&text(",".repeat(MAX_COLUMNS).into_bytes()), Limit::Columns);
    // Many short lines are not a long one, and a line just below the bound is read.
    let long = format!("Day,Campaign,Cost\n2026-11-01,{},1\n", "A".repeat(line / 2));
    let whole = [long.as_bytes(), &rows].concat();
    let (_folder, path) = text(whole);
    let mut rows = survey_of(&path).unwrap().rows().unwrap();
    let mut count = 0;
    while rows.next_row().unwrap().is_some() {
        count += 1;
    }
    assert_eq!(count, line / 10 + 1);
}

#[test]
fn only_regular_files_are_opened() {
    let folder = TempDir::new().unwrap();
    let pipe = folder.path().join("pipe.csv");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let link = folder.path().join("zero.csv");
    std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
    for path in [pipe, link, "/dev/zero".into()] {
        assert!(matches!(survey_of(&path), Err(TableError::NotAFile)), "{path:?}");
    }
}
