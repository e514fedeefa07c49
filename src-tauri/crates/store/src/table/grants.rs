//! The table `grant`: remembered permissions. A revoked permission stays in the list, so that the
//! user can see it.

use chrono::{DateTime, Utc};
use contract::{Grant, GrantId};
use rusqlite::{Connection, Row, params};

use crate::error::DbError;
use crate::text;

pub(crate) fn insert(conn: &Connection, grant: &Grant) -> Result<(), DbError> {
    conn.prepare_cached(r#"INSERT INTO "grant" (id, session, created_at, last_used_at, revoked_at, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"#)?.execute(
        params![
            grant.id.as_str(),
            grant.session.as_str(),
            text::instant(grant.created_at),
            grant.last_used_at.map(text::instant),
            grant.revoked_at.map(text::instant),
            serde_json::to_string(grant)?,
        ],
    )?;
    Ok(())
}

/// Lists all grants, newest first.
pub(crate) fn list(conn: &Connection) -> Result<Vec<Grant>, DbError> {
    let mut statement = conn.prepare_cached(
        r#"SELECT body, last_used_at, revoked_at FROM "grant" ORDER BY created_at DESC, id"#,
    )?;
    let rows = statement.query_map([], columns)?;
    rows.map(|row| grant(row?)).collect()
}

pub(crate) fn record_use(
    conn: &Connection,
    id: &GrantId,
    at: DateTime<Utc>,
) -> Result<(), DbError> {
    touch(conn, r#"UPDATE "grant" SET last_used_at = ?2 WHERE id = ?1"#, id, at)
}

/// Revokes a grant. A grant that is already revoked keeps the time of the first revocation.
pub(crate) fn revoke(conn: &Connection, id: &GrantId, at: DateTime<Utc>) -> Result<(), DbError> {
    touch(conn, r#"UPDATE "grant" SET revoked_at = coalesce(revoked_at, ?2) WHERE id = ?1"#, id, at)
}

fn touch(conn: &Connection, sql: &str, id: &GrantId, at: DateTime<Utc>) -> Result<(), DbError> {
    match conn.prepare_cached(sql)?.execute(params![id.as_str(), text::instant(at)])? {
        0 => Err(DbError::Missing(format!("permission {id}"))),
        _ => Ok(()),
    }
}

type Columns = (String, Option<String>, Option<String>);

fn columns(row: &Row<'_>) -> rusqlite::Result<Columns> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
}

fn grant((body, last_used_at, revoked_at): Columns) -> Result<Grant, DbError> {
    let made: Grant = serde_json::from_str(&body)?;
    Ok(Grant {
        last_used_at: text::read_optional_instant(last_used_at.as_deref())?,
        revoked_at: text::read_optional_instant(revoked_at.as_deref())?,
        ..made
    })
}
