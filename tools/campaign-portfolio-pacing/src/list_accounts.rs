//! The accounts in the data, with the known facts about each. No figures of a period.

use chrono::SecondsFormat;
use contract::AgentError;
use serde_json::{Value, json};

use crate::{
    analyze::Setting,
    args,
    data::{self, AccountSummary},
    db::Dataset,
    money::money,
    time::LocalNow,
};

/// The most accounts in a result.
const MAX_ROWS: usize = 100;
/// The most advertisers of an account.
const MAX_ADVERTISERS: usize = 50;

/// Answers a call of `list_accounts`.
pub(crate) fn list(setting: Setting<'_>, arguments: &Value) -> Result<Value, AgentError> {
    let query = args::read_list(arguments)?.map(|query| query.to_lowercase());
    let all = data::account_summaries(setting.db, setting.dataset)?;
    let is_wanted = |one: &&AccountSummary| {
        let Some(query) = &query else { return true };
        [&one.account.id, &one.account.name]
            .into_iter()
            .chain(&one.advertisers)
            .any(|text| text.to_lowercase().contains(query.as_str()))
    };
    let matching: Vec<&AccountSummary> = all.iter().filter(is_wanted).collect();
    let rows: Vec<Value> = matching.iter().take(MAX_ROWS).map(|one| row(setting, one)).collect();
    let dataset = match setting.dataset {
        Dataset::Sample => "sample",
        Dataset::Imported => "imported",
    };
    Ok(json!({
        "accounts": rows,
        "total": all.len(),
        "matching": matching.len(),
        "dataset": dataset,
        "as_of": setting.instant.to_rfc3339_opts(SecondsFormat::Secs, true),
    }))
}

fn row(setting: Setting<'_>, one: &AccountSummary) -> Value {
    let account = &one.account;
    let zone = account.zone.unwrap_or(chrono_tz::UTC);
    let now = LocalNow::new(zone, setting.instant);
    let (first, last) = one.days(setting.dataset, &now);
    json!({
        "account_id": account.id,
        "account_name": account.name,
        "currency": account.currency,
        "time_zone": account.zone.map(|zone| zone.name()),
        "advertisers": one.advertisers.iter().take(MAX_ADVERTISERS).collect::<Vec<_>>(),
        "campaigns": one.campaigns,
        "line_items": one.line_items,
        "rows": one.rows,
        "first_day": first,
        "last_day": last,
        "budget": one.budget.map(money),
    })
}
