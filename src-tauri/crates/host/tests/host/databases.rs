//! Tests of databases through the command list, with the real data program in its sandbox and a real
//! PostgreSQL: the connection, the password, what the process reaches, and clear errors.

mod drivers;
mod ending;
mod engines;
mod stopping;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use contract::{
    AgentError, Commands as _, Empty, RowsParams, SourceJobView, SourceName, SourceParams,
    SourceProfileParams, SourceQueryParams,
    metric_query::{DataResult, MeasureParams, read_metric_query},
    params::{QuestionReadParams, SourceAddParams},
    sources::{ImportDecisions, ImportResult, SourceStatus},
};
use kit::postgres::{PASSWORD, Postgres};
use serde_json::{Value, json};

use crate::data_world::{self, World, all_records, only, questions};

impl World {
    /// Connects a database with answers, and waits for the end.
    async fn connect(
        &self,
        address: &str,
        name: Option<&str>,
        answers: &[(&str, &str)],
    ) -> SourceJobView {
        let name = name.map(SourceName::new);
        let params = self.params(Path::new(address), data_world::answers(answers));
        self.run(SourceAddParams { name, ..params }).await
    }

    /// Connects the table of orders as a source.
    async fn connect_orders(&self, server: &Postgres) -> ImportResult {
        let view = self.connect(&address(server, "reader"), None, &[("password", PASSWORD)]).await;
        only(view)
    }

    async fn measure(&self, query: Value) -> Result<DataResult, AgentError> {
        let query = read_metric_query(&query).unwrap();
        self.host.source_measure(MeasureParams { query, cursor: None }).await
    }
}

fn address(server: &Postgres, user: &str) -> String {
    format!("postgresql://{user}@127.0.0.1:{}/postgres?table=public.orders", server.port())
}

fn named(name: &str) -> SourceParams {
    SourceParams { name: SourceName::new(name) }
}

/// Returns all files below a folder.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(files_below(&entry.path()));
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_is_connected_with_a_password_that_only_the_keyring_has() {
    let server = Postgres::with_orders();
    let world = World::new().await;
    let asked = only(world.connect(&address(&server, "reader"), None, &[]).await);
    assert_eq!((questions(&asked), asked.is_stored), (vec!["password"], false));
    let stored = world.connect_orders(&server).await;
    assert!(stored.is_stored && stored.is_new_source, "{stored:?}");
    assert_eq!(stored.source.as_str(), "orders");
    let columns: Vec<&str> = stored.report.columns.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(columns, ["id", "day", "placed", "country", "net", "weight", "paid", "note"]);

    let query = json!({"source": "orders", "measures": ["net"], "by": ["country"], "where": {"country": ["de", "se"]}, "order": [{"by": "country"}]});
    let result = world.measure(query).await.unwrap();
    assert_eq!(result.rows[0], [json!("de"), json!(49_750)]);
    assert_eq!(result.row_count, 2);
    let result = world.query("SELECT count(*) AS n FROM orders WHERE paid").await.unwrap();
    assert_eq!(result.rows, [[json!(1500)]]);
    let rows = RowsParams {
        name: SourceName::new("orders"),
        columns: vec!["id".to_owned()],
        order: None,
        offset: 0,
        limit: 7,
    };
    assert_eq!(world.host.source_rows(rows).await.unwrap().rows.len(), 7);

    // Questions in words know the values in the database.
    let typed = QuestionReadParams {
        text: "net for d".to_owned(),
        cursor: 9,
        language: "en".to_owned(),
        before: None,
    };
    let offered = world.host.question_read(typed).await.unwrap().completions;
    assert!(offered.iter().any(|one| one.insert == "de"), "{offered:?}");

    // Grouping and filters happen in the database, in transactions that only read and end by
    // themselves, over TLS.
    let log = server.log();
    for part in ["SSL enabled", "BEGIN TRANSACTION READ ONLY", "SET statement_timeout = "] {
        assert!(log.contains(part), "{part} in {log}");
    }
    assert!(log.contains("GROUP BY") && log.contains("'de', 'se'"), "{log}");
    assert!(log.contains("LIMIT 100001"), "the rows are limited: {log}");

    world.host.stop().await;
    for file in files_below(world.folder.path()) {
        let bytes = std::fs::read(&file).unwrap();
        let has = bytes.windows(PASSWORD.len()).any(|part| part == PASSWORD.as_bytes());
        assert!(!has, "the password is in {}", file.display());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_are_offered_and_a_source_is_connected_once() {
    let server = Postgres::with_orders();
    let world = World::new().await;
    let address = format!("postgresql://reader@127.0.0.1:{}/postgres", server.port());
    let asked = only(world.connect(&address, None, &[("password", PASSWORD)]).await);
    assert_eq!(questions(&asked), ["table"]);
    assert_eq!(asked.questions[0].choices[0].value, "public.orders");
    let answers = [("password", PASSWORD), ("table", "public.orders")];
    assert!(only(world.connect(&address, None, &answers).await).is_stored);
    let again = only(world.connect(&address, None, &answers).await);
    assert!(again.is_stored && !again.is_new_source, "{again:?}");
    assert_eq!(world.names().await, ["orders"]);
    let other = [("password", PASSWORD), ("table", "pg_catalog.pg_class")];
    let other = only(world.connect(&address, None, &other).await);
    assert_eq!(other.source.as_str(), "pg_class");
    world.host.source_remove(named("orders")).await.unwrap();
    assert_eq!(world.names().await, ["pg_class"]);
    let records = world.host.audit_list(all_records()).await.unwrap().records;
    let changes = records.iter().filter(|one| format!("{:?}", one.record_type) == "SourceChanged");
    assert_eq!(changes.count(), 4, "three connections and a removal");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_certificate_of_an_own_authority_is_verified_in_the_sandbox() {
    let server = Postgres::with_orders();
    let world = World::new().await;
    let root = server.root_certificate();
    let with = |host: &str, root: &Path| {
        format!(
            "postgresql://reader@{host}:{}/postgres?sslmode=verify-full&sslrootcert={}&table=public.orders",
            server.port(),
            root.display()
        )
    };
    let password = [("password", PASSWORD)];
    assert!(only(world.connect(&with("localhost", &root), None, &password).await).is_stored);
    assert_eq!(world.query("SELECT count(*) FROM orders").await.unwrap().rows, [[json!(3000)]]);
    // Without it, the authority is not one of the system. This name is not known to be here.
    let other =
        format!("postgresql://reader@LOCALHOST:{}/postgres?table=public.orders", server.port());
    let view = world.connect(&other, Some("other"), &password).await;
    let error = view.failure.unwrap();
    assert_eq!(error.reason_text(), Some("database_unreachable"), "{error:?}");
    assert!(error.message.contains("certificate"), "{error:?}");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn roles_that_could_do_more_than_read_are_refused() {
    let server = Postgres::with_orders();
    server.sql(&format!("ALTER ROLE admin PASSWORD '{}'", PASSWORD.replace('\'', "''")));
    let world = World::new().await;
    for (role, right) in [("admin", "a superuser"), ("filer", "a member of pg_read_server_files")] {
        let view = world.connect(&address(&server, role), None, &[("password", PASSWORD)]).await;
        let error = view.failure.unwrap();
        assert_eq!(error.reason_text(), Some("role_too_powerful"), "{error:?}");
        assert!(error.message.contains(right), "{error:?}");
        assert!(error.hint_text().unwrap().contains("may only read"), "{error:?}");
    }
    assert!(world.names().await.is_empty());
    // A program may not connect a database at all.
    let params = SourceAddParams {
        place: address(&server, "reader"),
        name: None,
        decisions: ImportDecisions::default(),
        unattended: true,
        forget_remembered: false,
    };
    assert_eq!(world.host.source_add(params).await.unwrap_err().reason_text(), Some("no_terminal"));
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_password_and_an_unreachable_host_are_told_with_the_remedy() {
    let server = Postgres::with_orders();
    let world = World::new().await;
    let view = world.connect(&address(&server, "reader"), None, &[("password", "wrong")]).await;
    let error = view.failure.unwrap();
    assert_eq!(error.reason_text(), Some("database_password"), "{error:?}");
    assert_eq!(
        error.message,
        "The database refused the sign-in: password authentication failed for user \"reader\"."
    );
    assert!(world.connect_orders(&server).await.is_stored);
    server.sql("ALTER ROLE reader PASSWORD 'another'");
    let error = world.query("SELECT count(*) FROM orders").await.unwrap_err();
    assert!(error.hint_text().unwrap().contains("--name orders"), "{error:?}");
    // The remedy asks for the password, and the source goes on.
    let asked = only(world.connect(&address(&server, "reader"), Some("orders"), &[]).await);
    assert_eq!(questions(&asked), ["password"]);
    let place = address(&server, "reader");
    let again = world.connect(&place, Some("orders"), &[("password", "another")]).await;
    assert!(only(again).is_stored);
    assert!(world.query("SELECT count(*) FROM orders").await.is_ok());

    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (place, cause) in
        [(closed.to_string(), "refused"), ("no.such.host.invalid:5432".to_owned(), "lookup")]
    {
        let address =
            format!("postgresql://reader@{place}/postgres?sslmode=disable&table=public.orders");
        let error =
            world.connect(&address, Some("far"), &[("password", "x")]).await.failure.unwrap();
        assert_eq!(error.reason_text(), Some("database_unreachable"), "{error:?}");
        assert!(error.message.contains(&place) && error.message.contains(cause), "{error:?}");
        assert!(error.hint_text().unwrap().contains("runs"), "{error:?}");
    }
    assert_eq!(world.names().await, ["orders"]);
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stops_in_the_middle_is_told_and_asked_again_when_it_is_back() {
    let mut server = Postgres::with_orders();
    let world = World::new().await;
    world.connect_orders(&server).await;
    let slow =
        "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b, orders";
    let host = Arc::clone(&world.host);
    let asked = tokio::spawn(async move {
        host.source_query(SourceQueryParams { sql: slow.to_owned(), cursor: None, limit: 0 }).await
    });
    let latest = Instant::now() + Duration::from_secs(30);
    while !server.log().contains("generate_series(1, 100000) a") {
        assert!(Instant::now() < latest, "the question runs");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    server.stop();
    let error = asked.await.unwrap().unwrap_err();
    assert_eq!(error.reason_text(), Some("database_gone"), "{error:?}");
    assert!(error.message.starts_with("The database ended the connection"), "{error:?}");
    let error = world.query("SELECT count(*) FROM orders").await.unwrap_err();
    assert_eq!(error.reason_text(), Some("database_unreachable"), "{error:?}");
    assert!(error.message.contains("refused"), "{error:?}");
    let status = async || world.host.sources_list(Empty {}).await.unwrap().sources[0].status;
    assert_eq!(status().await, SourceStatus::Unreachable);
    server.start_again();
    assert_eq!(world.query("SELECT count(*) FROM orders").await.unwrap().rows, [[json!(3000)]]);
    assert_ne!(status().await, SourceStatus::Unreachable);
    let params = SourceProfileParams {
        name: SourceName::new("orders"),
        columns: vec!["net".to_owned(), "country".to_owned()],
    };
    let profile = world.host.source_profile(params).await.unwrap();
    assert_eq!((profile.rows, profile.columns[0].distinct), (3000, 100), "{profile:?}");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_table_is_told_and_its_columns_are_read_again() {
    let server = Postgres::with_orders();
    let world = World::new().await;
    world.connect_orders(&server).await;
    server.sql("ALTER TABLE orders RENAME COLUMN net TO gross");
    let query = json!({"source": "orders", "measures": ["net"], "by": ["country"]});
    let error = world.measure(query).await.unwrap_err();
    assert_eq!(error.reason_text(), Some("table_changed"), "{error:?}");
    assert_eq!(
        error.hint_text(),
        Some("Refresh the source in Data, or with: csign data refresh orders")
    );
    let job = world.host.source_refresh(named("orders")).await.unwrap();
    let result = only(world.end_of(job).await);
    let notes: Vec<&str> = result.report.notes.iter().map(|note| note.as_str()).collect();
    assert_eq!(
        notes[..2],
        ["New columns: gross.", "Columns that are gone, with their definitions: net."]
    );
    let query = json!({"source": "orders", "measures": ["gross"], "by": ["country"], "order": [{"by": "country"}]});
    assert_eq!(world.measure(query).await.unwrap().rows[0], [json!("de"), json!(49_750)]);
    world.host.stop().await;
}
