//! Table `item`: the steps of a session, one row each, paged by number so that the length of a
//! session does not matter.

use contract::{Item, ItemBody, ItemId, NoticeLevel, ResultView, SessionId, ToolOutcome, TurnId};
use rusqlite::{Connection, Row, params};

use super::sessions;
use crate::error::DbError;
use crate::text;

const COLUMNS: &str = "id, session, turn, seq, created_at, body";

/// Numbers and stores items. Rendered blocks are not stored; they are rendered again when items are
/// shown.
pub(crate) fn append(conn: &Connection, mut items: Vec<Item>) -> Result<Vec<Item>, DbError> {
    let mut insert = conn.prepare_cached("INSERT INTO item (id, session, turn, seq, created_at, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
    for item in &mut items {
        let seq = sessions::reserve_item_numbers(conn, &item.session, 1, item.created_at)?;
        item.seq =
            u64::try_from(seq).map_err(|_| DbError::Refused("item numbers are used up".into()))?;
        insert.execute(params![
            item.id.as_str(),
            item.session.as_str(),
            item.turn.as_str(),
            seq,
            text::instant(item.created_at),
            body_text(&item.body)?
        ])?;
    }
    Ok(items)
}

/// Returns the newest `limit` items before a number, ascending.
pub(crate) fn list_before(
    conn: &Connection,
    session: &SessionId,
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<Item>, DbError> {
    let before = before.and_then(|n| i64::try_from(n).ok()).unwrap_or(i64::MAX);
    let sql = format!(
        "SELECT {COLUMNS} FROM item WHERE session = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT ?3"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement
        .query_and_then(params![session.as_str(), before, limit], |row| Columns::of(row)?.item())?;
    let mut items = rows.collect::<Result<Vec<_>, DbError>>()?;
    items.reverse();
    Ok(items)
}

/// The most items that are searched for one.
const MAX_SCANNED: i64 = 1_000;

pub(crate) fn newest_shown(
    conn: &Connection,
    session: &SessionId,
    view: ResultView,
    before: u64,
) -> Result<Option<Item>, DbError> {
    let before = i64::try_from(before).unwrap_or(i64::MAX);
    let mark = format!("\"view\":\"{}\"", text::enum_to_text(&view)?);
    let first = before.saturating_sub(MAX_SCANNED);
    // Most rows need not be parsed.
    let sql = format!(
        "SELECT {COLUMNS} FROM item WHERE session = ?1 AND seq < ?2 AND seq >= ?3 AND instr(body, ?4) > 0 ORDER BY seq DESC"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(params![session.as_str(), before, first, mark])?;
    while let Some(row) = rows.next()? {
        let item = Columns::of(row)?.item()?;
        if matches!(&item.body, ItemBody::ToolResult { view: shown, outcome: ToolOutcome::Ok, .. } if *shown == view)
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

/// Stores items under the numbers that they have.
pub(crate) fn insert_numbered(conn: &Connection, items: &[Item]) -> Result<(), DbError> {
    let mut insert = conn.prepare_cached("INSERT INTO item (id, session, turn, seq, created_at, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
    for item in items {
        let seq = i64::try_from(item.seq)
            .map_err(|_| DbError::Refused("item numbers are used up".into()))?;
        insert.execute(params![
            item.id.as_str(),
            item.session.as_str(),
            item.turn.as_str(),
            seq,
            text::instant(item.created_at),
            body_text(&item.body)?
        ])?;
    }
    Ok(())
}

/// In each session that has a session value called `name`, deletes all but the newest `keep` items.
/// Few sessions have more, so few rows are read.
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

pub(crate) fn erase(conn: &Connection, turn: &TurnId) -> Result<(), DbError> {
    conn.prepare_cached("DELETE FROM item WHERE turn = ?1")?.execute([turn.as_str()])?;
    Ok(())
}

fn body_text(body: &ItemBody) -> Result<String, DbError> {
    if let ItemBody::AssistantText { blocks, .. } = body
        && !blocks.is_empty()
    {
        let mut bare = body.clone();
        if let ItemBody::AssistantText { blocks, .. } = &mut bare {
            blocks.clear();
        }
        return Ok(serde_json::to_string(&bare)?);
    }
    Ok(serde_json::to_string(body)?)
}

/// A row as it is stored.
pub(crate) struct Columns<'a> {
    pub(crate) id: &'a str,
    session: &'a str,
    turn: &'a str,
    seq: i64,
    created_at: &'a str,
    pub(crate) body: &'a str,
}

impl<'a> Columns<'a> {
    pub(crate) fn of(row: &'a Row<'_>) -> Result<Self, DbError> {
        let text = |at| Ok::<_, DbError>(row.get_ref(at)?.as_str().map_err(rusqlite::Error::from)?);
        Ok(Self {
            id: text(0)?,
            session: text(1)?,
            turn: text(2)?,
            seq: row.get(3)?,
            created_at: text(4)?,
            body: text(5)?,
        })
    }

    /// Parses a row. A body that cannot be parsed becomes a notice, because one bad row must not
    /// make a session unreadable.
    pub(crate) fn item(&self) -> Result<Item, DbError> {
        let body = serde_json::from_str(self.body).unwrap_or_else(|error| {
            tracing::warn!(item = self.id, %error, "an item cannot be read");
            ItemBody::Notice {
                level: NoticeLevel::Warning,
                code: "item_unreadable".into(),
                text: "This entry cannot be read.".into(),
            }
        });
        Ok(Item {
            id: ItemId(self.id.to_owned()),
            session: SessionId(self.session.to_owned()),
            turn: TurnId(self.turn.to_owned()),
            seq: u64::try_from(self.seq).unwrap_or_default(),
            created_at: text::read_instant(self.created_at)?,
            body,
        })
    }

    /// Whether an item has the same place as this row, whatever its body is.
    pub(crate) fn has_same_identity(&self, item: &Item) -> bool {
        item.id.as_str() == self.id
            && item.session.as_str() == self.session
            && item.turn.as_str() == self.turn
            && u64::try_from(self.seq).is_ok_and(|seq| seq == item.seq)
            && text::read_instant(self.created_at).is_ok_and(|at| at == item.created_at)
    }
}
