//! The tables `message` and `message_words`: the words of questions and answers, for the search
//! over all sessions. Triggers on `item` keep the words equal to the items.

use contract::{ItemId, MessageHit, SessionId, SnippetPiece};
use engine::ports::MessageFilter;
use rusqlite::{Connection, Row, params};

use crate::error::DbError;
use crate::text;

/// The characters before and after a found word. These characters never occur in texts.
const BEGIN: char = '\u{2}';
const END: char = '\u{3}';

/// Returns the shown messages that contain all of these words, best match first.
pub(crate) fn with_words(
    conn: &Connection,
    words: &[String],
    filter: &MessageFilter,
    offset: u32,
    limit: u32,
) -> Result<Vec<MessageHit>, DbError> {
    // The words are quoted, because a quoted word has no special meaning in a query.
    let quoted: Vec<String> =
        words.iter().map(|word| format!("\"{}\"", word.replace('"', "\"\""))).collect();
    if quoted.is_empty() {
        return Ok(Vec::new());
    }
    let mut statement = conn.prepare_cached(
        r#"SELECT i.session, s.title, i.id, i.seq, i.created_at, i.body GLOB '{"kind":"user_message",*',
             snippet(message_words, 0, char(2), char(3), '…', 16)
         FROM message_words JOIN message m ON m.number = message_words.rowid
         JOIN item i ON i.id = m.item JOIN session s ON s.id = i.session
         WHERE message_words MATCH ?1
           AND (?2 IS NULL OR i.created_at >= ?2) AND (?3 IS NULL OR i.created_at < ?3)
           AND (?4 = '' OR EXISTS (SELECT 1 FROM item a WHERE a.turn = i.turn AND json_valid(a.body)
                AND a.body ->> '$.kind' = 'assistant_text' AND a.body ->> '$.agent' = ?4 COLLATE NOCASE))
           AND (?5 = '' OR EXISTS (SELECT 1 FROM item t WHERE t.turn = i.turn AND json_valid(t.body)
                AND t.body ->> '$.kind' = 'tool_call'
                AND (t.body ->> '$.tool' = ?5 OR t.body ->> '$.tool' GLOB '*.' || ?5 OR t.body ->> '$.title' = ?5 COLLATE NOCASE)))
           AND (?8 IS NULL OR i.session = ?8) AND s.deleted_at IS NULL AND i.hidden = 0
         ORDER BY bm25(message_words), m.number DESC LIMIT ?6 OFFSET ?7"#,
    )?;
    let query = format!("{}*", quoted.join(" "));
    let (since, until) = (filter.since.map(text::instant), filter.until.map(text::instant));
    let session = filter.session.as_ref().map(SessionId::as_str);
    let values = params![query, since, until, filter.agent, filter.tool, limit, offset, session];
    statement.query_and_then(values, hit)?.collect()
}

fn hit(row: &Row<'_>) -> Result<MessageHit, DbError> {
    Ok(MessageHit {
        session: SessionId(row.get(0)?),
        title: row.get(1)?,
        item: ItemId(row.get(2)?),
        seq: u64::try_from(row.get::<_, i64>(3)?).unwrap_or_default(),
        at: text::read_instant(&row.get::<_, String>(4)?)?,
        from_user: row.get(5)?,
        snippet: pieces(&row.get::<_, String>(6)?),
    })
}

/// Splits a snippet at the marks around found words.
fn pieces(snippet: &str) -> Vec<SnippetPiece> {
    snippet
        .split_inclusive([BEGIN, END])
        .map(|part| SnippetPiece {
            is_match: part.ends_with(END),
            text: part.trim_end_matches([BEGIN, END]).to_owned(),
        })
        .filter(|piece| !piece.text.is_empty())
        .collect()
}
