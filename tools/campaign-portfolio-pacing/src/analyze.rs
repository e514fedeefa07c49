//! Answers one question: selects campaigns, reads rows, sums, computes the pace, and builds the
//! result.

use chrono::{DateTime, NaiveDate, Utc};
use contract::{AgentError, text};
use rusqlite::Connection;
use serde_json::Value;

use crate::{
    args::{self, Args},
    data::{self, Account, Base, Campaign, Delivery},
    db::Dataset,
    money::round_div,
    pace::{self, Facts, Pace, Thresholds, Window},
    report::{self, Assumptions},
    rollup::{self, Rollups},
    select::{self, Source},
    time::{LocalNow, inclusive},
};

/// All data of a report.
pub(crate) struct Analysis {
    pub(crate) now: LocalNow,
    pub(crate) account: Account,
    pub(crate) source: Source,
    /// The name of the selection of campaigns. None if all count.
    pub(crate) advertiser: Option<String>,
    pub(crate) filter: Option<String>,
    pub(crate) window: Window,
    pub(crate) campaigns: Vec<Campaign>,
    /// The part of each campaign's budget that falls into the window. None if it has no budget.
    pub(crate) budgets: Vec<Option<i64>>,
    /// The budget that spend is compared with. None if it is unknown.
    pub(crate) budget: Option<i64>,
    pub(crate) delivery: Delivery,
    pub(crate) rollups: Rollups,
    pub(crate) pace: Pace,
    /// The newest day in the account's feed.
    pub(crate) feed: Option<NaiveDate>,
    pub(crate) dataset: Dataset,
    pub(crate) assumptions: Assumptions,
}

/// Answers a question with the result object.
pub(crate) fn analyze(
    db: &Connection,
    dataset: Dataset,
    instant: DateTime<Utc>,
    limits: &Thresholds,
    arguments: &Value,
) -> Result<Value, AgentError> {
    let analysis = run(db, dataset, instant, limits, &args::read(arguments)?)?;
    Ok(report::result(&analysis, limits))
}

/// Computes the analysis without formatting the result.
pub(crate) fn run(
    db: &Connection,
    dataset: Dataset,
    instant: DateTime<Utc>,
    limits: &Thresholds,
    args: &Args,
) -> Result<Analysis, AgentError> {
    let mut assumptions = Assumptions::default();
    let (account, source) = select::account(db, dataset, args, &mut assumptions)?;
    let zone = account.zone.unwrap_or_else(|| {
        assumptions.add(
            "zone_default",
            "UTC",
            "The account has no time zone: its days are UTC days.".to_owned(),
        );
        chrono_tz::UTC
    });
    let now = LocalNow::new(zone, instant);
    let window = args::window(args, &now, &mut assumptions);
    let base = Base::new(dataset, &now);
    let all = data::campaigns(db, &account, base)?;
    let (chosen, advertiser) = select::campaigns(all, &account, args, &mut assumptions)?;
    let feed = data::last_day(db, &account, base, &now)?;
    let delivery = data::delivery(db, &chosen, base, &now, (window.start, window.end))?;
    if delivery.rows.is_empty() && now.today >= window.start {
        return Err(no_rows(&account, &chosen, window, feed, &now));
    }
    let (campaigns, delivery) = in_scope(chosen, delivery, window);
    if delivery.mixed {
        assumptions.add(
            "daily_before_hourly",
            Value::Null,
            "Days with a row for the day and hourly rows: the row for the day counted.".to_owned(),
        );
    }
    let budgets: Vec<Option<i64>> = campaigns.iter().map(|c| in_window(c, window)).collect();
    let budget = budget(args, &campaigns, &budgets, window, &mut assumptions);
    let campaign_of: Vec<usize> = delivery.line_items.iter().map(|l| l.campaign).collect();
    let rollups = rollup::rollups(&delivery.rows, &campaign_of, campaigns.len());
    let last = feed.map(|day| day.min(now.today)).filter(|day| *day >= window.start);
    let facts =
        Facts { spend: rollups.portfolio_total.spend, budget: budget.unwrap_or(0), window, last };
    let pace = pace::pace(&facts, &now, limits);
    let filter = args.advertiser.clone();
    Ok(Analysis {
        now,
        account,
        source,
        advertiser,
        filter,
        window,
        campaigns,
        budgets,
        budget,
        delivery,
        rollups,
        pace,
        feed,
        dataset,
        assumptions,
    })
}

/// Returns the campaigns with days or delivery in the window.
fn in_scope(
    chosen: Vec<Campaign>,
    delivery: Delivery,
    window: Window,
) -> (Vec<Campaign>, Delivery) {
    let mut active = vec![false; chosen.len()];
    for row in &delivery.rows {
        active[delivery.line_items[row.line_item].campaign] = true;
    }
    let in_flight = |c: &Campaign| c.flight.is_none_or(|flight| overlap(flight, window) > 0);
    let keep: Vec<bool> =
        chosen.iter().zip(&active).map(|(c, active)| *active || in_flight(c)).collect();
    let mut moved_campaigns = vec![usize::MAX; chosen.len()];
    let mut campaigns = Vec::new();
    for (index, campaign) in chosen.into_iter().enumerate().filter(|(i, _)| keep[*i]) {
        moved_campaigns[index] = campaigns.len();
        campaigns.push(campaign);
    }
    let mut moved_items = vec![usize::MAX; delivery.line_items.len()];
    let mut line_items = Vec::new();
    for (index, mut item) in
        delivery.line_items.into_iter().enumerate().filter(|(_, l)| keep[l.campaign])
    {
        item.campaign = moved_campaigns[item.campaign];
        moved_items[index] = line_items.len();
        line_items.push(item);
    }
    let rows = delivery.rows.into_iter().map(|mut row| {
        row.line_item = moved_items[row.line_item];
        row
    });
    let rows = rows.collect();
    (campaigns, Delivery { line_items, rows, mixed: delivery.mixed })
}

fn overlap((start, end): (NaiveDate, NaiveDate), window: Window) -> i64 {
    inclusive(start.max(window.start), end.min(window.end)).max(0)
}

/// Returns the part of a campaign's budget for the days of its flight inside the window.
fn in_window(campaign: &Campaign, window: Window) -> Option<i64> {
    let budget = campaign.budget?;
    let Some(flight) = campaign.flight else { return Some(budget) };
    let days = inclusive(flight.0, flight.1);
    if days <= 0 {
        return Some(budget);
    }
    i64::try_from(round_div(
        i128::from(budget) * i128::from(overlap(flight, window)),
        i128::from(days),
    ))
    .ok()
}

fn budget(
    args: &Args,
    campaigns: &[Campaign],
    budgets: &[Option<i64>],
    window: Window,
    assumptions: &mut Assumptions,
) -> Option<i64> {
    if args.budget.is_some() {
        return args.budget;
    }
    let known: Vec<i64> = budgets.iter().copied().flatten().collect();
    if known.is_empty() {
        assumptions.add(
            "budget_unknown",
            Value::Null,
            "No campaign has a budget and none was given: there is nothing to compare spend with."
                .to_owned(),
        );
        return None;
    }
    let sum = known.iter().fold(0_i64, |sum, b| sum.saturating_add(*b));
    let count = known.len();
    assumptions.add(
        "budget_from_campaigns",
        crate::money::money(sum),
        text!("No budget was given: the sum of {count} campaign budgets counts.", count),
    );
    let cut = campaigns
        .iter()
        .filter(|c| {
            c.budget.is_some() && c.flight.is_some_and(|f| overlap(f, window) < inclusive(f.0, f.1))
        })
        .count();
    if cut > 0 {
        let text = match cut {
            1 => "1 campaign runs outside these days too: only the part of its budget for the days of its flight in the window counts.".into(),
            _ => text!("{cut} campaigns run outside these days too: only the part of their budgets for the days of their flight in the window counts.", cut),
        };
        assumptions.add("budget_prorated", Value::from(cut), text);
    }
    let missing = budgets.len() - count;
    if missing > 0 {
        let text = match missing {
            1 => "1 campaign has no budget; its spend counts, so the percentages are too high."
                .into(),
            _ => text!(
                "{missing} campaigns have no budget; their spend counts, so the percentages are too high.",
                missing
            ),
        };
        assumptions.add("budget_incomplete", Value::from(missing), text);
    }
    let unflown = campaigns.iter().filter(|c| c.budget.is_some() && c.flight.is_none()).count();
    if unflown > 0 {
        let text = match unflown {
            1 => "1 campaign has no flight dates: its whole budget counts for these days.".into(),
            _ => text!(
                "{unflown} campaigns have no flight dates: their whole budget counts for these days.",
                unflown
            ),
        };
        assumptions.add("flight_unknown", Value::from(unflown), text);
    }
    Some(sum)
}

/// Returns the error for a window without rows, with the available data. Missing rows are not zero
/// spend.
fn no_rows(
    account: &Account,
    campaigns: &[Campaign],
    window: Window,
    feed: Option<NaiveDate>,
    now: &LocalNow,
) -> AgentError {
    let Window { start, end, .. } = window;
    let error = AgentError::invalid(text!("There are no delivery rows for account {account} ({name}) from {start} to {end}. That is not the same as no spend.", account = account.id, name = account.name, start, end))
    .reason("no_data");
    let first = campaigns.iter().filter_map(|c| c.flight).map(|f| f.0).min();
    let hint = match (feed, first) {
        (None, _) => "Import delivery rows for this account.".into(),
        (_, Some(first)) if first > now.today => {
            text!("The first of these campaigns starts on {first}.", first)
        }
        (Some(feed), _) if feed < start => text!(
            "The newest data of the account is from {feed}; import newer rows or ask for earlier days.",
            feed
        ),
        (Some(feed), _) => {
            text!(
                "The account has data up to {feed}; ask for other days or another advertiser.",
                feed
            )
        }
    };
    let error = error.hint(hint);
    match feed {
        Some(feed) => error.with("data_through", feed.to_string()),
        None => error,
    }
}
