//! The comparison of a file with the rows that a source has: which rows of the file's scope are new,
//! changed or vanished, with their sums, and which names look like former ones. The queries are made
//! here and answered by a query process, with the tables `before` and `file`. It must not know who
//! decides what follows.

use std::{collections::BTreeSet, ops::Range};

use contract::sources::{
    ColumnUse, DayRange, FoundColumn, ImportMode, ImportScope, PartRef, SumChange, TableReport,
};
use serde_json::Value;

use super::shared_columns::Shared;

/// The most accounts by which a scope is limited. A file with more of them speaks for all.
const MOST_VALUES: usize = 1_000;

/// The counts of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Former rows of the scope.
    pub(super) before: u64,
    pub(super) new: u64,
    pub(super) changed: u64,
    pub(super) vanished: u64,
    pub(super) vanished_with_amount: u64,
    /// The days of the vanished rows.
    pub(super) vanished_days: Option<DayRange>,
}

/// A vanished name with its days and first sum, in one currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Vanished {
    pub(super) name: String,
    pub(super) first: Option<String>,
    pub(super) last: Option<String>,
    pub(super) sum: String,
    pub(super) currency: Option<String>,
}

/// A former name whose sums of each day are those of a new name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Renamed {
    pub(super) from: String,
    pub(super) to: String,
}

/// Returns the scope of a file: the accounts in it, and the days that it states or has.
pub(super) fn scope_of(report: &TableReport, accounts: BTreeSet<String>) -> ImportScope {
    let mut scope = ImportScope::default();
    let account = report.columns.iter().find(|column| column.usage == ColumnUse::Account);
    if let Some(account) = account
        && !accounts.is_empty()
        && accounts.len() <= MOST_VALUES
    {
        scope.values.insert(account.name.clone(), accounts.into_iter().collect());
    }
    let of_rows = report.days.map(|days| DayRange { first: days.first, last: days.last });
    scope.is_range_stated = report.stated_range.is_some();
    // A stated range that is narrower than the rows would leave former rows beside new ones.
    scope.days = match (report.stated_range, of_rows) {
        (Some(stated), Some(rows)) => {
            Some(DayRange { first: stated.first.min(rows.first), last: stated.last.max(rows.last) })
        }
        (stated, rows) => stated.or(rows),
    };
    scope
}

/// Whether rows of a file have no day although it has a time column. They are not within a range of
/// days: they are compared with the former rows without a day.
pub(super) fn has_blank_days(report: &TableReport) -> bool {
    let mut columns = report.columns.iter();
    columns.any(|column| column.usage == ColumnUse::Time && column.empty > 0)
}

/// The queries of one comparison.
#[derive(Clone, Debug)]
pub(super) struct Comparison {
    pub(super) shared: Shared,
    /// The condition for former rows within the scope.
    pub(super) within: String,
    /// The places of keys that some former rows lack.
    pub(super) lacking: Vec<usize>,
    /// The former names whose rows go although other rows that are not in the file stay.
    pub(super) renamed: Vec<String>,
}

impl Comparison {
    /// Prepares the comparison of a file within its scope. `before` are the columns of the source, and
    /// `parts` those that its parts have. With `has_blank_days`, former rows without a day are in the
    /// scope, too.
    pub(super) fn new(
        shared: Shared,
        scope: &ImportScope,
        before: &[FoundColumn],
        parts: &[PartRef],
        has_blank_days: bool,
    ) -> Self {
        let mut conditions = Vec::new();
        for (column, values) in &scope.values {
            let has_empty = values.iter().any(String::is_empty);
            if before.iter().any(|known| known.name == *column) {
                conditions.push(is_one_of_file(column, has_empty, values.len() == 1));
            } else if !has_empty {
                // All former rows are empty there.
                conditions.push("false".to_owned());
            }
        }
        if let (Some(days), Some(time)) = (&scope.days, &shared.time) {
            let time = identifier(&time.column);
            let in_days = format!(
                "CAST({time} AS DATE) BETWEEN DATE '{}' AND DATE '{}'",
                days.first, days.last
            );
            conditions.push(if has_blank_days {
                format!("({time} IS NULL OR {in_days})")
            } else {
                in_days
            });
        }
        let within =
            if conditions.is_empty() { "true".to_owned() } else { conditions.join(" AND ") };
        let lacks = |part: &PartRef, key: &str| !part.columns.iter().any(|one| one.name == key);
        let is_lacking = |at: &usize| parts.iter().any(|part| lacks(part, &shared.keys[*at]));
        let lacking = (0..shared.keys.len()).filter(is_lacking).collect();
        Self { shared, within, lacking, renamed: Vec::new() }
    }

    /// The columns with the names of things whose id some former rows lack: the place of the id, and
    /// the column. Such rows are told apart by the name.
    pub(super) fn names(&self) -> impl Iterator<Item = &(usize, String)> {
        self.shared.names.iter().filter(|(at, _)| self.lacking.contains(at))
    }

    /// The number of keys in the grouped tables.
    fn width(&self) -> usize {
        self.shared.keys.len() + self.names().count()
    }

    /// Whether rows are told apart by their label, and not by an id.
    pub(super) fn is_label_key(&self) -> bool {
        let mut keys = self.shared.keys.iter().chain(self.names().map(|(_, name)| name));
        keys.any(|key| Some(key) == self.shared.label.as_ref())
    }

    /// The query for the numbers of cells with values that former rows within the scope have in some
    /// columns.
    pub(super) fn filled(&self, columns: &[String]) -> String {
        let counts: Vec<String> =
            columns.iter().map(|column| format!("count({})", identifier(column))).collect();
        format!("SELECT {} FROM before WHERE {}", counts.join(", "), self.within)
    }

    /// The query for the number of former rows within the scope.
    pub(super) fn size(&self) -> String {
        format!("SELECT count(*) FROM before WHERE {}", self.within)
    }

    /// Both tables grouped by key: `b` the former rows of the scope, `f` the file. The keys are
    /// `k0`, `k1` ..., the sums `s0`, `s1` ..., and `n` is the number of rows. A key that a former row
    /// lacks is left out for the rows of the file that have the same other keys: they are finer
    /// rows of the same.
    fn grouped(&self) -> String {
        let sums = |table: &str| -> Vec<String> {
            let sums = self.shared.sums.iter().enumerate();
            sums.map(|(at, sum)| format!("coalesce(sum({table}.{}), 0) AS s{at}", identifier(sum)))
                .collect()
        };
        let group = if self.width() == 0 {
            " HAVING count(*) > 0".to_owned()
        } else {
            // By number, because a column can have the name of a key.
            let groups: Vec<String> = (1..=self.width()).map(|at| at.to_string()).collect();
            format!(" GROUP BY {}", groups.join(", "))
        };
        let select = |table: &str, keys: Vec<String>| {
            let keys = keys.into_iter().enumerate().map(|(at, key)| format!("{key} AS k{at}"));
            let columns = keys.chain(sums(table)).chain(["count(*) AS n".to_owned()]);
            columns.collect::<Vec<_>>().join(", ")
        };
        let is_renamed = self.is_renamed().map(|test| format!(", {test} AS g")).unwrap_or_default();
        let joins: String = self.lacking.iter().map(|at| self.join_lacking(*at)).collect();
        format!(
            "b AS (SELECT {}{is_renamed} FROM before WHERE {}{group}), f AS (SELECT {} FROM file{joins}{group})",
            select("before", self.keys_before()),
            self.within,
            select("file", self.keys_of_file())
        )
    }

    fn keys_before(&self) -> Vec<String> {
        let keys = self.shared.keys.iter().map(|key| text_of("before", key));
        let names = self.names().map(|(id, name)| {
            let id = text_of("before", &self.shared.keys[*id]);
            format!("CASE WHEN {id} = '' THEN {} ELSE '' END", text_of("before", name))
        });
        keys.chain(names).collect()
    }

    fn keys_of_file(&self) -> Vec<String> {
        let keys = self.shared.keys.iter().enumerate().map(|(at, key)| {
            let own = text_of("file", key);
            if self.lacking.contains(&at) {
                format!("CASE WHEN l{at}.j IS NOT NULL THEN '' ELSE {own} END")
            } else {
                own
            }
        });
        let names = self.names().map(|(id, name)| {
            format!("CASE WHEN l{id}.j IS NOT NULL THEN {} ELSE '' END", text_of("file", name))
        });
        keys.chain(names).collect()
    }

    /// The join of the file with the other keys of former rows that lack one. Rows without the id of
    /// a thing have its name.
    fn join_lacking(&self, at: usize) -> String {
        let keys = self.shared.keys.iter().enumerate();
        let others = keys.filter(|(other, _)| !self.lacking.contains(other)).map(|(_, key)| key);
        let own = self.names().filter(|(id, _)| *id == at).map(|(_, name)| name);
        let columns: Vec<&String> = others.chain(own).collect();
        let selected: String = columns
            .iter()
            .enumerate()
            .map(|(place, column)| format!("{} AS j{place}, ", text_of("before", column)))
            .collect();
        let equal: String = columns
            .iter()
            .enumerate()
            .map(|(place, column)| format!(" AND {} = l{at}.j{place}", text_of("file", column)))
            .collect();
        format!(
            " LEFT JOIN (SELECT DISTINCT {selected}true AS j FROM before WHERE {} AND {} = '') AS l{at} ON true{equal}",
            self.within,
            text_of("before", &self.shared.keys[at]),
        )
    }

    fn on(&self) -> String {
        let equal: Vec<String> = (0..self.width()).map(|at| format!("b.k{at} = f.k{at}")).collect();
        if equal.is_empty() { "true".to_owned() } else { equal.join(" AND ") }
    }

    /// Whether a former group has a name of `renamed`, as a number.
    fn is_renamed(&self) -> Option<String> {
        let label = self.shared.label.as_ref().filter(|_| !self.renamed.is_empty())?;
        let names: Vec<String> = self.renamed.iter().map(|name| literal(name)).collect();
        let label = text_of("before", label);
        Some(format!("max(CASE WHEN {label} IN ({}) THEN 1 ELSE 0 END)", names.join(", ")))
    }

    /// The condition of the former groups that are not in the file and go with an import in a mode.
    fn goes(&self, mode: ImportMode) -> Option<&'static str> {
        match mode {
            ImportMode::Replace => Some("f.n IS NULL"),
            ImportMode::Key => (!self.renamed.is_empty()).then_some("f.n IS NULL AND b.g = 1"),
            ImportMode::Add => None,
        }
    }

    /// The query for the number of former rows that are not in the file and go. None if none go.
    pub(super) fn gone(&self, mode: ImportMode) -> Option<String> {
        let goes = self.goes(mode)?;
        Some(format!(
            "WITH {} SELECT CAST(coalesce(sum(b.n) FILTER (WHERE {goes}), 0) AS BIGINT) FROM b FULL JOIN f ON {}",
            self.grouped(),
            self.on()
        ))
    }

    fn any_sum(&self, test: impl Fn(usize) -> String) -> String {
        let tests: Vec<String> = (0..self.shared.sums.len()).map(test).collect();
        if tests.is_empty() { "false".to_owned() } else { format!("({})", tests.join(" OR ")) }
    }

    /// The query for the counts, all of them in rows.
    pub(super) fn counts(&self) -> String {
        let differs = self.any_sum(|at| format!("b.s{at} <> f.s{at}"));
        let amount = self.any_sum(|at| format!("b.s{at} <> 0"));
        // Of another grain, the number of rows says nothing.
        let is_same_grain = !self.shared.is_other_grain && self.lacking.is_empty();
        let rows = if is_same_grain { " OR b.n <> f.n" } else { "" };
        let sum = |of: &str, filter: &str| {
            format!("CAST(coalesce(sum({of}.n) FILTER (WHERE {filter}), 0) AS BIGINT)")
        };
        format!(
            "WITH {} SELECT {} AS before, {} AS new, {} AS changed, {} AS vanished, {} AS amounts, {} AS begins, {} AS ends FROM b FULL JOIN f ON {}",
            self.grouped(),
            sum("b", "true"),
            sum("f", "b.n IS NULL"),
            sum("f", &format!("b.n IS NOT NULL AND f.n IS NOT NULL AND ({differs}{rows})")),
            sum("b", "f.n IS NULL"),
            sum("b", &format!("f.n IS NULL AND {amount}")),
            self.vanished_day("min"),
            self.vanished_day("max"),
            self.on()
        )
    }

    /// The first or last day or moment of the former groups that are not in the file, as text.
    fn vanished_day(&self, function: &str) -> String {
        let time = self.shared.time.as_ref();
        let key = time.and_then(|time| self.shared.keys.iter().position(|key| *key == time.column));
        match key {
            // Days and moments as text are in the order of time.
            Some(at) => format!("{function}(nullif(b.k{at}, '')) FILTER (WHERE f.n IS NULL)"),
            None => "NULL".to_owned(),
        }
    }

    /// Reads the answer to `counts`.
    pub(super) fn read_counts(rows: &[Value]) -> Counts {
        let row = rows.first();
        let number = |at: usize| row.map_or(0, |row| whole(&row[at]));
        let day = |at: usize| row.and_then(|row| row[at].as_str()?.get(..10)?.parse().ok());
        let vanished_days = day(5).zip(day(6)).map(|(first, last)| DayRange { first, last });
        Counts {
            before: number(0),
            new: number(1),
            changed: number(2),
            vanished: number(3),
            vanished_with_amount: number(4),
            vanished_days,
        }
    }

    /// The places of the amounts of money, or of the other sums.
    fn places(&self, money: bool) -> Range<usize> {
        let amounts = self.shared.amounts;
        if money { 0..amounts } else { amounts..self.shared.sums.len() }
    }

    /// The query for the sums before and after an import in a mode: of the amounts of money, by
    /// currency, or of the other numbers. None if there are none in both tables, or if amounts of
    /// different currencies would be added.
    pub(super) fn sums(&self, mode: ImportMode, money: bool) -> Option<String> {
        if self.places(money).is_empty() || money && self.shared.has_mixed_currency {
            return None;
        }
        let currency = self
            .shared
            .currency
            .as_ref()
            .filter(|_| money)
            .and_then(|column| self.shared.keys.iter().position(|key| key == column))
            .map_or_else(|| "''".to_owned(), |at| format!("coalesce(b.k{at}, f.k{at})"));
        let sums: Vec<String> = self
            .places(money)
            .map(|at| {
                let before = format!("coalesce(sum(b.s{at}), 0)");
                let file = format!("coalesce(sum(f.s{at}), 0)");
                let former =
                    |test: &str| format!("coalesce(sum(b.s{at}) FILTER (WHERE {test}), 0)");
                let (after, vanished) = match (mode, self.goes(mode)) {
                    (ImportMode::Replace, _) => (file, former("f.n IS NULL")),
                    (ImportMode::Key, Some(goes)) => {
                        let stays = former(&format!("f.n IS NULL AND NOT ({goes})"));
                        (format!("{file} + {stays}"), former(goes))
                    }
                    (ImportMode::Key, None) => {
                        (format!("{file} + {}", former("f.n IS NULL")), "0".to_owned())
                    }
                    (ImportMode::Add, _) => (format!("{before} + {file}"), "0".to_owned()),
                };
                format!(
                    "CAST({before} AS VARCHAR) AS b{at}, CAST({after} AS VARCHAR) AS f{at}, \
                     CAST({vanished} AS VARCHAR) AS v{at}"
                )
            })
            .collect();
        Some(format!(
            "WITH {} SELECT {currency} AS currency, {} FROM b FULL JOIN f ON {} GROUP BY 1 ORDER BY 1",
            self.grouped(),
            sums.join(", "),
            self.on()
        ))
    }

    /// Reads the answer to `sums`.
    pub(super) fn read_sums(&self, rows: &[Value], money: bool) -> Vec<SumChange> {
        let mut changes = Vec::new();
        for (at, column) in self.shared.sums[self.places(money)].iter().enumerate() {
            for row in rows {
                let text = |place: usize| row[place].as_str().unwrap_or_default().to_owned();
                let (column, named) = (column.clone(), text(0));
                let currency = Some(named).filter(|name| !name.is_empty());
                changes.push(SumChange {
                    column,
                    currency,
                    before: text(1 + 3 * at),
                    after: text(2 + 3 * at),
                    vanished: text(3 + 3 * at),
                });
            }
        }
        changes
    }
}

/// The condition that a former row has one of the values that the file has in a column, or none. The
/// values are not listed, because a query has a limited length.
fn is_one_of_file(column: &str, has_empty: bool, is_only: bool) -> String {
    let own = format!("coalesce({}, '')", as_text(column));
    match (has_empty, is_only) {
        (true, true) => format!("{own} = ''"),
        (true, false) => {
            format!("({own} = '' OR {own} IN (SELECT {} FROM file))", text_of("file", column))
        }
        (false, _) => format!("{own} IN (SELECT {} FROM file)", text_of("file", column)),
    }
}

/// The query for the values of a column of the file.
pub(super) fn values_of(column: &str) -> String {
    format!(
        "SELECT DISTINCT coalesce({}, '') FROM file ORDER BY 1 LIMIT {}",
        as_text(column),
        MOST_VALUES + 1
    )
}

/// Reads the first cell of a row as a count.
pub(super) fn whole(value: &Value) -> u64 {
    value.as_u64().or_else(|| value.as_str()?.parse().ok()).unwrap_or_default()
}

/// Writes a column of a table as text in SQL. An empty cell is an empty text.
pub(super) fn text_of(table: &str, column: &str) -> String {
    format!("coalesce(CAST({table}.{} AS VARCHAR), '')", identifier(column))
}

/// Writes a column as text in SQL.
pub(super) fn as_text(column: &str) -> String {
    format!("CAST({} AS VARCHAR)", identifier(column))
}

/// Quotes a name for SQL. All names of columns pass here.
pub(super) fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Quotes a text for SQL. All texts of files pass here.
pub(super) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use contract::sources::ColumnKind;

    use super::*;

    fn column(name: &str, kind: ColumnKind, usage: ColumnUse) -> FoundColumn {
        FoundColumn { name: name.to_owned(), kind, usage, ..FoundColumn::default() }
    }

    #[test]
    fn a_column_that_only_one_of_both_has_makes_another_grain() {
        let coarse = [
            column("Day", ColumnKind::Day, ColumnUse::Time),
            column("Campaign", ColumnKind::Text, ColumnUse::Dimension),
            column("Cost", ColumnKind::Decimal, ColumnUse::Sum),
        ];
        let mut fine = coarse.to_vec();
        fine.push(column("Ad group", ColumnKind::Text, ColumnUse::Dimension));
        assert!(!Shared::find(&coarse, &coarse).is_other_grain);
        let shared = Shared::find(&fine, &coarse);
        assert!(shared.is_other_grain);
        let scope = ImportScope::default();
        let counts = Comparison::new(shared, &scope, &coarse, &[], false).counts();
        assert!(!counts.contains("b.n <> f.n"), "{counts}");
    }

    #[test]
    fn amounts_are_not_compared_if_only_one_of_both_has_currencies() {
        let mut cost = column("Cost", ColumnKind::Decimal, ColumnUse::Sum);
        cost.unit = Some("GBP".to_owned());
        let day = column("Day", ColumnKind::Day, ColumnUse::Time);
        let code = column("Currency", ColumnKind::Text, ColumnUse::Currency);
        let (one, both) = ([day.clone(), cost.clone()], [day, cost, code]);
        let scope = ImportScope::default();
        for (file, before, is_compared) in
            [(&one[..], &both[..], false), (&both, &one, false), (&both, &both, true)]
        {
            let comparison =
                Comparison::new(Shared::find(file, before), &scope, before, &[], false);
            assert_eq!(comparison.sums(ImportMode::Replace, true).is_some(), is_compared);
        }
    }

    #[test]
    fn names_and_texts_of_files_stay_names_and_texts_in_queries() {
        assert_eq!(identifier("a\"; DROP"), "\"a\"\"; DROP\"");
        assert_eq!(literal("O'Brien"), "'O''Brien'");
    }
}
