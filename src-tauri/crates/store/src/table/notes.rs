//! The table `note`: small values that the app itself stores by name.

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::error::DbError;

pub(crate) fn get(conn: &Connection, name: &str) -> Result<Option<String>, DbError> {
    Ok(conn
        .prepare_cached("SELECT value FROM note WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()?)
}

pub(crate) fn set(conn: &Connection, name: &str, value: Option<&str>) -> Result<(), DbError> {
    match value {
        Some(value) => conn
            .prepare_cached("INSERT INTO note (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value")?
            .execute(params![name, value])?,
        None => conn.prepare_cached("DELETE FROM note WHERE name = ?1")?.execute([name])?,
    };
    Ok(())
}
