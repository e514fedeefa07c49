//! Asks the index which records or groups fit a filter. A page starts at the rarest name of the
//! filter, or at the words, and goes on in the order of the log until it is full: no page reads the
//! whole index.

use chrono::{DateTime, Utc};
use contract::AuditFilter;
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter};

use super::rows::HOUR;
use super::{Facet, Index};
use crate::chain::type_name;
use crate::num::Num;

/// A name that occurs this rarely is a better start than the words.
const RARE: u64 = 2_000;
/// A last word of at least this many characters also stands for longer words.
const BEGINNING: usize = 3;

/// A name of a filter, as it is in the index.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    facet: Facet,
    id: i64,
    records: u64,
    groups: u64,
}

impl Facet {
    fn column(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Tool => "tool",
            Self::Agent => "agent",
            Self::Event => "event",
            Self::Decision => "decision",
        }
    }
}

/// A filter with the names, times and words as the index has them.
pub(super) struct Query {
    /// The rarest first.
    names: Vec<Wanted>,
    since: Option<i64>,
    until: Option<i64>,
    /// The first and last record of the hours of that time.
    range: (u64, u64),
    words: Option<String>,
}

fn moment(at: DateTime<Utc>) -> i64 {
    at.timestamp_millis()
}

/// Returns the words of a search in the language of FTS5, or None if it has none.
fn words_of(search: &str) -> Option<String> {
    let words: Vec<&str> = search
        .split_whitespace()
        .filter(|word| word.chars().any(char::is_alphanumeric) && !word.contains('\0'))
        .collect();
    let quoted: Vec<String> =
        words.iter().map(|word| format!("\"{}\"", word.replace('"', "\"\""))).collect();
    let is_open = words.last().is_some_and(|word| word.chars().count() >= BEGINNING)
        && !search.ends_with(char::is_whitespace);
    (!quoted.is_empty()).then(|| quoted.join(" ") + if is_open { " *" } else { "" })
}

impl Query {
    /// Returns None if nothing can fit.
    pub(super) fn new(db: &Connection, filter: &AuditFilter) -> rusqlite::Result<Option<Self>> {
        let event = filter.event.map(type_name);
        let asked = [
            (Facet::Session, filter.session.as_ref().map(|session| session.as_str())),
            (Facet::Tool, filter.tool.as_deref()),
            (Facet::Agent, filter.agent.as_deref()),
            (Facet::Event, event.as_deref()),
            (Facet::Decision, filter.decision.as_deref()),
        ];
        let mut names = Vec::new();
        for (facet, text) in asked {
            let Some(text) = text else { continue };
            let found = db
                .prepare_cached("SELECT id, records, groups FROM name WHERE facet=?1 AND text=?2")?
                .query_row(params![facet as i64, text], |row| {
                    Ok(Wanted {
                        facet,
                        id: row.get(0)?,
                        records: row.get::<_, Num>(1)?.0,
                        groups: row.get::<_, Num>(2)?.0,
                    })
                })
                .optional()?;
            match found {
                Some(found) => names.push(found),
                None => return Ok(None),
            }
        }
        names.sort_by_key(|name| name.records);
        let words = words_of(&filter.search);
        if words.is_none() && !filter.search.trim().is_empty() {
            return Ok(None);
        }
        let (since, until) = (filter.since.map(moment), filter.until.map(moment));
        let Some(range) = range_of(db, since, until)? else { return Ok(None) };
        Ok(Some(Self { names, since, until, range, words }))
    }

    fn rarest(&self) -> Option<&Wanted> {
        self.names.first()
    }

    /// The number below which records are looked for.
    fn below(&self, before: Option<u64>) -> Num {
        let end = self.range.1.saturating_add(1);
        Num(before.map_or(end, |before| before.min(end)).min(i64::MAX as u64))
    }

    fn times(&self, column: &str, sql: &mut String, values: &mut Vec<Sql>) {
        for (bound, sign) in [(self.since, ">="), (self.until, "<")] {
            if let Some(bound) = bound {
                sql.push_str(&format!(" AND {column}{sign}?"));
                values.push(Sql::Integer(bound));
            }
        }
    }
}

fn number(n: u64) -> Sql {
    Sql::Integer(i64::try_from(n).unwrap_or(i64::MAX))
}

/// Returns the first and last record of all hours between two moments. Clocks can be set back, so
/// times do not grow with the numbers of records everywhere.
fn range_of(
    db: &Connection,
    since: Option<i64>,
    until: Option<i64>,
) -> rusqlite::Result<Option<(u64, u64)>> {
    if since.is_none() && until.is_none() {
        return Ok(Some((0, i64::MAX as u64 - 1)));
    }
    let hour = |at: i64| at.div_euclid(HOUR);
    let found: (Option<Num>, Option<Num>) = db
        .prepare_cached("SELECT min(first), max(last) FROM hour WHERE hour>=?1 AND hour<=?2")?
        .query_row(params![since.map_or(i64::MIN, hour), until.map_or(i64::MAX, hour)], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    Ok(match found {
        (Some(first), Some(last)) => Some((first.0, last.0)),
        _ => None,
    })
}

/// Returns the numbers of the records that fit, newest first: at most `limit`, and one more if there
/// are more.
pub(crate) fn find_records(
    index: &Index,
    filter: &AuditFilter,
    before: Option<u64>,
    limit: usize,
) -> rusqlite::Result<Vec<u64>> {
    let db = &index.db;
    let Some(query) = Query::new(db, filter)? else { return Ok(Vec::new()) };
    let mut values: Vec<Sql> = Vec::new();
    let mut names = query.names.as_slice();
    let rare = query.rarest().filter(|name| query.words.is_none() || name.records <= RARE);
    let (mut sql, key) = match (rare, &query.words) {
        (Some(name), words) => {
            let column = name.facet.column();
            names = &names[1..];
            let joined = if words.is_some() { "CROSS JOIN words" } else { "" };
            let mut sql = format!(
                "SELECT e.seq FROM entry e INDEXED BY entry_{column} {joined} WHERE e.{column}=? AND"
            );
            values.push(Sql::Integer(name.id));
            if let Some(words) = words {
                sql.push_str(" words.rowid=e.seq AND words MATCH ? AND");
                values.push(Sql::Text(words.clone()));
            }
            (sql, "e.seq")
        }
        (None, Some(words)) => {
            values.push(Sql::Text(words.clone()));
            let sql = "SELECT e.seq FROM words CROSS JOIN entry e ON e.seq=words.rowid WHERE words MATCH ? AND";
            (sql.to_owned(), "words.rowid")
        }
        (None, None) => ("SELECT e.seq FROM entry e WHERE".to_owned(), "e.seq"),
    };
    sql.push_str(&format!(" {key}>=? AND {key}<?"));
    values.push(number(query.range.0));
    values.push(number(query.below(before).0));
    for name in names {
        // The sign keeps the planner from another index than the one that was chosen.
        sql.push_str(&format!(" AND +e.{}=?", name.facet.column()));
        values.push(Sql::Integer(name.id));
    }
    query.times("e.at", &mut sql, &mut values);
    sql.push_str(&format!(" ORDER BY {key} DESC LIMIT ?"));
    values.push(number(limit as u64 + 1));
    let mut statement = db.prepare_cached(&sql)?;
    let rows =
        statement.query_map(params_from_iter(values), |row| row.get::<_, Num>(0).map(|n| n.0))?;
    rows.collect()
}

/// A page of groups: their ids, newest first, and where the next page begins.
pub(super) struct Page {
    pub(super) groups: Vec<u64>,
    pub(super) next: Option<u64>,
}

/// Returns the groups of which records fit each part of the filter. With words the order is that of
/// the newest record with them, else that of the groups' first records.
pub(super) fn find_groups(
    db: &Connection,
    filter: &AuditFilter,
    before: Option<u64>,
    limit: usize,
) -> rusqlite::Result<Page> {
    let Some(query) = Query::new(db, filter)? else {
        return Ok(Page { groups: Vec::new(), next: None });
    };
    match &query.words {
        Some(words) if query.rarest().is_none_or(|name| name.groups > RARE) => {
            groups_by_words(db, &query, words, before, limit)
        }
        _ => groups_by_name(db, &query, before, limit),
    }
}

fn has_names(names: &[Wanted], group: &str, sql: &mut String, values: &mut Vec<Sql>) {
    for name in names {
        sql.push_str(&format!(
            " AND EXISTS(SELECT 1 FROM grp_has o WHERE o.name=? AND o.grp={group})"
        ));
        values.push(Sql::Integer(name.id));
    }
}

fn groups_by_name(
    db: &Connection,
    query: &Query,
    before: Option<u64>,
    limit: usize,
) -> rusqlite::Result<Page> {
    let mut values: Vec<Sql> = Vec::new();
    let mut sql = String::from("SELECT g.id FROM ");
    match query.rarest() {
        Some(name) => {
            sql.push_str(
                "grp_has h CROSS JOIN grp g ON g.id=h.grp WHERE h.name=? AND h.grp>=? AND h.grp<?",
            );
            values.push(Sql::Integer(name.id));
        }
        None => sql.push_str("grp g WHERE g.id>=? AND g.id<?"),
    }
    values.push(number(query.range.0));
    values.push(number(query.below(before).0));
    has_names(query.names.get(1..).unwrap_or_default(), "g.id", &mut sql, &mut values);
    query.times("g.at", &mut sql, &mut values);
    if let Some(words) = &query.words {
        sql.push_str(" AND EXISTS(SELECT 1 FROM entry e CROSS JOIN words ON words.rowid=e.seq WHERE e.grp=g.id AND words MATCH ?)");
        values.push(Sql::Text(words.clone()));
    }
    let key = if query.names.is_empty() { "g.id" } else { "h.grp" };
    sql.push_str(&format!(" ORDER BY {key} DESC LIMIT ?"));
    values.push(number(limit as u64 + 1));
    let mut statement = db.prepare_cached(&sql)?;
    let rows =
        statement.query_map(params_from_iter(values), |row| row.get::<_, Num>(0).map(|n| n.0))?;
    let mut groups: Vec<u64> = rows.collect::<rusqlite::Result<_>>()?;
    let has_more = groups.len() > limit;
    groups.truncate(limit);
    let next = groups.last().copied().filter(|_| has_more);
    Ok(Page { groups, next })
}

fn groups_by_words(
    db: &Connection,
    query: &Query,
    words: &str,
    before: Option<u64>,
    limit: usize,
) -> rusqlite::Result<Page> {
    let mut values = vec![Sql::Text(words.to_owned())];
    let mut sql = String::from(
        "SELECT e.seq, e.grp, g.last_seq FROM words CROSS JOIN entry e ON e.seq=words.rowid CROSS JOIN grp g ON g.id=e.grp WHERE words MATCH ? AND",
    );
    sql.push_str(" words.rowid>=? AND words.rowid<?");
    // The end of the time is one of groups' beginnings, and their later records may lie behind it.
    let end = before.unwrap_or(i64::MAX as u64);
    values.push(number(query.range.0));
    values.push(number(end));
    has_names(&query.names, "g.id", &mut sql, &mut values);
    query.times("g.at", &mut sql, &mut values);
    sql.push_str(" ORDER BY words.rowid DESC");
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    let (mut groups, mut last) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        let (seq, group) = (row.get::<_, Num>(0)?.0, row.get::<_, Num>(1)?.0);
        let newest = row.get::<_, Num>(2)?.0;
        if groups.contains(&group) || (newest >= end && was_found(db, words, group, end)?) {
            continue;
        }
        if groups.len() == limit {
            return Ok(Page { groups, next: Some(last) });
        }
        groups.push(group);
        last = seq;
    }
    Ok(Page { groups, next: None })
}

/// Whether an earlier page has the group, because of a newer record with the words.
fn was_found(db: &Connection, words: &str, group: u64, end: u64) -> rusqlite::Result<bool> {
    db.prepare_cached("SELECT EXISTS(SELECT 1 FROM entry e CROSS JOIN words ON words.rowid=e.seq WHERE e.grp=?1 AND e.seq>=?2 AND words MATCH ?3)")?
        .query_row(params![Num(group), Num(end), words], |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::words_of;

    #[test]
    fn a_search_is_read_as_words_and_never_as_a_language() {
        let read = |text: &str| words_of(text).unwrap_or_default();
        assert_eq!(read("Berlin hotels"), "\"Berlin\" \"hotels\" *");
        assert_eq!(read("Berlin "), "\"Berlin\"");
        assert_eq!(read("in"), "\"in\"");
        assert_eq!(read("a OR \"b"), "\"a\" \"OR\" \"\"\"b\"");
        assert_eq!(read(" - ( "), "");
    }
}
