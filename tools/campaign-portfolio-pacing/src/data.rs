//! Reads accounts, campaigns and delivery rows for one question, and converts stored days into
//! local days.

use std::collections::HashMap;

use chrono::NaiveDate;
use chrono_tz::Tz;
use contract::AgentError;
use rusqlite::{CachedStatement, Connection, params};

use crate::{
    db::{self, Dataset, database_error},
    select::CampaignName,
    time::{self, LocalNow, add_days},
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
    /// Whether a day had both a row for the whole day and hourly rows. Then only the row for the
    /// whole day is used.
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
                local: time::day_to_number(now.today),
                utc: time::day_to_number(now.instant.date_naive()),
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
        let day = |stored: Option<i64>| stored.and_then(|n| time::day_from_number(n + base.local));
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

/// An account with its stored advertisers, counts and days.
#[derive(Clone, Debug)]
pub(crate) struct AccountSummary {
    pub(crate) account: Account,
    pub(crate) advertisers: Vec<String>,
    pub(crate) campaigns: i64,
    pub(crate) line_items: i64,
    pub(crate) rows: i64,
    /// The sum of the campaigns' budgets. None if no campaign has one.
    pub(crate) budget: Option<i64>,
    stored: (Option<i64>, Option<i64>),
}

impl AccountSummary {
    /// Returns the first and the last day with rows. Future rows of the sample are ignored.
    pub(crate) fn days(
        &self,
        dataset: Dataset,
        now: &LocalNow,
    ) -> (Option<NaiveDate>, Option<NaiveDate>) {
        let base = Base::new(dataset, now);
        let day = |stored: i64| {
            let stored = if base.sample { stored.min(0) } else { stored };
            time::day_from_number(stored + base.local)
        };
        (self.stored.0.and_then(day), self.stored.1.and_then(day))
    }
}

/// Returns each account with its stored advertisers, counts and days, by id.
pub(crate) fn account_summaries(
    db: &Connection,
    dataset: Dataset,
) -> Result<Vec<AccountSummary>, AgentError> {
    let mut advertisers: HashMap<String, Vec<String>> = HashMap::new();
    for (name, account) in self::advertisers(db, dataset)? {
        advertisers.entry(account).or_default().push(name);
    }
    let campaigns = "SELECT count(*), sum(budget) FROM campaigns WHERE account_key = ?1";
    let rows = "SELECT count(DISTINCT l.key), count(d.day), min(d.day), max(d.day) FROM campaigns c
                JOIN line_items l ON l.campaign_key = c.key LEFT JOIN delivery d ON d.line_item_key = l.key WHERE c.account_key = ?1";
    let read = |account: Account| -> rusqlite::Result<AccountSummary> {
        let (campaigns, budget) = db
            .prepare_cached(campaigns)?
            .query_row([account.key], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (line_items, rows, stored) =
            db.prepare_cached(rows)?.query_row([account.key], |row| {
                Ok((row.get(0)?, row.get(1)?, (row.get(2)?, row.get(3)?)))
            })?;
        let advertisers = advertisers.get(&account.id).cloned().unwrap_or_default();
        Ok(AccountSummary { account, advertisers, campaigns, line_items, rows, budget, stored })
    };
    accounts(db, dataset)?
        .into_iter()
        .map(|account| read(account).map_err(|e| database_error(&e)))
        .collect()
}

/// Returns the names of all campaigns of a data set, by account and name.
pub(crate) fn campaign_names(
    db: &Connection,
    dataset: Dataset,
) -> Result<Vec<CampaignName>, AgentError> {
    let sql = "SELECT c.id, c.name, c.advertiser, a.id FROM campaigns c JOIN accounts a ON a.key = c.account_key
               WHERE a.dataset = ?1 ORDER BY a.id, c.name, c.id";
    let mut query = db.prepare_cached(sql).map_err(|e| database_error(&e))?;
    let rows = query.query_map([db::number(dataset)], |row| {
        Ok(CampaignName {
            id: row.get(0)?,
            name: row.get(1)?,
            advertiser: row.get(2)?,
            account: row.get(3)?,
        })
    });
    rows.and_then(Iterator::collect).map_err(|e| database_error(&e))
}

/// Returns the first local day with a row of an account. None if it has no rows.
pub(crate) fn first_day(
    db: &Connection,
    account: &Account,
    base: Base,
) -> Result<Option<NaiveDate>, AgentError> {
    // The key of `delivery` finds the first day of each line item at once.
    let sql = "SELECT min((SELECT min(d.day) FROM delivery d WHERE d.line_item_key = l.key)) FROM line_items l
               JOIN campaigns c ON c.key = l.campaign_key WHERE c.account_key = ?1";
    let mut query = db.prepare_cached(sql).map_err(|e| database_error(&e))?;
    let stored: Option<i64> =
        query.query_row([account.key], |row| row.get(0)).map_err(|e| database_error(&e))?;
    Ok(stored.and_then(|day| time::day_from_number(day + base.local)))
}

/// The newest local days with a row, up to now.
#[derive(Clone, Debug, Default)]
pub(crate) struct Newest {
    /// The newest day of the account.
    pub(crate) day: Option<NaiveDate>,
    /// The newest day of each campaign that has a row, by key.
    campaigns: HashMap<i64, NaiveDate>,
}

impl Newest {
    /// Returns the newest day among these campaigns.
    pub(crate) fn of(&self, campaigns: &[Campaign]) -> Option<NaiveDate> {
        campaigns.iter().filter_map(|c| self.campaigns.get(&c.key)).max().copied()
    }
}

/// Returns the newest local days, up to now, of an account and its campaigns.
pub(crate) fn newest_days(
    db: &Connection,
    account: &Account,
    base: Base,
    now: &LocalNow,
) -> Result<Newest, AgentError> {
    let sql = "SELECT l.key, c.key FROM line_items l JOIN campaigns c ON c.key = l.campaign_key WHERE c.account_key = ?1";
    let mut query = db.prepare_cached(sql).map_err(|e| database_error(&e))?;
    let keys: Vec<(i64, i64)> = query
        .query_map([account.key], |row| Ok((row.get(0)?, row.get(1)?)))
        .and_then(Iterator::collect)
        .map_err(|e| database_error(&e))?;
    // The newest row comes first, in the order of the primary key. Usually the first row is the
    // answer.
    let sql = "SELECT day, hour FROM delivery WHERE line_item_key = ?1 AND day <= ?2 ORDER BY day DESC, hour DESC";
    let mut rows = db.prepare_cached(sql).map_err(|e| database_error(&e))?;
    let clock = Clock::new(base, now);
    let mut newest = Newest::default();
    for (line_item, campaign) in keys {
        let mut found =
            rows.query(params![line_item, clock.last_stored()]).map_err(|e| database_error(&e))?;
        let mut day: Option<NaiveDate> = None;
        // An hour of a UTC day can belong to the local day before or after that day.
        let mut oldest_useful = i64::MIN;
        while let Some(row) = found.next().map_err(|e| database_error(&e))? {
            let (stored, hour) = row
                .get(0)
                .and_then(|d: i64| Ok((d, row.get(1)?)))
                .map_err(|e| database_error(&e))?;
            if stored < oldest_useful {
                break;
            }
            let local = clock.local_day(stored, hour).filter(|local| *local <= now.today);
            if local.is_some() && day.is_none() {
                oldest_useful = stored - 2;
            }
            day = day.max(local);
        }
        let Some(day) = day else { continue };
        newest.day = newest.day.max(Some(day));
        let known = newest.campaigns.entry(campaign).or_insert(day);
        *known = day.max(*known);
    }
    Ok(newest)
}

/// Converts stored days and hours into local days, up to now.
struct Clock<'a> {
    base: Base,
    now: &'a LocalNow,
    utc_today: i64,
    last_hour: i64,
}

impl<'a> Clock<'a> {
    fn new(base: Base, now: &'a LocalNow) -> Self {
        let utc_today = time::day_to_number(now.instant.date_naive()) - base.utc;
        let last_hour = i64::from(chrono::Timelike::hour(&now.instant));
        Self { base, now, utc_today, last_hour }
    }

    /// Returns the last stored day that can belong to a day up to today.
    fn last_stored(&self) -> i64 {
        self.utc_today.max(time::day_to_number(self.now.today) - self.base.local)
    }

    /// Returns the part of an hourly row that has accrued. The sample has only whole hours, so the
    /// present hour is cut to the part until now, as in the plan.
    fn counted(&self, stored: i64, hour: i64, spend: i64, impressions: i64) -> (i64, i64) {
        if self.base.sample && stored == self.utc_today && hour == self.last_hour {
            self.now.hour_so_far(spend, impressions)
        } else {
            (spend, impressions)
        }
    }

    /// Returns the local day of a row. None for a future hour.
    fn local_day(&self, stored: i64, hour: i64) -> Option<NaiveDate> {
        let Ok(hour_of_day) = u32::try_from(hour) else {
            return time::day_from_number(stored + self.base.local);
        };
        if stored > self.utc_today || (stored == self.utc_today && hour > self.last_hour) {
            return None;
        }
        let utc_day = time::day_from_number(stored + self.base.utc)?;
        Some(time::local_day(self.now.zone, utc_day, hour_of_day))
    }
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
    let mut cells = Cells::new(db, base, now, days)?;
    for (campaign, stored) in campaigns.iter().enumerate() {
        let keys: Vec<(i64, String, String)> = items
            .query_map([stored.key], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .and_then(Iterator::collect)
            .map_err(|e| database_error(&e))?;
        for (key, id, name) in keys {
            let line_item = found.line_items.len();
            found.line_items.push(LineItem { id, name, campaign });
            cells.read(key)?;
            cells.take(|day, cell| {
                found.mixed |= cell.daily.is_some() && cell.hourly.is_some();
                let Some((spend, impressions)) = cell.daily.or(cell.hourly) else { return };
                if spend != 0 || impressions != 0 {
                    found.rows.push(Row { line_item, day, spend, impressions });
                }
            });
        }
    }
    Ok(found)
}

/// The stored values of one local day.
#[derive(Clone, Copy, Default)]
struct Cell {
    daily: Option<(i64, i64)>,
    hourly: Option<(i64, i64)>,
}

/// The local days of one line item after another.
struct Cells<'a> {
    query: CachedStatement<'a>,
    clock: Clock<'a>,
    start: NaiveDate,
    end: NaiveDate,
    /// A cell for each day from `start` to `end`.
    cells: Vec<Cell>,
}

impl<'a> Cells<'a> {
    fn new(
        db: &'a Connection,
        base: Base,
        now: &'a LocalNow,
        (start, end): (NaiveDate, NaiveDate),
    ) -> Result<Self, AgentError> {
        let sql = "SELECT day, hour, spend, impressions FROM delivery WHERE line_item_key = ?1 AND day BETWEEN ?2 AND ?3";
        let query = db.prepare_cached(sql).map_err(|e| database_error(&e))?;
        let end = end.min(now.today);
        let length = usize::try_from(time::count_days(start, end)).unwrap_or(0);
        let cells = vec![Cell::default(); length];
        Ok(Self { query, clock: Clock::new(base, now), start, end, cells })
    }

    /// Reads the rows of a line item.
    fn read(&mut self, line_item: i64) -> Result<(), AgentError> {
        let Clock { base, now, .. } = self.clock;
        // Hours are stored in UTC. One more day on each side covers every time zone, and rows
        // outside of the window are skipped.
        let first = time::day_to_number(add_days(self.start, -1)) - base.utc.max(base.local);
        let last = time::day_to_number(add_days(self.end, 1)) - base.utc.min(base.local);
        let span = params![line_item, first, last];
        let mut rows = self.query.query(span).map_err(|e| database_error(&e))?;
        while let Some(row) = rows.next().map_err(|e| database_error(&e))? {
            let read = |row: &rusqlite::Row<'_>| -> rusqlite::Result<(i64, i64, i64, i64)> {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            };
            let (stored, hour, spend, impressions) = read(row).map_err(|e| database_error(&e))?;
            let Some(day) = self.clock.local_day(stored, hour) else { continue };
            let at = usize::try_from((day - self.start).num_days()).ok();
            let Some(cell) = at.and_then(|at| self.cells.get_mut(at)) else { continue };
            if hour >= 0 {
                let (spend, impressions) = self.clock.counted(stored, hour, spend, impressions);
                let sum = cell.hourly.get_or_insert((0, 0));
                *sum = (sum.0.saturating_add(spend), sum.1.saturating_add(impressions));
            } else {
                cell.daily = Some(if base.sample && day == now.today {
                    now.so_far(spend, impressions)
                } else {
                    (spend, impressions)
                });
            }
        }
        Ok(())
    }

    /// Passes on the days that were read, and empties them.
    fn take(&mut self, mut use_day: impl FnMut(NaiveDate, &Cell)) {
        for (day, cell) in self.start.iter_days().zip(&mut self.cells) {
            use_day(day, &std::mem::take(cell));
        }
    }
}
