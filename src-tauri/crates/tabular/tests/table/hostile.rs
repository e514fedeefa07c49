//! Crafted files: each costs no more than a large honest one, and says what is wrong.

use contract::sources::ImportDecisions;
use tabular::{
    Limit,
    limits::{MAX_COLUMNS, MAX_LINE},
    table::TableError,
};

use crate::support::{check_law, inspect_bytes};

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
