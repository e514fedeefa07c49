//! A driver that the app does not ship: a second real ADBC library, loaded by its absolute path.

use std::path::{Path, PathBuf};

use contract::{
    AgentError,
    sources::{AskLimits, AskQuery, AskRows, AskedPlace, AskedSource, ColumnKind},
};
use csign_data::{DataError, database::Databases, drivers::load_other, stop::Stop};
use serde_json::json;

use crate::world::{column, drivers};

/// Returns the library for SQLite, which `make setup-test` fetches.
fn library() -> PathBuf {
    let folder = kit::programs::database_packages().join("adbc_driver_sqlite");
    folder.join("libadbc_driver_sqlite.so").canonicalize().unwrap()
}

fn source(folder: &Path) -> AskedSource {
    let file = folder.join("shop.db");
    let database = rusqlite::Connection::open(&file).unwrap();
    database
        .execute_batch(
            "CREATE TABLE orders (id INTEGER, country TEXT, net INTEGER);
             INSERT INTO orders VALUES (1, 'se', 100), (2, 'de', 250), (3, 'de', 50);
             CREATE TABLE secrets (word TEXT);",
        )
        .unwrap();
    AskedSource {
        name: "orders".into(),
        columns: vec![
            column("id", ColumnKind::Whole, 0),
            column("country", ColumnKind::Text, 0),
            column("net", ColumnKind::Whole, 0),
        ],
        place: AskedPlace::Table {
            table: "orders".to_owned(),
            driver: library().display().to_string(),
            address: file.display().to_string(),
            via: None,
            password: None,
        },
        definitions: None,
        approved: Vec::new(),
        covered: None,
        exports: Vec::new(),
        version: None,
    }
}

fn ask(sql: &str, source: &AskedSource) -> AskQuery {
    let limits = AskLimits::default();
    AskQuery { sql: sql.to_owned(), sources: vec![source.clone()], limits, cursor: None }
}

#[test]
fn a_second_driver_answers_queries_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let (databases, source) = (Databases::new(drivers()), source(folder.path()));
    let sql = "SELECT country, sum(net) AS net FROM orders GROUP BY 1 ORDER BY 1";
    let result = databases.query(&ask(sql, &source), &Stop::never()).unwrap();
    assert_eq!(result.rows, [[json!("de"), json!(300)], [json!("se"), json!(100)]]);
    let rows = AskRows {
        source: source.clone(),
        columns: vec!["id".to_owned(), "country".to_owned()],
        order: None,
        offset: 1,
        limits: AskLimits { rows: 1, ..AskLimits::default() },
    };
    assert_eq!(databases.rows(&rows, &Stop::never()).unwrap().rows, [[json!(2), json!("de")]]);
    for text in [
        "DELETE FROM orders",
        "SELECT * FROM secrets",
        "SELECT * FROM sqlite_master",
        "SELECT load_extension('x') FROM orders",
        "SELECT readfile('/etc/passwd')",
        "ATTACH 'other.db' AS other",
        "PRAGMA writable_schema = on",
        "SELECT 1 FROM orders; DROP TABLE orders",
    ] {
        let refused = databases.query(&ask(text, &source), &Stop::never());
        assert!(matches!(refused, Err(DataError::Refused(_))), "{text}: {refused:?}");
    }
    let result = databases.query(&ask("SELECT count(*) FROM orders", &source), &Stop::never());
    assert_eq!(result.unwrap().rows, [[json!(3)]]);
}

#[test]
fn a_library_that_cannot_be_loaded_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("libtext.so");
    std::fs::write(&text, "no library").unwrap();
    for path in [text.as_path(), &folder.path().join("missing.so"), Path::new("libtext.so")] {
        let error = load_other(path).err().unwrap();
        assert!(matches!(error, DataError::OtherDriver { .. }), "{error:?}");
        let error = AgentError::from(error);
        assert_eq!(error.reason_text(), Some("driver_unusable"), "{error:?}");
        assert!(error.hint_text().unwrap().contains("connect the database again"), "{error:?}");
    }
}
