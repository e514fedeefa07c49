//! A real PostgreSQL, asked through the database process: figures, push-down, what a role may not
//! be, and hostile texts with a role that could write.

use std::{
    collections::BTreeSet,
    fs::Permissions,
    os::unix::fs::PermissionsExt as _,
    time::{Duration, Instant},
};

use contract::{
    AgentError,
    sources::{
        AskDescribe, AskLimits, AskQuery, AskRows, AskedPlace, AskedSource, ColumnKind, Password,
        ProfileBasis, RowOrder,
    },
};
use csign_data::{DataError, database::Databases, stop::Stop};
use kit::postgres::{PASSWORD, Postgres};
use serde_json::json;

use crate::{
    profiles::{ask as ask_profile, of},
    world::{column, drivers},
};

/// Returns a table as a source that a role asks.
pub(crate) fn source(server: &Postgres, table: &str, user: &str) -> AskedSource {
    AskedSource {
        name: "orders".into(),
        columns: Vec::new(),
        place: AskedPlace::Table {
            table: table.to_owned(),
            driver: "postgresql".to_owned(),
            address: format!("postgresql://{user}@db.example.com/postgres?sslmode=disable"),
            via: Some(format!("127.0.0.1:{}", server.port())),
            password: Some(Password(PASSWORD.to_owned())),
        },
        definitions: None,
        approved: Vec::new(),
        covered: None,
        exports: Vec::new(),
        version: None,
    }
}

/// Opens a connection of the superuser, with the options of the database process.
pub(crate) fn link(server: &Postgres) -> csign_data::link::Link {
    use adbc_core::{
        Database as _, Driver as _,
        options::{OptionDatabase, OptionValue},
    };
    let mut driver =
        csign_data::drivers::load(&drivers(), csign_data::drivers::POSTGRESQL).unwrap();
    let address =
        format!("host=127.0.0.1 port={} user=admin password=admin dbname=postgres", server.port());
    let options = [(OptionDatabase::Uri, OptionValue::String(address))];
    let database = driver.new_database_with_opts(options).unwrap();
    let connection = database.new_connection().unwrap();
    csign_data::link::Link::new(connection, &[("adbc.postgresql.use_copy", "false")])
}

fn databases() -> Databases {
    Databases::new(drivers())
}

fn ask(sql: &str, source: &AskedSource) -> AskQuery {
    AskQuery {
        sql: sql.to_owned(),
        sources: vec![source.clone()],
        limits: AskLimits::default(),
        cursor: None,
    }
}

#[test]
fn a_table_of_postgres_is_described_and_asked() {
    let server = Postgres::with_orders();
    let (databases, source) = (databases(), source(&server, "public.orders", "reader"));
    let stop = Stop::never();
    let call = AskDescribe { source: source.clone(), samples: 3 };
    let described = databases.describe(&call, 10_000, &stop).unwrap();
    assert_eq!(
        described.columns,
        [
            column("id", ColumnKind::Whole, 0),
            column("day", ColumnKind::Day, 0),
            column("placed", ColumnKind::Moment, 0),
            column("country", ColumnKind::Text, 0),
            column("net", ColumnKind::Decimal, 2),
            column("weight", ColumnKind::Decimal, 6),
            column("paid", ColumnKind::Flag, 0),
            column("note", ColumnKind::Text, 0),
        ]
    );
    assert_eq!((described.rows, described.samples["country"].len()), (3000, 3));
    assert_eq!(described.days.unwrap().days, 30);
    let sql = "SELECT country, count(*) AS n, sum(net) AS net, min(day) AS first, max(placed) AS last, bool_or(paid) AS any_paid FROM orders GROUP BY 1 ORDER BY 1";
    let result = databases.query(&ask(sql, &source), &stop).unwrap();
    assert_eq!(
        result.rows[0],
        [
            json!("de"),
            json!(1000),
            json!(49_750),
            json!("2026-11-02"),
            json!("2026-11-03T10:58:00"),
            json!(true)
        ]
    );
    assert_eq!(result.row_count, 3);
    let tables = databases
        .tables(&csign_data::database::AskTables { place: source.place.clone() }, 10_000, &stop)
        .unwrap();
    assert_eq!(tables.tables, ["public.orders"]);
    let mut call = AskRows {
        source: AskedSource { columns: described.columns, ..source },
        columns: vec!["id".to_owned(), "net".to_owned()],
        order: Some(RowOrder { by: "id".to_owned(), descending: true }),
        offset: 0,
        limits: AskLimits { rows: 2, ..AskLimits::default() },
    };
    let page = databases.rows(&call, &stop).unwrap();
    assert_eq!(page.rows, [[json!(3000), json!(0.25)], [json!(2999), json!(99.25)]]);
    call.offset = 2;
    assert_eq!(databases.rows(&call, &stop).unwrap().rows[0][0], json!(2998));
    // Grouping happens in the database, in a transaction that only reads.
    let log = server.log();
    assert!(log.contains("GROUP BY 1 ORDER BY 1 LIMIT 100001"), "{log}");
    assert!(log.contains("BEGIN TRANSACTION READ ONLY"), "{log}");
    // By the extended protocol, which takes one statement at a time. The simple one logs "statement:".
    let asked: Vec<&str> = log.lines().filter(|line| line.contains("LIMIT 100001")).collect();
    let is_extended = |line: &&str| line.contains(" execute ") && !line.contains(" statement: ");
    assert!(!asked.is_empty() && asked.iter().all(is_extended), "{asked:#?}");
}

#[test]
fn the_columns_of_a_table_are_profiled() {
    let server = Postgres::with_orders();
    server.sql("CREATE TABLE odd (f double precision, n numeric, t text, j jsonb, d date); \
        INSERT INTO odd VALUES ('NaN', 'NaN', '', '{}', 'infinity'), (1e308, 1.5, 'b', '{}', '2026-11-01'), \
        (-1e308, 12345678901234567890.12, 'B', NULL, NULL), (NULL, NULL, NULL, NULL, NULL); \
        GRANT SELECT ON odd TO reader");
    let databases = databases();
    let stop = Stop::never();
    let found =
        databases.profile(&ask_profile(source(&server, "public.orders", "reader")), &stop).unwrap();
    assert_eq!((found.rows, found.basis, found.left.len()), (3000, ProfileBasis::AllRows, 0));
    let net = of(&found, "net");
    assert_eq!((net.least.as_deref(), net.greatest.as_deref()), (Some("0.25"), Some("99.25")));
    assert_eq!((net.mean.as_deref(), net.distinct), (Some("49.75"), 100));
    let counted: u64 = net.ranges.iter().map(|range| range.rows).sum();
    assert_eq!((net.ranges.len(), counted), (15, 3000));
    assert_eq!(of(&found, "weight").mean.as_deref(), Some("500.166666667"));
    assert_eq!(of(&found, "weight").ranges.iter().map(|range| range.rows).sum::<u64>(), 3000);
    let values = |name: &str| -> Vec<(String, u64)> {
        let frequent = &of(&found, name).frequent;
        frequent.iter().map(|one| (one.value.clone(), one.rows)).collect()
    };
    assert_eq!(values("paid"), [("false".to_owned(), 1500), ("true".to_owned(), 1500)]);
    assert_eq!(values("country")[0], ("de".to_owned(), 1000));
    assert_eq!((values("id").len(), of(&found, "id").distinct), (0, 3000));
    assert_eq!((of(&found, "note").empty, of(&found, "note").distinct), (3000, 0));
    assert_eq!(of(&found, "day").ranges[0].from, "2026-11-01");
    assert_eq!(of(&found, "placed").least.as_deref(), Some("2026-11-01T09:01:00"));

    let found =
        databases.profile(&ask_profile(source(&server, "public.odd", "reader")), &stop).unwrap();
    let float = of(&found, "f");
    assert_eq!((float.empty, float.distinct), (1, 2));
    assert_eq!(
        (float.least.as_deref(), float.greatest.as_deref()),
        (Some("-1e+308"), Some("1e+308"))
    );
    assert_eq!((float.mean.as_deref(), float.ranges[0].rows), (Some("0"), 1));
    assert!(float.notes[0].contains("1 values are not finite"), "{float:?}");
    assert_eq!(of(&found, "n").mean.as_deref(), Some("6172839450617283945.81"));
    let text = of(&found, "t");
    assert_eq!(
        (text.empty, text.least.as_deref(), text.greatest.as_deref()),
        (2, Some("B"), Some("b"))
    );
    assert_eq!(of(&found, "j").frequent[0].rows, 2);
    let day = of(&found, "d");
    assert_eq!((day.greatest.as_deref(), day.ranges.len()), (Some("infinity"), 0));
    assert!(day.notes[0].contains("have no ranges"), "{day:?}");
}

#[test]
fn of_a_large_table_a_sample_is_profiled_and_of_a_large_view_the_first_rows() {
    let server = Postgres::with_orders();
    server.sql(
        "CREATE TABLE big AS SELECT i, i % 7 AS k FROM generate_series(1, 1200000) i; \
        CREATE VIEW wide AS SELECT * FROM big; GRANT SELECT ON big, wide TO reader; ANALYZE big",
    );
    let (databases, stop) = (databases(), Stop::never());
    let found =
        databases.profile(&ask_profile(source(&server, "public.big", "reader")), &stop).unwrap();
    assert_eq!(found.basis, ProfileBasis::Sample);
    assert!(found.rows > 100_000 && found.rows < 400_000, "{}", found.rows);
    assert!(found.estimated_rows.is_some_and(|rows| rows > 1_000_000), "{found:?}");
    let counted: u64 = of(&found, "k").ranges.iter().map(|range| range.rows).sum();
    assert_eq!(counted, found.rows, "each query reads the same rows");
    let found =
        databases.profile(&ask_profile(source(&server, "public.wide", "reader")), &stop).unwrap();
    assert_eq!((found.basis, found.rows), (ProfileBasis::FirstRows, 1_000_000));
    let mut call = ask_profile(source(&server, "public.big", "reader"));
    call.columns = vec!["gone".to_owned()];
    let error = databases.profile(&call, &stop).unwrap_err();
    assert!(matches!(error, DataError::TableChanged(_)), "{error:?}");
}

#[test]
fn roles_that_may_do_more_than_read_are_refused() {
    let server = Postgres::with_orders();
    // A right can come through another role.
    server.sql("CREATE ROLE team; GRANT team TO reader");
    let member = source(&server, "public.orders", "reader");
    for group in ["pg_read_server_files", "pg_write_server_files", "pg_execute_server_program"] {
        server.sql(&format!("GRANT {group} TO team"));
        let refused = databases().query(&ask("SELECT 1 FROM orders", &member), &Stop::never());
        server.sql(&format!("REVOKE {group} FROM team"));
        match refused {
            Err(DataError::TooMuchRight { right, .. }) => {
                assert_eq!(right, format!("a member of {group}"));
            }
            other => panic!("{group}: {other:?}"),
        }
    }
    databases().query(&ask("SELECT count(*) FROM orders", &member), &Stop::never()).unwrap();
    // `sql` no longer works after this change: it connects with the earlier password.
    server.sql(&format!("ALTER ROLE admin PASSWORD '{}'", PASSWORD.replace('\'', "''")));
    for (role, right) in [("admin", "a superuser"), ("filer", "a member of pg_read_server_files")] {
        let source = source(&server, "public.orders", role);
        let error =
            databases().query(&ask("SELECT 1 FROM orders", &source), &Stop::never()).unwrap_err();
        match error {
            DataError::TooMuchRight { right: found, .. } => assert_eq!(found, right),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_wrong_password_is_told_without_the_password() {
    let server = Postgres::with_orders();
    let mut source = source(&server, "public.orders", "reader");
    if let AskedPlace::Table { password, .. } = &mut source.place {
        *password = Some(Password("wrong-secret".to_owned()));
    }
    let error =
        databases().query(&ask("SELECT 1 FROM orders", &source), &Stop::never()).unwrap_err();
    let error = AgentError::from(error);
    let told = serde_json::to_string(&error).unwrap();
    assert_eq!(error.reason_text(), Some("database_password"));
    assert_eq!(
        error.message,
        "The database refused the sign-in: password authentication failed for user \"reader\"."
    );
    assert!(!told.contains("wrong-secret"), "{told}");
    if let AskedPlace::Table { via, .. } = &mut source.place {
        *via = Some("127.0.0.1:1".to_owned());
    }
    let error =
        databases().query(&ask("SELECT 1 FROM orders", &source), &Stop::never()).unwrap_err();
    assert!(matches!(error, DataError::Connection(_)), "{error}");
}

/// Texts that would change the database, reach files or other tables, or wait. `{w}` stands for a file
/// that does not exist.
const HOSTILE: [&str; 67] = [
    "INSERT INTO orders (id) VALUES (-1)",
    "UPDATE orders SET net = 0",
    "DELETE FROM orders",
    "TRUNCATE orders",
    "DROP TABLE orders",
    "ALTER TABLE orders ADD x int",
    "CREATE TABLE t (a int)",
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "GRANT ALL ON orders TO reader",
    "SELECT * INTO t FROM orders",
    "SELECT * FROM orders FOR UPDATE",
    "SELECT * FROM orders FOR SHARE",
    "WITH x AS (DELETE FROM orders RETURNING *) SELECT * FROM x",
    "WITH x AS (INSERT INTO orders (id) VALUES (-1) RETURNING *) SELECT * FROM x",
    "WITH x AS (UPDATE orders SET net = 0 RETURNING *) SELECT * FROM x",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
    "COPY orders TO '{w}'",
    "COPY orders TO PROGRAM 'id'",
    "COPY orders FROM '/etc/passwd'",
    "SELECT 1; DELETE FROM orders",
    "SELECT 1) TO PROGRAM 'id'; --",
    "SELECT 1 FROM orders; COMMIT; DELETE FROM orders",
    "COMMIT",
    "ROLLBACK",
    "BEGIN",
    "SET TRANSACTION READ WRITE",
    "SET default_transaction_read_only = off",
    "RESET ALL",
    "SELECT set_config('transaction_read_only', 'off', false)",
    "SELECT pg_catalog.set_config('statement_timeout', '0', false)",
    "SELECT current_setting('data_directory')",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_read_binary_file('/etc/passwd')",
    "SELECT pg_ls_dir('/')",
    "SELECT * FROM pg_ls_logdir()",
    "SELECT pg_stat_file('/etc/passwd')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT lo_export(1, '{w}')",
    "SELECT lo_create(1)",
    "SELECT pg_sleep(100)",
    "SELECT pg_sleep_for('1 hour')",
    "SELECT pg_advisory_lock(1)",
    "SELECT pg_notify('a', 'b')",
    "SELECT pg_terminate_backend(1)",
    "SELECT pg_reload_conf()",
    "SELECT nextval('s')",
    "SELECT random()",
    "SELECT query_to_xml('DELETE FROM orders RETURNING 1', true, true, '')",
    "SELECT table_to_xml('pg_authid', true, true, '')",
    "SELECT * FROM dblink('host=127.0.0.1', 'SELECT 1') AS t(a int)",
    "SELECT * FROM pg_catalog.pg_authid",
    "SELECT * FROM pg_user",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM public.orders",
    "TABLE orders",
    "VALUES (pg_read_file('/etc/passwd'))",
    "SELECT 'pg_authid'::regclass",
    "SELECT E'\\'; DELETE FROM orders; --'",
    "SELECT U&'\\0027'",
    "SELECT $x$ $x$ FROM orders",
    "DO $$ BEGIN DELETE FROM orders; END $$",
    "PREPARE p AS DELETE FROM orders",
    "CREATE EXTENSION dblink",
    "LISTEN a",
    "LOCK TABLE orders IN ACCESS EXCLUSIVE MODE",
    "EXPLAIN ANALYZE SELECT * FROM orders",
    "SELECT lpad('x', 1000000000, 'y') FROM orders",
];

#[test]
fn hostile_texts_change_nothing_with_a_role_that_could_write() {
    let server = Postgres::with_orders();
    let (databases, source) = (databases(), source(&server, "public.orders", "writer"));
    let state = "SELECT count(*), sum(net), (SELECT count(*) FROM pg_class), (SELECT count(*) FROM pg_largeobject_metadata) FROM orders";
    let before = server.sql(state);
    let disguised = |text: &str| {
        [
            text.to_owned(),
            text.to_lowercase(),
            format!("/* a /* b */ c */ {text} -- d"),
            text.replace(' ', "\n\t"),
            format!("SELECT 1 FROM orders; {text}"),
            format!("SELECT 1 FROM orders WHERE EXISTS ({text})"),
            format!("SELECT ({text})"),
            format!("WITH x AS ({text}) SELECT * FROM x"),
        ]
    };
    // The server of the database, too, could write into this folder.
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
    let written = folder.path().join("written").display().to_string();
    let texts = HOSTILE.iter().flat_map(|text| disguised(&text.replace("{w}", &written)));
    let texts: BTreeSet<String> = texts.collect();
    assert!(texts.len() >= 500, "{}", texts.len());
    for text in &texts {
        let mut call = ask(text, &source);
        call.limits.millis = 2_000;
        let result = databases.query(&call, &Stop::never());
        // A word such as COMMIT in brackets is the name of a column, which the database does not find.
        let is_refused = matches!(result, Err(DataError::Refused(_) | DataError::Query(_)));
        assert!(is_refused, "{text}: {result:?}");
    }
    assert_eq!(server.sql(state), before);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no file was written");
    let result =
        databases.query(&ask("SELECT count(*) FROM orders", &source), &Stop::never()).unwrap();
    assert_eq!(result.rows, [[json!(3000)]]);
}

#[test]
fn the_connection_itself_only_reads() {
    // The check of texts is one wall. This is the next one: what the database refuses by itself.
    let server = Postgres::with_orders();
    server.sql("CREATE FUNCTION count_and_delete() RETURNS bigint LANGUAGE sql AS 'DELETE FROM public.orders; SELECT 1::bigint'");
    server.sql("CREATE VIEW trap AS SELECT count_and_delete() AS n");
    server.sql("GRANT SELECT ON trap TO writer");
    let source = source(&server, "public.trap", "writer");
    let error =
        databases().query(&ask("SELECT n FROM orders", &source), &Stop::never()).unwrap_err();
    assert!(error.to_string().contains("read-only transaction"), "{error}");
    assert_eq!(server.sql("SELECT count(*) FROM orders"), "3000");
}

#[test]
fn a_slow_question_is_stopped_by_the_database() {
    let server = Postgres::with_orders();
    let source = source(&server, "public.orders", "reader");
    let mut call = ask(
        "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b, orders",
        &source,
    );
    call.limits.millis = 500;
    let began = Instant::now();
    let stop = Stop::after(500);
    let end = stop.until_dropped();
    let error = databases().query(&call, &stop).unwrap_err();
    drop(end);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert!(matches!(error, DataError::TooLong(500)), "{error:?}");
    let busy = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%generate_series(1, 100000)%' AND pid <> pg_backend_pid()";
    assert_eq!(server.sql(busy), "0");
}

#[test]
fn a_server_that_stops_is_reported_and_asked_again_when_it_is_back() {
    let mut server = Postgres::with_orders();
    let (databases, source) = (databases(), source(&server, "public.orders", "reader"));
    let call = ask("SELECT count(*) FROM orders", &source);
    assert!(databases.query(&call, &Stop::never()).is_ok());
    server.stop();
    let other = ask("SELECT count(*) AS n FROM orders", &source);
    let error = databases.query(&other, &Stop::never()).unwrap_err();
    assert!(matches!(error, DataError::Connection(_)), "{error:?}");
    server.start_again();
    assert_eq!(databases.query(&other, &Stop::never()).unwrap().rows, [[json!(3000)]]);
}

#[test]
fn a_server_that_stops_in_the_middle_of_a_question_is_reported() {
    let mut server = Postgres::with_orders();
    let source = source(&server, "public.orders", "reader");
    let slow =
        "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b, orders";
    let call = ask(slow, &source);
    let asked = std::thread::spawn(move || databases().query(&call, &Stop::never()));
    let latest = Instant::now() + Duration::from_secs(30);
    while !server.log().contains("generate_series(1, 100000) a") {
        assert!(Instant::now() < latest, "the question runs");
        std::thread::sleep(Duration::from_millis(20));
    }
    server.stop();
    let error = asked.join().unwrap().unwrap_err();
    assert!(matches!(error, DataError::Gone(_)), "{error:?}");
}

#[test]
fn a_changed_table_is_told_as_such() {
    let server = Postgres::with_orders();
    let (databases, source) = (databases(), source(&server, "public.orders", "reader"));
    let stop = Stop::never();
    let call = AskDescribe { source: source.clone(), samples: 3 };
    let described = databases.describe(&call, 10_000, &stop).unwrap();
    server.sql("ALTER TABLE orders RENAME COLUMN net TO gross");
    let rows = AskRows {
        source: AskedSource { columns: described.columns, ..source.clone() },
        columns: vec!["net".to_owned()],
        order: None,
        offset: 0,
        limits: AskLimits::default(),
    };
    let error = databases.rows(&rows, &stop).unwrap_err();
    assert!(
        matches!(&error, DataError::TableChanged(cause) if cause.contains("\"net\"")),
        "{error:?}"
    );
    server.sql("REVOKE SELECT ON orders FROM reader");
    let error = databases.describe(&call, 10_000, &stop).unwrap_err();
    assert!(matches!(error, DataError::TableChanged(_)), "{error:?}");
    server.sql("DROP TABLE orders");
    let error = databases.describe(&call, 10_000, &stop).unwrap_err();
    assert!(matches!(error, DataError::TableChanged(_)), "{error:?}");
}

#[test]
fn the_certificate_is_verified_for_the_host_of_the_address() {
    let server = Postgres::with_orders();
    let root = server.root_certificate().display().to_string();
    let source = |host: &str, parameters: &str| {
        let mut source = source(&server, "public.orders", "reader");
        if let AskedPlace::Table { address, .. } = &mut source.place {
            *address = format!("postgresql://reader@{host}/postgres?{parameters}");
        }
        source
    };
    let with_root = format!("sslmode=verify-full&sslrootcert={root}");
    let call = ask("SELECT count(*) FROM orders", &source("localhost", &with_root));
    assert_eq!(databases().query(&call, &Stop::never()).unwrap().rows, [[json!(3000)]]);
    for (host, parameters, cause) in [
        ("db.example.com", with_root.as_str(), "does not match host name"),
        // The authority is not one of the system, and a name that is not this computer is verified.
        ("db.example.com", "", "certificate verify failed"),
    ] {
        let call = ask("SELECT count(*) FROM orders", &source(host, parameters));
        let error = databases().query(&call, &Stop::never()).unwrap_err();
        assert!(matches!(error, DataError::Connection(_)), "{host}: {error:?}");
        assert!(error.to_string().contains(cause), "{host}: {error}");
    }
}
