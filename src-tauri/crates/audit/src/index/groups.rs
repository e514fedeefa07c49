//! Finds the groups that match a filter by the index. The words of a filter are searched once,
//! newest record first, and each group is checked once.

use std::collections::{HashMap, HashSet};

use contract::AuditEntriesParams;
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter};

use super::Kind;
use super::find::{Query, Wanted, expression, number};
use crate::num::Num;

/// A group on a page.
pub(super) struct Found {
    pub(super) group: u64,
    /// The position where the next page begins if this is the page's last group.
    pub(super) position: u64,
}

/// A page of groups, newest first.
#[derive(Default)]
pub(super) struct Page {
    pub(super) groups: Vec<Found>,
    pub(super) has_more: bool,
}

/// Returns the groups whose records match each part of the filter. With words, the order is that of
/// the newest matching record, otherwise that of the groups' first records.
pub(super) fn find_groups(
    db: &Connection,
    params: &AuditEntriesParams,
    limit: usize,
) -> rusqlite::Result<Page> {
    let Some(query) = Query::new(db, &params.filter)? else { return Ok(Page::default()) };
    let (kinds, before) = (kinds(params), params.before);
    match &query.words {
        Some(words) => groups_by_words(db, &query, &kinds, words, before, limit),
        None => groups_by_name(db, &query, &kinds, before, limit),
    }
}

/// Returns the SQL condition for the kinds of groups that are listed.
fn kinds(params: &AuditEntriesParams) -> String {
    match (params.asked, params.filter.event) {
        (true, _) => format!(" AND g.kind IN ({}, {})", Kind::Question as i64, Kind::Call as i64),
        (false, Some(_)) => String::new(),
        (false, None) => format!(" AND g.kind<>{}", Kind::Visit as i64),
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
    kinds: &str,
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
    values.push(number(query.range().0));
    values.push(number(query.below(before).0));
    has_names(query.names().get(1..).unwrap_or_default(), "g.id", &mut sql, &mut values);
    query.times("g.at", &mut sql, &mut values);
    sql.push_str(kinds);
    let key = if query.names().is_empty() { "g.id" } else { "h.grp" };
    sql.push_str(&format!(" ORDER BY {key} DESC LIMIT ?"));
    values.push(number(limit as u64 + 1));
    let mut statement = db.prepare_cached(&sql)?;
    let rows = statement.query_map(params_from_iter(values), |row| {
        let group = row.get::<_, Num>(0)?.0;
        Ok(Found { group, position: group })
    })?;
    let mut groups: Vec<Found> = rows.collect::<rusqlite::Result<_>>()?;
    let has_more = groups.len() > limit;
    groups.truncate(limit);
    Ok(Page { groups, has_more })
}

/// A name with at most this many groups is a good start for a search with words.
const RARE: u64 = 2_000;
/// The maximum number of records of such groups that are kept in memory.
const RECORDS: usize = 50_000;
/// The factor by which the range of newer records grows if it was too short.
const GROWTH: u64 = 8;

/// Returns a page of the groups that contain the words in one record and each name in any record.
/// The order is that of the newest record with the words.
fn groups_by_words(
    db: &Connection,
    query: &Query,
    kinds: &str,
    words: &str,
    before: Option<u64>,
    limit: usize,
) -> rusqlite::Result<Page> {
    // The end of the filter's time applies to the beginnings of groups, and their later records may
    // come after that time.
    let end = before.unwrap_or(i64::MAX as u64).min(i64::MAX as u64);
    let words = expression(words, &[]);
    let candidates = candidates(db, query)?;
    let (mut first, mut until) = (query.range().0, end);
    if let Some(candidates) = &candidates {
        let Some(oldest) = candidates.keys().min() else { return Ok(Page::default()) };
        first = first.max(*oldest);
        until = until.min(candidates.keys().max().map_or(0, |newest| newest + 1));
    }
    let sql = match candidates {
        Some(_) => {
            "SELECT rowid FROM words WHERE words MATCH ?1 AND rowid>=?2 AND rowid<?3 ORDER BY rowid DESC"
        }
        None => {
            "SELECT words.rowid, e.grp FROM words CROSS JOIN entry e ON e.seq=words.rowid WHERE words MATCH ?1 AND words.rowid>=?2 AND words.rowid<?3 ORDER BY words.rowid DESC"
        }
    };
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(params![words, Num(first), Num(until)])?;
    let mut earlier = Earlier { db, words: &words, end, until: end, groups: HashSet::new() };
    let (mut page, mut judged) = (Page::default(), HashSet::new());
    while let Some(row) = rows.next()? {
        let seq = row.get::<_, Num>(0)?.0;
        let group = match &candidates {
            Some(candidates) => match candidates.get(&seq) {
                Some(group) => *group,
                None => continue,
            },
            None => row.get::<_, Num>(1)?.0,
        };
        if !judged.insert(group) {
            continue;
        }
        let Some(newest) = newest_if_fitting(db, query, kinds, group)? else { continue };
        if earlier.has(group, newest)? {
            continue;
        }
        if page.groups.len() == limit {
            page.has_more = true;
            break;
        }
        page.groups.push(Found { group, position: seq });
    }
    Ok(page)
}

/// Returns the records of the groups with the rarest name, each with its group. Returns None if
/// there are too many records, or if the filter has no name.
fn candidates(db: &Connection, query: &Query) -> rusqlite::Result<Option<HashMap<u64, u64>>> {
    let Some(name) = query.rarest().filter(|name| name.groups <= RARE) else { return Ok(None) };
    let found = db
        .prepare_cached("SELECT e.seq, h.grp FROM grp_has h CROSS JOIN entry e ON e.grp=h.grp WHERE h.name=?1 LIMIT ?2")?
        .query_map(params![name.id, RECORDS as i64 + 1], |row| {
            Ok((row.get::<_, Num>(0)?.0, row.get::<_, Num>(1)?.0))
        })?
        .collect::<rusqlite::Result<HashMap<_, _>>>()?;
    Ok((found.len() <= RECORDS).then_some(found))
}

/// Returns the newest record of a group that has the names and the time of the filter.
fn newest_if_fitting(
    db: &Connection,
    query: &Query,
    kinds: &str,
    group: u64,
) -> rusqlite::Result<Option<u64>> {
    let mut sql = String::from("SELECT g.last_seq FROM grp g WHERE g.id=?1");
    let mut values = vec![number(group)];
    has_names(query.names(), "g.id", &mut sql, &mut values);
    query.times("g.at", &mut sql, &mut values);
    sql.push_str(kinds);
    db.prepare_cached(&sql)?
        .query_row(params_from_iter(values), |row| row.get::<_, Num>(0).map(|n| n.0))
        .optional()
}

/// The groups on earlier pages: those with the words in a record with at least the number `end`.
struct Earlier<'a> {
    db: &'a Connection,
    words: &'a str,
    end: u64,
    /// The records before this number have been read.
    until: u64,
    groups: HashSet<u64>,
}

impl Earlier<'_> {
    /// Whether an earlier page contains the group, whose newest record is given. Each read covers a
    /// much larger range than the previous read, so that few reads are needed.
    fn has(&mut self, group: u64, newest: u64) -> rusqlite::Result<bool> {
        if newest >= self.until {
            let further = self.end.saturating_add((self.until - self.end).saturating_mul(GROWTH));
            let until = further.max(newest.saturating_add(1)).min(i64::MAX as u64);
            let mut statement = self.db.prepare_cached("SELECT e.grp FROM words CROSS JOIN entry e ON e.seq=words.rowid WHERE words MATCH ?1 AND words.rowid>=?2 AND words.rowid<?3")?;
            let mut rows = statement.query(params![self.words, Num(self.until), Num(until)])?;
            while let Some(row) = rows.next()? {
                self.groups.insert(row.get::<_, Num>(0)?.0);
            }
            self.until = until;
        }
        Ok(self.groups.contains(&group))
    }
}
