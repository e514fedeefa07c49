//! The profile of columns: counts, least, greatest and mean values, frequent values, and ranges of
//! equal width. The engine computes all of it by SQL; only the bounds of ranges, and the quotients of
//! exact sums, are computed here. Shared by the query process and the database process. It must not
//! know where the rows are.

mod ranges;

use std::time::{Duration, Instant};

use contract::{
    Text,
    sources::{
        AskProfile, ColumnKind, ColumnProfile, SourceProfile, StoredColumn, TextLengths, ValueCount,
    },
    text,
};

use crate::{DataError, cells::write_moment, kept::Table, link::Link, sql::identifier, stop::Stop};
use ranges::Bounds;

/// The most columns of one answer.
const MOST_COLUMNS: usize = 100;
/// The most frequent values of a column.
const FREQUENT: u64 = 10;
/// The longest text in characters.
const LONGEST: usize = 200;
/// The most rows whose different values are counted exactly.
const MOST_EXACT: u64 = 20_000_000;
/// Decimal places of a mean besides those of the values.
const MEAN_PLACES: usize = 6;

/// How SQL is written for an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    DuckDb,
    Postgres,
}

/// A column whose values are counted.
pub(crate) struct Profiled {
    pub(crate) column: StoredColumn,
    /// Whether its numbers are floats, which DuckDB's tables never have.
    pub(crate) is_float: bool,
}

/// The rows whose values are counted.
pub(crate) struct Base {
    /// The table, as it stands after FROM.
    pub(crate) from: String,
    /// The number of its rows.
    pub(crate) rows: u64,
    pub(crate) engine: Engine,
}

/// Profiles the columns of a call, as many as half of its time allows, and at least one.
pub(crate) fn profile(
    link: &mut Link,
    base: &Base,
    columns: Vec<Profiled>,
    ask: &AskProfile,
    stop: &Stop,
) -> Result<SourceProfile, DataError> {
    let wanted = wanted(columns, &ask.columns)?;
    let until = Instant::now().checked_add(Duration::from_millis(ask.limits.millis / 2));
    let is_late = || until.is_some_and(|until| Instant::now() >= until);
    let mut profile = SourceProfile { rows: base.rows, ..SourceProfile::default() };
    for column in wanted {
        let has_some = !profile.columns.is_empty();
        if has_some && (profile.columns.len() >= MOST_COLUMNS || is_late()) {
            profile.left.push(column.column.name);
        } else {
            let mut values = Values { link: &mut *link, base, column: &column, stop };
            profile.columns.push(values.profile()?);
        }
    }
    Ok(profile)
}

/// Returns the columns in the order of the call.
fn wanted(columns: Vec<Profiled>, names: &[String]) -> Result<Vec<Profiled>, DataError> {
    if names.is_empty() {
        return Ok(columns);
    }
    let mut left = columns;
    let mut found = Vec::new();
    for name in names {
        let at = left.iter().position(|one| one.column.name == *name);
        let at = at.ok_or_else(|| DataError::Arguments(format!("there is no column {name}")))?;
        found.push(left.swap_remove(at));
    }
    Ok(found)
}

/// The values of one column.
struct Values<'a> {
    link: &'a mut Link,
    base: &'a Base,
    column: &'a Profiled,
    stop: &'a Stop,
}

/// Figures of all values from one query.
#[derive(Debug, Default)]
struct Counts {
    /// The rows with a value.
    filled: u64,
    /// The rows whose number is not finite.
    odd: u64,
    distinct: u64,
    least: Option<String>,
    greatest: Option<String>,
    lengths: Option<TextLengths>,
}

impl Values<'_> {
    fn profile(&mut self) -> Result<ColumnProfile, DataError> {
        let counts = self.counts()?;
        let kind = self.column.column.kind;
        let mut found = ColumnProfile {
            name: self.column.column.name.clone(),
            kind,
            empty: self.base.rows.saturating_sub(counts.filled + counts.odd),
            distinct: counts.distinct,
            is_distinct_estimated: self.is_estimated(),
            ..ColumnProfile::default()
        };
        if counts.odd > 0 {
            found.notes.push(odd_note(counts.odd));
        }
        let is_number = matches!(kind, ColumnKind::Whole | ColumnKind::Decimal);
        if is_number && counts.filled > 0 {
            found.mean = self.mean(counts.filled)?;
            if found.mean.is_none() {
                found.notes.push("The mean is not computed: the sum has too many digits.".into());
            }
        }
        // If all values differ, none is frequent. An estimate of that is near enough.
        let all_differ = counts.distinct >= counts.filled;
        let nearly = counts.distinct >= counts.filled / 2;
        if self.is_estimated() && nearly && counts.filled > 0 {
            let note = "The most frequent values are not counted: most values differ.";
            found.notes.push(note.into());
        } else if !all_differ {
            found.frequent = self.frequent()?;
        }
        let bounds =
            Bounds::between(self.column, counts.least.as_deref(), counts.greatest.as_deref());
        if let Some(bounds) = bounds {
            found.ranges = bounds.fill(&self.range_counts(&bounds)?);
        } else if counts.least.is_some() && kind != ColumnKind::Text {
            let note = "The values have no ranges: the first or the last one is too far away.";
            found.notes.push(note.into());
        }
        found.least = counts.least.map(|value| self.shown(value));
        found.greatest = counts.greatest.map(|value| self.shown(value));
        found.lengths = counts.lengths;
        Ok(found)
    }

    fn is_estimated(&self) -> bool {
        self.base.engine == Engine::DuckDb && self.base.rows > MOST_EXACT
    }

    /// Writes a query over the cells `c` and the values `v` of the column.
    fn rows_in_sql(&self) -> String {
        let cell = identifier(&self.column.column.name);
        let not_finite = |number: &str| {
            format!(
                "CASE WHEN CAST({number} AS text) IN ('NaN', 'Infinity', '-Infinity') THEN NULL ELSE {number} END"
            )
        };
        let (cell, value) = match (self.base.engine, self.column.column.kind) {
            (Engine::DuckDb, ColumnKind::Text) => (cell.clone(), format!("nullif({cell}, '')")),
            (Engine::DuckDb, _) => (cell.clone(), cell),
            (Engine::Postgres, ColumnKind::Text) => {
                // Texts are compared by their bytes, as in DuckDB.
                let text = format!("CAST({cell} AS text) COLLATE \"C\"");
                (cell, format!("nullif({text}, '')"))
            }
            (Engine::Postgres, ColumnKind::Whole | ColumnKind::Decimal) => {
                let kind = if self.column.is_float { "double precision" } else { "numeric" };
                let number = format!("CAST({cell} AS {kind})");
                (cell, not_finite(&number))
            }
            (Engine::Postgres, ColumnKind::Moment) => {
                (cell.clone(), format!("CAST({cell} AS timestamp)"))
            }
            (Engine::Postgres, ColumnKind::Day | ColumnKind::Flag) => (cell.clone(), cell),
        };
        format!("(SELECT {cell} AS c, {value} AS v FROM {}) AS s", self.base.from)
    }

    fn text_kind(&self) -> &'static str {
        match self.base.engine {
            Engine::DuckDb => "VARCHAR",
            Engine::Postgres => "text",
        }
    }

    /// Writes a value as a text. Of a long text, one character more than is shown.
    fn as_text(&self, value: &str) -> String {
        match self.column.column.kind {
            ColumnKind::Text => format!("left({value}, {})", LONGEST + 1),
            _ => format!("CAST({value} AS {})", self.text_kind()),
        }
    }

    fn counts(&mut self) -> Result<Counts, DataError> {
        let kind = self.column.column.kind;
        let distinct =
            if self.is_estimated() { "approx_count_distinct(v)" } else { "count(DISTINCT v)" };
        let mut parts = vec!["count(c)".to_owned(), "count(v)".to_owned(), distinct.to_owned()];
        // Flags have no order in PostgreSQL.
        if kind != ColumnKind::Flag {
            parts.extend([self.as_text("min(v)"), self.as_text("max(v)")]);
        }
        if kind == ColumnKind::Text {
            let text = self.text_kind();
            let length = |name: &str| format!("CAST({name}(length(v)) AS {text})");
            parts.extend(["min", "max", "sum"].map(length));
        }
        let query = format!("SELECT {} FROM {}", parts.join(", "), self.rows_in_sql());
        let row = self.link.row(&query, self.stop)?;
        let cell = |at: usize| row.get(at).cloned().flatten();
        let number = |at: usize| cell(at).and_then(|text| text.parse::<u64>().ok());
        let filled = number(1).unwrap_or_default();
        let cells = number(0).unwrap_or_default();
        // A cell with an empty text has no value, and is no odd number.
        let odd = if kind == ColumnKind::Text { 0 } else { cells.saturating_sub(filled) };
        let lengths = || {
            Some(TextLengths {
                shortest: number(5)?,
                longest: number(6)?,
                mean: quotient(cell(7)?.parse().ok()?, filled, 0),
            })
        };
        Ok(Counts {
            filled,
            odd,
            distinct: number(2).unwrap_or_default(),
            least: cell(3),
            greatest: cell(4),
            lengths: if kind == ColumnKind::Text && filled > 0 { lengths() } else { None },
        })
    }

    /// Returns the mean of numbers. None: it cannot be computed exactly.
    fn mean(&mut self, count: u64) -> Result<Option<String>, DataError> {
        let text = self.text_kind();
        let from = self.rows_in_sql();
        if self.column.is_float {
            let query = format!("SELECT CAST(avg(CAST(v AS numeric)) AS {text}) FROM {from}");
            let row = self.link.row(&query, self.stop)?;
            let mean = row.into_iter().flatten().next().and_then(|text| text.parse().ok());
            return Ok(mean.and_then(ranges::float_text));
        }
        let query = format!("SELECT CAST(sum(v) AS {text}) FROM {from}");
        match self.link.row(&query, self.stop) {
            Ok(row) => {
                let sum = row.into_iter().flatten().next();
                let sum = sum.and_then(|digits| ranges::read_decimal(&digits));
                Ok(sum.map(|(units, scale)| quotient(units, count, scale)))
            }
            // The sum has more digits than DuckDB's decimals.
            Err(DataError::Query(_)) if self.base.engine == Engine::DuckDb => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn frequent(&mut self) -> Result<Vec<ValueCount>, DataError> {
        let query = format!(
            "SELECT {} AS t, n FROM (SELECT v AS x, count(*) AS n FROM {} WHERE v IS NOT NULL \
             GROUP BY v ORDER BY n DESC, x LIMIT {FREQUENT}) AS g ORDER BY n DESC, x",
            self.as_text("x"),
            self.rows_in_sql()
        );
        let table = Table::collect(self.link.ask(&query, self.stop)?, FREQUENT)?;
        let page = table.page(0, FREQUENT, u64::MAX)?;
        let counted = page.rows.iter().filter_map(|row| {
            let value = row.first()?.as_str()?.to_owned();
            Some(ValueCount { value: self.shown(value), rows: row.get(1)?.as_u64()? })
        });
        Ok(counted.collect())
    }

    /// Counts the values of each range.
    fn range_counts(&mut self, bounds: &Bounds) -> Result<Vec<u64>, DataError> {
        let starts = bounds.starts(self.base.engine);
        let counts: Vec<String> = starts
            .iter()
            .enumerate()
            .map(|(at, start)| match starts.get(at + 1) {
                Some(next) => format!("count(CASE WHEN v >= {start} AND v < {next} THEN 1 END)"),
                None => format!("count(CASE WHEN v >= {start} THEN 1 END)"),
            })
            .collect();
        let query = format!("SELECT {} FROM {}", counts.join(", "), self.rows_in_sql());
        let row = self.link.row(&query, self.stop)?;
        let count = |cell: Option<String>| cell.and_then(|text| text.parse().ok()).unwrap_or(0);
        Ok(row.into_iter().map(count).collect())
    }

    /// Returns a value as a person gets it.
    fn shown(&self, value: String) -> String {
        match self.column.column.kind {
            ColumnKind::Text if value.chars().count() > LONGEST => {
                value.chars().take(LONGEST).chain(['…']).collect()
            }
            ColumnKind::Moment => ranges::read_moment(&value).map_or(value, write_moment),
            _ => value,
        }
    }
}

fn odd_note(count: u64) -> Text {
    text!("{count} values are not finite numbers and count in no figure.", count)
}

/// Divides a whole number of units of 10^-scale by a count. Rounds half away from zero to
/// `MEAN_PLACES` more decimal places.
fn quotient(units: i128, count: u64, scale: usize) -> String {
    let count = u128::from(count.max(1));
    let value = units.unsigned_abs();
    let (mut whole, mut rest) = (value / count, value % count);
    let mut places = Vec::new();
    for _ in 0..MEAN_PLACES {
        rest *= 10;
        places.push(rest / count);
        rest %= count;
    }
    if rest * 2 >= count {
        // The carry goes through all nines.
        match places.iter().rposition(|digit| *digit < 9) {
            Some(at) => {
                places.iter_mut().skip(at + 1).for_each(|digit| *digit = 0);
                places.iter_mut().skip(at).take(1).for_each(|digit| *digit += 1);
            }
            None => {
                places.iter_mut().for_each(|digit| *digit = 0);
                whole += 1;
            }
        }
    }
    let digits: String = places.iter().map(u128::to_string).collect();
    let all = format!("{whole:0>width$}{digits}", width = scale + 1);
    let (before, after) = all.split_at(all.len() - scale - MEAN_PLACES);
    let after = after.trim_end_matches('0');
    let is_zero = all.bytes().all(|digit| digit == b'0');
    let sign = if units < 0 && !is_zero { "-" } else { "" };
    if after.is_empty() { format!("{sign}{before}") } else { format!("{sign}{before}.{after}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_exact_and_rounded_half_away_from_zero() {
        assert_eq!(quotient(10, 4, 0), "2.5");
        assert_eq!(quotient(-10, 3, 0), "-3.333333");
        assert_eq!(quotient(2, 3, 2), "0.00666667");
        assert_eq!(quotient(5_999_999, 3_000_000, 0), "2");
        assert_eq!(quotient(-1, 10_000_000, 0), "0");
        assert_eq!(quotient(1, 2_000_000, 0), "0.000001");
        assert_eq!(quotient(i128::MIN, 1, 0), "-170141183460469231731687303715884105728");
        assert_eq!(quotient(0, 0, 3), "0");
    }
}
