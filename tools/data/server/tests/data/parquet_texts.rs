//! Tests the notes of reports about Parquet files: columns that become text, and sums among the rows.

use contract::sources::ColumnKind;

use crate::import::{Imported, import, parquet};

fn notes(imported: &Imported) -> Vec<String> {
    imported.report.notes.iter().map(ToString::to_string).collect()
}

fn says(imported: &Imported, words: &[&str]) -> bool {
    notes(imported).iter().any(|note| words.iter().all(|word| note.contains(word)))
}

#[test]
fn lists_and_records_of_parquet_are_said_to_become_text() {
    let bytes = parquet(
        "SELECT DATE '2026-11-01' AS day, [1.5, 2.5]::DECIMAL(9,2)[] AS costs, {'a': 1, 'b': 2} AS parts, 2.5::DECIMAL(9,2) AS cost",
    );
    let imported = import("a.parquet", &bytes);
    imported.is_whole();
    for column in ["costs", "parts"] {
        assert!(says(&imported, &[column, "lists or records"]), "{:?}", notes(&imported));
        let found = imported.report.columns.iter().find(|found| found.name == column).unwrap();
        assert_eq!(found.kind, ColumnKind::Text);
    }
}

#[test]
fn numbers_that_parquet_has_as_texts_are_said_not_to_add_up() {
    let bytes = parquet(
        "SELECT DATE '2026-11-01' AS day, '1,234.50' AS cost, '00123' AS size, 'Oak' AS campaign UNION ALL SELECT DATE '2026-11-02', '5', '00124', 'Elm'",
    );
    let imported = import("a.parquet", &bytes);
    imported.is_whole();
    assert!(says(&imported, &["cost", "1,234.50", "texts in the file"]), "{:?}", notes(&imported));
    for column in ["size", "campaign"] {
        assert!(!says(&imported, &[column, "texts in the file"]), "{:?}", notes(&imported));
    }
}

#[test]
fn parquet_with_rows_that_look_like_sums_is_said_not_to_be_searched_for_them() {
    let with = |rows: &str| {
        let query = format!("SELECT 'Oak' AS campaign, 3.5::DECIMAL(9,2) AS cost{rows}");
        says(&import("a.parquet", &parquet(&query)), &["sums of other rows"])
    };
    assert!(with(" UNION ALL SELECT 'Total', 3.5"), "the name of a total");
    assert!(with(" UNION ALL SELECT NULL, 3.5"), "a row without a name");
    assert!(!with(" UNION ALL SELECT 'Elm', 2.5"), "each row has a name");
    let plain = "SELECT DATE '2026-11-01' AS day, 3.5::DECIMAL(9,2) AS cost";
    let imported = import("a.parquet", &parquet(plain));
    assert!(!says(&imported, &["sums of other rows"]), "{:?}", notes(&imported));
}
