//! The table `item`: the steps of a session, one row each, paged by number so that the length of a
//! session does not matter. A large tool result is stored once per session, in the table `result`,
//! even if several items show it.

use contract::{Item, ItemBody, ResultView, SessionId, ToolId, ToolOutcome, TurnId};
use rusqlite::{Connection, params};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{
    item_rows::{COLUMNS, Columns},
    sessions,
};
use crate::error::DbError;
use crate::text;

/// The size in bytes from which results are stored in a separate row.
const LARGE_RESULT: usize = 1_024;

/// Numbers and stores items. Rendered blocks are not stored, because they are rendered again when
/// items are shown.
pub(crate) fn append(conn: &Connection, mut items: Vec<Item>) -> Result<Vec<Item>, DbError> {
    for item in &mut items {
        let seq = sessions::reserve_item_numbers(conn, &item.session, 1, item.created_at)?;
        item.seq =
            u64::try_from(seq).map_err(|_| DbError::Refused("item numbers are used up".into()))?;
        insert(conn, item, seq)?;
    }
    Ok(items)
}

/// Returns the newest `limit` shown items before a number, in ascending order.
pub(crate) fn list_before(
    conn: &Connection,
    session: &SessionId,
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<Item>, DbError> {
    let before = before.and_then(|n| i64::try_from(n).ok()).unwrap_or(i64::MAX);
    let sql = format!(
        "SELECT {COLUMNS} FROM item WHERE session = ?1 AND seq < ?2 AND hidden = 0 ORDER BY seq DESC LIMIT ?3"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement
        .query_and_then(params![session.as_str(), before, limit], |row| Columns::of(row)?.item())?;
    let mut items = rows.collect::<Result<Vec<_>, DbError>>()?;
    // The query returns the newest items first, but the result is ascending.
    items.reverse();
    Ok(items)
}

/// The maximum number of items that are searched for the newest shown result.
const MAX_SCANNED: i64 = 1_000;

pub(crate) fn newest_shown(
    conn: &Connection,
    session: &SessionId,
    (tool, view): (&ToolId, &ResultView),
    before: u64,
) -> Result<Option<Item>, DbError> {
    let before = i64::try_from(before).unwrap_or(i64::MAX);
    // Earlier versions stored the name of a view in the same form.
    let mark = match view.named() {
        Some(name) => format!("\"view\":{}", serde_json::to_string(name)?),
        None => format!("\"tool\":{}", serde_json::to_string(tool)?),
    };
    let first = before.saturating_sub(MAX_SCANNED);
    // The query selects by text first, so that most rows need not be parsed.
    let sql = format!(
        "SELECT {COLUMNS} FROM item WHERE session = ?1 AND seq < ?2 AND seq >= ?3 AND hidden = 0 AND instr(body, ?4) > 0 ORDER BY seq DESC"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(params![session.as_str(), before, first, mark])?;
    while let Some(row) = rows.next()? {
        let item = Columns::of(row)?.item()?;
        if matches!(&item.body, ItemBody::ToolResult { tool: of, view: shown, outcome: ToolOutcome::Ok, .. } if view.shares_place(tool, shown, of))
        {
            return Ok(Some(item));
        }
    }
    Ok(None)
}

pub(crate) fn of_turn(conn: &Connection, turn: &TurnId) -> Result<Vec<Item>, DbError> {
    let mut statement =
        conn.prepare_cached(&format!("SELECT {COLUMNS} FROM item WHERE turn = ?1 ORDER BY seq"))?;
    statement.query_and_then([turn.as_str()], |row| Columns::of(row)?.item())?.collect()
}

/// Returns the number of a turn's first item.
pub(super) fn first_of(conn: &Connection, turn: &TurnId) -> Result<Option<u64>, DbError> {
    let first: Option<i64> = conn
        .prepare_cached("SELECT min(seq) FROM item WHERE turn = ?1")?
        .query_row([turn.as_str()], |row| row.get(0))?;
    Ok(first.and_then(|first| u64::try_from(first).ok()))
}

/// Returns the newest `limit` items of these turns before a number, in ascending order, whether or
/// not they are shown.
pub(super) fn list_of(
    conn: &Connection,
    session: &SessionId,
    turns: &[&str],
    before: u64,
    limit: u32,
) -> Result<Vec<Item>, DbError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM item WHERE session = ?1 AND seq < ?2 AND turn IN (SELECT value FROM json_each(?4)) ORDER BY seq DESC LIMIT ?3"
    );
    let before = i64::try_from(before).unwrap_or(i64::MAX);
    let values = params![session.as_str(), before, limit, serde_json::to_string(turns)?];
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_and_then(values, |row| Columns::of(row)?.item())?;
    let mut items = rows.collect::<Result<Vec<_>, DbError>>()?;
    items.reverse();
    Ok(items)
}

/// Stores items with their existing numbers.
pub(crate) fn insert_numbered(conn: &Connection, items: &[Item]) -> Result<(), DbError> {
    for item in items {
        let seq = i64::try_from(item.seq)
            .map_err(|_| DbError::Refused("item numbers are used up".into()))?;
        insert(conn, item, seq)?;
    }
    Ok(())
}

/// Deletes all but the newest `keep` items in each session that has a session value called `name`.
/// Few sessions have more items, so few rows are read.
pub(crate) fn trim(conn: &Connection, name: &str, keep: u32) -> Result<(), DbError> {
    let mut long = conn.prepare_cached(
        "SELECT s.id, s.next_seq FROM session s JOIN session_value v ON v.session = s.id AND v.name = ?2
         WHERE s.next_seq > ?1 + 1",
    )?;
    let found = long
        .query_map(params![keep, name], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
        })?
        .collect::<Result<Vec<_>, _>>()?;
    for (session, next) in found {
        conn.prepare_cached("DELETE FROM item WHERE session = ?1 AND seq < ?2")?
            .execute(params![session, next - i64::from(keep)])?;
    }
    Ok(())
}

/// Deletes the items of a turn, because they are not kept.
pub(crate) fn erase(conn: &Connection, turn: &TurnId) -> Result<(), DbError> {
    conn.prepare_cached("DELETE FROM item WHERE turn = ?1")?.execute([turn.as_str()])?;
    Ok(())
}

fn insert(conn: &Connection, item: &Item, seq: i64) -> Result<(), DbError> {
    let (body, result) = split_body(&item.body)?;
    let hash = result.map(|data| insert_result(conn, &item.session, &data)).transpose()?;
    conn.prepare_cached(
        "INSERT INTO item (id, session, turn, seq, created_at, body, result, hidden)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, coalesce((SELECT hidden FROM turn WHERE id = ?3), 0))",
    )?
    .execute(params![
        item.id.as_str(),
        item.session.as_str(),
        item.turn.as_str(),
        seq,
        text::instant(item.created_at),
        body,
        hash
    ])?;
    Ok(())
}

/// Stores a result unless it is already stored for the session. Returns the result's hash.
fn insert_result(conn: &Connection, session: &SessionId, data: &str) -> Result<[u8; 32], DbError> {
    // The same result is often read again in a session; the hash as key stores the result only
    // once.
    let hash: [u8; 32] = Sha256::digest(data.as_bytes()).into();
    conn.prepare_cached("INSERT OR IGNORE INTO result (session, hash, data) VALUES (?1, ?2, ?3)")?
        .execute(params![session.as_str(), hash, data])?;
    Ok(hash)
}

/// Returns the text of a body, and the text of its result if the result is large.
fn split_body(body: &ItemBody) -> Result<(String, Option<String>), DbError> {
    match body {
        ItemBody::AssistantText { blocks, .. } if !blocks.is_empty() => {
            let mut bare = body.clone();
            if let ItemBody::AssistantText { blocks, .. } = &mut bare {
                blocks.clear();
            }
            Ok((serde_json::to_string(&bare)?, None))
        }
        ItemBody::ToolResult {
            call,
            tool,
            outcome,
            summary,
            data,
            error,
            local_only,
            view,
            untrusted,
            duration_ms,
            ..
        } => {
            let result = serde_json::to_string(data)?;
            if result.len() < LARGE_RESULT {
                return Ok((serde_json::to_string(body)?, None));
            }
            let bare = ItemBody::ToolResult {
                call: call.clone(),
                tool: tool.clone(),
                outcome: *outcome,
                summary: summary.clone(),
                data: Value::Null,
                error: error.clone(),
                local_only: *local_only,
                view: view.clone(),
                parsed: None,
                untrusted: *untrusted,
                duration_ms: *duration_ms,
            };
            Ok((serde_json::to_string(&bare)?, Some(result)))
        }
        _ => Ok((serde_json::to_string(body)?, None)),
    }
}
