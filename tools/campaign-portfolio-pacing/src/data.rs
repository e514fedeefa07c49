//! Reads accounts, campaigns and delivery rows for one question, and converts stored days into
//! local days.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use chrono_tz::Tz;
use contract::AgentError;
use rusqlite::{Connection, OptionalExtension, params};

use crate::{
    db::{self, Dataset, database_error},
    time::{self, LocalNow, after},
};

/// An account.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    pub(crate) key: i64,
    pub(crate) id: String,
    pub(crate) name: String,
    /// The time zone. If it is unknown, days are UTC days.
    pub(crate) zone: Option<Tz>,
    pub(crate) currency: Option<String>,
}

/// A campaign. Its days are calendar days.
#[derive(Clone, Debug)]
pub(crate) struct Campaign {
    pub(crate) key: i64,
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) advertiser: String,
    pub(crate) budget: Option<i64>,
    pub(crate) flight: Option<(NaiveDate, NaiveDate)>,
}

/// A line item, and the index of its campaign.
#[derive(Clone, Debug)]
pub(crate) struct LineItem {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) campaign: usize,
}

/// Spend and impressions of one line item on one local day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) line_item: usize,
    pub(crate) day: NaiveDate,
    pub(crate) spend: i64,
    pub(crate) impressions: i64,
}

/// Delivery of the chosen campaigns inside the window.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delivery {
    pub(crate) line_items: Vec<LineItem>,
    pub(crate) rows: Vec<Row>,
    /// Whether a day had both a row for the whole day and hourly rows. The row for the whole day
    /// counted.
    pub(crate) mixed: bool,
}

/// The offsets between stored day numbers and calendar days.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Base {
    /// The offset of the days of flights and of rows for a whole day.
    local: i64,
    /// The offset of the days of hourly rows.
    utc: i64,
    sample: bool,
}

impl Base {
    pub(crate) fn new(dataset: Dataset, now: &LocalNow) -> Self {
        match dataset {
            Dataset::Imported => Self { local: 0, utc: 0, sample: false },
            Dataset::Sample => Self {
                local: time::number(now.today),
                utc: time::number(now.instant.date_naive()),
                sample: true,
            },
        }
    }
}

/// Returns the accounts of a data set, by id.
pub(crate) fn accounts(db: &Connection, dataset: Dataset) -> Result<Vec<Account>, AgentError> {
    let mut query = db
        .prepare_cached(
            "SELECT key, id, name, zone, currency FROM accounts WHERE dataset = ?1 ORDER BY id",
        )
        .map_err(|e| database_error(&e))?;
    let rows = query.query_map([db::number(dataset)], |row| {
        let zone: Option<String> = row.get(3)?;
        Ok(Account {
            key: row.get(0)?,
            id: row.get(1)?,
            name: row.get(2)?,
            zone: zone.and_then(|z| z.parse().ok()),
            currency: row.get(4)?,
        })
    });
    rows.and_then(Iterator::collect).map_err(|e| database_error(&e))
}

/// Returns the campaigns of an account, by name.
pub(crate) fn campaigns(
    db: &Connection,
    account: &Account,
    base: Base,
) -> Result<Vec<Campaign>, AgentError> {
    let sql = "SELECT key, id, name, advertiser, budget, flight_start, flight_end FROM campaigns WHERE account_key = ?1 ORDER BY name, id";
    let mut query = db.prepare_cached(sql).map_err(|e| database_error(&e))?;
    let rows = query.query_map([account.key], |row| {
        let day = |stored: Option<i64>| stored.and_then(|n| time::day(n + base.local));
        let (start, end) = (day(row.get(5)?), day(row.get(6)?));
        Ok(Campaign {
            key: row.get(0)?,
            id: row.get(1)?,
            name: row.get(2)?,
            advertiser: row.get(3)?,
            budget: row.get(4)?,
            flight: start.zip(end),
        })
    });
    rows.and_then(Iterator::collect).map_err(|e| database_error(&e))
}

/// Returns the advertisers of a data set with their accounts.
pub(crate) fn advertisers(
    db: &Connection,
    dataset: Dataset,
) -> Result<Vec<(String, String)>, AgentError> {
    let sql = "SELECT DISTINCT c.advertiser, a.id FROM campaigns c JOIN accounts a ON a.key = c.account_key
               WHERE a.dataset = ?1 AND c.advertiser <> '' ORDER BY c.advertiser, a.id";
    let mut query = db.prepare_cached(sql).map_err(|e| database_error(&e))?;
    let rows = query.query_map([db::number(dataset)], |row| Ok((row.get(0)?, row.get(1)?)));
    rows.and_then(Iterator::collect).map_err(|e| database_error(&e))
}

/// Returns the newest local day, up to now, for which the account has a row.
pub(crate) fn last_day(
    db: &Connection,
    account: &Account,
    base: Base,
    now: &LocalNow,
) -> Result<Option<NaiveDate>, AgentError> {
    let sql = "SELECT l.key FROM line_items l JOIN campaigns c ON c.key = l.campaign_key WHERE c.account_key = ?1";
    let mut query = db.prepare_cached(sql).map_err(|e| database_error(&e))?;
    let keys: Vec<i64> = query
        .query_map([account.key], |row| row.get(0))
        .and_then(Iterator::collect)
        .map_err(|e| database_error(&e))?;
    let mut daily = db
        .prepare_cached(
            "SELECT max(day) FROM delivery WHERE line_item_key = ?1 AND hour = -1 AND day <= ?2",
        )
        .map_err(|e| database_error(&e))?;
    let sql = "SELECT day, hour FROM delivery WHERE line_item_key = ?1 AND hour >= 0 AND (day < ?2 OR (day = ?2 AND hour <= ?3))
               ORDER BY day DESC, hour DESC LIMIT 1";
    let mut hourly = db.prepare_cached(sql).map_err(|e| database_error(&e))?;
    let (today, utc_today) =
        (time::number(now.today) - base.local, time::number(now.instant.date_naive()) - base.utc);
    let hour = last_hour(base, now);
    let mut newest: Option<NaiveDate> = None;
    for key in keys {
        let day: Option<i64> = daily
            .query_row(params![key, today], |row| row.get(0))
            .map_err(|e| database_error(&e))?;
        newest = newest.max(day.and_then(|d| time::day(d + base.local)));
        let found: Option<(i64, u32)> = hourly
            .query_row(params![key, utc_today, hour], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()
            .map_err(|e| database_error(&e))?;
        let local = found.and_then(|(day, hour)| {
            Some(time::local_day(now.zone, time::day(day + base.utc)?, hour))
        });
        newest = newest.max(local);
    }
    Ok(newest.map(|day| day.min(now.today)))
}

/// Returns the last hour of the current UTC day whose row counts. In the sample, an hour counts
/// only after it has ended.
fn last_hour(base: Base, now: &LocalNow) -> i64 {
    let hour = i64::from(chrono::Timelike::hour(&now.instant));
    if base.sample { hour - 1 } else { hour }
}

/// Returns the rows of the chosen campaigns for a range of days, by line item and day.
pub(crate) fn delivery(
    db: &Connection,
    campaigns: &[Campaign],
    base: Base,
    now: &LocalNow,
    days: (NaiveDate, NaiveDate),
) -> Result<Delivery, AgentError> {
    let mut items = db
        .prepare_cached(
            "SELECT key, id, name FROM line_items WHERE campaign_key = ?1 ORDER BY name, id",
        )
        .map_err(|e| database_error(&e))?;
    let mut found = Delivery::default();
    for (campaign, stored) in campaigns.iter().enumerate() {
        let keys: Vec<(i64, String, String)> = items
            .query_map([stored.key], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .and_then(Iterator::collect)
            .map_err(|e| database_error(&e))?;
        for (key, id, name) in keys {
            let line_item = found.line_items.len();
            found.line_items.push(LineItem { id, name, campaign });
            for (day, cell) in days_of(db, key, base, now, days)? {
                found.mixed |= cell.daily.is_some() && cell.hourly.is_some();
                let Some((spend, impressions)) = cell.daily.or(cell.hourly) else { continue };
                if spend != 0 || impressions != 0 {
                    found.rows.push(Row { line_item, day, spend, impressions });
                }
            }
        }
    }
    Ok(found)
}

/// The stored values of one local day.
#[derive(Default)]
struct Cell {
    daily: Option<(i64, i64)>,
    hourly: Option<(i64, i64)>,
}

fn days_of(
    db: &Connection,
    line_item: i64,
    base: Base,
    now: &LocalNow,
    (start, end): (NaiveDate, NaiveDate),
) -> Result<BTreeMap<NaiveDate, Cell>, AgentError> {
    let end = end.min(now.today);
    let mut cells: BTreeMap<NaiveDate, Cell> = BTreeMap::new();
    let mut daily = db
        .prepare_cached("SELECT day, spend, impressions FROM delivery WHERE line_item_key = ?1 AND hour = -1 AND day BETWEEN ?2 AND ?3")
        .map_err(|e| database_error(&e))?;
    let span = params![line_item, time::number(start) - base.local, time::number(end) - base.local];
    let mut rows = daily.query(span).map_err(|e| database_error(&e))?;
    while let Some(row) = rows.next().map_err(|e| database_error(&e))? {
        let (stored, spend, impressions) = row
            .get(0)
            .and_then(|d: i64| Ok((d, row.get(1)?, row.get(2)?)))
            .map_err(|e| database_error(&e))?;
        let Some(day) = time::day(stored + base.local) else { continue };
        cells.entry(day).or_default().daily = Some(if base.sample && day == now.today {
            now.so_far(spend, impressions)
        } else {
            (spend, impressions)
        });
    }
    // Hours are stored in UTC. One more day on each side covers every time zone; rows outside the
    // window are skipped.
    let sql = "SELECT day, hour, spend, impressions FROM delivery WHERE line_item_key = ?1 AND hour >= 0 AND day BETWEEN ?2 AND ?3";
    let mut hourly = db.prepare_cached(sql).map_err(|e| database_error(&e))?;
    let span = params![
        line_item,
        time::number(after(start, -1)) - base.utc,
        time::number(after(end, 1)) - base.utc
    ];
    let mut rows = hourly.query(span).map_err(|e| database_error(&e))?;
    let (utc_today, last_hour) = (now.instant.date_naive(), last_hour(base, now));
    while let Some(row) = rows.next().map_err(|e| database_error(&e))? {
        let (stored, hour): (i64, u32) =
            row.get(0).and_then(|d| Ok((d, row.get(1)?))).map_err(|e| database_error(&e))?;
        let (spend, impressions): (i64, i64) =
            row.get(2).and_then(|s| Ok((s, row.get(3)?))).map_err(|e| database_error(&e))?;
        let Some(utc_day) = time::day(stored + base.utc) else { continue };
        if utc_day > utc_today || (utc_day == utc_today && i64::from(hour) > last_hour) {
            continue;
        }
        let day = time::local_day(now.zone, utc_day, hour);
        if day < start || day > end {
            continue;
        }
        let sum = cells.entry(day).or_default().hourly.get_or_insert((0, 0));
        *sum = (sum.0.saturating_add(spend), sum.1.saturating_add(impressions));
    }
    Ok(cells)
}
