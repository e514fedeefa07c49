//! Rows that leave out what is the same in the row above, and rows of workbooks that are equal.

use std::collections::BTreeMap;

use contract::sources::{ImportDecisions, TableReport};
use rust_xlsxwriter::{Workbook, Worksheet};
use tabular::table::TableError;

use crate::support::{check_law, file_of, inspect_file, read_rows};

fn answer(id: &str, answer: &str) -> ImportDecisions {
    let answers = BTreeMap::from([(id.to_owned(), answer.to_owned())]);
    ImportDecisions { answers, ..ImportDecisions::default() }
}

/// Returns the report and the rows of a text in which labels are repeated.
fn repeated(text: &str) -> (TableReport, Vec<Vec<String>>) {
    let file = file_of(text.as_bytes());
    let inspected = inspect_file(&file, &answer("blank_labels", "repeat")).unwrap();
    check_law(inspected.report());
    let rows = read_rows(&inspected, &file).unwrap();
    (inspected.into_report(), rows)
}

fn rejected(report: &TableReport) -> Vec<(&str, Vec<u64>)> {
    report.rejected.iter().map(|rows| (rows.cause.as_str(), rows.lines.clone())).collect()
}

const GROUPED: &str = "Campaign,Device,Day,Cost\nOak,Phone,2026-11-01,5.00\nElm,Phone,2026-11-01,oops\n,Desktop,2026-11-01,6.00\nAsh,Phone,2026-11-01,7.00\n,Desktop,2026-11-01,8.50\n";

#[test]
fn rows_below_a_rejected_row_belong_to_its_group() {
    let (report, rows) = repeated(GROUPED);
    assert_eq!(rejected(&report), [("not_a_number", vec![3])]);
    let of: Vec<[&str; 2]> = rows.iter().map(|row| [row[0].as_str(), row[3].as_str()]).collect();
    assert_eq!(of, [["Oak", "5.00"], ["Elm", "6.00"], ["Ash", "7.00"], ["Ash", "8.50"]]);
}

#[test]
fn rows_below_a_line_that_cannot_be_read_are_rejected_up_to_the_next_group() {
    let (report, rows) = repeated(&GROUPED.replace("Elm,Phone,2026-11-01,oops", "\"Elm,Phone"));
    assert_eq!(rejected(&report), [("quote", vec![3]), ("nothing_to_repeat", vec![4])]);
    let of: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(of, ["Oak", "Ash", "Ash"]);
}

#[test]
fn a_day_that_cannot_be_read_is_not_that_of_the_group_above() {
    let text = "Day,Campaign,Cost\n2026-11-01,Oak,5.00\n2026-11-31,Oak,6.00\n,Elm,7.00\n2026-11-03,Oak,8.00\n,Elm,9.50\n";
    let file = file_of(text.as_bytes());
    let inspected = inspect_file(&file, &answer("blank_days", "repeat")).unwrap();
    assert_eq!(
        rejected(inspected.report()),
        [("not_a_day", vec![3]), ("nothing_to_repeat", vec![4])]
    );
    let rows = read_rows(&inspected, &file).unwrap();
    assert_eq!(rows[2], ["2026-11-03", "Elm", "9.50"]);
}

#[test]
fn labels_in_labels_are_repeated_too() {
    let text = "Region,Campaign,Device,Day,Cost\nNorth,Oak,Phone,2026-11-01,5.00\n,,Desktop,2026-11-01,6.00\n,Elm,Phone,2026-11-01,7.00\n,,Desktop,2026-11-01,7.50\nSouth,Ash,Phone,2026-11-01,8.00\n,,Desktop,2026-11-01,9.00\n";
    let report = inspect_file(&file_of(text.as_bytes()), &ImportDecisions::default()).unwrap();
    let question = &report.report().questions[0];
    assert_eq!(question.id, "blank_labels");
    assert!(question.text.contains("Region, Campaign"), "{}", question.text);
    let (_, rows) = repeated(text);
    let of: Vec<String> = rows.iter().map(|row| row[..2].join(" ")).collect();
    assert_eq!(of, ["North Oak", "North Oak", "North Elm", "North Elm", "South Ash", "South Ash"]);
}

#[test]
fn a_sum_above_its_rows_begins_their_group_also_if_it_is_left_out() {
    let text = "Account,Campaign,Cost\nAcme,,300.50\n,Brand,100.25\n,Generic,200.25\nBolt,,70.50\n,Red,30.25\n,Blue,40.25\n";
    let mut decisions = answer("blank_labels", "repeat");
    decisions.answers.insert("total_rows".to_owned(), "leave_out".to_owned());
    let file = file_of(text.as_bytes());
    let inspected = inspect_file(&file, &decisions).unwrap();
    check_law(inspected.report());
    assert!(inspected.report().questions.is_empty(), "{:?}", inspected.report().questions);
    let rows = read_rows(&inspected, &file).unwrap();
    let of: Vec<String> = rows.iter().map(|row| row.join(" ")).collect();
    assert_eq!(
        of,
        ["Acme Brand 100.25", "Acme Generic 200.25", "Bolt Red 30.25", "Bolt Blue 40.25"]
    );
}

#[test]
fn a_table_that_is_too_long_to_test_each_row_for_sums_says_so_if_rows_look_like_sums() {
    let says = |rows: usize, last: &str| {
        let mut text = "Account,Name,Cost\n".to_owned();
        for row in 0..rows {
            text.push_str(&format!("Acme,Oak {row},{}.50\n", row % 97));
        }
        text.push_str(last);
        let inspected =
            inspect_file(&file_of(text.as_bytes()), &ImportDecisions::default()).unwrap();
        let notes = &inspected.report().notes;
        notes.iter().any(|note| note.contains("200,001 rows, which are too many to test each"))
    };
    assert!(says(200_000, "Acme,,120.00\n"));
    assert!(!says(200_000, "Acme,Elm,120.00\n"), "no row lacks a name");
    assert!(!says(100, "Acme,,120.00\n"));
}

/// Fills a sheet with days, names and amounts, and a note beside the first row.
fn fill(sheet: &mut Worksheet, headings: [&str; 4], rows: &[(&str, f64)]) {
    for (at, heading) in (0..).zip(headings) {
        sheet.write(0, at, heading).unwrap();
    }
    for (row, (name, cost)) in (1..).zip(rows) {
        sheet.write(row, 0, "2026-11-01").unwrap();
        sheet.write(row, 1, *name).unwrap();
        sheet.write(row, 2, *cost).unwrap();
    }
    sheet.write(1, 3, "first").unwrap();
}

const HEADINGS: [&str; 4] = ["Day", "Campaign", "Cost", "Note"];

fn inspect_book(
    mut book: Workbook,
    decisions: &ImportDecisions,
) -> Result<TableReport, TableError> {
    let file = file_of(&book.save_to_buffer().unwrap());
    inspect_file(&file, decisions).map(|inspected| {
        check_law(inspected.report());
        inspected.into_report()
    })
}

#[test]
fn rows_of_a_workbook_are_equal_if_all_their_cells_are() {
    let book = |rows: &[(&str, f64)]| {
        let mut book = Workbook::new();
        fill(book.add_worksheet(), HEADINGS, rows);
        book
    };
    let once = [("Oak", 1.0), ("Elm", 12.0), ("Ash", 5.5), ("Fir", 7.0), ("Yew", 9.0)];
    let report = inspect_book(book(&once), &ImportDecisions::default()).unwrap();
    assert!(report.questions.is_empty(), "{:?}", report.questions);
    assert!(!report.notes.iter().any(|note| note.contains("equal")), "{:?}", report.notes);
    // The note beside the first row makes it different from its copy.
    let twice = [once, once].concat();
    let report = inspect_book(book(&twice), &ImportDecisions::default()).unwrap();
    assert_eq!(report.questions[0].id, "duplicate_rows");
    let report = inspect_book(book(&twice), &answer("duplicate_rows", "leave_out")).unwrap();
    assert_eq!((report.stored, report.sums[0].sum.as_str()), (6, "35.5"));
}

#[test]
fn sheets_with_other_headings_are_no_titles() {
    let both = ImportDecisions {
        sheets: vec!["October".to_owned(), "November".to_owned()],
        ..ImportDecisions::default()
    };
    let book = |second: [&str; 4]| {
        let mut book = Workbook::new();
        let sheet = book.add_worksheet().set_name("October").unwrap();
        fill(sheet, HEADINGS, &[("Oak", 1.5)]);
        // A remark beside the table makes the first sheet wider than the second one.
        sheet.write(1, 6, "checked").unwrap();
        fill(book.add_worksheet().set_name("November").unwrap(), second, &[("Elm", 2.5)]);
        book
    };
    let report = inspect_book(book(HEADINGS), &both).unwrap();
    assert_eq!((report.stored, report.sums[0].sum.as_str()), (2, "4.0"));
    let refused = inspect_book(book(["Day", "Campaign", "Spend", "Note"]), &both).unwrap_err();
    assert!(
        refused.message().contains("November does not have the headings of the sheet October"),
        "{}",
        refused.message()
    );
}
