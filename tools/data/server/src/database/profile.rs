//! `data.profile` over a table of PostgreSQL, in one snapshot of the database. Of a large table, a
//! sample or the first rows are read, and the profile says so.

use contract::{
    AgentError,
    sources::{AskProfile, ProfileBasis, SourceProfile},
    text,
};

use super::{
    answers::table_name,
    connect::{Databases, Place},
    describe,
};
use crate::{
    DataError,
    link::Link,
    profile::{Base, Engine, Profiled, profile},
    sql::literal,
    stop::Stop,
};

/// The most rows that are all read.
const MOST_ROWS: u64 = 1_000_000;
/// About as many rows has a sample.
const SAMPLED_ROWS: u64 = 200_000;

/// Settings by which all queries of a profile read the same rows, and write them alike.
const SESSION: [&str; 6] = [
    "SET synchronize_seqscans = off",
    "SET max_parallel_workers_per_gather = 0",
    "SET DateStyle = 'ISO, YMD'",
    "SET extra_float_digits = 1",
    "COMMIT",
    "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY",
];

impl Databases {
    /// Profiles columns of a table.
    pub fn profile(&self, ask: &AskProfile, stop: &Stop) -> Result<SourceProfile, DataError> {
        let place = self.place_of(std::slice::from_ref(&ask.source))?;
        if !place.is_postgres() {
            return Err(not_here(ask));
        }
        let mut link = self.connect(&place, ask.limits.millis, stop)?;
        for statement in SESSION {
            link.run(statement)?;
        }
        let columns = describe::columns(&mut link, &place, stop).map_err(DataError::of_table)?;
        let is_known = |name: &&String| columns.iter().any(|one| one.column.name == **name);
        if let Some(gone) = ask.columns.iter().find(|name| !is_known(name)) {
            return Err(DataError::TableChanged(format!("column \"{gone}\" does not exist")));
        }
        let columns = columns
            .into_iter()
            .map(|found| Profiled { column: found.column, is_float: found.is_float })
            .collect();
        let rows = Rows::find(&mut link, &place, stop).map_err(DataError::of_table)?;
        let base = Base { from: rows.from, rows: rows.count, engine: Engine::Postgres };
        let found = profile(&mut link, &base, columns, ask, stop).map_err(DataError::of_table)?;
        Ok(SourceProfile { basis: rows.basis, estimated_rows: rows.estimate, ..found })
    }
}

/// The rows that a profile reads.
struct Rows {
    from: String,
    count: u64,
    basis: ProfileBasis,
    estimate: Option<u64>,
}

impl Rows {
    fn find(link: &mut Link, place: &Place<'_>, stop: &Stop) -> Result<Self, DataError> {
        let table = table_name(place);
        if let Some(estimate) = large(link, &table, stop)? {
            let percent = percent_of(SAMPLED_ROWS, estimate);
            // The same number gives the same rows to each query.
            let from = format!("{table} TABLESAMPLE SYSTEM ({percent}) REPEATABLE (1)");
            let count = count(link, &from, stop)?;
            let (basis, estimate) = (ProfileBasis::Sample, Some(estimate));
            return Ok(Self { from, count, basis, estimate });
        }
        let first = format!("(SELECT 1 FROM {table} LIMIT {}) AS f", MOST_ROWS + 1);
        let count = count(link, &first, stop)?;
        if count <= MOST_ROWS {
            let (basis, estimate) = (ProfileBasis::AllRows, None);
            return Ok(Self { from: table, count, basis, estimate });
        }
        let from = format!("(SELECT * FROM {table} LIMIT {MOST_ROWS}) AS f");
        let (basis, estimate) = (ProfileBasis::FirstRows, None);
        Ok(Self { from, count: MOST_ROWS, basis, estimate })
    }
}

/// Returns the estimated rows of a table that is large and can be sampled.
fn large(link: &mut Link, table: &str, stop: &Stop) -> Result<Option<u64>, DataError> {
    let query = format!(
        "SELECT CAST(CAST(c.reltuples AS bigint) AS text) FROM pg_catalog.pg_class c \
         WHERE c.oid = CAST({} AS regclass) AND c.relkind IN ('r', 'm')",
        literal(table)
    );
    let row = link.row(&query, stop)?;
    let estimate = row.into_iter().flatten().next().and_then(|text| text.parse().ok());
    Ok(estimate.filter(|rows: &u64| *rows > MOST_ROWS))
}

fn count(link: &mut Link, from: &str, stop: &Stop) -> Result<u64, DataError> {
    let row = link.row(&format!("SELECT count(*) FROM {from}"), stop)?;
    Ok(row.into_iter().flatten().next().and_then(|text| text.parse().ok()).unwrap_or(0))
}

/// Writes the part that some rows are of all, in percent with six decimal places.
fn percent_of(part: u64, all: u64) -> String {
    let millionths = u128::from(part) * 100_000_000 / u128::from(all.max(1));
    let millionths = millionths.clamp(1, 100_000_000);
    format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000)
}

fn not_here(ask: &AskProfile) -> DataError {
    AgentError::invalid(text!(
        "The columns of {source} have no profile: it is computed for files and PostgreSQL.",
        source = &ask.source.name
    ))
    .reason("no_profile")
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_of_a_large_table_is_a_small_part() {
        assert_eq!(percent_of(200_000, 1_000_000), "20.000000");
        assert_eq!(percent_of(200_000, 3_000_000_000), "0.006666");
        assert_eq!(percent_of(200_000, u64::MAX), "0.000001");
        assert_eq!(percent_of(5, 1), "100.000000");
    }
}
