//! Writes imported rows. Accounts, campaigns and line items are found or created once per file and
//! cached. A row with the key of an earlier row replaces that row and is counted.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension, params};

use super::cells::{CampaignColumns, CampaignRow, DeliveryRow};
use crate::db::{self, Dataset};

type Result<T> = std::result::Result<T, rusqlite::Error>;

/// Writes the rows of one file.
pub(crate) struct Store<'c> {
    db: &'c Connection,
    accounts: HashMap<String, Account>,
    stored: u64,
    replaced: u64,
    taken: u64,
    /// The keys of rows that `add_delivery` stored from this file: line item, day, hour.
    added: HashSet<(i64, i64, i8)>,
}

#[derive(Default)]
struct Account {
    key: i64,
    name: String,
    zone: String,
    currency: String,
    campaigns: HashMap<String, Campaign>,
}

struct Campaign {
    key: i64,
    name: String,
    advertiser: String,
    /// Whether an earlier row of this file has named the campaign.
    seen: bool,
    line_items: HashMap<String, (i64, String)>,
}

impl<'c> Store<'c> {
    pub(crate) fn new(db: &'c Connection) -> Self {
        Self {
            db,
            accounts: HashMap::new(),
            stored: 0,
            replaced: 0,
            taken: 0,
            added: HashSet::new(),
        }
    }

    /// Returns the number of stored rows, and how many of them replaced another row.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.stored, self.replaced)
    }

    /// Returns the number of rows stored since the last call.
    pub(crate) fn take_new(&mut self) -> u64 {
        let new = self.stored - self.taken;
        self.taken = self.stored;
        new
    }

    /// Stores a row of delivery.
    pub(crate) fn delivery(&mut self, row: &DeliveryRow<'_>) -> Result<()> {
        let db = self.db;
        let campaign = self.upsert_campaign(&row.columns)?;
        let line_item = line_item(db, campaign, row.line_item, row.line_item_name)?;
        let values = params![line_item, row.day, row.hour, row.spend, row.impressions];
        let sql = "INSERT OR IGNORE INTO delivery (line_item_key, day, hour, spend, impressions) VALUES (?1, ?2, ?3, ?4, ?5)";
        if db.prepare_cached(sql)?.execute(values)? == 0 {
            let sql = "UPDATE delivery SET spend = ?4, impressions = ?5 WHERE line_item_key = ?1 AND day = ?2 AND hour = ?3";
            db.prepare_cached(sql)?.execute(values)?;
            self.replaced += 1;
        }
        self.stored += 1;
        Ok(())
    }

    /// Stores a row of delivery, and adds it to an earlier row of this file with the same key: an
    /// export can split the spend of a day by device or network. Rows of earlier imports are
    /// replaced.
    pub(crate) fn add_delivery(&mut self, row: &DeliveryRow<'_>) -> Result<()> {
        let db = self.db;
        let campaign = self.upsert_campaign(&row.columns)?;
        let line_item = line_item(db, campaign, row.line_item, row.line_item_name)?;
        let hour = i8::try_from(row.hour).unwrap_or(-1);
        if self.added.insert((line_item, row.day, hour)) {
            return self.delivery(row);
        }
        let sql = "UPDATE delivery SET spend = spend + ?4, impressions = impressions + ?5 WHERE line_item_key = ?1 AND day = ?2 AND hour = ?3";
        db.prepare_cached(sql)?.execute(params![
            line_item,
            row.day,
            row.hour,
            row.spend,
            row.impressions
        ])?;
        self.stored += 1;
        Ok(())
    }

    /// Stores budget and flight of a campaign.
    pub(crate) fn campaign(&mut self, row: &CampaignRow<'_>) -> Result<()> {
        let db = self.db;
        let campaign = self.upsert_campaign(&row.columns)?;
        let again = std::mem::replace(&mut campaign.seen, true);
        let key = campaign.key;
        let had: bool =
            db.prepare_cached("SELECT budget IS NOT NULL OR flight_start IS NOT NULL FROM campaigns WHERE key = ?1")?.query_row([key], |r| r.get(0))?;
        let (start, end) = row.flight.unzip();
        db.prepare_cached(
            "UPDATE campaigns SET budget = ?2, flight_start = ?3, flight_end = ?4 WHERE key = ?1",
        )?
        .execute(params![key, row.budget, start, end])?;
        self.replaced += u64::from(again || had);
        self.stored += 1;
        Ok(())
    }

    /// Creates or updates the account and campaign of a row, and returns the campaign.
    fn upsert_campaign(&mut self, columns: &CampaignColumns<'_>) -> Result<&mut Campaign> {
        let db = self.db;
        if !self.accounts.contains_key(columns.account) {
            self.accounts.insert(columns.account.to_owned(), find_account(db, columns)?);
        }
        let Some(account) = self.accounts.get_mut(columns.account) else {
            return Err(rusqlite::Error::InvalidQuery);
        };
        let differs = |new: &str, old: &str| !new.is_empty() && new != old;
        if differs(columns.account_name, &account.name)
            || differs(columns.zone, &account.zone)
            || differs(columns.currency, &account.currency)
        {
            for (new, old) in [
                (columns.account_name, &mut account.name),
                (columns.zone, &mut account.zone),
                (columns.currency, &mut account.currency),
            ] {
                if !new.is_empty() {
                    new.clone_into(old);
                }
            }
            db.prepare_cached("UPDATE accounts SET name = ?2, zone = nullif(?3, ''), currency = nullif(?4, '') WHERE key = ?1")?.execute(params![
                account.key,
                account.name,
                account.zone,
                account.currency
            ])?;
        }
        if !account.campaigns.contains_key(columns.campaign) {
            let found = find_campaign(db, account.key, columns)?;
            account.campaigns.insert(columns.campaign.to_owned(), found);
        }
        let Some(campaign) = account.campaigns.get_mut(columns.campaign) else {
            return Err(rusqlite::Error::InvalidQuery);
        };
        if differs(columns.campaign_name, &campaign.name)
            || differs(columns.advertiser, &campaign.advertiser)
        {
            for (new, old) in [
                (columns.campaign_name, &mut campaign.name),
                (columns.advertiser, &mut campaign.advertiser),
            ] {
                if !new.is_empty() {
                    new.clone_into(old);
                }
            }
            db.prepare_cached("UPDATE campaigns SET name = ?2, advertiser = ?3 WHERE key = ?1")?
                .execute(params![campaign.key, campaign.name, campaign.advertiser])?;
        }
        Ok(campaign)
    }
}

/// Returns the text, or the id if the text is empty.
fn or_id<'t>(text: &'t str, id: &'t str) -> &'t str {
    if text.is_empty() { id } else { text }
}

fn find_account(db: &Connection, columns: &CampaignColumns<'_>) -> Result<Account> {
    let sql = "SELECT key, name, coalesce(zone, ''), coalesce(currency, '') FROM accounts WHERE dataset = ?1 AND id = ?2";
    let known = db.prepare_cached(sql)?.query_row(
        params![db::number(Dataset::Imported), columns.account],
        |row| {
            Ok(Account {
                key: row.get(0)?,
                name: row.get(1)?,
                zone: row.get(2)?,
                currency: row.get(3)?,
                campaigns: HashMap::new(),
            })
        },
    );
    if let Some(account) = known.optional()? {
        return Ok(account);
    }
    let name = or_id(columns.account_name, columns.account);
    let sql = "INSERT INTO accounts (dataset, id, name, zone, currency) VALUES (?1, ?2, ?3, nullif(?4, ''), nullif(?5, ''))";
    let key = db.prepare_cached(sql)?.insert(params![
        db::number(Dataset::Imported),
        columns.account,
        name,
        columns.zone,
        columns.currency
    ])?;
    let (zone, currency) = (columns.zone.to_owned(), columns.currency.to_owned());
    Ok(Account { key, name: name.to_owned(), zone, currency, campaigns: HashMap::new() })
}

fn find_campaign(db: &Connection, account: i64, columns: &CampaignColumns<'_>) -> Result<Campaign> {
    let sql = "SELECT key, name, advertiser FROM campaigns WHERE account_key = ?1 AND id = ?2";
    let known = db.prepare_cached(sql)?.query_row(params![account, columns.campaign], |row| {
        Ok(Campaign {
            key: row.get(0)?,
            name: row.get(1)?,
            advertiser: row.get(2)?,
            seen: false,
            line_items: HashMap::new(),
        })
    });
    if let Some(campaign) = known.optional()? {
        return Ok(campaign);
    }
    let name = or_id(columns.campaign_name, columns.campaign);
    let sql = "INSERT INTO campaigns (account_key, id, name, advertiser) VALUES (?1, ?2, ?3, ?4)";
    let key = db.prepare_cached(sql)?.insert(params![
        account,
        columns.campaign,
        name,
        columns.advertiser
    ])?;
    Ok(Campaign {
        key,
        name: name.to_owned(),
        advertiser: columns.advertiser.to_owned(),
        seen: false,
        line_items: HashMap::new(),
    })
}

fn line_item(db: &Connection, campaign: &mut Campaign, id: &str, name: &str) -> Result<i64> {
    if let Some((key, known)) = campaign.line_items.get_mut(id) {
        if !name.is_empty() && name != known {
            db.prepare_cached("UPDATE line_items SET name = ?2 WHERE key = ?1")?
                .execute(params![*key, name])?;
            name.clone_into(known);
        }
        return Ok(*key);
    }
    let sql = "INSERT INTO line_items (campaign_key, id, name) VALUES (?1, ?2, ?3)
               ON CONFLICT (campaign_key, id) DO UPDATE SET name = CASE WHEN ?4 = '' THEN name ELSE excluded.name END RETURNING key, name";
    let (key, name): (i64, String) = db
        .prepare_cached(sql)?
        .query_row(params![campaign.key, id, or_id(name, id), name], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    campaign.line_items.insert(id.to_owned(), (key, name));
    Ok(key)
}
