//! Workbooks: sheets, merged cells, errors, formulas and the types of cells.

use std::io::Write as _;

use contract::sources::ImportDecisions;
use rust_xlsxwriter::{ExcelDateTime, Format, Formula, Workbook};
use tabular::{
    Limit,
    table::{Inspected, TableError},
};
use zip::{ZipWriter, write::SimpleFileOptions};

use crate::support::{check_law, file_of, inspect_file, read_rows};

fn inspect(book: &mut Workbook, decisions: &ImportDecisions) -> (std::fs::File, Inspected) {
    let file = file_of(&book.save_to_buffer().unwrap());
    let inspected = inspect_file(&file, decisions).unwrap();
    check_law(inspected.report());
    (file, inspected)
}

fn fill(sheet: &mut rust_xlsxwriter::Worksheet, rows: &[(&str, f64)]) {
    for (at, heading) in ["Day", "Campaign", "Cost"].into_iter().enumerate() {
        sheet.write(0, u16::try_from(at).unwrap(), heading).unwrap();
    }
    for (at, (name, cost)) in rows.iter().enumerate() {
        let row = u32::try_from(at).unwrap() + 1;
        let day = ExcelDateTime::from_ymd(2026, 11, u8::try_from(row).unwrap()).unwrap();
        let format = Format::new().set_num_format("d mmm yyyy");
        sheet.write_with_format(row, 0, &day, &format).unwrap();
        sheet.write(row, 1, *name).unwrap();
        sheet.write(row, 2, *cost).unwrap();
    }
}

#[test]
fn a_hidden_sheet_is_not_read_and_is_named() {
    let mut book = Workbook::new();
    fill(book.add_worksheet().set_name("Data").unwrap(), &[("Oak", 100.5)]);
    fill(book.add_worksheet().set_name("Old").unwrap().set_hidden(true), &[("Elm", 7.0)]);
    let (file, inspected) = inspect(&mut book, &ImportDecisions::default());
    let report = inspected.report();
    assert!(report.questions.is_empty(), "{:?}", report.questions);
    assert!(
        report.notes.iter().any(|note| note.contains("hidden sheet Old")),
        "{:?}",
        report.notes
    );
    assert_eq!(read_rows(&inspected, &file).unwrap(), [["2026-11-01", "Oak", "100.5"]]);
}

#[test]
fn errors_are_rejected_and_numbers_are_what_the_spreadsheet_shows() {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    fill(sheet, &[("Oak", 0.1 + 0.2), ("Elm", 1.0), ("Ash", 12_345.678)]);
    sheet.write_formula(2, 2, Formula::new("=1/0").set_result("#DIV/0!")).unwrap();
    let (file, inspected) = inspect(&mut book, &ImportDecisions::default());
    let report = inspected.report();
    let rejected: Vec<_> =
        report.rejected.iter().map(|r| (r.cause.as_str(), r.lines.clone())).collect();
    assert_eq!(rejected.len(), 1, "{rejected:?}");
    assert_eq!(rejected[0].1, [3]);
    let rows = read_rows(&inspected, &file).unwrap();
    assert_eq!(rows[0][2], "0.300");
    assert_eq!(rows[1][2], "12345.678");
}

#[test]
fn formulas_with_values_are_read() {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    fill(sheet, &[("Oak", 100.0), ("Elm", 1.0)]);
    sheet.write_formula(2, 2, Formula::new("=C2*2").set_result("200")).unwrap();
    let (_, inspected) = inspect(&mut book, &ImportDecisions::default());
    assert_eq!(inspected.report().sums[0].sum, "300");
}

#[test]
fn merged_numbers_count_once_and_merged_titles_are_titles() {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    let plain = Format::new();
    sheet.merge_range(0, 0, 0, 2, "Report of Acme", &plain).unwrap();
    for (at, heading) in ["Day", "Campaign", "Cost"].into_iter().enumerate() {
        sheet.write(1, u16::try_from(at).unwrap(), heading).unwrap();
    }
    for (row, day) in [(2, "2026-11-01"), (3, "2026-11-02")] {
        sheet.write(row, 0, day).unwrap();
    }
    sheet.merge_range(2, 1, 3, 1, "Oak", &plain).unwrap();
    sheet.merge_range(2, 2, 3, 2, "", &plain).unwrap();
    sheet.write(2, 2, 50).unwrap();
    let (file, inspected) = inspect(&mut book, &ImportDecisions::default());
    let report = inspected.report();
    assert_eq!(report.header_line, 2);
    assert_eq!(report.sums[0].sum, "50");
    assert!(report.notes.iter().any(|note| note.contains("counts once")), "{:?}", report.notes);
    let rows = read_rows(&inspected, &file).unwrap();
    assert_eq!(rows, [["2026-11-01", "Oak", "50"], ["2026-11-02", "Oak", ""]]);
}

#[test]
fn a_sheet_that_is_not_there_is_refused_with_the_names() {
    let mut book = Workbook::new();
    fill(book.add_worksheet().set_name("Data").unwrap(), &[("Oak", 100.5)]);
    let file = file_of(&book.save_to_buffer().unwrap());
    let decisions =
        ImportDecisions { sheets: vec!["Dat".to_owned()], ..ImportDecisions::default() };
    let error = inspect_file(&file, &decisions).unwrap_err();
    assert!(error.message().contains("no sheet with the name Dat"), "{}", error.message());
    assert!(error.hint().unwrap().contains("Data"));
}

/// Returns an OpenDocument spreadsheet with this markup in its body.
pub(crate) fn ods(styles: &str, body: &str) -> Vec<u8> {
    let spaces = ["office", "table", "text", "style", "calcext"];
    let spaces: String = spaces.map(|space| format!(" xmlns:{space}=\"urn:{space}\"")).concat();
    let content = format!(
        "<?xml version=\"1.0\"?><office:document-content{spaces}><office:automatic-styles>{styles}</office:automatic-styles><office:body><office:spreadsheet>{body}</office:spreadsheet></office:body></office:document-content>"
    );
    let mut archive = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in [
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        ("META-INF/manifest.xml", "<manifest/>"),
        ("content.xml", content.as_str()),
    ] {
        archive.start_file(name, SimpleFileOptions::default()).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

pub(crate) fn ods_row(cells: &[&str]) -> String {
    format!("<table:table-row>{}</table:table-row>", cells.concat())
}

pub(crate) fn ods_text(text: &str) -> String {
    format!(
        "<table:table-cell office:value-type=\"string\"><text:p>{text}</text:p></table:table-cell>"
    )
}

pub(crate) fn ods_number(number: &str) -> String {
    format!(
        "<table:table-cell office:value-type=\"float\" office:value=\"{number}\"><text:p>x</text:p></table:table-cell>"
    )
}

#[test]
fn an_open_document_is_read_with_merged_hidden_and_repeated_cells() {
    let day = "<table:table-cell office:value-type=\"date\" office:date-value=\"2026-11-01\" table:number-rows-spanned=\"2\"><text:p>1 Nov</text:p></table:table-cell>";
    let note = "<table:table-cell office:value-type=\"string\"><office:annotation><text:p>why</text:p></office:annotation><text:p>Oak &amp; <text:span>Elm</text:span></text:p></table:table-cell>";
    let end = "<table:table-row table:number-rows-repeated=\"1048000\"><table:table-cell table:number-columns-repeated=\"16384\"/></table:table-row>";
    let body = [
        "<table:table table:name=\"Data\" table:style-name=\"ta1\">".to_owned(),
        ods_row(&[&ods_text("Day"), &ods_text("Campaign"), &ods_text("Cost")]),
        ods_row(&[day, note, &ods_number("70.5")]),
        ods_row(&["<table:covered-table-cell/>", &ods_text("Ash"), &ods_number("30")]),
        end.to_owned(),
        "</table:table><table:table table:name=\"Old\" table:style-name=\"ta2\">".to_owned(),
        ods_row(&[&ods_text("a"), &ods_text("b")]),
        ods_row(&[&ods_number("1"), &ods_number("2")]),
        "</table:table>".to_owned(),
    ]
    .concat();
    let styles = "<style:style style:name=\"ta2\" style:family=\"table\"><style:table-properties table:display=\"false\"/></style:style>";
    let file = file_of(&ods(styles, &body));
    let inspected = inspect_file(&file, &ImportDecisions::default()).unwrap();
    let report = inspected.report();
    assert!(report.questions.is_empty(), "{:?}", report.questions);
    assert!(
        report.notes.iter().any(|note| note.contains("hidden sheet Old")),
        "{:?}",
        report.notes
    );
    let rows = read_rows(&inspected, &file).unwrap();
    assert_eq!(rows, [["2026-11-01", "Oak & Elm", "70.5"], ["2026-11-01", "Ash", "30.0"]]);
}

#[test]
fn repeated_cells_of_an_open_document_have_a_bound() {
    let sheet = |rows: &str| format!("<table:table table:name=\"a\">{rows}</table:table>");
    let repeated = "<table:table-row table:number-rows-repeated=\"1048576\"><table:table-cell table:number-columns-repeated=\"16384\" office:value-type=\"float\" office:value=\"1\"/></table:table-row>";
    let spaces = ods_row(&[
        "<table:table-cell office:value-type=\"string\"><text:p><text:s text:c=\"4000000000\"/>x</text:p></table:table-cell>",
    ]);
    let refused = inspect_file(&file_of(&ods("", &sheet(repeated))), &ImportDecisions::default());
    assert!(
        matches!(refused, Err(TableError::Limit(Limit::Columns | Limit::Sheet))),
        "{refused:?}"
    );
    let rows = "<table:table-row table:number-rows-repeated=\"1048576\"><table:table-cell table:number-columns-repeated=\"2000\" office:value-type=\"float\" office:value=\"1\"/></table:table-row>";
    let refused = inspect_file(&file_of(&ods("", &sheet(rows))), &ImportDecisions::default());
    assert!(matches!(refused, Err(TableError::Limit(Limit::Sheet))), "{refused:?}");
    let refused = inspect_file(&file_of(&ods("", &sheet(&spaces))), &ImportDecisions::default());
    assert!(matches!(refused, Err(TableError::NoTable)), "{refused:?}");
}
