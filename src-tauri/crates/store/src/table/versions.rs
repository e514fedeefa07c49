//! The versions of messages, in columns of `turn`, `item`, `session` and `memory`: which turns a
//! session shows, and the changes of that. A change costs one read of the session's turns, and one
//! write per turn that it shows or hides.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use contract::{
    Approval, ApprovalStatus, CallId, Effect, Item, ItemBody, SessionId, ToolOutcome, TurnId,
    TurnVersions,
};
use engine::ports::{
    HiddenAction, TurnRow, VersionChange, VersionCounts, VersionOutcome, VersionRefusal,
};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{
    approvals, conversations,
    item_rows::{COLUMNS, Columns},
    items, memory_sources, recordings, summary_items,
    turn_tree::{Marks, Tree},
    turns,
};
use crate::error::DbError;
use crate::text;

/// Returns the result that `change` would have.
pub(crate) fn check(
    conn: &Connection,
    session: &SessionId,
    change: &VersionChange,
) -> Result<Result<VersionOutcome, VersionRefusal>, DbError> {
    Ok(plan(conn, session, change)?.map(|(_, outcome)| outcome))
}

/// Changes which turns are shown. A deletion gets the time `at`.
pub(crate) fn change(
    conn: &Connection,
    session: &SessionId,
    change: &VersionChange,
    at: DateTime<Utc>,
) -> Result<Result<VersionOutcome, VersionRefusal>, DbError> {
    match plan(conn, session, change)? {
        Ok(_) if matches!(change, VersionChange::Replace { .. }) => {
            Err(DbError::Refused("a replacement is stored with its turn".into()))
        }
        Ok((tree, outcome)) => {
            write(conn, session, &tree, at)?;
            Ok(Ok(outcome))
        }
        Err(refusal) => Ok(Err(refusal)),
    }
}

/// Stores a new turn with its items as another version of a shown turn.
pub(crate) fn replace(
    conn: &Connection,
    turn: &TurnRow,
    new: Vec<Item>,
    replaced: &TurnId,
) -> Result<Result<Vec<Item>, VersionRefusal>, DbError> {
    let change = VersionChange::Replace { turn: replaced.clone(), by: turn.turn.clone() };
    match plan(conn, &turn.session, &change)? {
        Ok((tree, _)) => {
            turns::insert(conn, turn, tree.parent_of(&turn.turn))?;
            write(conn, &turn.session, &tree, turn.started_at)?;
            Ok(Ok(items::append(conn, new)?))
        }
        Err(refusal) => Ok(Err(refusal)),
    }
}

/// Deletes the row of a turn whose items are not kept, if it replaced another turn. That turn is
/// shown again, because an empty turn cannot offer its versions.
pub(crate) fn withdraw(conn: &Connection, turn: &TurnId) -> Result<(), DbError> {
    let found: Option<(String, String)> = conn
        .prepare_cached(
            "SELECT t.session, t.started_at FROM turn t WHERE t.id = ?1 AND EXISTS
             (SELECT 1 FROM turn o WHERE o.session = t.session AND o.parent IS t.parent AND o.id <> t.id)",
        )?
        .query_row([turn.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((session, at)) = found else { return Ok(()) };
    let session = SessionId(session);
    let mut tree = read(conn, &session)?;
    if !tree.withdraw(turn) {
        return Ok(());
    }
    conn.prepare_cached("DELETE FROM turn WHERE id = ?1")?.execute([turn.as_str()])?;
    write(conn, &session, &tree, text::read_instant(&at)?)
}

/// Returns the deleted turns whose rows still exist, one for each question.
pub(crate) fn deleted(
    conn: &Connection,
    until: Option<DateTime<Utc>>,
) -> Result<Vec<(SessionId, TurnId)>, DbError> {
    let mut statement = conn.prepare_cached(
        "SELECT session, id FROM turn WHERE deleted_at IS NOT NULL AND (?1 IS NULL OR deleted_at <= ?1) AND chosen = 1",
    )?;
    let rows = statement.query_map([until.map(text::instant)], |row| {
        Ok((SessionId(row.get(0)?), TurnId(row.get(1)?)))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Deletes the rows of a deleted turn, of its other versions, and of the turns after these. The
/// turns after the turn itself follow the turn before it.
pub(crate) fn delete(conn: &Connection, session: &SessionId, turn: &TurnId) -> Result<(), DbError> {
    let Some(removal) = read(conn, session)?.removal(turn) else { return Ok(()) };
    let turns = serde_json::to_string(&removal.turns)?;
    memory_sources::delete_made_from_turns(conn, session, &turns)?;
    recordings::delete_since_turns(conn, session, &turns)?;
    summary_items::delete_with_messages(conn, session, &turns)?;
    for sql in [
        "DELETE FROM item WHERE turn IN (SELECT value FROM json_each(?2)) AND +session = ?1",
        "DELETE FROM approval WHERE session = ?1 AND json_extract(body, '$.turn') IN (SELECT value FROM json_each(?2))",
        "DELETE FROM turn WHERE id IN (SELECT value FROM json_each(?2)) AND +session = ?1",
    ] {
        conn.prepare_cached(sql)?.execute(params![session.as_str(), turns])?;
    }
    conn.prepare_cached("UPDATE turn SET parent = ?3 WHERE session = ?1 AND parent = ?2")?
        .execute(params![session.as_str(), removal.line, removal.parent])?;
    conn.prepare_cached(
        "UPDATE session SET tail = ?2, deleted_turns = deleted_turns + 1 WHERE id = ?1",
    )?
    .execute(params![session.as_str(), removal.tail])?;
    Ok(())
}

/// Returns the versions of each of these turns that has more than one.
pub(crate) fn of_turns(
    conn: &Connection,
    session: &SessionId,
    turns: &[TurnId],
) -> Result<Vec<TurnVersions>, DbError> {
    // The order of the tables is given, because the list is short and a session may have many
    // turns.
    let mut statement = conn.prepare_cached(
        "SELECT a.id, b.id FROM json_each(?2) j CROSS JOIN turn a ON a.id = j.value
         CROSS JOIN turn b ON b.session = a.session AND b.parent IS a.parent AND b.deleted_at IS NULL
         WHERE a.session = ?1 ORDER BY j.key, b.rowid",
    )?;
    let mut rows = statement.query(params![session.as_str(), serde_json::to_string(turns)?])?;
    let mut found: Vec<TurnVersions> = Vec::new();
    while let Some(row) = rows.next()? {
        let (turn, sibling) = (TurnId(row.get(0)?), TurnId(row.get(1)?));
        if found.last().is_none_or(|last| last.turn != turn) {
            found.push(TurnVersions { turn: turn.clone(), siblings: Vec::new(), chosen: 0 });
        }
        if let Some(last) = found.last_mut() {
            if sibling == turn {
                last.chosen = u32::try_from(last.siblings.len()).unwrap_or(u32::MAX);
            }
            last.siblings.push(sibling);
        }
    }
    found.retain(|one| one.siblings.len() > 1);
    Ok(found)
}

pub(crate) fn counts(conn: &Connection, session: &SessionId) -> Result<VersionCounts, DbError> {
    let count = |sql: &str| -> Result<u64, DbError> {
        let found: Option<i64> =
            conn.prepare_cached(sql)?.query_row([session.as_str()], |row| row.get(0)).optional()?;
        Ok(found.and_then(|count| u64::try_from(count).ok()).unwrap_or_default())
    };
    let pending = count(
        "SELECT count(*) FROM turn WHERE session = ?1 AND deleted_at IS NOT NULL AND chosen = 1",
    )?;
    Ok(VersionCounts {
        other_versions: count(
            "SELECT count(*) FROM turn WHERE session = ?1 AND hidden = 1 AND deleted_at IS NULL",
        )?,
        deleted: pending + count("SELECT deleted_turns FROM session WHERE id = ?1")?,
    })
}

pub(crate) fn is_hidden(conn: &Connection, turn: &TurnId) -> Result<bool, DbError> {
    let hidden = conn
        .prepare_cached("SELECT hidden FROM turn WHERE id = ?1")?
        .query_row([turn.as_str()], |row| row.get(0))
        .optional()?;
    Ok(hidden.unwrap_or_default())
}

/// Returns the oldest `limit` messages of a person that are not shown.
pub(crate) fn hidden_questions(
    conn: &Connection,
    session: &SessionId,
    limit: u32,
) -> Result<Vec<Item>, DbError> {
    let sql = format!(
        r#"SELECT {COLUMNS} FROM item WHERE session = ?1 AND hidden = 1
           AND body GLOB '{{"kind":"user_message",*' ORDER BY seq LIMIT ?2"#
    );
    let mut statement = conn.prepare_cached(&sql)?;
    statement
        .query_and_then(params![session.as_str(), limit], |row| Columns::of(row)?.item())?
        .collect()
}

/// Returns the changes that tools made in turns that are not shown. A call whose outcome is unknown
/// counts, because the change may have been made.
pub(crate) fn hidden_actions(
    conn: &Connection,
    session: &SessionId,
) -> Result<Vec<HiddenAction>, DbError> {
    let mut statement = conn.prepare_cached(
        r#"SELECT body, created_at FROM item WHERE session = ?1 AND hidden = 1
           AND (body GLOB '{"kind":"tool_call",*' OR body GLOB '{"kind":"tool_result",*') ORDER BY seq"#,
    )?;
    let mut rows = statement.query([session.as_str()])?;
    let (mut calls, mut ended) = (Vec::new(), HashMap::new());
    while let Some(row) = rows.next()? {
        // An item that cannot be read is shown as a notice, and names no call.
        match serde_json::from_str(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?) {
            Ok(ItemBody::ToolCall { call, tool, effect, arguments, .. })
                if effect != Effect::ReadOnly =>
            {
                calls.push((call, tool, arguments));
            }
            Ok(ItemBody::ToolResult {
                call,
                outcome: ToolOutcome::Ok | ToolOutcome::Unknown,
                ..
            }) => {
                ended.insert(call, text::read_instant(&row.get::<_, String>(1)?)?);
            }
            Ok(_) | Err(_) => {}
        }
    }
    if calls.is_empty() || ended.is_empty() {
        return Ok(Vec::new());
    }
    let ran: HashMap<CallId, Approval> = approvals::of_session(conn, session, u32::MAX)?
        .into_iter()
        .filter(|one| matches!(one.status, ApprovalStatus::Done | ApprovalStatus::Failed))
        .map(|one| (one.call.clone(), one))
        .collect();
    let mut found = Vec::new();
    for (call, tool, arguments) in calls {
        let Some(at) = ended.get(&call).copied() else { continue };
        let approval = ran.get(&call);
        // A person may have edited the arguments of an action that replaced another.
        if approval.is_none_or(|approval| approval.replaces.is_none()) {
            found.push(HiddenAction { tool, arguments, hash: None, at });
        }
        found.extend(approval.map(|approval| HiddenAction {
            tool: approval.tool.clone(),
            arguments: serde_json::from_str(&approval.arguments).unwrap_or_default(),
            hash: Some(approval.hash.clone()),
            at,
        }));
    }
    Ok(found)
}

/// Returns the items that a turn saw: those of the turns before it on its own path.
pub(crate) fn seen_by(
    conn: &Connection,
    session: &SessionId,
    turn: &TurnId,
    limit: u32,
) -> Result<Vec<Item>, DbError> {
    let Some(first) = items::first_of(conn, turn)? else { return Ok(Vec::new()) };
    let tree = read(conn, session)?;
    match tree.before(turn) {
        Some(turns) => items::list_of(conn, session, &turns, first, limit),
        None => items::list_before(conn, session, Some(first), limit),
    }
}

fn read(conn: &Connection, session: &SessionId) -> Result<Tree, DbError> {
    let mut statement = conn.prepare_cached(
        "SELECT id, parent, chosen, deleted_at IS NOT NULL, hidden FROM turn WHERE session = ?1 ORDER BY rowid",
    )?;
    let rows = statement.query_map([session.as_str()], |row| {
        let marks = Marks { chosen: row.get(2)?, deleted: row.get(3)?, hidden: row.get(4)? };
        Ok((row.get(0)?, row.get(1)?, marks))
    })?;
    Ok(Tree::of(rows.collect::<Result<_, _>>()?))
}

/// Makes a change in memory, and checks that it hides no action that has not ended.
fn plan(
    conn: &Connection,
    session: &SessionId,
    change: &VersionChange,
) -> Result<Result<(Tree, VersionOutcome), VersionRefusal>, DbError> {
    let mut tree = read(conn, session)?;
    let outcome = match tree.change(change) {
        Ok(outcome) => outcome,
        Err(refusal) => return Ok(Err(refusal)),
    };
    if approvals::has_open_of(conn, session, &tree.hides())? {
        return Ok(Err(VersionRefusal::ActionPending));
    }
    Ok(Ok((tree, outcome)))
}

/// Writes the changed marks of turns, and everything that depends on them.
fn write(
    conn: &Connection,
    session: &SessionId,
    tree: &Tree,
    at: DateTime<Utc>,
) -> Result<(), DbError> {
    let at = text::instant(at);
    let mut mark = conn.prepare_cached(
        "UPDATE turn SET chosen = ?2, hidden = ?3, deleted_at = CASE WHEN ?4 THEN coalesce(deleted_at, ?5) END WHERE id = ?1",
    )?;
    let mut show =
        conn.prepare_cached("UPDATE item SET hidden = ?3 WHERE turn = ?1 AND +session = ?2")?;
    let mut turned = Vec::new();
    for node in tree.changed() {
        let Marks { chosen, deleted, hidden } = node.marks;
        mark.execute(params![node.id, chosen, hidden, deleted, at])?;
        if node.is_turned() {
            show.execute(params![node.id, session.as_str(), hidden])?;
            turned.push(node.id.as_str());
        }
    }
    conn.prepare_cached("UPDATE session SET tail = ?2 WHERE id = ?1")?
        .execute(params![session.as_str(), tree.tail()])?;
    summary_items::hide_with_messages(conn, session)?;
    if turned.is_empty() {
        return Ok(());
    }
    conversations::reset_summaries(conn, session, &turned)?;
    memory_sources::hide_with_items(conn, session)
}
