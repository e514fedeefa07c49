//! The released schema: the snapshot is current, every released file still opens with all its rows,
//! and newer files are refused. `UPDATE_GENERATED=1` writes the snapshot; files of released
//! versions never change.

use std::path::PathBuf;

use engine::ports::{
    Approvals as _, Grants as _, Items as _, LongTermMemories as _, MemoryReach, Recordings as _,
    SessionFilter, Sessions as _, Turns as _, VersionChange, Versions as _,
};
use rusqlite::Connection;
use serde_json::json;
use store::{OpenError, SqliteStore};

use crate::versions::{question, row};
use crate::world::{World, instant, with_session};

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn dump(conn: &Connection) -> String {
    let version: i64 =
        conn.query_row("PRAGMA user_version", [], |row| row.get(0)).expect("a version");
    let mut statement = conn
        .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type DESC, name")
        .expect("prepared");
    let parts = statement
        .query_map([], |row| row.get::<_, String>(0))
        .expect("read")
        .collect::<Result<Vec<_>, _>>()
        .expect("text");
    format!("-- user_version {version}\n{};\n", parts.join(";\n"))
}

#[test]
fn the_database_schema_matches_the_recorded_schema() {
    let world = World::new();
    drop(world.store());
    let now = dump(&Connection::open(world.db()).expect("opened"));
    let golden = data("schema.sql");
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::write(&golden, &now).expect("written");
    }
    let recorded = std::fs::read_to_string(&golden).expect("the snapshot is there");
    assert_eq!(
        now, recorded,
        "the schema changed: add a migration, then run with UPDATE_GENERATED=1"
    );
}

#[tokio::test]
async fn a_database_of_version_1_opens_with_all_its_data() {
    let world = World::new();
    let script = std::fs::read_to_string(data("v1.sql")).expect("the released file is there");
    Connection::open(world.db()).expect("created").execute_batch(&script).expect("filled");
    let store = world.store();
    let session = store.session(&"desktop:one".into()).await.expect("read").expect("there");
    assert_eq!(session.title, "Pacing för konto 17");
    let items = store.items_before(&session.id, None, 10).await.expect("read");
    assert_eq!(items.iter().map(|i| i.seq).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(store.approvals(true).await.expect("read").len(), 1);
    assert_eq!(store.grants().await.expect("read").len(), 1);
    assert_eq!(store.turns_running().await.expect("read").len(), 1);
    assert_eq!(store.session_values(&session.id).await.expect("read")["customer"], "c1");
    assert_eq!(store.note("welcome").await, Ok(Some("seen".into())));
}

/// Undoes the migration that added the versions of messages.
const WITHOUT_VERSIONS: &str = "DROP INDEX item_shown; DROP INDEX item_hidden; DROP INDEX item_summary; ALTER TABLE item DROP COLUMN hidden; DROP INDEX turn_deleted; DROP INDEX turn_of_session; CREATE INDEX turn_of_session ON turn (session); ALTER TABLE turn DROP COLUMN parent; ALTER TABLE turn DROP COLUMN chosen; ALTER TABLE turn DROP COLUMN hidden; ALTER TABLE turn DROP COLUMN deleted_at; ALTER TABLE memory DROP COLUMN hidden; ALTER TABLE session DROP COLUMN tail; ALTER TABLE session DROP COLUMN deleted_turns;";

/// Undoes the migration that added the marks of sessions. Needs `WITHOUT_VERSIONS` before it.
const WITHOUT_MARKS: &str = "DROP INDEX session_deleted; ALTER TABLE session DROP COLUMN pinned; ALTER TABLE session DROP COLUMN archived; ALTER TABLE session DROP COLUMN titled; ALTER TABLE session DROP COLUMN deleted_at;";

/// Undoes the migrations that created the tables of memories, words of messages, recordings and
/// allowed destinations.
const WITHOUT_MEMORIES: &str = "DROP TABLE allowance; DROP TABLE sent; DROP TABLE recording_memory; DROP TABLE recording; DROP TRIGGER message_added; DROP TRIGGER message_changed; DROP TRIGGER message_deleted; DROP TABLE message_words; DROP VIEW message_text; DROP TABLE message; DROP TABLE memory_words; DROP TABLE memory_index; DROP TABLE memory_vector; DROP TABLE memory_vector_state; DROP TABLE memory_progress; DROP TABLE memory_source; DROP TABLE memory;";

/// Undoes the migration that created the table of results.
const WITHOUT_RESULTS: &str = "DROP TRIGGER result_unused; DROP INDEX item_by_result; ALTER TABLE item DROP COLUMN result; DROP TABLE result;";

#[tokio::test]
async fn a_database_without_memory_tables_is_backed_up_and_migrated() {
    let world = World::new();
    let store = world.store();
    let session = with_session(&store, "s").await;
    drop(store);
    Connection::open(world.db())
        .expect("opened")
        .execute_batch(&format!(
            "{WITHOUT_VERSIONS} {WITHOUT_MARKS} {WITHOUT_MEMORIES} PRAGMA user_version = 9;"
        ))
        .expect("as version 9 left it");
    let before = world.backups().len();
    let store = world.store();
    assert_eq!(world.backups().len(), before + 1, "a copy is made before the step");
    assert_eq!(store.has_entries(&MemoryReach::Everything).await, Ok(false));
    assert!(store.session(&session).await.expect("read").is_some());
}

#[tokio::test]
async fn a_migration_deletes_recordings_that_do_not_list_their_memories() {
    let world = World::new();
    let store = world.store();
    with_session(&store, "s").await;
    drop(store);
    let older = "DROP TABLE allowance; DROP TABLE sent; DROP TABLE recording_memory; PRAGMA user_version = 14;
        INSERT INTO recording (turn, session, body) VALUES ('t', (SELECT id FROM session), '{}');";
    Connection::open(world.db())
        .expect("opened")
        .execute_batch(&format!("{WITHOUT_VERSIONS} {WITHOUT_MARKS} {older}"))
        .expect("as version 14 left it");
    let store = world.store();
    assert_eq!(store.recording(&"t".into()).await, Ok(None));
    assert_eq!(store.sessions(&SessionFilter::default(), 0, 9).await.expect("listed").len(), 1);
}

#[tokio::test]
async fn a_migration_keeps_earlier_titles_and_marks_no_session() {
    let world = World::new();
    let store = world.store();
    let session = with_session(&store, "s").await;
    drop(store);
    Connection::open(world.db())
        .expect("opened")
        .execute_batch(&format!(
            "ALTER TABLE allowance DROP COLUMN last_used_at; {WITHOUT_VERSIONS} {WITHOUT_MARKS} PRAGMA user_version = 16;"
        ))
        .expect("as version 16 left it");
    let store = world.store();
    let listed = store.sessions(&SessionFilter::default(), 0, 9).await.expect("listed");
    assert_eq!(listed.len(), 1);
    assert_eq!((listed[0].pinned, listed[0].archived), (false, false));
    assert_eq!(store.session_open_title(&session).await, Ok(None), "a person may have given it");
    assert_eq!(store.sessions_hidden().await, Ok(vec![]));
}

#[tokio::test]
async fn a_migration_makes_a_line_of_the_turns_of_each_session() {
    let world = World::new();
    let store = world.store();
    let session = with_session(&store, "s").await;
    let visitor = with_session(&store, "app:s").await;
    for (of, name) in [(&session, "a"), (&visitor, "v"), (&session, "b")] {
        store.turn_save(&row(of, name), vec![question(of, name)], None).await.expect("saved");
    }
    // A turn without items, and messages without a turn, as an earlier version left them after a
    // crash.
    store.turn_save(&row(&session, "empty"), Vec::new(), None).await.expect("saved");
    let lost = vec![question(&session, "lost"), question(&visitor, "alone")];
    store.items_append(lost).await.expect("appended");
    store.turn_save(&row(&session, "c"), vec![question(&session, "c")], None).await.expect("saved");
    drop(store);
    Connection::open(world.db())
        .expect("opened")
        .execute_batch(&format!("{WITHOUT_VERSIONS} PRAGMA user_version = 18;"))
        .expect("as version 18 left it");
    let store = world.store();
    let shown = async || {
        let items = store.items_before(&session, None, 9).await.expect("read");
        items.into_iter().map(|item| item.turn.0).collect::<Vec<_>>()
    };
    assert_eq!(shown().await, ["a", "b", "lost", "c"]);
    for (turn, before) in [("lost", vec!["a"]), ("c", vec!["a", "b", "lost"]), ("b", vec!["a"])] {
        let seen = store.items_seen_by(&session, &turn.into(), 9).await.expect("read");
        let turns: Vec<_> = seen.iter().map(|item| item.turn.as_str()).collect();
        assert!(turns.starts_with(&before), "{turn}: {turns:?}");
    }
    let replaced = store.turn_replace(&row(&session, "x"), Vec::new(), &"b".into()).await;
    replaced.expect("written").expect("replaced");
    assert_eq!(shown().await, ["a"], "all turns after it are hidden, also those without a row");
    let show = VersionChange::Show("b".into());
    let at = instant("2026-11-21T11:00:00Z");
    store.version_change(&session, &show, at).await.expect("written").expect("shown");
    assert_eq!(shown().await, ["a", "b", "lost", "c"]);
    let rows = Connection::open(world.db()).expect("opened");
    let alone: i64 = rows
        .query_row("SELECT count(*) FROM turn WHERE id = 'alone'", [], |row| row.get(0))
        .expect("counted");
    assert_eq!(alone, 0, "messages of the chat API have no versions");
}

#[tokio::test]
async fn a_migration_splits_session_values_by_name() {
    let world = World::new();
    drop(world.store());
    let older = r#"PRAGMA user_version = 4; ALTER TABLE approval DROP COLUMN shared; DROP TABLE session_value;
        CREATE TABLE session_value (session TEXT NOT NULL PRIMARY KEY, body TEXT NOT NULL) STRICT;
        INSERT INTO session_value VALUES ('app:s', '{"$gateway":{"memory":{"a":[1,null,"å"]}},"context":null,"n":7,"with.point":"x","$server/a/b":{"t":true},"f":1.50}'),
        ('empty', '{}');"#;
    Connection::open(world.db())
        .expect("opened")
        .execute_batch(&format!(
            "{WITHOUT_VERSIONS} {WITHOUT_MARKS} {WITHOUT_MEMORIES} {WITHOUT_RESULTS} {older}"
        ))
        .expect("as version 4 left it");
    let kept = world.store().session_values(&"app:s".into()).await.expect("read");
    let expected = json!({"$gateway": {"memory": {"a": [1, null, "å"]}}, "context": null, "n": 7, "with.point": "x", "$server/a/b": {"t": true}, "f": 1.5});
    assert_eq!(json!(kept), expected);
    assert!(world.store().session_values(&"empty".into()).await.expect("read").is_empty());
}

#[tokio::test]
async fn a_migration_sums_up_earlier_spending() {
    let world = World::new();
    drop(world.store());
    let older = "DROP TRIGGER spending_entered; DROP TRIGGER spending_settled; DROP TABLE spent; DROP TABLE session_value; ALTER TABLE approval DROP COLUMN shared; PRAGMA user_version = 3;
        CREATE TABLE session_value (session TEXT NOT NULL PRIMARY KEY, body TEXT NOT NULL) STRICT;
        INSERT INTO session (id, title, title_folded, created_at, updated_at) VALUES ('s', 'S', 's', '2026-11-21T10:00:00Z', '2026-11-21T10:00:00Z');
        INSERT INTO spending (at, day, session, turn, model, tokens, nano_usd)
        VALUES ('2026-11-21T10:00:00Z', '2026-11-21', 's', 't', 'm', 700, 5), ('2026-11-21T10:00:01Z', '2026-11-21', 's', 'u', 'm', 200, NULL);";
    Connection::open(world.db())
        .expect("opened")
        .execute_batch(&format!(
            "{WITHOUT_VERSIONS} {WITHOUT_MARKS} {WITHOUT_MEMORIES} {WITHOUT_RESULTS} {older}"
        ))
        .expect("as version 3 left it");
    drop(world.store());
    let conn = Connection::open(world.db()).expect("opened");
    let read = |scope: &str| {
        conn.query_row(
            "SELECT name, tokens, nano_usd FROM spent WHERE scope = ?1",
            [scope],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .expect("read")
    };
    assert_eq!(
        (read("day"), read("session")),
        (("2026-11-21".to_owned(), 900, 5), ("s".to_owned(), 900, 5))
    );
    let counted = conn
        .query_row("SELECT calls, unpriced FROM spent WHERE scope = 'day'", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .expect("read");
    assert_eq!(counted, (2, 1));
}

#[test]
fn a_migration_sums_a_long_ledger_quickly_and_keeps_its_newest_entries() {
    let world = World::new();
    drop(world.store());
    std::fs::remove_file(world.db()).expect("begun anew");
    let conn = Connection::open(world.db()).expect("created");
    let migrations = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("migrations");
    for step in [
        "0001_first",
        "0002_conversations",
        "0003_books",
        "0004_spent",
        "0005_values",
        "0006_spending",
    ] {
        conn.execute_batch(
            &std::fs::read_to_string(migrations.join(step).with_extension("sql")).expect("there"),
        )
        .expect(step);
    }
    // 40,000 calls in 10,000 sessions over 400 days. Only ten of the sessions still exist.
    let filled = "PRAGMA user_version = 6; BEGIN;
        WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39999)
        INSERT INTO spending (at, day, session, turn, model, tokens, nano_usd)
        SELECT 'at', date('2026-01-01', '+' || (i / 100) || ' days'), 's' || (i / 4), 't' || i, 'm', 3, CASE i % 2 WHEN 0 THEN 5 END FROM n;
        WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
        INSERT INTO session (id, title, title_folded, created_at, updated_at) SELECT 's' || i, 'S', 's', 'at', 'at' FROM n;
        COMMIT;";
    conn.execute_batch(filled).expect("as version 6 left it");
    let began = std::time::Instant::now();
    drop(world.store());
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    let figures = |sql: &str| {
        conn.query_row(sql, [], |row| {
            Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get::<_, i64>(3)?])
        })
        .expect("read")
    };
    let sums = |scope: &str| {
        figures(&format!(
            "SELECT COUNT(*), SUM(tokens), SUM(calls), SUM(unpriced) FROM spent WHERE scope = '{scope}'"
        ))
    };
    assert_eq!((sums("day"), sums("session")), ([400, 120_000, 40_000, 20_000], [10, 120, 0, 0]));
    assert_eq!(
        figures("SELECT COUNT(*), MIN(id), MAX(id), COUNT(DISTINCT day) FROM spending"),
        [20_000, 20_001, 40_000, 200]
    );
}

#[test]
fn a_database_of_a_newer_version_is_refused_and_unchanged() {
    let world = World::new();
    drop(world.store());
    Connection::open(world.db())
        .expect("opened")
        .execute_batch("PRAGMA journal_mode = DELETE; PRAGMA user_version = 99;")
        .expect("changed");
    let before = std::fs::read(world.db()).expect("read");
    let Err(error) = SqliteStore::open(&world.db(), world.clock.clone()) else {
        panic!("a newer file must be refused")
    };
    assert!(matches!(error, OpenError::Newer { found: 99, known: 19, .. }));
    let shown = error.into_agent_error();
    assert_eq!(shown.reason_text(), Some("database_newer"));
    assert!(
        shown.hint_text().is_some_and(|hint| hint.contains("Install the newest version")),
        "the person is told what to do"
    );
    let rows = |path| {
        Connection::open(path)
            .expect("opened")
            .query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0))
            .expect("read")
    };
    assert_eq!(rows(world.db()), 99);
    assert_eq!(std::fs::read(world.db()).expect("read").len(), before.len());
}

#[test]
fn only_the_owner_can_read_the_database_files() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    let store = world.store();
    for name in ["countersign.db", "countersign.db-wal", "countersign.db-shm"] {
        let mode =
            std::fs::metadata(world.folder.path().join(name)).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    store.close();
}

#[test]
fn concurrent_reads_do_not_share_a_global_page_cache_lock() {
    let db = rusqlite::Connection::open_in_memory().expect("opened");
    let mut select = db.prepare("PRAGMA compile_options").expect("prepared");
    let options = select.query_map([], |row| row.get::<_, String>(0)).expect("read");
    let options = options.collect::<Result<Vec<_>, _>>().expect("read");
    assert!(!options.iter().any(|option| option == "ENABLE_MEMORY_MANAGEMENT"), "{options:?}");
    assert!(options.iter().any(|option| option == "DEFAULT_MEMSTATUS=0"), "{options:?}");
}
