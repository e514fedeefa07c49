//! Budgets and flights that a person enters: lists the campaigns of the imported data with their
//! values, and stores entered values as if a file with one line was imported.

use std::collections::BTreeMap;

use contract::{AgentError, DataEntries, DataEntry, EntryField, EntryKind, ImportProblem, Reason};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use tabular::{Decimals, NumberFormat, StringRecord};

use super::{Errors, cells::Cells, check::amount_text, columns::Header, store::Store};
use crate::{
    db::{self, Dataset, database_error},
    time,
};

/// The maximum number of campaigns in one list.
const LISTED: usize = 100;

/// The columns of a line: first those that name the campaign, then those that a person enters.
const COLUMNS: [&str; 7] = [
    "account_id",
    "advertiser",
    "campaign_id",
    "campaign_name",
    "budget",
    "flight_start",
    "flight_end",
];

const FIELDS: [(&str, &str, EntryKind); 3] = [
    ("budget", "Budget", EntryKind::Amount),
    ("flight_start", "Flight start", EntryKind::Day),
    ("flight_end", "Flight end", EntryKind::Day),
];

/// Lists the campaigns of the imported data. The query is part of the name of a campaign or account.
pub(crate) fn entries(db: &Connection, query: &str) -> Result<DataEntries, AgentError> {
    let query = query.trim().to_lowercase();
    let all = campaigns(db).map_err(|error| database_error(&error))?;
    let fits = |entry: &DataEntry| {
        entry.title.to_lowercase().contains(&query) || entry.group.to_lowercase().contains(&query)
    };
    let mut entries: Vec<DataEntry> = all.into_iter().filter(fits).collect();
    let total = u64::try_from(entries.len()).unwrap_or(u64::MAX);
    entries.truncate(LISTED);
    let fields = FIELDS.map(|(name, label, kind)| EntryField {
        name: name.to_owned(),
        label: label.into(),
        kind,
    });
    Ok(DataEntries { fields: fields.into(), entries, total })
}

fn campaigns(db: &Connection) -> Result<Vec<DataEntry>, rusqlite::Error> {
    let sql = "SELECT c.key, c.name, a.name, coalesce(a.currency, ''), c.budget, c.flight_start, c.flight_end
               FROM campaigns c JOIN accounts a ON a.key = c.account_key WHERE a.dataset = ?1 ORDER BY a.name, c.name, c.key";
    let mut query = db.prepare_cached(sql)?;
    let rows = query.query_map([db::number(Dataset::Imported)], |row| {
        let day = |at: usize| -> Result<Option<String>, rusqlite::Error> {
            let number: Option<i64> = row.get(at)?;
            Ok(number.and_then(time::day_from_number).map(|day| day.to_string()))
        };
        let budget: Option<i64> = row.get(4)?;
        let values = [
            ("budget", budget.map(amount_text)),
            ("flight_start", day(5)?),
            ("flight_end", day(6)?),
        ];
        Ok(DataEntry {
            id: row.get::<_, i64>(0)?.to_string(),
            title: row.get(1)?,
            group: row.get(2)?,
            currency: row.get(3)?,
            values: values
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?)))
                .collect(),
        })
    })?;
    rows.collect()
}

/// Stores budget and flight of a campaign. If a value has a problem, no value is stored.
pub(crate) fn set_entry(
    db: &mut Connection,
    id: &str,
    values: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, ImportProblem>, AgentError> {
    let Some(mut line) = find_campaign(db, id).map_err(|error| database_error(&error))? else {
        return Err(AgentError::invalid("There is no such campaign any more.")
            .reason(Reason::NotFound)
            .hint("Look at the list of campaigns again."));
    };
    let entered = |name: &str| values.get(name).map_or("", |value| value.trim());
    line.extend(FIELDS.map(|(name, ..)| entered(name).to_owned()));
    let header = Header::read(&COLUMNS.map(str::to_owned))
        .map_err(|_| AgentError::internal("pacing_columns", "The budget could not be stored."))?;
    let record = StringRecord::from(line);
    let mut errors = Errors::default();
    let mut cells = Cells {
        record: &record,
        header: &header,
        numbers: NumberFormat::with_assumed_decimals(Decimals::Point),
        file: "",
        line: 1,
        errors: &mut errors,
    };
    if let Some(row) = cells.campaign() {
        let transaction = db
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|error| database_error(&error))?;
        Store::new(&transaction).campaign(&row).map_err(|error| database_error(&error))?;
        transaction.commit().map_err(|error| database_error(&error))?;
    }
    Ok(errors.list.into_iter().map(|error| (error.column, error.problem)).collect())
}

/// Returns the cells that name a campaign, in the order of `COLUMNS`.
fn find_campaign(db: &Connection, id: &str) -> Result<Option<Vec<String>>, rusqlite::Error> {
    let Ok(key) = id.parse::<i64>() else { return Ok(None) };
    let sql = "SELECT a.id, c.advertiser, c.id, c.name FROM campaigns c JOIN accounts a ON a.key = c.account_key
               WHERE c.key = ?1 AND a.dataset = ?2";
    db.prepare_cached(sql)?
        .query_row(params![key, db::number(Dataset::Imported)], |row| {
            (0..4).map(|at| row.get(at)).collect()
        })
        .optional()
}
