//! The comparison of a file with its source by days and names: sums of the days that both have, names
//! that vanished and names that probably changed. Like all queries of a comparison, these are made here and answered by a
//! query process. It must not know who decides what follows.

use contract::sources::SumChange;
use serde_json::Value;

use super::comparing::{Comparison, Renamed, Vanished, as_text, identifier, literal, text_of};

/// The most examples of vanished names.
const EXAMPLES: usize = 5;
/// The most renamed things, and the most bytes of their names, because a query has a limited length.
const RENAMED: usize = 300;
const NAMES: usize = 20_000;

impl Comparison {
    /// The query for the first sum in the days that both tables have, before and after, by
    /// currency. None if there are no days or no sums.
    pub(super) fn same_days(&self) -> Option<String> {
        let (time, sum) = (self.shared.time.as_ref()?, self.shared.sums.first()?);
        let daily = |from: &str, within: &str| {
            format!(
                "SELECT CAST({} AS DATE) AS day, {} AS c, sum({}) AS s FROM {from} WHERE {within} GROUP BY 1, 2",
                identifier(&time.column),
                self.currency(),
                identifier(sum)
            )
        };
        Some(format!(
            "WITH b AS ({}), f AS ({}) SELECT b.c, CAST(coalesce(sum(b.s), 0) AS VARCHAR), \
             CAST(coalesce(sum(f.s), 0) AS VARCHAR) FROM b JOIN f ON b.day = f.day AND b.c = f.c GROUP BY 1 ORDER BY 1",
            daily("before", &self.within),
            daily("file", "true")
        ))
    }

    /// Reads the answer to `same_days`.
    pub(super) fn read_same_days(&self, rows: &[Value]) -> Vec<SumChange> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let read = |row: &Value| SumChange {
            column: self.shared.sums.first().cloned().unwrap_or_default(),
            currency: Some(text(&row[0])).filter(|name| !name.is_empty()),
            before: text(&row[1]),
            after: text(&row[2]),
            vanished: "0".to_owned(),
        };
        rows.iter().map(read).collect()
    }

    /// The query for names that are only in the source and have the same sums of each day as a name
    /// that is only in the file. None if rows are told apart by ids: a renamed thing keeps its id.
    pub(super) fn renamed(&self) -> Option<String> {
        let label = self.shared.label.as_ref().filter(|_| self.is_label_key())?;
        let (time, sum) = (self.shared.time.as_ref()?, self.shared.sums.first()?);
        let daily = |from: &str, others: &str| {
            format!(
                "SELECT coalesce({label}, '') AS name, CAST({day} AS DATE) AS day, {currency} AS c, sum({sum}) AS s FROM {from} \
                 WHERE coalesce({label}, '') NOT IN (SELECT coalesce({label}, '') FROM {others}) GROUP BY 1, 2, 3",
                label = as_text(label),
                day = identifier(&time.column),
                currency = self.currency(),
                sum = identifier(sum),
            )
        };
        let scoped = format!("(SELECT * FROM before WHERE {}) AS x", self.within);
        // Names without amounts are equal to each other on all days.
        Some(format!(
            "WITH v AS ({}), w AS ({}) SELECT v.name, w.name, count(*) AS days FROM v JOIN w ON v.day = w.day AND v.c = w.c AND v.s = w.s \
             GROUP BY 1, 2 HAVING count(*) = (SELECT count(*) FROM v AS o WHERE o.name = v.name) AND max(abs(v.s)) > 0 ORDER BY 1, 2 LIMIT {RENAMED}",
            daily(&scoped, "file"),
            daily("file", &scoped),
        ))
    }

    /// Reads the answer to `renamed`. A name that could be several is taken for the first. The names
    /// that are left out are asked about like others that vanished.
    pub(super) fn read_renamed(rows: &[Value]) -> Vec<Renamed> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut renamed: Vec<Renamed> =
            rows.iter().map(|row| Renamed { from: text(&row[0]), to: text(&row[1]) }).collect();
        renamed.dedup_by(|one, other| one.from == other.from);
        let mut bytes = 0;
        renamed.retain(|one| {
            bytes += one.from.len();
            bytes <= NAMES
        });
        renamed
    }

    /// The currency of a row, as text.
    fn currency(&self) -> String {
        let column = self.shared.currency.as_ref();
        column
            .map_or_else(|| "''".to_owned(), |column| format!("coalesce({}, '')", as_text(column)))
    }

    /// The query for examples of vanished names, those with the greatest sum first. Former names of
    /// renamed things are left out.
    pub(super) fn vanished(&self, renamed: &[Renamed]) -> Option<String> {
        let label = format!("coalesce({}, '')", as_text(self.shared.label.as_ref()?));
        let keys = self.shared.keys.iter().enumerate().map(|(at, key)| {
            let equal = equal_text("x", "file", key);
            match self.lacking.contains(&at) {
                true => format!("(x.{} IS NULL OR {equal})", identifier(key)),
                false => equal,
            }
        });
        let names = self.names().map(|(id, name)| {
            let id = identifier(&self.shared.keys[*id]);
            format!("(x.{id} IS NOT NULL OR {})", equal_text("x", "file", name))
        });
        let keys: Vec<String> = keys.chain(names).collect();
        let keys = if keys.is_empty() { "true".to_owned() } else { keys.join(" AND ") };
        let names: Vec<String> = renamed.iter().map(|one| literal(&one.from)).collect();
        let others = match names.as_slice() {
            [] => String::new(),
            names => format!(" AND {label} NOT IN ({})", names.join(", ")),
        };
        let time = self.shared.time.as_ref();
        let day = time.map_or_else(|| "NULL".to_owned(), |time| identifier(&time.column));
        let sums: Vec<String> =
            self.shared.sums.iter().map(|sum| format!("sum({})", identifier(sum))).collect();
        let sum = sums.first().map_or("count(*)", String::as_str);
        let has_amount: Vec<String> = sums.iter().map(|sum| format!("{sum} <> 0")).collect();
        let has_amount = if sums.is_empty() { "true".to_owned() } else { has_amount.join(" OR ") };
        Some(format!(
            "SELECT {label} AS name, CAST(min({day}) AS VARCHAR), CAST(max({day}) AS VARCHAR), CAST({sum} AS VARCHAR), {} AS currency \
             FROM (SELECT * FROM before WHERE {}) AS x WHERE NOT EXISTS (SELECT 1 FROM file WHERE {keys}){others} \
             GROUP BY 1, 5 HAVING {has_amount} ORDER BY {sum} DESC, 1, 5 LIMIT {EXAMPLES}",
            self.currency(),
            self.within
        ))
    }

    /// Reads the answer to `vanished`.
    pub(super) fn read_vanished(rows: &[Value]) -> Vec<Vanished> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let read = |row: &Value| Vanished {
            name: text(&row[0]).unwrap_or_default(),
            first: text(&row[1]),
            last: text(&row[2]),
            sum: text(&row[3]).unwrap_or_default(),
            currency: text(&row[4]).filter(|currency| !currency.is_empty()),
        };
        rows.iter().map(read).collect()
    }

    /// The query for the number of names that both tables have, in all rows of the source.
    pub(super) fn common_names(&self) -> Option<String> {
        let label = as_text(self.shared.label.as_ref()?);
        Some(format!(
            "SELECT count(DISTINCT {label}) FROM file WHERE {label} IN (SELECT {label} FROM before)"
        ))
    }
}

/// The condition that a column has the same text in two tables.
fn equal_text(one: &str, other: &str, column: &str) -> String {
    format!("{} = {}", text_of(one, column), text_of(other, column))
}
