//! The tables `memory`, `memory_source`, `memory_progress`, `memory_vector`, `memory_index` and
//! `memory_words`: long-term memories with their words and vectors. Triggers keep the words equal
//! to the texts.

use chrono::{DateTime, Utc};
use contract::{ItemId, MemoryEntry, MemoryId, MemorySource, SessionId};
use engine::ports::{
    EmbeddingModelId, MemoryIndex, MemoryReach, MemoryVector, MissingVectors, VectorCount,
};
use parking_lot::Mutex;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::error::DbError;
use crate::table::recordings;
use crate::text;
use crate::vectors::{Best, Vectors};

/// The columns of a memory, including its sources as a JSON array.
const COLUMNS: &str = "m.id, m.session, m.kind, m.text, m.pinned, m.untrusted, m.local_only, m.created_at, m.edited_at,
     (SELECT json_group_array(o.item ORDER BY o.position) FROM memory_source o WHERE o.memory = m.number)";

/// The condition that a memory belongs to no hidden session, and was made from no hidden item.
macro_rules! shown {
    () => {
        "m.hidden = 0 AND COALESCE(m.session, '') NOT IN (SELECT id FROM session WHERE deleted_at IS NOT NULL)"
    };
}

/// Stores a memory with its sources and its vector.
pub(crate) fn add(
    conn: &Connection,
    memory: &MemoryEntry,
    vector: Option<&MemoryVector>,
) -> Result<(), DbError> {
    conn.prepare_cached(
        "INSERT INTO memory (id, session, kind, text, pinned, untrusted, local_only, created_at, edited_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute(params![
        memory.id.as_str(),
        memory.session.as_ref().map(SessionId::as_str),
        text::enum_to_text(&memory.kind)?,
        memory.text,
        memory.pinned,
        memory.untrusted,
        memory.local_only,
        text::instant(memory.created_at),
        memory.edited_at.map(text::instant)
    ])?;
    let number = conn.last_insert_rowid();
    let mut insert = conn
        .prepare_cached("INSERT INTO memory_source (memory, position, item, session) VALUES (?1, ?2, ?3, (SELECT session FROM item WHERE id = ?3))")?;
    for (position, item) in (0_i64..).zip(&memory.sources) {
        insert.execute(params![number, position, item.as_str()])?;
    }
    vector.map_or(Ok(()), |vector| put_vector_of(conn, number, vector))
}

/// Stores the last item of the memory's session that is summarised.
pub(crate) fn put_progress(
    conn: &Connection,
    memory: &MemoryEntry,
    through: u64,
) -> Result<(), DbError> {
    let through = i64::try_from(through).unwrap_or(i64::MAX);
    conn.prepare_cached(
        "INSERT INTO memory_progress (session, through) VALUES (?1, ?2)
         ON CONFLICT (session) DO UPDATE SET through = max(through, excluded.through)",
    )?
    .execute(params![memory.session.as_ref().map(SessionId::as_str), through])?;
    Ok(())
}

/// Excludes the messages that a session has so far from all later memories.
pub(crate) fn skip_messages(conn: &Connection, session: &SessionId) -> Result<(), DbError> {
    conn.prepare_cached(
        "INSERT INTO memory_progress (session, through)
         SELECT session, max(seq) FROM item WHERE session = ?1 GROUP BY session
         ON CONFLICT (session) DO UPDATE SET through = max(through, excluded.through)",
    )?
    .execute([session.as_str()])?;
    Ok(())
}

pub(crate) fn progress(conn: &Connection, session: &SessionId) -> Result<u64, DbError> {
    let through: Option<i64> = conn
        .prepare_cached("SELECT through FROM memory_progress WHERE session = ?1")?
        .query_row([session.as_str()], |row| row.get(0))
        .optional()?;
    Ok(through.and_then(|through| u64::try_from(through).ok()).unwrap_or_default())
}

pub(crate) fn get(conn: &Connection, id: &MemoryId) -> Result<Option<MemoryEntry>, DbError> {
    let found = conn
        .prepare_cached(&format!("SELECT {COLUMNS} FROM memory m WHERE m.id = ?1"))?
        .query_row([id.as_str()], Columns::read)
        .optional()?;
    found.map(Columns::memory).transpose()
}

/// Returns memories: pinned ones first, then newest first.
pub(crate) fn list(
    conn: &Connection,
    reach: &MemoryReach,
    offset: u32,
    limit: u32,
) -> Result<Vec<MemoryEntry>, DbError> {
    let (condition, session) = condition(reach);
    let sql = format!(
        "SELECT {COLUMNS} FROM memory m WHERE {condition} ORDER BY m.pinned DESC, m.created_at DESC, m.number DESC LIMIT ?2 OFFSET ?3"
    );
    read_all(conn, &sql, params![session, limit, offset])
}

/// Returns the newest pinned memories.
pub(crate) fn pinned(
    conn: &Connection,
    reach: &MemoryReach,
    limit: u32,
) -> Result<Vec<MemoryEntry>, DbError> {
    let (condition, session) = condition(reach);
    let sql = format!(
        "SELECT {COLUMNS} FROM memory m WHERE {condition} AND m.pinned = 1 ORDER BY m.created_at DESC, m.number DESC LIMIT ?2"
    );
    read_all(conn, &sql, params![session, limit])
}

/// Returns the existing memories with these identifiers, in the order of the identifiers.
pub(crate) fn of_ids(conn: &Connection, ids: &[MemoryId]) -> Result<Vec<MemoryEntry>, DbError> {
    ids.iter().filter_map(|id| get(conn, id).transpose()).collect()
}

/// Returns the identifiers of the memories that the answers of a session used, starting with the
/// newest answer. Reads the session's answers.
pub(crate) fn used_in(conn: &Connection, session: &SessionId) -> Result<Vec<MemoryId>, DbError> {
    let mut statement = conn.prepare_cached(
        "SELECT j.value FROM item i, json_each(i.body, '$.remembered') j
         WHERE i.session = ?1 AND i.hidden = 0 AND i.body GLOB '{\"kind\":\"assistant_text\",*' AND json_valid(i.body)
         GROUP BY j.value ORDER BY max(i.seq) DESC, min(j.key)",
    )?;
    Ok(statement
        .query_map([session.as_str()], |row| row.get(0).map(MemoryId))?
        .collect::<Result<_, _>>()?)
}

/// Returns, for each memory, the first shown item that the memory was made from.
pub(crate) fn sources(conn: &Connection, ids: &[MemoryId]) -> Result<Vec<MemorySource>, DbError> {
    let mut statement = conn.prepare_cached(
        "SELECT i.session, s.title, i.id, i.seq FROM memory m
         JOIN memory_source o ON o.memory = m.number JOIN item i ON i.id = o.item JOIN session s ON s.id = i.session
         WHERE m.id = ?1 AND i.hidden = 0 ORDER BY o.position LIMIT 1",
    )?;
    let mut sources = Vec::with_capacity(ids.len());
    for id in ids {
        let source = statement
            .query_row([id.as_str()], |row| {
                Ok(MemorySource {
                    memory: id.clone(),
                    session: SessionId(row.get(0)?),
                    title: row.get(1)?,
                    item: ItemId(row.get(2)?),
                    seq: u64::try_from(row.get::<_, i64>(3)?).unwrap_or_default(),
                })
            })
            .optional()?;
        sources.extend(source);
    }
    Ok(sources)
}

/// Returns the session of a memory, or the session of the items that the memory was made from.
pub(crate) fn session_of(conn: &Connection, id: &MemoryId) -> Result<Option<SessionId>, DbError> {
    let found: Option<Option<String>> = conn
        .prepare_cached(
            "SELECT coalesce(session, (SELECT s.session FROM memory_source s
             WHERE s.memory = number AND s.session IS NOT NULL ORDER BY s.position LIMIT 1))
             FROM memory WHERE id = ?1",
        )?
        .query_row([id.as_str()], |row| row.get(0))
        .optional()?;
    Ok(found.flatten().map(SessionId))
}

/// Replaces the text of a memory, and its vector. If no vector is given, the old vector is deleted,
/// because it belongs to the old text.
pub(crate) fn edit(
    conn: &Connection,
    id: &MemoryId,
    text: &str,
    vector: Option<&MemoryVector>,
    at: DateTime<Utc>,
) -> Result<bool, DbError> {
    let number: Option<i64> = conn
        .prepare_cached(
            "UPDATE memory SET text = ?2, edited_at = ?3 WHERE id = ?1 RETURNING number",
        )?
        .query_row(params![id.as_str(), text, text::instant(at)], |row| row.get(0))
        .optional()?;
    let Some(number) = number else { return Ok(false) };
    recordings::delete_with_memory(conn, id)?;
    conn.prepare_cached("DELETE FROM memory_vector WHERE memory = ?1")?.execute([number])?;
    vector.map_or(Ok(()), |vector| put_vector_of(conn, number, vector))?;
    Ok(true)
}

/// Pins or unpins a memory.
pub(crate) fn pin(conn: &Connection, id: &MemoryId, pinned: bool) -> Result<bool, DbError> {
    let changed = conn
        .prepare_cached("UPDATE memory SET pinned = ?2 WHERE id = ?1")?
        .execute(params![id.as_str(), pinned])?;
    Ok(changed > 0)
}

pub(crate) fn texts(conn: &Connection) -> Result<Vec<String>, DbError> {
    let mut statement = conn.prepare_cached("SELECT text FROM memory")?;
    Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

pub(crate) fn exist(conn: &Connection, reach: &MemoryReach) -> Result<bool, DbError> {
    let (condition, session) = condition(reach);
    let sql = format!("SELECT EXISTS (SELECT 1 FROM memory m WHERE {condition})");
    Ok(conn.prepare_cached(&sql)?.query_row(params![session], |row| row.get(0))?)
}

/// Deletes all memories that were made from items of a session, including memories of the profile,
/// and the recordings that contain their texts. The session itself may already be deleted.
pub(crate) fn delete_made_from(conn: &Connection, session: &SessionId) -> Result<(), DbError> {
    recordings::delete_with_memories_of(conn, session)?;
    conn.prepare_cached(
        "DELETE FROM memory WHERE number IN (SELECT memory FROM memory_source WHERE session = ?1)",
    )?
    .execute([session.as_str()])?;
    Ok(())
}

/// Deletes a memory with its sources, words and vector, and the recordings that contain its text.
pub(crate) fn delete(conn: &Connection, id: &MemoryId) -> Result<bool, DbError> {
    recordings::delete_with_memory(conn, id)?;
    Ok(conn.prepare_cached("DELETE FROM memory WHERE id = ?1")?.execute([id.as_str()])? > 0)
}

/// Returns the memories that contain any of these words, best match first.
pub(crate) fn with_words(
    conn: &Connection,
    words: &[String],
    reach: &MemoryReach,
    limit: u32,
) -> Result<Vec<MemoryEntry>, DbError> {
    // The words are quoted, because a quoted word has no special meaning in a query.
    let quoted: Vec<String> =
        words.iter().map(|word| format!("\"{}\"", word.replace('"', "\"\""))).collect();
    if quoted.is_empty() {
        return Ok(Vec::new());
    }
    // The numbers are sorted here, because SQLite would sort the rows together with their texts.
    let (condition, session) = condition(reach);
    let sql = format!(
        "SELECT m.number, bm25(memory_words) FROM memory_words JOIN memory m ON m.number = memory_words.rowid
         WHERE memory_words MATCH ?2 AND {condition}"
    );
    // One transaction, so that the numbers and the rows come from the same state of the file.
    let state = conn.unchecked_transaction()?;
    let mut found = state
        .prepare_cached(&sql)?
        .query_map(params![session, quoted.join(" OR ")], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<Vec<(i64, f64)>, _>>()?;
    // A smaller rank means a better match. Among equal matches, newer memories come first.
    found.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
    found.truncate(limit as usize);
    read_numbers(&state, found.into_iter().map(|(number, _)| number))
}

/// Reads memories by their numbers, in the given order.
fn read_numbers(
    conn: &Connection,
    numbers: impl Iterator<Item = i64>,
) -> Result<Vec<MemoryEntry>, DbError> {
    let mut select =
        conn.prepare_cached(&format!("SELECT {COLUMNS} FROM memory m WHERE m.number = ?1"))?;
    numbers.map(|number| select.query_row([number], Columns::read)?.memory()).collect()
}

/// How many candidates the first pass returns in addition to the wanted number. Rounding changes
/// the rank of a vector only slightly.
const SPARE: u32 = 50;

/// Returns the memories with the most similar vectors, best first.
pub(crate) fn near_vector(
    conn: &Connection,
    kept: &Mutex<Vectors>,
    wanted: &MemoryVector,
    reach: &MemoryReach,
    limit: u32,
) -> Result<Vec<(MemoryEntry, f32)>, DbError> {
    // One transaction, so that the numbers and the rows come from the same state of the file.
    let state = conn.unchecked_transaction()?;
    let mut candidates = {
        let mut vectors = kept.lock();
        vectors.update(&state, wanted.model.as_str(), wanted.values.len())?;
        vectors.candidates(&wanted.values, reach, limit.saturating_add(SPARE) as usize)
    };
    // Among equally similar memories, older memories come first.
    candidates.sort_unstable();
    let mut best = Best::new(limit as usize);
    let mut select = state.prepare_cached(concat!(
        "SELECT v.vector FROM memory_vector v JOIN memory m ON m.number = v.memory WHERE v.memory = ?1 AND ",
        shown!()
    ))?;
    for number in candidates {
        let similarity = select
            .query_row([number], |row| Ok(dot_product(row.get_ref(0)?.as_blob()?, &wanted.values)))
            .optional()?;
        if let Some(similarity) = similarity {
            best.offer(number, similarity);
        }
    }
    let memories = read_numbers(&state, best.found.iter().map(|(number, _)| *number))?;
    Ok(memories.into_iter().zip(best.found.iter().map(|(_, similarity)| *similarity)).collect())
}

/// Returns memories without a vector of this model, oldest first.
pub(crate) fn without_vector(
    conn: &Connection,
    missing: &MissingVectors,
    limit: u32,
) -> Result<Vec<MemoryEntry>, DbError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM memory m
         WHERE m.number > COALESCE((SELECT number FROM memory WHERE id = ?2), 0) AND (m.local_only = 0 OR ?3)
         AND NOT EXISTS (SELECT 1 FROM memory_vector v WHERE v.memory = m.number AND v.model = ?1)
         ORDER BY m.number LIMIT ?4"
    );
    let after = missing.after.as_ref().map(MemoryId::as_str);
    read_all(conn, &sql, params![missing.model.as_str(), after, missing.with_local, limit])
}

/// Counts the memories that a model may read, and how many of these have a vector of the model.
pub(crate) fn count_vectors(
    conn: &Connection,
    missing: &MissingVectors,
) -> Result<VectorCount, DbError> {
    let count = |row: &Row<'_>| row.get::<_, i64>(0).map(|count| u64::try_from(count).unwrap_or(0));
    let memories = conn
        .prepare_cached("SELECT COUNT(*) FROM memory WHERE local_only = 0 OR ?1")?
        .query_row([missing.with_local], count)?;
    let with_vector = conn
        .prepare_cached("SELECT COUNT(*) FROM memory_vector WHERE model = ?1")?
        .query_row([missing.model.as_str()], count)?;
    Ok(VectorCount { memories, with_vector })
}

/// Stores the vector of a memory and replaces an earlier vector. Does nothing if the memory was
/// deleted or its text changed meanwhile.
pub(crate) fn put_vector(
    conn: &Connection,
    memory: &MemoryEntry,
    vector: &MemoryVector,
) -> Result<(), DbError> {
    let number: Option<i64> = conn
        .prepare_cached("SELECT number FROM memory WHERE id = ?1 AND text = ?2")?
        .query_row([memory.id.as_str(), &memory.text], |row| row.get(0))
        .optional()?;
    number.map_or(Ok(()), |number| put_vector_of(conn, number, vector))
}

fn put_vector_of(conn: &Connection, number: i64, vector: &MemoryVector) -> Result<(), DbError> {
    let blob: Vec<u8> = vector.values.iter().flat_map(|value| value.to_le_bytes()).collect();
    conn.prepare_cached("UPDATE memory_vector_state SET changed = changed + 1")?.execute([])?;
    conn.prepare_cached(
        "INSERT INTO memory_vector (memory, model, vector, changed)
         VALUES (?1, ?2, ?3, (SELECT changed FROM memory_vector_state))
         ON CONFLICT (memory) DO UPDATE SET model = excluded.model, vector = excluded.vector, changed = excluded.changed",
    )?
    .execute(params![number, vector.model.as_str(), blob])?;
    Ok(())
}

pub(crate) fn index(conn: &Connection) -> Result<Option<MemoryIndex>, DbError> {
    Ok(conn
        .prepare_cached("SELECT model, dimension, threshold FROM memory_index")?
        .query_row([], |row| {
            Ok(MemoryIndex {
                model: EmbeddingModelId(row.get(0)?),
                dimension: row.get(1)?,
                threshold: row.get(2)?,
            })
        })
        .optional()?)
}

pub(crate) fn put_index(conn: &Connection, index: &MemoryIndex) -> Result<(), DbError> {
    conn.prepare_cached(
        "INSERT INTO memory_index (number, model, dimension, threshold) VALUES (1, ?1, ?2, ?3)
         ON CONFLICT (number) DO UPDATE SET model = excluded.model, dimension = excluded.dimension, threshold = excluded.threshold",
    )?
    .execute(params![index.model.as_str(), index.dimension, index.threshold])?;
    Ok(())
}

/// Returns the condition for the rows within a reach, and the session as parameter `?1`. Every
/// condition uses the parameter, because SQLite requires that each parameter is used. No other
/// session reads memories of a hidden one.
fn condition(reach: &MemoryReach) -> (&'static str, Option<&str>) {
    match reach {
        MemoryReach::Session(session) => {
            ("m.session = ?1 AND m.hidden = 0", Some(session.as_str()))
        }
        MemoryReach::SessionAndProfile(session) => {
            ("(m.session = ?1 OR m.session IS NULL) AND m.hidden = 0", Some(session.as_str()))
        }
        // Only the id of another application's session contains a colon.
        MemoryReach::AllOfUser => (
            concat!(
                "(m.session IS NULL OR instr(m.session, ':') = 0) AND ?1 IS NULL AND ",
                shown!()
            ),
            None,
        ),
        MemoryReach::Everything => (concat!("?1 IS NULL AND ", shown!()), None),
    }
}

/// Returns the dot product of a stored vector and another vector. For vectors of length 1, the dot
/// product is the similarity.
fn dot_product(blob: &[u8], other: &[f32]) -> f32 {
    let (values, _) = blob.as_chunks::<4>();
    values.iter().zip(other).map(|(value, other)| f32::from_le_bytes(*value) * other).sum()
}

fn read_all(
    conn: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<MemoryEntry>, DbError> {
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map(values, Columns::read)?.collect::<Result<Vec<_>, _>>()?;
    rows.into_iter().map(Columns::memory).collect()
}

/// A row as it is stored.
struct Columns {
    id: String,
    session: Option<String>,
    kind: String,
    text: String,
    pinned: bool,
    untrusted: bool,
    local_only: bool,
    created_at: String,
    edited_at: Option<String>,
    sources: String,
}

impl Columns {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            session: row.get(1)?,
            kind: row.get(2)?,
            text: row.get(3)?,
            pinned: row.get(4)?,
            untrusted: row.get(5)?,
            local_only: row.get(6)?,
            created_at: row.get(7)?,
            edited_at: row.get(8)?,
            sources: row.get(9)?,
        })
    }

    fn memory(self) -> Result<MemoryEntry, DbError> {
        Ok(MemoryEntry {
            id: MemoryId(self.id),
            session: self.session.map(SessionId),
            kind: text::read_word(&self.kind)?,
            text: self.text,
            sources: serde_json::from_str(&self.sources)?,
            pinned: self.pinned,
            untrusted: self.untrusted,
            local_only: self.local_only,
            created_at: text::read_instant(&self.created_at)?,
            edited_at: text::read_optional_instant(self.edited_at.as_deref())?,
        })
    }
}
