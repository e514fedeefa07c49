//! The history of the schema. A released file under `migrations/` never changes; each new version
//! is a new file. The version is stored in `user_version`, so that a newer database is recognised
//! before its content is read.

use rusqlite::Connection;
use rusqlite_migration::{M, Migrations};

const STEPS: &[M<'_>] = &[
    M::up(include_str!("../migrations/0001_first.sql")).foreign_key_check(),
    M::up(include_str!("../migrations/0002_conversations.sql")).foreign_key_check(),
    M::up(include_str!("../migrations/0003_books.sql")).foreign_key_check(),
    M::up(include_str!("../migrations/0004_spent.sql")).foreign_key_check(),
    M::up(include_str!("../migrations/0005_values.sql")).foreign_key_check(),
    M::up(include_str!("../migrations/0006_spending.sql")).foreign_key_check(),
    M::up(include_str!("../migrations/0007_ledger.sql")).foreign_key_check(),
    M::up(include_str!("../migrations/0008_shared_approvals.sql")).foreign_key_check(),
    M::up(include_str!("../migrations/0009_results.sql")).foreign_key_check(),
    M::up(include_str!("../migrations/0010_memories.sql")).foreign_key_check(),
    M::up(include_str!("../migrations/0011_pinned_memories.sql")).foreign_key_check(),
    M::up(include_str!("../migrations/0012_message_words.sql")).foreign_key_check(),
    M::up(include_str!("../migrations/0013_vectors.sql")).foreign_key_check(),
    M::up(include_str!("../migrations/0014_recordings.sql")).foreign_key_check(),
    M::up(include_str!("../migrations/0015_recording_memories.sql")).foreign_key_check(),
    M::up(include_str!("../migrations/0016_destinations.sql")).foreign_key_check(),
    M::up(include_str!("../migrations/0017_marked_sessions.sql")).foreign_key_check(),
    M::up(include_str!("../migrations/0018_used_allowances.sql")).foreign_key_check(),
    M::up(include_str!("../migrations/0019_versions.sql")).foreign_key_check(),
];
const MIGRATIONS: Migrations<'_> = Migrations::from_slice(STEPS);

/// Returns the version that this program writes.
pub(crate) fn latest() -> i64 {
    i64::try_from(STEPS.len()).unwrap_or(i64::MAX)
}

pub(crate) fn version(conn: &Connection) -> rusqlite::Result<i64> {
    conn.query_row("PRAGMA user_version", [], |row| row.get(0))
}

pub(crate) fn to_latest(conn: &mut Connection) -> Result<(), rusqlite_migration::Error> {
    MIGRATIONS.to_latest(conn)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_migration_applies_to_an_empty_database() {
        super::MIGRATIONS.validate().expect("the steps are valid SQL in order");
    }
}
