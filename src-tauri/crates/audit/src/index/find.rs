//! Finds the records that match a filter by the index. A page starts at the rarest name of the
//! filter, or at the words, and continues in the order of the log until it is full. `groups` finds
//! groups.

use chrono::{DateTime, Utc};
use contract::AuditFilter;
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter};

use super::rows::HOUR;
use super::{Facet, Index, words};
use crate::chain::type_name;
use crate::num::Num;

/// If the last word has at least this many characters, it also matches longer words.
const BEGINNING: usize = 3;

/// A name in a filter, as stored in the index.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    facet: Facet,
    pub(super) id: i64,
    records: u64,
    pub(super) groups: u64,
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

/// A filter with the names, times and words as stored in the index.
pub(super) struct Query {
    /// The names of the filter, rarest first.
    names: Vec<Wanted>,
    since: Option<i64>,
    until: Option<i64>,
    /// The first and last record of the hours that contain the filter's time.
    range: (u64, u64),
    pub(super) words: Option<String>,
}

fn moment(at: DateTime<Utc>) -> i64 {
    at.timestamp_millis()
}

/// Returns the words of a search as an FTS5 expression, or None if the search has no words.
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
    /// Returns None if no record can match.
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

    pub(super) fn names(&self) -> &[Wanted] {
        &self.names
    }

    pub(super) fn range(&self) -> (u64, u64) {
        self.range
    }

    pub(super) fn rarest(&self) -> Option<&Wanted> {
        self.names.first()
    }

    /// Returns the number below which records are searched.
    pub(super) fn below(&self, before: Option<u64>) -> Num {
        let end = self.range.1.saturating_add(1);
        Num(before.map_or(end, |before| before.min(end)).min(i64::MAX as u64))
    }

    pub(super) fn times(&self, column: &str, sql: &mut String, values: &mut Vec<Sql>) {
        for (bound, sign) in [(self.since, ">="), (self.until, "<")] {
            if let Some(bound) = bound {
                sql.push_str(&format!(" AND {column}{sign}?"));
                values.push(Sql::Integer(bound));
            }
        }
    }
}

pub(super) fn number(n: u64) -> Sql {
    Sql::Integer(i64::try_from(n).unwrap_or(i64::MAX))
}

/// Returns the first and last record of all hours between two moments. Clocks can be set back, so
/// times do not always increase with the numbers of records.
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

/// Returns an FTS5 expression for records that contain these words and names.
pub(super) fn expression(words: &str, names: &[Wanted]) -> String {
    let mut all = format!("text : ({words})");
    for name in names {
        all.push_str(&format!(" AND names : \"{}\"", words::of_name(name.id)));
    }
    all
}

/// Returns the numbers of the matching records, newest first: at most `limit`, and one more if
/// there are more.
pub(crate) fn find_records(
    index: &Index,
    filter: &AuditFilter,
    before: Option<u64>,
    limit: usize,
) -> rusqlite::Result<Vec<u64>> {
    let db = &index.db;
    let Some(query) = Query::new(db, filter)? else { return Ok(Vec::new()) };
    let mut values: Vec<Sql> = Vec::new();
    let (mut sql, key) = match (&query.words, query.rarest()) {
        (Some(words), _) => {
            // The word index contains the names, too, and finds the records that contain all of
            // them.
            values.push(Sql::Text(expression(words, &query.names)));
            let has_times = query.since.is_some() || query.until.is_some();
            let joined = if has_times { "CROSS JOIN entry e ON e.seq=words.rowid" } else { "" };
            let sql = format!("SELECT words.rowid FROM words {joined} WHERE words MATCH ? AND");
            (sql, "words.rowid")
        }
        (None, Some(name)) => {
            let column = name.facet.column();
            values.push(Sql::Integer(name.id));
            let sql = format!(
                "SELECT e.seq FROM entry e INDEXED BY entry_{column} WHERE e.{column}=? AND"
            );
            (sql, "e.seq")
        }
        (None, None) => ("SELECT e.seq FROM entry e WHERE".to_owned(), "e.seq"),
    };
    sql.push_str(&format!(" {key}>=? AND {key}<?"));
    values.push(number(query.range.0));
    values.push(number(query.below(before).0));
    if query.words.is_none() {
        for name in query.names.iter().skip(1) {
            // The plus sign prevents the planner from using another index than the chosen one.
            sql.push_str(&format!(" AND +e.{}=?", name.facet.column()));
            values.push(Sql::Integer(name.id));
        }
    }
    query.times("e.at", &mut sql, &mut values);
    sql.push_str(&format!(" ORDER BY {key} DESC LIMIT ?"));
    values.push(number(limit as u64 + 1));
    let mut statement = db.prepare_cached(&sql)?;
    let rows =
        statement.query_map(params_from_iter(values), |row| row.get::<_, Num>(0).map(|n| n.0))?;
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::words_of;

    #[test]
    fn a_search_text_is_quoted_word_by_word_and_has_no_query_operators() {
        let read = |text: &str| words_of(text).unwrap_or_default();
        assert_eq!(read("Berlin hotels"), "\"Berlin\" \"hotels\" *");
        assert_eq!(read("Berlin "), "\"Berlin\"");
        assert_eq!(read("in"), "\"in\"");
        assert_eq!(read("a OR \"b"), "\"a\" \"OR\" \"\"\"b\"");
        assert_eq!(read(" - ( "), "");
    }
}
