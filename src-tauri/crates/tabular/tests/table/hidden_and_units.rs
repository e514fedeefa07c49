//! Tests of statements that a workbook makes beside the values of its cells: hidden rows, currencies
//! and percent in number formats, and formulas that no program computed.

use std::collections::BTreeMap;

use contract::sources::{ColumnUse, ImportDecisions, TableReport};
use rust_xlsxwriter::{Format, Formula, Workbook, Worksheet};

use crate::{
    support::{check_law, file_of, inspect_file, read_rows},
    workbooks::{ods, ods_number, ods_row, ods_text},
};

fn inspect(bytes: &[u8], decisions: &ImportDecisions) -> TableReport {
    let inspected = inspect_file(&file_of(bytes), decisions).unwrap();
    check_law(inspected.report());
    inspected.into_report()
}

fn answer(id: &str, answer: &str) -> ImportDecisions {
    let answers = BTreeMap::from([(id.to_owned(), answer.to_owned())]);
    ImportDecisions { answers, ..ImportDecisions::default() }
}

fn asked(report: &TableReport) -> Vec<&str> {
    report.questions.iter().map(|question| question.id.as_str()).collect()
}

fn sums(report: &TableReport) -> Vec<(&str, &str, &str)> {
    let sums = report.sums.iter();
    sums.map(|s| (s.column.as_str(), s.currency.as_deref().unwrap_or(""), s.sum.as_str())).collect()
}

fn head(sheet: &mut Worksheet, headings: &[&str]) {
    for (at, heading) in (0..).zip(headings) {
        sheet.write(0, at, *heading).unwrap();
    }
}

/// Fills three rows with a day, a name and an amount in a format.
fn fill(sheet: &mut Worksheet, format: &Format) {
    head(sheet, &["Day", "Campaign", "Amount"]);
    for (row, (name, amount)) in (1..).zip([("Oak", 10.5), ("Elm", -20.0), ("Ash", 40.0)]) {
        sheet.write(row, 0, format!("2026-11-0{row}")).unwrap();
        sheet.write(row, 1, name).unwrap();
        sheet.write_with_format(row, 2, amount, format).unwrap();
    }
}

#[test]
fn hidden_rows_are_a_question() {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    fill(sheet, &Format::new());
    sheet.set_row_hidden(2).unwrap();
    let bytes = book.save_to_buffer().unwrap();
    let report = inspect(&bytes, &ImportDecisions::default());
    assert_eq!(asked(&report), ["hidden_rows"]);
    assert!(
        report.questions[0].text.contains("the first is row 3"),
        "{}",
        report.questions[0].text
    );
    let report = inspect(&bytes, &answer("hidden_rows", "leave_out"));
    assert_eq!((report.stored, sums(&report)), (2, vec![("Amount", "", "50.5")]));
    assert_eq!((report.left_out[0].rule.as_str(), &report.left_out[0].lines), ("hidden", &vec![3]));
    let report = inspect(&bytes, &answer("hidden_rows", "read"));
    assert_eq!((report.stored, sums(&report)), (3, vec![("Amount", "", "30.5")]));
    assert!(report.notes.iter().any(|note| note.contains("stored, as decided: 1")));
}

#[test]
fn hidden_columns_are_read_and_named() {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    fill(sheet, &Format::new());
    sheet.set_column_hidden(2).unwrap();
    let report = inspect(&book.save_to_buffer().unwrap(), &ImportDecisions::default());
    assert!(asked(&report).is_empty(), "{:?}", report.questions);
    assert!(
        report.notes.iter().any(|note| note.contains("hides columns, which are read, too: Amount"))
    );
}

#[test]
fn the_currency_of_a_number_format_is_that_of_the_amounts() {
    for (format, currency) in [
        ("[$SEK] #,##0.00", "SEK"),
        ("#,##0.00 \"€\"", "EUR"),
        ("#,##0.00\\ [$kr-414]", "NOK"),
        ("[$$-1009]#,##0.00", "CAD"),
        ("\"$\"#,##0.00_);[Red](\"$\"#,##0.00)", "USD"),
        ("#,##0.00", ""),
    ] {
        let mut book = Workbook::new();
        fill(book.add_worksheet(), &Format::new().set_num_format(format));
        let report = inspect(&book.save_to_buffer().unwrap(), &ImportDecisions::default());
        assert_eq!(sums(&report), [("Amount", currency, "30.5")], "{format}");
        assert!(asked(&report).is_empty(), "{format}: {:?}", report.questions);
    }
}

#[test]
fn currencies_of_number_formats_are_kept_apart_and_compared() {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    fill(sheet, &Format::new().set_num_format("[$SEK] #,##0.00"));
    sheet.write_with_format(3, 2, 40.0, &Format::new().set_num_format("[$€-2] #,##0.00")).unwrap();
    let report = inspect(&book.save_to_buffer().unwrap(), &ImportDecisions::default());
    assert_eq!(sums(&report), [("Amount", "SEK", "-9.5"), ("Amount", "EUR", "40.0")]);
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    fill(sheet, &Format::new().set_num_format("[$SEK] #,##0.00"));
    sheet.write(0, 2, "Amount (USD)").unwrap();
    let report = inspect(&book.save_to_buffer().unwrap(), &ImportDecisions::default());
    assert_eq!(asked(&report), ["currency_sign"]);
}

#[test]
fn numbers_in_the_format_of_percent_are_shares() {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    head(sheet, &["Day", "Campaign", "Uplift"]);
    let percent = Format::new().set_num_format("0.0%");
    for (row, share) in (1..).zip([0.125, 0.5]) {
        sheet.write(row, 0, format!("2026-11-0{row}")).unwrap();
        sheet.write(row, 1, "Oak").unwrap();
        sheet.write_with_format(row, 2, share, &percent).unwrap();
    }
    let file = file_of(&book.save_to_buffer().unwrap());
    let inspected = inspect_file(&file, &ImportDecisions::default()).unwrap();
    let column = &inspected.report().columns[2];
    assert_eq!((column.usage, column.unit.as_deref()), (ColumnUse::Ratio, Some("percent")));
    let rows = read_rows(&inspected, &file).unwrap();
    assert_eq!([rows[0][2].as_str(), rows[1][2].as_str()], ["0.125", "0.500"]);
}

#[test]
fn formulas_that_no_program_computed_have_no_value() {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    fill(sheet, &Format::new());
    for row in 1..4 {
        sheet.write_formula(row, 2, "=1+1").unwrap();
    }
    let report = inspect(&book.save_to_buffer().unwrap(), &ImportDecisions::default());
    let rejected: Vec<_> = report.rejected.iter().map(|r| (r.cause.as_str(), r.count)).collect();
    assert_eq!((report.stored, rejected), (0, vec![("formula_without_value", 3)]));
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    fill(sheet, &Format::new());
    sheet.write_formula(1, 2, "=1+1").unwrap();
    sheet.write_formula(2, 2, Formula::new("=2+2").set_result("4")).unwrap();
    let report = inspect(&book.save_to_buffer().unwrap(), &ImportDecisions::default());
    assert_eq!(sums(&report), [("Amount", "", "44")]);
    assert!(
        report
            .notes
            .iter()
            .any(|note| note.contains("Formulas of the sheet Sheet1 with the value 0: 1"))
    );
}

#[test]
fn an_open_document_has_hidden_rows_currencies_and_formulas_without_values() {
    let money = |code: &str, value: &str| {
        format!(
            "<table:table-cell office:value-type=\"currency\" office:currency=\"{code}\" office:value=\"{value}\"><text:p>x</text:p></table:table-cell>"
        )
    };
    let headings = ods_row(&[&ods_text("Day"), &ods_text("Campaign"), &ods_text("Amount")]);
    let row = |day: &str, amount: &str| ods_row(&[&ods_text(day), &ods_text("Oak"), amount]);
    let filtered = row("2026-11-02", &money("SEK", "20"))
        .replace("<table:table-row>", "<table:table-row table:visibility=\"filter\">");
    let sheet = |rows: &[String]| {
        ods("", &format!("<table:table table:name=\"a\">{}</table:table>", rows.concat()))
    };
    let bytes = sheet(&[headings.clone(), row("2026-11-01", &money("SEK", "10.5")), filtered]);
    assert_eq!(asked(&inspect(&bytes, &ImportDecisions::default())), ["hidden_rows"]);
    let report = inspect(&bytes, &answer("hidden_rows", "read"));
    assert_eq!(sums(&report), [("Amount", "SEK", "30.5")]);
    let formula = "<table:table-cell table:formula=\"of:=1+1\" office:value-type=\"float\"/>";
    let bytes = sheet(&[headings, row("2026-11-01", &ods_number("5")), row("2026-11-02", formula)]);
    let report = inspect(&bytes, &ImportDecisions::default());
    let rejected: Vec<_> =
        report.rejected.iter().map(|r| (r.cause.as_str(), r.lines.clone())).collect();
    assert_eq!(rejected, [("formula_without_value", vec![3])]);
}
