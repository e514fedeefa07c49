//! Answers one question: selects campaigns, reads rows, sums, computes the pace, and builds the
//! result.

use chrono::{DateTime, NaiveDate, Utc};
use contract::{AgentError, text};
use rusqlite::Connection;
use serde_json::Value;

use crate::{
    args::{self, Args},
    budget,
    data::{self, Account, Base, Campaign, Delivery},
    db::Dataset,
    flights::{self, DayTargets},
    pace::{self, Facts, Pace, Sums, Thresholds, Window},
    periods,
    report::{self, Assumptions},
    rollup::{self, Rollups},
    select::{self, Source},
    standing::{self, Basis, Standing},
    time::{LocalNow, add_days},
    what_if::{self, WhatIf},
    window,
};

/// All data of a report.
pub(crate) struct Analysis {
    pub(crate) now: LocalNow,
    pub(crate) account: Account,
    pub(crate) source: Source,
    /// The name of the selection of campaigns. None if all campaigns are included.
    pub(crate) advertiser: Option<String>,
    /// Whether the question is about one campaign.
    pub(crate) is_campaign: bool,
    pub(crate) window: Window,
    /// The days on which the campaigns run in the window.
    pub(crate) span: Window,
    pub(crate) campaigns: Vec<Campaign>,
    /// The figures of each campaign.
    pub(crate) standings: Vec<Standing>,
    /// The budget that spend is compared with. None if it is unknown.
    pub(crate) budget: Option<i64>,
    /// Whether a given budget is far from spend or from the campaigns' own budgets.
    pub(crate) is_budget_questionable: bool,
    pub(crate) targets: DayTargets,
    pub(crate) delivery: Delivery,
    pub(crate) rollups: Rollups,
    pub(crate) pace: Pace,
    pub(crate) runs_out_on: Option<NaiveDate>,
    pub(crate) what_if: Option<WhatIf>,
    pub(crate) comparison: Option<periods::Comparison>,
    /// The newest day in the account's feed.
    pub(crate) feed: Option<NaiveDate>,
    /// The newest day in the account's feed that is not before the window.
    pub(crate) last: Option<NaiveDate>,
    pub(crate) dataset: Dataset,
    pub(crate) assumptions: Assumptions,
}

impl Analysis {
    /// Returns the figures of all campaigns together.
    pub(crate) fn total_figures(&self) -> Standing {
        Standing {
            span: self.span,
            budget: self.budget,
            sum: self.rollups.portfolio_total,
            pace: self.pace,
            runs_out_on: self.runs_out_on,
        }
    }
}

/// The data set and the moment of a question, and the limits between statuses.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    pub(crate) db: &'a Connection,
    pub(crate) dataset: Dataset,
    pub(crate) instant: DateTime<Utc>,
    pub(crate) limits: &'a Thresholds,
}

/// Answers a question with the result object.
pub(crate) fn analyze(setting: Setting<'_>, arguments: &Value) -> Result<Value, AgentError> {
    let args = args::read(arguments)?;
    let mut assumptions = Assumptions::default();
    let (account, source) =
        select::select_account(setting.db, setting.dataset, &args, &mut assumptions)?;
    let analysis = run(setting, account, source, &args, assumptions)?;
    Ok(report::result(&analysis, &args, setting.limits))
}

/// Computes the analysis of an account without formatting the result.
pub(crate) fn run(
    setting: Setting<'_>,
    account: Account,
    source: Source,
    args: &Args,
    mut assumptions: Assumptions,
) -> Result<Analysis, AgentError> {
    let Setting { db, dataset, instant, limits } = setting;
    select::note_currency(&account, args.currency.as_deref(), &mut assumptions);
    let zone = account.zone.unwrap_or_else(|| {
        assumptions.add(
            "zone_default",
            "UTC",
            "The account has no time zone: its days are UTC days.".to_owned(),
        );
        chrono_tz::UTC
    });
    let now = LocalNow::new(zone, instant);
    let base = Base::new(dataset, &now);
    let all = data::campaigns(db, &account, base)?;
    let chosen = select::select_campaigns(db, dataset, all, &account, args, &mut assumptions)?;
    let (is_campaign, advertiser) = (chosen.is_campaign, chosen.title.clone());
    let newest = data::newest_days(db, &account, base, &now)?;
    let feed = newest.day;
    let delivered = newest.of(&chosen.campaigns);
    let window = match window::given(args.start, args.end, &mut assumptions) {
        Some(window) => window,
        None if args.is_against_before => window::last_week(now.today, &mut assumptions),
        None => default_days(db, (&account, base), &chosen, args, &mut assumptions)?
            .unwrap_or_else(|| {
                window::default(&chosen.campaigns, delivered, now.today, &mut assumptions)
            }),
    };
    let delivery = data::delivery(db, &chosen.campaigns, base, &now, (window.start, window.end))?;
    let first = flights::hull(chosen.campaigns.iter().map(|c| flights::span(c.flight, window)));
    if delivery.rows.is_empty() && first.is_none_or(|first| now.today >= first.start) {
        return Err(no_rows(&account, &chosen.campaigns, window, feed, &now));
    }
    let other = match args.is_against_before {
        true => Some(days_before(window)),
        false => args.compare,
    };
    let comparison = periods::compare(db, &chosen.campaigns, base, other, &now)?;
    let (campaigns, delivery) = filter_by_window(chosen.campaigns, delivery, window);
    if delivery.mixed {
        assumptions.add(
            "daily_before_hourly",
            Value::Null,
            "Days with a row for the day and hourly rows: the row for the day counted.".to_owned(),
        );
    }
    let campaign_of: Vec<usize> = delivery.line_items.iter().map(|l| l.campaign).collect();
    let rollups = rollup::rollups(&delivery.rows, &campaign_of, campaigns.len());
    let last = feed.map(|day| day.min(now.today)).filter(|day| *day >= window.start);
    let basis = Basis { now: &now, last, limits };
    let standings = standings(&campaigns, &rollups, window, basis);
    let own = budget::own(&standings);
    let span = flights::hull(standings.iter().map(|s| s.span)).unwrap_or(window);
    let budget = args.budget.or(own);
    let (pace, targets) =
        portfolio_pace(&standings, args.budget, budget, span, window, &rollups, basis);
    budget::record_budget_assumptions(
        args.budget,
        &campaigns,
        &standings,
        window,
        &mut assumptions,
    );
    let is_budget_questionable =
        budget::check_budget_plausibility(args.budget, own, &rollups, &pace, &mut assumptions);
    let days = rollups.days_of_portfolio();
    let rate = rates(&standings, window);
    let spend = rollups.portfolio_total.spend;
    let runs_out_on =
        budget.and_then(|b| standing::budget_end_day(b, spend, &days, span, &pace, &rate));
    let what_if = what_if::try_out(&args.change, budget, &pace, span, &days, &rate, limits)?;
    let comparison = comparison.map(|past| past.compare_with_window(window, &rollups, last, &now));
    Ok(Analysis {
        now,
        account,
        source,
        advertiser,
        is_campaign,
        window,
        span,
        campaigns,
        standings,
        budget,
        is_budget_questionable,
        targets,
        delivery,
        rollups,
        pace,
        runs_out_on,
        what_if,
        comparison,
        feed,
        last,
        dataset,
        assumptions,
    })
}

/// Returns the days of a question without dates, if they follow from its campaigns: the whole
/// flights, or the flight of the one campaign.
fn default_days(
    db: &Connection,
    (account, base): (&Account, Base),
    chosen: &select::Selection,
    args: &Args,
    assumptions: &mut Assumptions,
) -> Result<Option<Window>, AgentError> {
    let is_whole = args.is_whole_flight || args.list.is_about_flights();
    if !is_whole && !chosen.is_campaign {
        return Ok(None);
    }
    let first = data::first_day(db, account, base)?;
    Ok(if is_whole {
        window::whole_flights(&chosen.campaigns, first, assumptions)
    } else {
        window::flight_of(&chosen.campaigns, first, assumptions)
    })
}

/// Returns the period of the same length before a window.
fn days_before(window: Window) -> Window {
    Window { start: add_days(window.start, -window.days()), end: add_days(window.start, -1) }
}

/// Computes the figures of each campaign.
fn standings(
    campaigns: &[Campaign],
    rollups: &Rollups,
    window: Window,
    basis: Basis<'_>,
) -> Vec<Standing> {
    let days = rollups.days_of_campaigns(campaigns.len());
    campaigns
        .iter()
        .zip(&days)
        .enumerate()
        .map(|(index, (campaign, days))| {
            let span = flights::span(campaign.flight, window);
            let budget = flights::budget_in(campaign, window);
            Standing::new(span, budget, rollups.campaigns_total[index], days, basis)
        })
        .collect()
}

/// Computes the pace of all campaigns together, and the planned spend of each day. A given budget
/// is spread evenly over the days on which the campaigns run. The campaigns' own budgets follow
/// their flights.
fn portfolio_pace(
    standings: &[Standing],
    given: Option<i64>,
    budget: Option<i64>,
    span: Window,
    window: Window,
    rollups: &Rollups,
    basis: Basis<'_>,
) -> (Pace, DayTargets) {
    let is_even = standings.iter().all(|s| s.span == span);
    let projection = flights::sum(standings.iter().map(|s| s.pace.projection));
    let facts = Facts {
        spend: rollups.portfolio_total.spend,
        budget: budget.unwrap_or(0),
        window: span,
        sums: None,
        last: basis.last.filter(|day| *day >= span.start),
    };
    let even = pace::pace(&facts, basis.now, basis.limits);
    let targets = match given {
        Some(budget) => DayTargets::spread_evenly(budget, span),
        None => {
            let plans = standings.iter().filter_map(|s| Some((s.span, s.budget?)));
            DayTargets::of(window, &plans.collect::<Vec<_>>())
        }
    };
    if is_even {
        return (even, targets);
    }
    let due = match given {
        Some(_) => even.due,
        None => flights::sum(standings.iter().map(|s| s.pace.due)),
    };
    let facts = Facts { sums: Some(Sums { due, projection }), ..facts };
    (pace::pace(&facts, basis.now, basis.limits), targets)
}

/// Returns a function from a future day to its expected spend, if nothing changes.
fn rates(standings: &[Standing], window: Window) -> impl Fn(NaiveDate) -> f64 + use<> {
    let length = usize::try_from(window.days()).unwrap_or(0);
    let mut days = vec![0.0; length];
    for one in standings {
        let rate = standing::rate_from_now(&one.pace);
        let at = |day: NaiveDate| usize::try_from((day - window.start).num_days()).unwrap_or(0);
        let (first, last) = (at(one.span.start), at(one.span.end));
        days.iter_mut().take(last + 1).skip(first).for_each(|day| *day += rate);
    }
    move |day| {
        let at = usize::try_from((day - window.start).num_days()).ok();
        at.and_then(|at| days.get(at)).copied().unwrap_or(0.0)
    }
}

/// Returns the campaigns with days or delivery in the window.
fn filter_by_window(
    chosen: Vec<Campaign>,
    delivery: Delivery,
    window: Window,
) -> (Vec<Campaign>, Delivery) {
    let mut active = vec![false; chosen.len()];
    for row in &delivery.rows {
        active[delivery.line_items[row.line_item].campaign] = true;
    }
    let in_flight =
        |c: &Campaign| c.flight.is_none_or(|flight| flights::overlap(flight, window) > 0);
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

/// Returns the error for a window without rows, with the available data. Missing rows are not zero
/// spend.
fn no_rows(
    account: &Account,
    campaigns: &[Campaign],
    window: Window,
    feed: Option<NaiveDate>,
    now: &LocalNow,
) -> AgentError {
    let Window { start, end } = window;
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
