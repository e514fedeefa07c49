//! Writes the generated sample into the database, once for each version. Days are stored relative
//! to today.

use contract::AgentError;
use rusqlite::{Connection, TransactionBehavior, params};

use crate::{
    db::{self, Dataset, database_error},
    sample::{self, Sample},
};

const MARK: &str = "sample_version";

/// Makes sure that the database contains the current version of the sample.
pub(crate) fn ensure(db: &mut Connection) -> Result<(), AgentError> {
    if db::meta(db, MARK)?.as_deref() == Some(sample::VERSION) {
        return Ok(());
    }
    let sample = sample::generate(sample::SEED);
    let transaction = db
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(|e| database_error(&e))?;
    clear(&transaction)?;
    insert(&transaction, &sample).map_err(|e| database_error(&e))?;
    db::set_meta(&transaction, MARK, sample::VERSION)?;
    transaction.commit().map_err(|e| database_error(&e))
}

fn clear(db: &Connection) -> Result<(), AgentError> {
    let sample = [db::number(Dataset::Sample)];
    let accounts = "SELECT key FROM accounts WHERE dataset = ?1";
    let campaigns = format!("SELECT key FROM campaigns WHERE account_key IN ({accounts})");
    let items = format!("SELECT key FROM line_items WHERE campaign_key IN ({campaigns})");
    for sql in [
        format!("DELETE FROM delivery WHERE line_item_key IN ({items})"),
        format!("DELETE FROM line_items WHERE campaign_key IN ({campaigns})"),
        format!("DELETE FROM campaigns WHERE account_key IN ({accounts})"),
        "DELETE FROM accounts WHERE dataset = ?1".to_owned(),
    ] {
        db.execute(&sql, sample).map_err(|e| database_error(&e))?;
    }
    Ok(())
}

fn insert(db: &Connection, sample: &Sample) -> Result<(), rusqlite::Error> {
    let mut account = db.prepare(
        "INSERT INTO accounts (dataset, id, name, zone, currency) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    let accounts: Vec<i64> = sample
        .accounts
        .iter()
        .map(|a| {
            account.insert(params![db::number(Dataset::Sample), a.id, a.name, a.zone, a.currency])
        })
        .collect::<Result<_, _>>()?;
    let sql = "INSERT INTO campaigns (account_key, id, name, advertiser, budget, flight_start, flight_end) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let mut campaign = db.prepare(sql)?;
    let campaigns: Vec<i64> = sample
        .campaigns
        .iter()
        .map(|c| {
            campaign.insert(params![
                accounts[c.account],
                c.id,
                c.name,
                c.advertiser,
                c.budget,
                c.flight.0,
                c.flight.1
            ])
        })
        .collect::<Result<_, _>>()?;
    let mut item =
        db.prepare("INSERT INTO line_items (campaign_key, id, name) VALUES (?1, ?2, ?3)")?;
    let items: Vec<i64> = sample
        .line_items
        .iter()
        .map(|l| item.insert(params![campaigns[l.campaign], l.id, l.name]))
        .collect::<Result<_, _>>()?;
    let mut delivery = db.prepare("INSERT INTO delivery (line_item_key, day, hour, spend, impressions) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for row in &sample.rows {
        let hour = row.hour.map_or(-1, i64::from);
        delivery.execute(params![
            items[row.line_item],
            row.day,
            hour,
            row.spend,
            row.impressions
        ])?;
    }
    Ok(())
}
