//! Reads what a person imported into version 0.1.0 of this pack, so that it becomes sources: rows,
//! budgets and flights as tables, and the sums of each account and month to compare with. It changes no
//! row.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use chrono::NaiveDate;
use chrono_tz::Tz;
use contract::{
    AgentError, Text,
    pack_code::{CreateFile, EarlierData, OldDelivery, OldSum, OldTables, TableSet},
    text,
};
use rusqlite::Connection;

use crate::{
    database::{self, IMPORTED, database_error, file_in},
    tables::{
        ACCOUNT_ID, DAY, DELIVERY, Days, IMPRESSIONS, Of, SPEND, Table, amount, delivery_file,
        plan_file,
    },
    time,
};

/// Sums by account and month.
type Sums = BTreeMap<(String, String), (i128, i128)>;

struct Account {
    key: i64,
    id: String,
    name: String,
    zone: String,
    currency: String,
}

struct Campaign {
    key: i64,
    id: String,
    name: String,
    advertiser: String,
    budget: Option<i64>,
    flight: Option<(NaiveDate, NaiveDate)>,
}

impl Campaign {
    fn of<'a>(&'a self, account: &'a Account) -> Of<'a> {
        Of {
            account_id: &account.id,
            account: &account.name,
            zone: &account.zone,
            currency: &account.currency,
            advertiser: &self.advertiser,
            campaign_id: &self.id,
            campaign: &self.name,
        }
    }
}

/// The rows that version 0.1.0 kept in its own database.
pub struct EarlierPacing;

impl EarlierData for EarlierPacing {
    fn name(&self) -> &'static str {
        "campaign-portfolio-pacing"
    }

    fn files(&self, data_dir: &Path) -> Vec<PathBuf> {
        vec![file_in(data_dir)]
    }

    fn export_tables(
        &self,
        data_dir: &Path,
        create: &mut CreateFile<'_>,
    ) -> Result<Option<OldTables>, AgentError> {
        export(data_dir, create)
    }

    fn broken_error(&self) -> AgentError {
        AgentError::internal("service_failed", "The earlier pacing data cannot be read.")
    }
}

fn export(folder: &Path, create: &mut CreateFile<'_>) -> Result<Option<OldTables>, AgentError> {
    let path = file_in(folder);
    if !path.is_file() {
        return Ok(None);
    }
    let db = database::open(&path)?;
    if !has_tables(&db)? {
        return Ok(None);
    }
    let accounts = accounts(&db)?;
    if accounts.is_empty() {
        return Ok(None);
    }
    let zones = accounts.iter().filter(|one| one.zone.parse::<Tz>().is_ok());
    let zones = zones.map(|one| (one.name.clone(), one.zone.clone())).collect();
    let mut found = OldTables {
        tables: TableSet { files: Vec::new(), zones },
        delivery: None,
        notes: Vec::new(),
    };
    write_plan(&db, &accounts, create, &mut found)?;
    write_delivery(&db, &accounts, create, &mut found)?;
    if !found.tables.files.is_empty() {
        return Ok(Some(found));
    }
    // A budget without a flight is in no table, but it must not look as if there were none.
    found.notes.pop().map_or(Ok(None), |note| Err(AgentError::invalid(note).reason("no_rows")))
}

/// Whether the file has this pack's tables. One that was never used has none.
fn has_tables(db: &Connection) -> Result<bool, AgentError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'delivery')";
    db.query_row(sql, [], |row| row.get(0)).map_err(|e| database_error(&e))
}

fn accounts(db: &Connection) -> Result<Vec<Account>, AgentError> {
    let sql = "SELECT key, id, name, coalesce(zone, ''), coalesce(currency, '') FROM accounts
               WHERE dataset = ?1 ORDER BY id";
    let mut query = db.prepare(sql).map_err(|e| database_error(&e))?;
    let rows = query.query_map([IMPORTED], |row| {
        Ok(Account {
            key: row.get(0)?,
            id: row.get(1)?,
            name: row.get(2)?,
            zone: row.get(3)?,
            currency: row.get(4)?,
        })
    });
    rows.and_then(Iterator::collect).map_err(|e| database_error(&e))
}

fn campaigns(db: &Connection, account: &Account) -> Result<Vec<Campaign>, AgentError> {
    let sql = "SELECT key, id, name, advertiser, budget, flight_start, flight_end FROM campaigns
               WHERE account_key = ?1 ORDER BY id";
    let mut query = db.prepare_cached(sql).map_err(|e| database_error(&e))?;
    let rows = query.query_map([account.key], |row| {
        let day = |stored: Option<i64>| stored.and_then(time::day_from_number);
        let (first, last) = (day(row.get(5)?), day(row.get(6)?));
        Ok(Campaign {
            key: row.get(0)?,
            id: row.get(1)?,
            name: row.get(2)?,
            advertiser: row.get(3)?,
            budget: row.get(4)?,
            flight: first.zip(last),
        })
    });
    rows.and_then(Iterator::collect).map_err(|e| database_error(&e))
}

/// Writes the budgets that have a flight. Others cannot be divided over days.
fn write_plan(
    db: &Connection,
    accounts: &[Account],
    create: &mut CreateFile<'_>,
    found: &mut OldTables,
) -> Result<(), AgentError> {
    let (mut table, mut incomplete) = (None, 0_u64);
    for account in accounts {
        for campaign in campaigns(db, account)? {
            let (Some(budget), Some(flight)) = (campaign.budget, campaign.flight) else {
                let has_part = campaign.budget.is_some() || campaign.flight.is_some();
                incomplete += u64::from(has_part);
                continue;
            };
            let table = match &mut table {
                Some(table) => table,
                None => table.insert(Table::of_plan(create).map_err(|e| unwritten(&e))?),
            };
            table.plan(campaign.of(account), budget, flight).map_err(|e| unwritten(&e))?;
        }
    }
    if let Some(table) = table {
        table.finish().map_err(|e| unwritten(&e))?;
        found.tables.files.push(plan_file());
    }
    if incomplete > 0 {
        found.notes.push(incomplete_note(incomplete));
    }
    Ok(())
}

fn write_delivery(
    db: &Connection,
    accounts: &[Account],
    create: &mut CreateFile<'_>,
    found: &mut OldTables,
) -> Result<(), AgentError> {
    let (mut table, mut sums) = (None, Sums::new());
    for account in accounts {
        for campaign in campaigns(db, account)? {
            for (key, id, name) in line_items(db, &campaign)? {
                let mut days = days_of(db, account, key)?;
                for (day, amounts) in days.take() {
                    let table = match &mut table {
                        Some(table) => table,
                        None => {
                            table.insert(Table::of_delivery(create).map_err(|e| unwritten(&e))?)
                        }
                    };
                    let of = campaign.of(account);
                    let written = table.deliver(of, (&id, &name), day, amounts);
                    written.map_err(|e| unwritten(&e))?;
                    let month = day.format("%Y-%m").to_string();
                    let sum = sums.entry((account.id.clone(), month)).or_default();
                    sum.0 += i128::from(amounts.0);
                    sum.1 += i128::from(amounts.1);
                }
            }
        }
    }
    let Some(table) = table else { return Ok(()) };
    table.finish().map_err(|e| unwritten(&e))?;
    found.tables.files.push(delivery_file());
    found.delivery = Some(OldDelivery {
        file: DELIVERY.to_owned(),
        account: ACCOUNT_ID.to_owned(),
        day: DAY.to_owned(),
        columns: vec![SPEND.to_owned(), IMPRESSIONS.to_owned()],
        sums: sums.into_iter().map(old_sum).collect(),
    });
    Ok(())
}

fn old_sum(((account, month), (spend, impressions)): ((String, String), (i128, i128))) -> OldSum {
    OldSum { account, month, sums: vec![amount(spend), impressions.to_string()] }
}

fn line_items(
    db: &Connection,
    campaign: &Campaign,
) -> Result<Vec<(i64, String, String)>, AgentError> {
    let sql = "SELECT key, id, name FROM line_items WHERE campaign_key = ?1 ORDER BY id";
    let mut query = db.prepare_cached(sql).map_err(|e| database_error(&e))?;
    let rows = query.query_map([campaign.key], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    rows.and_then(Iterator::collect).map_err(|e| database_error(&e))
}

/// Returns what a line item delivered on each day of its account. Hours are stored in UTC.
fn days_of(db: &Connection, account: &Account, line_item: i64) -> Result<Days, AgentError> {
    let zone = account.zone.parse().unwrap_or(Tz::UTC);
    let sql = "SELECT day, hour, spend, impressions FROM delivery WHERE line_item_key = ?1";
    let mut query = db.prepare_cached(sql).map_err(|e| database_error(&e))?;
    let rows = query.query_map([line_item], |row| {
        let amounts: (i64, i64) = (row.get(2)?, row.get(3)?);
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, amounts))
    });
    let mut days = Days::default();
    for row in rows.map_err(|e| database_error(&e))? {
        let (stored, hour, amounts) = row.map_err(|e| database_error(&e))?;
        let Some(day) = time::day_from_number(stored) else { continue };
        match u32::try_from(hour) {
            Ok(hour) => days.add_hour(time::local_day(zone, day, hour), amounts),
            Err(_) => days.add_day(day, amounts),
        }
    }
    Ok(days)
}

fn incomplete_note(count: u64) -> Text {
    if count == 1 {
        "One campaign has a budget or a flight but not both, so it is not in the plan.".into()
    } else {
        text!(
            "{count} campaigns have a budget or a flight but not both, so they are not in the plan.",
            count
        )
    }
}

fn unwritten(error: &io::Error) -> AgentError {
    AgentError::internal("filesystem_error", "The pacing data cannot be written as tables.")
        .hint("Check the rights of the data folder and the free space.")
        .with("cause", error.to_string())
}
