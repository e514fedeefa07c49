//! Crafted files: each costs no more than a large honest one, and says what is wrong.

use std::{
    fs::File,
    io::{Cursor, Read as _, Write as _},
    os::unix::fs::FileExt as _,
};

use contract::sources::ImportDecisions;
use rust_xlsxwriter::Workbook;
use tabular::{
    Limit,
    limits::{MAX_CELL, MAX_COLUMNS, MAX_LINE},
    table::TableError,
};
use zip::{ZipArchive, ZipWriter, write::SimpleFileOptions};

use crate::{
    support::{check_law, file_of, inspect_bytes, inspect_file, read_rows},
    workbooks::{ods, ods_number, ods_row, ods_text},
};

fn inspect(bytes: &[u8]) -> Result<tabular::table::Inspected, TableError> {
    inspect_bytes(bytes, &ImportDecisions::default())
}

#[test]
fn a_million_columns_are_refused() {
    let text = format!("{}\n{}\n", ",a".repeat(1_000_000), ",1".repeat(1_000_000));
    let refused = inspect(text.as_bytes());
    assert!(matches!(refused, Err(TableError::Limit(Limit::Columns))), "{refused:?}");
    let most = format!("{}\n", "a,".repeat(MAX_COLUMNS - 1)).repeat(2);
    assert!(inspect(most.as_bytes()).is_ok());
}

#[test]
fn a_line_without_an_end_is_refused_with_its_number() {
    let line = usize::try_from(MAX_LINE).unwrap();
    let text =
        format!("Day,Campaign,Cost\n2026-11-01,Oak,5\n2026-11-02,{},6\n", "x".repeat(3 * line));
    let refused = inspect(text.as_bytes());
    assert!(matches!(refused, Err(TableError::Limit(Limit::Line { line: 3 }))), "{refused:?}");
}

#[test]
fn a_quote_that_is_never_closed_costs_one_line() {
    let rows = "2026-11-02,Oak,6.00\n".repeat(200_000);
    let text = format!("Day,Campaign,Cost\n2026-11-01,\"Oak,5.00\n{rows}");
    let inspected = inspect(text.as_bytes()).unwrap();
    let report = inspected.report();
    assert_eq!((report.stored, report.rejected[0].lines.as_slice()), (200_000, &[2][..]));
    check_law(report);
}

#[test]
fn a_quote_in_each_line_ends_in_a_refusal_and_not_in_hours() {
    let text = format!(
        "Day,Campaign,Cost\n{}",
        "2026-11-02,\"Oak,6.00\n2026-11-02,\"Elm\" x,6.00\n".repeat(50_000)
    );
    let began = std::time::Instant::now();
    let result = inspect(text.as_bytes());
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
    if let Ok(inspected) = result {
        check_law(inspected.report());
    }
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let noise: Vec<u8> =
        (0..100_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    match inspect(&noise) {
        Err(TableError::Unreadable(_) | TableError::NoTable | TableError::Limit(_)) => {}
        Ok(inspected) => check_law(inspected.report()),
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn other_formats_are_named() {
    use contract::sources::FileFormat::{JsonLines, Parquet, Sqlite};
    for (start, format) in [
        (&b"PAR1\x15\x04"[..], Parquet),
        (b"SQLite format 3\0...", Sqlite),
        (b"{\"day\": \"2026-11-01\"}\n", JsonLines),
        (b"[\n  {\"day\": 1}]", JsonLines),
    ] {
        let other = inspect(start);
        assert!(matches!(other, Err(TableError::Other(found)) if found == format), "{other:?}");
    }
    for start in [&b"%PDF-1.7 ..."[..], b"7z\xBC\xAF\x27\x1C", b"BZh91AY&SY.."] {
        assert!(matches!(inspect(start), Err(TableError::Unreadable(_))));
    }
}

#[test]
fn a_stopped_reading_stops() {
    let file = crate::support::file_of(b"Day,Cost\n2026-11-01,5\n");
    let stopped =
        tabular::table::inspect(&file, "x", &ImportDecisions::default(), &mut |_| {}, &|| true);
    assert!(matches!(stopped, Err(TableError::Stopped)));
}

/// Declarations of the entity `x`: one that becomes 10 billion letters, and one that is a file.
fn entities() -> [String; 2] {
    let each =
        |level: u32| format!("<!ENTITY e{level} \"{}\">", format!("&e{};", level - 1).repeat(10));
    let levels: String = (1..=9).map(each).collect();
    [
        format!("<!DOCTYPE a [<!ENTITY e0 \"0123456789\">{levels}<!ENTITY x \"&e9;\">]>"),
        "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>".to_owned(),
    ]
}

/// Returns a workbook whose shared texts declare an entity and use it.
fn workbook_with(entity: &str) -> Vec<u8> {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    let rows = [["Day", "Campaign"], ["2026-11-01", "Oak ENTITY"]];
    for (row, cells) in (0_u32..).zip(rows) {
        for (column, text) in (0_u16..).zip(cells) {
            sheet.write(row, column, text).unwrap();
        }
    }
    let mut from = ZipArchive::new(Cursor::new(book.save_to_buffer().unwrap())).unwrap();
    let mut to = ZipWriter::new(Cursor::new(Vec::new()));
    for at in 0..from.len() {
        let mut part = from.by_index(at).unwrap();
        let (name, mut text) = (part.name().unwrap().into_owned(), String::new());
        part.read_to_string(&mut text).unwrap();
        let text = text.replace("ENTITY", "&x;").replace("<sst ", &format!("{entity}<sst "));
        to.start_file(name, SimpleFileOptions::default()).unwrap();
        to.write_all(text.as_bytes()).unwrap();
    }
    to.finish().unwrap().into_inner()
}

/// Returns an OpenDocument spreadsheet with one row, whose markup begins with `entity`.
fn open_document_with(entity: &str, campaign: &str, cost: &str) -> Vec<u8> {
    let rows = [
        ods_row(&[&ods_text("Day"), &ods_text("Campaign"), &ods_text("Cost")]),
        ods_row(&[&ods_text("2026-11-01"), &ods_text(campaign), &ods_number(cost)]),
    ];
    ods(entity, &format!("<table:table table:name=\"a\">{}</table:table>", rows.concat()))
}

#[test]
fn entities_of_markup_are_not_expanded_and_open_no_file() {
    for entity in entities() {
        let workbook = inspect(&workbook_with(&entity));
        assert!(matches!(workbook, Err(TableError::Workbook(_))), "{workbook:?}");
        for (campaign, cost) in [("Oak &x;", "5"), ("Oak", "&x;")] {
            let refused = inspect(&open_document_with(&entity, campaign, cost));
            assert!(matches!(refused, Err(TableError::Workbook(_))), "{campaign}: {refused:?}");
        }
    }
    // Those of XML itself are signs.
    let file = file_of(&open_document_with("", "Oak &amp; &#69;lm", "&#53;"));
    let inspected = inspect_file(&file, &ImportDecisions::default()).unwrap();
    check_law(inspected.report());
    assert!(read_rows(&inspected, &file).unwrap().concat().concat().contains("Oak & Elm"));
}

#[test]
fn a_value_of_markup_that_is_too_long_is_refused_and_not_left_out() {
    let long = "x".repeat(MAX_CELL + 1);
    let cell = format!(
        "<table:table-cell office:value-type=\"string\" office:string-value=\"{long}\"></table:table-cell>"
    );
    let rows = [
        ods_row(&[&ods_text("Day"), &ods_text("Campaign")]),
        ods_row(&[&ods_text("2026-11-01"), &cell]),
    ];
    let table = format!("<table:table table:name=\"a\">{}</table:table>", rows.concat());
    let refused = inspect(&ods("", &table));
    assert!(matches!(refused, Err(TableError::Limit(Limit::Cell))), "{refused:?}");
}

#[test]
fn a_file_that_changes_between_the_two_passes_is_refused() {
    let text = "Day,Campaign,Cost\n2026-11-01,Oak,5.50\n2026-11-02,Elm,9.25\n2026-11-03,Ash,7.75\n";
    let at = |part: &str| text.find(part).unwrap() as u64;
    let cut = |file: &File| file.set_len(at("2026-11-03")).unwrap();
    let spoil = |file: &File| file.write_all_at(b"q", at("7.75")).unwrap();
    let changes: [&dyn Fn(&File); 2] = [&cut, &spoil];
    for change in changes {
        let file = file_of(text.as_bytes());
        let inspected = inspect_file(&file, &ImportDecisions::default()).unwrap();
        assert_eq!(inspected.report().stored, 3);
        change(&file);
        let read = read_rows(&inspected, &file);
        assert!(matches!(read, Err(TableError::Changed)), "{read:?}");
    }
}
