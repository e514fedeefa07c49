//! Hostile texts in SQL for `data.query`: files, network, settings, attached databases, extensions,
//! memory, recursion, writes in WITH, comments and Unicode. They ask a source with the name `ads` and
//! the columns `campaign` and `cost`. A trap notices whether one of them reaches the network.

use std::{
    io::ErrorKind,
    net::{TcpListener, TcpStream},
    path::Path,
};

/// Texts that read a place. `{p}` stands for it.
const READS: [&str; 30] = [
    "SELECT * FROM '{p}'",
    "SELECT * FROM \"{p}\"",
    "SELECT * FROM read_csv('{p}')",
    "SELECT * FROM read_csv_auto('{p}', all_varchar = true)",
    "SELECT * FROM read_parquet('{p}')",
    "SELECT * FROM read_parquet(['{p}'])",
    "SELECT * FROM parquet_scan('{p}')",
    "SELECT * FROM read_text('{p}')",
    "SELECT * FROM read_blob('{p}')",
    "SELECT * FROM read_json('{p}')",
    "SELECT * FROM read_json_auto('{p}')",
    "SELECT * FROM read_ndjson_objects('{p}')",
    "SELECT * FROM read_duckdb('{p}')",
    "SELECT * FROM glob('{p}')",
    "SELECT * FROM sniff_csv('{p}')",
    "SELECT * FROM parquet_metadata('{p}')",
    "SELECT * FROM parquet_schema('{p}')",
    "SELECT * FROM parquet_kv_metadata('{p}')",
    "SELECT * FROM query('SELECT * FROM ''{p}''')",
    "SELECT * FROM query_table('{p}')",
    "SELECT (SELECT count(*) FROM '{p}')",
    "SELECT * FROM ads WHERE campaign IN (SELECT column0 FROM '{p}')",
    "WITH x AS (SELECT * FROM '{p}') SELECT * FROM x",
    "WITH \"{p}\" AS (SELECT 1) SELECT * FROM (SELECT * FROM \"{p}\") t",
    "SELECT * FROM ads UNION ALL BY NAME SELECT * FROM '{p}'",
    "FROM '{p}'",
    "FROM ads JOIN '{p}' p ON true",
    "SELECT * FROM ads, LATERAL (SELECT * FROM '{p}') l",
    "SELECT * FROM (PIVOT '{p}' ON column0 IN ('a') USING count(*))",
    "SELECT EXISTS (FROM read_text('{p}'))",
];

/// Statements that are no SELECT. `{p}` stands for a place.
const STATEMENTS: [&str; 44] = [
    "COPY ads TO '{p}'",
    "COPY (SELECT 1) TO '{p}' (FORMAT csv)",
    "COPY ads FROM '{p}'",
    "ATTACH '{p}' AS a",
    "ATTACH '{p}' AS a (READ_ONLY)",
    "DETACH memory",
    "USE memory",
    "INSTALL httpfs",
    "LOAD httpfs",
    "LOAD '{p}'",
    "FORCE INSTALL httpfs",
    "UPDATE EXTENSIONS",
    "SET threads = 1",
    "SET GLOBAL memory_limit = '100GB'",
    "RESET memory_limit",
    "SET lock_configuration = false",
    "SET enable_external_access = true",
    "SET allowed_directories = ['/']",
    "PRAGMA database_list",
    "PRAGMA enable_profiling",
    "PRAGMA profiling_output = '{p}'",
    "PRAGMA import_database('{p}')",
    "EXPORT DATABASE '{p}'",
    "IMPORT DATABASE '{p}'",
    "CREATE TABLE t AS SELECT 1",
    "CREATE TEMP TABLE t AS SELECT * FROM '{p}'",
    "CREATE VIEW v AS SELECT * FROM '{p}'",
    "CREATE OR REPLACE TEMP VIEW ads AS SELECT 1",
    "CREATE MACRO m() AS TABLE SELECT * FROM '{p}'",
    "CREATE SECRET s (TYPE s3)",
    "CREATE SEQUENCE s",
    "CREATE TYPE t AS ENUM ('a')",
    "DROP VIEW ads",
    "ALTER VIEW ads RENAME TO x",
    "INSERT INTO ads SELECT * FROM ads",
    "UPDATE ads SET cost = 0",
    "DELETE FROM ads",
    "TRUNCATE ads",
    "MERGE INTO ads USING ads b ON true WHEN MATCHED THEN DELETE",
    "BEGIN TRANSACTION",
    "CHECKPOINT",
    "VACUUM",
    "PREPARE p AS SELECT 1",
    "CALL pragma_version()",
];

/// Texts that reach the engine's own state or ask for more than one SELECT over the source. `{w}`
/// stands for a file that does not exist.
const OTHERS: [&str; 80] = [
    "",
    ";",
    "--",
    "/* SELECT 1",
    "SELECT 1; SELECT 2",
    "SELECT 1;;SELECT * FROM ads",
    "SELECT 1; DROP VIEW ads",
    "SELECT 1 --\n; COPY ads TO '{w}'",
    "SELECT 1 /* ; */ ; SELECT 2",
    "SELECT $$;$$; SELECT 2",
    "EXPLAIN SELECT 1",
    "EXPLAIN ANALYZE SELECT 1",
    "SHOW TABLES",
    "SHOW ALL TABLES",
    "DESCRIBE ads",
    "SUMMARIZE ads",
    "SELECT * FROM (DESCRIBE ads)",
    "SELECT * FROM (SHOW TABLES)",
    "SELECT * FROM (SUMMARIZE ads)",
    "SELECT current_setting('temp_directory')",
    "SELECT current_setting('allowed_directories')",
    "SELECT getvariable('x')",
    "SELECT getenv('HOME')",
    "SELECT version()",
    "SELECT current_database()",
    "SELECT current_schemas(true)",
    "SELECT current_query()",
    "SELECT txid_current()",
    "SELECT nextval('s')",
    "SELECT currval('s')",
    "SELECT setseed(0.5)",
    "SELECT random()",
    "SELECT uuid()",
    "SELECT gen_random_uuid()",
    "SELECT sleep_ms(100000)",
    "SELECT write_log('x')",
    "SELECT pg_sleep(1000)",
    "SELECT stats(cost) FROM ads",
    "SELECT in_search_path('memory', 'main')",
    "SELECT json_serialize_sql('SELECT 1')",
    "SELECT json_deserialize_sql(json_serialize_sql('SELECT 1'))",
    "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM duckdb_functions()",
    "SELECT * FROM duckdb_tables()",
    "SELECT * FROM duckdb_views()",
    "SELECT * FROM duckdb_databases()",
    "SELECT * FROM duckdb_logs()",
    "SELECT * FROM duckdb_temporary_files()",
    "SELECT * FROM pragma_database_size()",
    "SELECT * FROM pragma_table_info('ads')",
    "SELECT * FROM pragma_storage_info('ads')",
    "SELECT * FROM pragma_user_agent()",
    "SELECT * FROM pg_timezone_names()",
    "SELECT * FROM test_all_types()",
    "SELECT * FROM which_secret('s3://a', 's3')",
    "SELECT * FROM checkpoint()",
    "SELECT * FROM force_checkpoint()",
    "SELECT * FROM enable_logging()",
    "SELECT * FROM enable_profiling()",
    "SELECT * FROM arrow_scan(1, 2, 3)",
    "SELECT * FROM pandas_scan(1)",
    "SELECT * FROM seq_scan('ads')",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM pg_catalog.pg_class",
    "SELECT * FROM pg_class",
    "SELECT * FROM sqlite_master",
    "SELECT * FROM duckdb_settings",
    "SELECT * FROM main.ads",
    "SELECT * FROM memory.main.ads",
    "SELECT * FROM temp.ads",
    "SELECT * FROM system.information_schema.tables",
    "SELECT * FROM ads AT (VERSION => 1)",
    "SELECT * FROM ads TABLESAMPLE 50%",
    "SELECT * FROM ads USING SAMPLE 5",
    "SELECT ?",
    "SELECT $1 FROM ads",
    "SELECT $name FROM ads",
    "SELECT system.main.sum(cost), other.f(cost) FROM ads",
];

/// Texts with writes in WITH, and recursion. `{w}` stands for a file that does not exist.
const DEEP: [&str; 12] = [
    "WITH x AS (INSERT INTO ads VALUES (1) RETURNING *) SELECT * FROM x",
    "WITH x AS (DELETE FROM ads RETURNING *) SELECT * FROM x",
    "WITH x AS (UPDATE ads SET cost = 0 RETURNING *) SELECT * FROM x",
    "WITH x AS (COPY ads TO '{w}') SELECT * FROM x",
    "WITH x AS (CREATE TABLE t (a INT)) SELECT * FROM x",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
    "WITH RECURSIVE r AS (SELECT * FROM ads UNION ALL SELECT * FROM r) SELECT * FROM r",
    "WITH RECURSIVE r(n) USING KEY (n) AS (SELECT 1 UNION SELECT n + 1 FROM r) SELECT * FROM r",
    "SELECT * FROM (WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT * FROM r)",
    "SELECT * INTO t FROM ads",
    "SELECT * FROM ads FOR UPDATE",
    "SELECT 1 INTO OUTFILE '{w}'",
];

/// Ways to write the same text.
fn disguises(text: &str) -> Vec<String> {
    vec![
        text.to_owned(),
        text.to_lowercase(),
        format!("/* SELECT 1 FROM ads */ {text}"),
        format!("-- SELECT 1\n\t {} ;", text.replace(' ', "\n")),
        text.replacen(' ', "\u{a0}", 2),
        format!("SELECT 1 FROM ads; {text}"),
    ]
}

/// A server on this computer that nobody may reach.
pub struct Trap {
    listener: TcpListener,
}

impl Trap {
    /// Starts the server.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let trap = Self { listener };
        // It would notice a connection.
        drop(TcpStream::connect(trap.listener.local_addr().unwrap()).unwrap());
        assert!(trap.listener.accept().is_ok());
        trap.listener.set_nonblocking(true).unwrap();
        trap
    }

    /// Returns addresses that lead to it.
    pub fn places(&self) -> [String; 2] {
        let address = self.listener.local_addr().unwrap();
        [
            format!("http://{address}/x.parquet"),
            format!(
                "s3://bucket/x.parquet?s3_endpoint={address}&s3_use_ssl=false&s3_url_style=path"
            ),
        ]
    }

    /// Fails if there was a connection.
    pub fn assert_untouched(&self) {
        match self.listener.accept() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            reached => panic!("a text reached the network: {reached:?}"),
        }
    }
}

/// Returns texts of which none may run. They try to reach places, which are paths and addresses, and
/// to write a file that does not exist.
pub fn texts(places: &[String], written: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    let written = written.display().to_string();
    for place in places {
        texts.extend(READS.iter().map(|text| text.replace("{p}", place)));
    }
    for (text, place) in STATEMENTS.iter().zip(places.iter().cycle()) {
        texts.extend(disguises(&text.replace("{p}", place)));
    }
    for text in OTHERS.iter().chain(&DEEP).map(|text| text.replace("{w}", &written)) {
        // An empty statement behind a SELECT is none.
        if text.len() > 2 {
            texts.push(format!("SELECT 1 FROM ads; {text}"));
        }
        texts.push(text);
    }
    for place in places {
        texts.push(format!("SELECT * FROM \"\u{202e}{place}\""));
        texts.push(format!("SELECT * FROM ads; SELECT * FROM '{place}'"));
        texts.push(format!(
            "SELECT * FROM ads WHERE (SELECT count(*) FROM read_text('{place}')) > 0"
        ));
    }
    texts.push(format!("SELECT {}", vec!["1"; 50_000].join("+")));
    texts.push("SELECT 1 \0; DROP VIEW ads".to_owned());
    texts
}

/// Texts that are one SELECT over the source, but ask for much.
pub const GREEDY: [&str; 12] = [
    "SELECT list(i) FROM range(1000000000) t(i)",
    "SELECT string_agg(CAST(i AS VARCHAR), '') FROM range(1000000000) t(i)",
    "SELECT count(*) FROM range(1000000000) a, range(1000000000) b",
    "SELECT count(DISTINCT i) FROM range(5000000000) t(i)",
    "SELECT * FROM range(100000000) t(i) ORDER BY hash(i)",
    "SELECT array_agg(t) FROM (SELECT lpad('x', 1000000, 'y') AS t FROM range(100000)) u",
    "SELECT lpad('x', 2000000000, 'y')",
    "SELECT rpad('x', 2000000000, 'y') || rpad('x', 2000000000, 'y')",
    "SELECT printf('%2000000000d', 1)",
    "SELECT range(2000000000)",
    "SELECT generate_series(1, 2000000000)",
    "SELECT regexp_replace(lpad('a', 1000000, 'a'), '(a*)*b', 'x', 'g')",
];
