//! The items that show in a transcript which summary a model reads. Such an item may contain the
//! text of an earlier message, so it is hidden while that message is deleted, and deleted with it.

use contract::SessionId;
use rusqlite::{Connection, params};

use crate::error::DbError;

/// Hides the items of a session that show a summary, if a message that the summary may contain was
/// deleted later. The others have the mark of their turn.
pub(super) fn hide_with_messages(conn: &Connection, session: &SessionId) -> Result<(), DbError> {
    conn.prepare_cached(
        r#"UPDATE item SET hidden = EXISTS (SELECT 1 FROM turn t WHERE t.id = item.turn AND t.hidden = 1)
               OR EXISTS (SELECT 1 FROM turn d WHERE d.session = ?1 AND d.deleted_at >= item.created_at
                   AND (SELECT min(f.seq) FROM item f WHERE f.turn = d.id) < item.seq)
           WHERE session = ?1 AND body GLOB '{"kind":"summary",*'"#,
    )?
    .execute([session.as_str()])?;
    Ok(())
}

/// Deletes the items that show a summary which may contain a message of these deleted turns, a JSON
/// list. Sessions that share a memory with the session show its summaries, too.
pub(super) fn delete_with_messages(
    conn: &Connection,
    session: &SessionId,
    turns: &str,
) -> Result<(), DbError> {
    // A summary that was made after the deletion does not contain the messages.
    let made_before = "created_at <= (SELECT max(deleted_at) FROM turn WHERE id IN (SELECT value FROM json_each(?2)))";
    for sql in [
        format!(
            r#"DELETE FROM item WHERE session = ?1 AND body GLOB '{{"kind":"summary",*' AND {made_before}
               AND seq > (SELECT min(seq) FROM item WHERE turn IN (SELECT value FROM json_each(?2)))"#
        ),
        format!(
            r#"DELETE FROM item WHERE session IN (SELECT o.session FROM conversation_item o WHERE o.key IN (
                   SELECT c.key FROM item i JOIN conversation_item c ON c.session = i.session AND c.seq = i.seq
                   WHERE i.turn IN (SELECT value FROM json_each(?2)) AND +i.session = ?1))
               AND body GLOB '{{"kind":"summary",*' AND {made_before}
               AND created_at >= (SELECT min(created_at) FROM item WHERE turn IN (SELECT value FROM json_each(?2)))"#
        ),
    ] {
        conn.prepare_cached(&sql)?.execute(params![session.as_str(), turns])?;
    }
    Ok(())
}
