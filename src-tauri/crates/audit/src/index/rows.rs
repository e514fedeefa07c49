//! Writes the index: reads records of the log in order and adds their rows, their groups and their
//! words. Records of one turn are one group; see `Kind` for the others.

use std::collections::{BTreeMap, HashMap};

use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::{Facet, Kind, words};
use crate::num::Num;

/// The members of a body that the index needs. A damaged body is reported by verification, and is
/// indexed as far as it can be parsed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Light {
    at: String,
    #[serde(rename = "type")]
    kind: String,
    pub(super) session: Option<String>,
    turn: Option<String>,
    pub(super) fields: Map<String, Value>,
    commitments: BTreeMap<String, IgnoredAny>,
}

impl Light {
    fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    fn at(&self) -> i64 {
        crate::body::parse_instant(&self.at).map_or(0, |at| at.timestamp_millis())
    }

    /// Returns the decision of a person, of the policy or by expiry, or the outcome of a call, an
    /// action or a turn that did not succeed. Every failure is `error`, so that one filter finds
    /// all of them.
    fn decision(&self) -> Option<&str> {
        let status = self.text("status")?;
        let is_named = match self.kind.as_str() {
            "approval_resolved" => status != "done",
            "tool_outcome" | "run_ended" => status != "ok",
            kind => kind == "policy_decision",
        };
        is_named.then_some(if status == "failed" { "error" } else { status })
    }
}

/// The values behind the commitments of a record: member and text.
pub(super) type Reveals = Vec<(String, String)>;

/// The number of bytes of records and values after which a chunk ends. Its first record can be
/// larger.
const CHUNK_BYTES: usize = 32 << 20;
/// The order of the name columns, and of their words.
const FACETS: [Facet; 5] =
    [Facet::Event, Facet::Session, Facet::Tool, Facet::Agent, Facet::Decision];

/// Returns how many values of a record are indexed, and the words for its names.
pub(super) fn read_entry(db: &Connection, seq: u64) -> rusqlite::Result<Option<(i64, String)>> {
    db.prepare_cached("SELECT vals, event, session, tool, agent, decision FROM entry WHERE seq=?1")?
        .query_row([Num(seq)], |row| {
            let ids = (1..=FACETS.len())
                .map(|column| row.get::<_, Option<i64>>(column))
                .collect::<rusqlite::Result<Vec<_>>>()?;
            Ok((row.get(0)?, words::of_names(ids.into_iter().flatten())))
        })
        .optional()
}

/// The result of adding a chunk.
pub(super) enum Added {
    Some,
    None,
    /// A value was erased without the index, whose words may still contain the value.
    Stale,
}

/// Reads one record with its values.
pub(super) fn read_record(
    log: &Connection,
    seq: u64,
) -> rusqlite::Result<Option<(Light, Reveals)>> {
    let body: Option<Vec<u8>> = log
        .prepare_cached("SELECT body FROM audit_record WHERE seq=?1")?
        .query_row([Num(seq)], |row| row.get(0))
        .optional()?;
    let Some(body) = body else { return Ok(None) };
    Ok(Some((serde_json::from_slice(&body).unwrap_or_default(), read_reveals(log, seq)?)))
}

fn read_reveals(log: &Connection, seq: u64) -> rusqlite::Result<Reveals> {
    log.prepare_cached("SELECT member, value FROM audit_reveal WHERE seq=?1 ORDER BY member")?
        .query_map([Num(seq)], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// A record without its values.
struct Read {
    seq: u64,
    body: Light,
    leaf: Vec<u8>,
    /// How many values the record has.
    vals: usize,
    words: String,
}

/// Reads the next records, until they have too many bytes. Only the values of one record are in
/// memory at a time.
fn read_chunk(log: &Connection, after: u64, most: u32) -> rusqlite::Result<Vec<Read>> {
    // This is one transaction, so that records and values are from the same moment.
    let tx = log.unchecked_transaction()?;
    let mut statement = tx.prepare_cached(
        "SELECT seq, body, leaf FROM audit_record WHERE seq>?1 ORDER BY seq LIMIT ?2",
    )?;
    let mut rows = statement.query(params![Num(after), most])?;
    let (mut records, mut bytes) = (Vec::new(), 0);
    while bytes < CHUNK_BYTES
        && let Some(row) = rows.next()?
    {
        let (seq, stored): (_, Vec<u8>) = (row.get::<_, Num>(0)?.0, row.get(1)?);
        let body: Light = serde_json::from_slice(&stored).unwrap_or_default();
        let reveals = read_reveals(&tx, seq)?;
        bytes += stored.len() + reveals.iter().map(|(_, value)| value.len()).sum::<usize>();
        records.push(Read {
            seq,
            leaf: row.get(2)?,
            vals: reveals.len(),
            words: words::of_record(&body.fields, body.session.as_deref(), &reveals),
            body,
        });
    }
    Ok(records)
}

/// Adds the next records in one transaction.
pub(super) fn add_chunk(
    db: &mut Connection,
    log: &Connection,
    after: u64,
    most: u32,
) -> rusqlite::Result<Added> {
    let records = read_chunk(log, after, most)?;
    let Some(last) = records.last() else { return Ok(Added::None) };
    let (indexed, leaf) = (last.seq, last.leaf.clone());
    let tx = db.transaction()?;
    let mut batch = Batch::new(&tx)?;
    for record in &records {
        let is_stale = match record.body.kind.as_str() {
            "value_erased" => has_erased(&tx, log, &record.body)?,
            "values_expired" => has_expired(&tx, log, record)?,
            _ => false,
        };
        if is_stale {
            return Ok(Added::Stale);
        }
        batch.add(record)?;
    }
    batch.finish()?;
    tx.prepare_cached("UPDATE state SET indexed=?1, leaf=?2")?
        .execute(params![Num(indexed), leaf])?;
    tx.commit()?;
    Ok(Added::Some)
}

/// Whether the index contains more values of the erased value's record than the log.
fn has_erased(tx: &Transaction<'_>, log: &Connection, body: &Light) -> rusqlite::Result<bool> {
    let Some(of) = body.fields.get("record").and_then(Value::as_u64) else { return Ok(false) };
    let indexed: Option<i64> = tx
        .prepare_cached("SELECT vals FROM entry WHERE seq=?1")?
        .query_row([clamped(of)], |row| row.get(0))
        .optional()?;
    let Some(indexed) = indexed.filter(|vals| *vals > 0) else { return Ok(false) };
    Ok(indexed > count_stored(log, of)?)
}

/// Whether the index contains more values of expired records than the log. Records that were found
/// to have no values are not checked again.
fn has_expired(tx: &Transaction<'_>, log: &Connection, record: &Read) -> rusqlite::Result<bool> {
    let until = record.body.fields.get("until").and_then(Value::as_u64).unwrap_or_default();
    let until = Num(until.min(record.seq));
    let mut statement = tx.prepare_cached(
        "SELECT seq, vals FROM entry
         WHERE seq>(SELECT expired FROM state) AND seq<=?1 AND vals>0",
    )?;
    let mut rows = statement.query([until])?;
    while let Some(row) = rows.next()? {
        if row.get::<_, i64>(1)? > count_stored(log, row.get::<_, Num>(0)?.0)? {
            return Ok(true);
        }
    }
    tx.prepare_cached("UPDATE state SET expired=max(expired, ?1)")?.execute([until])?;
    Ok(false)
}

fn count_stored(log: &Connection, seq: u64) -> rusqlite::Result<i64> {
    log.prepare_cached("SELECT count(*) FROM audit_reveal WHERE seq=?1")?
        .query_row([clamped(seq)], |row| row.get(0))
}

/// Returns a number from a record as an SQL value. The record may be damaged.
fn clamped(number: u64) -> Num {
    Num(number.min(i64::MAX as u64))
}

#[derive(Clone, Debug)]
struct Group {
    id: u64,
    kind: Kind,
    turn: Option<String>,
    session: Option<i64>,
    at: i64,
    last_seq: u64,
    last_at: i64,
    records: u64,
    /// The record that contains the question and the person who asked it.
    asked: Option<u64>,
    status: Option<String>,
    /// How many calls have no outcome so far.
    open: u64,
}

impl Group {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get::<_, Num>(0)?.0,
            kind: Kind::of_number(row.get(1)?),
            turn: row.get(2)?,
            session: row.get(3)?,
            at: row.get(4)?,
            last_seq: row.get::<_, Num>(5)?.0,
            last_at: row.get(6)?,
            records: row.get::<_, Num>(7)?.0,
            asked: row.get::<_, Option<Num>>(8)?.map(|n| n.0),
            status: row.get(9)?,
            open: row.get::<_, Num>(10)?.0,
        })
    }
}

const GROUP: &str = "SELECT id, kind, turn, session, at, last_seq, last_at, records, asked, status, open FROM grp WHERE";

/// The records that one transaction adds. Counts and groups are written only once, at the end.
struct Batch<'t> {
    tx: &'t Transaction<'t>,
    /// For each name, its id, and how many records and groups were added.
    names: HashMap<(Facet, String), (i64, u64, u64)>,
    groups: HashMap<u64, Group>,
    turns: HashMap<String, u64>,
    hours: BTreeMap<i64, (u64, u64)>,
    /// The newest group without a turn.
    loose: Option<u64>,
}

impl<'t> Batch<'t> {
    fn new(tx: &'t Transaction<'t>) -> rusqlite::Result<Self> {
        let loose: Option<Num> = tx.query_row("SELECT loose FROM state", [], |row| row.get(0))?;
        Ok(Self {
            tx,
            names: HashMap::new(),
            groups: HashMap::new(),
            turns: HashMap::new(),
            hours: BTreeMap::new(),
            loose: loose.map(|n| n.0),
        })
    }

    fn add(&mut self, record: &Read) -> rusqlite::Result<()> {
        let (body, seq, at) = (&record.body, record.seq, record.body.at());
        let texts = [
            (Facet::Session, body.session.as_deref()),
            (Facet::Event, Some(body.kind.as_str())),
            (Facet::Tool, body.text("tool")),
            (Facet::Agent, body.text("agent")),
            (Facet::Decision, body.decision()),
        ];
        let mut ids: HashMap<Facet, i64> = HashMap::new();
        for (facet, text) in texts {
            if let Some(text) = text {
                ids.insert(facet, self.name(facet, text)?);
            }
        }
        let group = self.group_of(record, ids.get(&Facet::Session).copied())?;
        for (facet, text) in texts {
            let (Some(text), Some(id)) = (text, ids.get(&facet)) else { continue };
            let is_new = self
                .tx
                .prepare_cached("INSERT OR IGNORE INTO grp_has(name, grp) VALUES(?1, ?2)")?
                .execute(params![id, Num(group)])?
                > 0;
            if let Some(name) = self.names.get_mut(&(facet, text.to_owned())) {
                name.1 += 1;
                name.2 += u64::from(is_new);
            }
        }
        let id = |facet| ids.get(&facet);
        self.tx
            .prepare_cached("INSERT INTO entry(seq, grp, at, vals, event, session, tool, agent, decision) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?
            .execute(params![
                Num(seq),
                Num(group),
                at,
                record.vals as i64,
                id(Facet::Event),
                id(Facet::Session),
                id(Facet::Tool),
                id(Facet::Agent),
                id(Facet::Decision),
            ])?;
        let names = words::of_names(FACETS.into_iter().filter_map(|facet| id(facet).copied()));
        self.tx
            .prepare_cached("INSERT INTO words(rowid, text, names) VALUES(?1, ?2, ?3)")?
            .execute(params![Num(seq), record.words, names])?;
        let hour = self.hours.entry(at.div_euclid(HOUR)).or_insert((seq, seq));
        *hour = (hour.0.min(seq), hour.1.max(seq));
        Ok(())
    }

    fn name(&mut self, facet: Facet, text: &str) -> rusqlite::Result<i64> {
        let key = (facet, text.to_owned());
        if let Some(known) = self.names.get(&key) {
            return Ok(known.0);
        }
        let found: Option<i64> = self
            .tx
            .prepare_cached("SELECT id FROM name WHERE facet=?1 AND text=?2")?
            .query_row(params![facet as i64, text], |row| row.get(0))
            .optional()?;
        let id = match found {
            Some(id) => id,
            None => {
                self.tx
                    .prepare_cached("INSERT INTO name(facet, text) VALUES(?1, ?2)")?
                    .execute(params![facet as i64, text])?;
                self.tx.last_insert_rowid()
            }
        };
        self.names.insert(key, (id, 0, 0));
        Ok(id)
    }

    /// Returns the group of a record. Creates a new group if necessary.
    fn group_of(&mut self, record: &Read, session: Option<i64>) -> rusqlite::Result<u64> {
        let (body, seq, at) = (&record.body, record.seq, record.body.at());
        let known = match &body.turn {
            Some(turn) => self.group_of_turn(turn)?,
            None => self.loose_group(body, session)?,
        };
        let id = known.unwrap_or(seq);
        let is_asked = body.commitments.contains_key("input");
        if known.is_none() {
            let kind = match (body.kind.as_str(), &body.turn) {
                (_, Some(_)) => Kind::Call,
                ("log_opened", None) => Kind::Start,
                ("value_erased" | "session_erased", None) => Kind::Erasure,
                ("memory_read", None) => Kind::Visit,
                (_, None) => Kind::Record,
            };
            let group = Group {
                id,
                kind,
                turn: body.turn.clone(),
                session,
                at,
                last_seq: seq,
                last_at: at,
                records: 0,
                asked: None,
                status: None,
                open: 0,
            };
            self.groups.insert(id, group);
            match &body.turn {
                Some(turn) => drop(self.turns.insert(turn.clone(), id)),
                None => self.loose = Some(id),
            }
        }
        let Some(group) = self.groups.get_mut(&id) else { return Ok(id) };
        if is_asked {
            group.kind = Kind::Question;
        }
        if is_asked || (group.asked.is_none() && body.fields.contains_key("origin")) {
            group.asked = Some(seq);
        }
        let ends = match group.kind {
            Kind::Question => body.kind == "run_ended",
            Kind::Call => matches!(body.kind.as_str(), "run_ended" | "tool_outcome"),
            Kind::Start | Kind::Erasure | Kind::Record | Kind::Visit => true,
        };
        if ends && let Some(status) = body.text("status") {
            group.status = Some(status.to_owned());
        }
        // Without a turn, an outcome is in a group of its own.
        match body.kind.as_str() {
            "tool_intent" if group.turn.is_some() => group.open += 1,
            "tool_outcome" => group.open = group.open.saturating_sub(1),
            _ => {}
        }
        group.records += 1;
        (group.last_seq, group.last_at) = (seq, at);
        group.session = group.session.or(session);
        Ok(id)
    }

    fn group_of_turn(&mut self, turn: &str) -> rusqlite::Result<Option<u64>> {
        if let Some(id) = self.turns.get(turn) {
            return Ok(Some(*id));
        }
        let found = self
            .tx
            .prepare_cached(&format!("{GROUP} turn=?1"))?
            .query_row([turn], Group::read)
            .optional()?;
        Ok(found.map(|group| {
            let id = group.id;
            self.turns.insert(turn.to_owned(), id);
            self.groups.insert(id, group);
            id
        }))
    }

    /// Returns the newest group without a turn if the record belongs to that group: the packs of a
    /// start, and the values of one erasure.
    fn loose_group(&mut self, body: &Light, session: Option<i64>) -> rusqlite::Result<Option<u64>> {
        let wanted = match body.kind.as_str() {
            "pack_loaded" => Kind::Start,
            "value_erased" | "session_erased" => Kind::Erasure,
            _ => return Ok(None),
        };
        let Some(id) = self.loose else { return Ok(None) };
        if !self.groups.contains_key(&id) {
            let found = self
                .tx
                .prepare_cached(&format!("{GROUP} id=?1"))?
                .query_row([Num(id)], Group::read)
                .optional()?;
            let Some(group) = found else { return Ok(None) };
            self.groups.insert(id, group);
        }
        let group = self.groups.get(&id);
        Ok(group
            .filter(|group| {
                group.kind == wanted && (wanted == Kind::Start || group.session == session)
            })
            .map(|group| group.id))
    }

    fn finish(self) -> rusqlite::Result<()> {
        let tx = self.tx;
        for (id, records, groups) in self.names.values().filter(|name| name.1 > 0) {
            tx.prepare_cached("UPDATE name SET records=records+?2, groups=groups+?3 WHERE id=?1")?
                .execute(params![id, Num(*records), Num(*groups)])?;
        }
        for group in self.groups.values() {
            tx.prepare_cached("INSERT OR REPLACE INTO grp(id, kind, turn, session, at, last_seq, last_at, records, asked, status, open) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")?
                .execute(params![
                    Num(group.id),
                    group.kind as i64,
                    group.turn,
                    group.session,
                    group.at,
                    Num(group.last_seq),
                    group.last_at,
                    Num(group.records),
                    group.asked.map(Num),
                    group.status,
                    Num(group.open),
                ])?;
        }
        for (hour, (first, last)) in &self.hours {
            tx.prepare_cached("INSERT INTO hour(hour, first, last) VALUES(?1, ?2, ?3) ON CONFLICT(hour) DO UPDATE SET first=min(first, excluded.first), last=max(last, excluded.last)")?
                .execute(params![hour, Num(*first), Num(*last)])?;
        }
        tx.prepare_cached("UPDATE state SET loose=?1")?.execute([self.loose.map(Num)])?;
        Ok(())
    }
}

/// The number of milliseconds in an hour.
pub(super) const HOUR: i64 = 3_600_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_of_rows_ends_early_when_its_values_are_large() {
        let log = Connection::open_in_memory().expect("a database");
        crate::schema::create(&log).expect("tables");
        let value = format!("\"{}\"", "large ".repeat(2 << 20));
        for seq in 1..=5 {
            log.execute(
                "INSERT INTO audit_record(seq, body, leaf, at, type) VALUES(?1, x'7b7d', x'', '', '')",
                [seq],
            )
            .expect("a record");
            log.execute(
                "INSERT INTO audit_reveal VALUES(?1, 'result', x'', ?2)",
                params![seq, value],
            )
            .expect("a value");
        }
        let seqs = |after: u64| -> Vec<u64> {
            let chunk = read_chunk(&log, after, 100).expect("a chunk");
            assert!(chunk.iter().all(|record| record.vals == 1 && record.words.len() < 1 << 20));
            chunk.iter().map(|record| record.seq).collect()
        };
        // Each value has 12 MiB.
        assert_eq!((seqs(0), seqs(3)), (vec![1, 2, 3], vec![4, 5]));
    }
}
