//! Results as Parquet files: exact types, and no file outside the working folder.

use std::path::Path;

use contract::{
    metric_query::{DataColumn, DataType},
    result::{ColumnRole, ValueFormat},
    sources::{AskExport, AskLimits},
};
use csign_data::{
    DataError,
    duck::{Duck, Settings},
    stop::Stop,
};
use serde_json::json;

use crate::world::{World, drivers};

fn column(name: &str, kind: DataType) -> DataColumn {
    DataColumn::new(name, kind, ColumnRole::Dimension, ValueFormat::Text)
}

fn ask(rows: &Path, columns: &[DataColumn], file: &str) -> AskExport {
    AskExport {
        rows: rows.display().to_string(),
        columns: columns.to_vec(),
        about: [("countersign.sql".to_owned(), "SELECT 'it''s'".to_owned())].into(),
        file: file.to_owned(),
        limits: AskLimits::default(),
    }
}

fn write_rows(world: &World, rows: &[serde_json::Value]) -> std::path::PathBuf {
    let path = world.parts().join("rows.jsonl");
    let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
    std::fs::write(&path, lines).unwrap();
    path
}

/// Exports rows, and returns what a query over the file answers.
fn exported(
    world: &World,
    columns: &[DataColumn],
    rows: &[serde_json::Value],
    sql: &str,
) -> Vec<String> {
    let from = write_rows(world, rows);
    let done = world.asker().export(&ask(&from, columns, "out.parquet"), &Stop::never()).unwrap();
    assert_eq!(done.rows, rows.len() as u64);
    let scratch = world.folder.path().join("scratch");
    let duck = Duck::open(&Settings {
        drivers: drivers(),
        folders: vec![scratch.clone()],
        scratch: scratch.clone(),
        memory_bytes: 256 << 20,
        spill_bytes: 256 << 20,
        threads: 1,
    })
    .unwrap();
    let sql = sql.replace("FILE", &format!("'{}'", scratch.join("out.parquet").display()));
    let row = duck.connect().unwrap().row(&sql, &Stop::never()).unwrap();
    row.into_iter().map(Option::unwrap_or_default).collect()
}

#[test]
fn each_type_keeps_all_digits() {
    let world = World::new();
    let columns = [
        column("name", DataType::Text),
        column("cost", DataType::Decimal),
        column("long", DataType::Decimal),
        column("small", DataType::Decimal),
        column("count", DataType::Whole),
        column("huge", DataType::Whole),
        column("rate", DataType::Float),
        column("day", DataType::Day),
        column("at", DataType::Moment),
        column("on", DataType::Flag),
        column("none", DataType::Decimal),
    ];
    let rows = [
        json!({"0": "Ö \"q\"\n", "1": "-20.5", "2": "12345678901234567890.25", "3": "1e-7", "4": "7",
               "5": "92233720368547758080", "6": "0.1", "7": "2026-11-01", "8": "2026-11-01T10:00:00.123456", "9": "true"}),
        json!({"0": "", "1": "7.123", "2": "1", "3": "2", "4": "-1", "5": "0", "6": "1e300"}),
        json!({}),
    ];
    let types = "SELECT string_agg(column_type, ' ') FROM (DESCRIBE SELECT * FROM FILE)";
    assert_eq!(
        exported(&world, &columns, &rows, types),
        [
            "VARCHAR DECIMAL(18,3) DECIMAL(38,2) DECIMAL(18,7) BIGINT DECIMAL(38,0) DOUBLE DATE TIMESTAMP BOOLEAN DECIMAL(18,0)"
        ]
    );
    let sums = "SELECT first(name), CAST(sum(cost) AS VARCHAR), CAST(sum(long) AS VARCHAR), CAST(max(small) AS VARCHAR), \
                CAST(min(small) AS VARCHAR), CAST(max(huge) AS VARCHAR), CAST(max(\"at\") AS VARCHAR), CAST(count(\"on\") AS VARCHAR), \
                CAST(count(*) FILTER (name = '') AS VARCHAR) FROM FILE";
    assert_eq!(
        exported(&world, &columns, &rows, sums),
        [
            "Ö \"q\"\n",
            "-13.377",
            "12345678901234567891.25",
            "2.0000000",
            "0.0000001",
            "92233720368547758080",
            "2026-11-01 10:00:00.123456",
            "1",
            "1"
        ]
    );
    let about =
        "SELECT decode(value) FROM parquet_kv_metadata(FILE) WHERE decode(key) = 'countersign.sql'";
    assert_eq!(exported(&world, &columns, &rows, about), ["SELECT 'it''s'"]);
}

#[test]
fn a_result_without_rows_is_a_file_without_rows() {
    let world = World::new();
    let columns = [column("cost", DataType::Decimal), column("day", DataType::Day)];
    assert_eq!(exported(&world, &columns, &[], "SELECT count(*) FROM FILE"), ["0"]);
}

#[test]
fn a_number_that_no_decimal_holds_is_refused_with_its_column() {
    let world = World::new();
    let from = write_rows(&world, &[json!({"0": "1".repeat(39)})]);
    let ask = ask(&from, &[column("cost", DataType::Decimal)], "out.parquet");
    let refused = world.asker().export(&ask, &Stop::never()).unwrap_err();
    assert!(matches!(&refused, DataError::Query(cause) if cause.contains("cost")), "{refused}");
}

#[test]
fn only_the_working_folder_is_written_and_only_given_folders_are_read() {
    let world = World::new();
    let asker = world.asker();
    let columns = [column("name", DataType::Text)];
    let from = write_rows(&world, &[json!({"0": "x"})]);
    for file in ["../parts/out.parquet", "/tmp/out.parquet", "", "a*b"] {
        let refused = asker.export(&ask(&from, &columns, file), &Stop::never()).unwrap_err();
        assert!(matches!(refused, DataError::Arguments(_)), "{file}: {refused}");
    }
    let outside = tempfile::tempdir().unwrap();
    let path = outside.path().join("rows.jsonl");
    std::fs::write(&path, "{\"0\": \"x\"}\n").unwrap();
    assert!(asker.export(&ask(&path, &columns, "out.parquet"), &Stop::never()).is_err());
    let relative = Path::new("rows.jsonl");
    assert!(asker.export(&ask(relative, &columns, "out.parquet"), &Stop::never()).is_err());
}
