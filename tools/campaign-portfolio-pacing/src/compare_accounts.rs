//! The accounts beside each other: one row for each account, and totals for each currency. Amounts
//! of different currencies are never added.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use contract::{AgentError, ErrorCode, text};
use serde_json::{Map, Value, json};

use crate::{
    analyze::{self, Analysis, Setting},
    args::{self, Args, CompareArgs, ListRequest},
    compared_lists,
    data::{self, Account, Base},
    db::Dataset,
    list::{self, Key, is_behind},
    money::{Ratio, money},
    pace::Window,
    report::{self, Assumptions},
    select::{self, Source},
    standing::Standing,
    time::LocalNow,
    window,
};

/// The most accounts in a result.
const MAX_ROWS: usize = 80;
/// The most bytes of all rows together.
const MAX_BYTES: usize = 55_000;

/// An account with its figures. An account without rows in the window has no figures.
struct Compared {
    account: Account,
    analysis: Option<Analysis>,
    standing: Option<Standing>,
}

/// Answers a call of `compare_accounts`.
pub(crate) fn compare(setting: Setting<'_>, arguments: &Value) -> Result<Value, AgentError> {
    let args = args::read_compare(arguments)?;
    let mut assumptions = Assumptions::default();
    let accounts = select_accounts(setting, &args, &mut assumptions)?;
    let wanted = args.currency.as_deref();
    accounts.iter().for_each(|one| select::note_currency(one, wanted, &mut assumptions));
    let window = days(setting, &accounts, &args, &mut assumptions)?;
    let compared: Vec<Compared> =
        accounts.into_iter().map(|one| figures(setting, one, window)).collect::<Result<_, _>>()?;
    let (with, without): (Vec<&Compared>, Vec<&Compared>) =
        compared.iter().partition(|one| one.standing.is_some());
    let keys: Vec<Key> = with
        .iter()
        .filter_map(|one| Some(Key::of(&one.account.name, one.standing.as_ref()?)))
        .collect();
    // The list request applies to the accounts unless another list is requested.
    let asked = if args.detail.is_some() { ListRequest::default() } else { args.list };
    let request = ListRequest { order: asked.order.or(Some(args::Order::Worst)), ..asked };
    let listed = list::list(&keys, &request, MAX_ROWS);
    let mut rows: Vec<Value> = listed.rows.iter().map(|at| row(with[*at])).collect();
    if !asked.has_filter() && asked.limit.is_none() {
        // Accounts without rows come last, and match no status.
        rows.extend(without.iter().take(MAX_ROWS - rows.len().min(MAX_ROWS)).map(|one| row(one)));
    }
    let matching = if asked.has_filter() { listed.matching } else { compared.len() };
    let currencies: usize = by_currency(&compared).len();
    let flags: Vec<&str> = [
        ("sample_data", setting.dataset == Dataset::Sample),
        ("several_currencies", currencies > 1),
        ("no_data", !without.is_empty()),
    ]
    .into_iter()
    .filter(|(_, is_set)| *is_set)
    .map(|(flag, _)| flag)
    .collect();
    let list = args.detail.map(|detail| {
        let analyses: Vec<&Analysis> =
            with.iter().filter_map(|one| one.analysis.as_ref()).collect();
        let used: usize = rows.iter().map(|row| row.to_string().len()).sum();
        let bytes = MAX_BYTES.saturating_sub(used);
        compared_lists::list(&analyses, detail, &args.list, setting.limits, bytes)
    });
    if args.detail == Some(args::Detail::LineItems) {
        assumptions.add("line_item_budget_split", Value::Null, report::LINE_ITEM_BUDGETS);
    }
    Ok(json!({
        "status": "success",
        "as_of": setting.instant.to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
        "date_range": {"start": window.start, "end": window.end},
        "accounts": rows,
        "list": list,
        "by_currency": by_currency(&compared),
        "total": compared.len(),
        "matching": matching,
        "counts": listed.counts,
        "flags": flags,
        "assumptions": assumptions.list(),
    }))
}

/// Returns the accounts that were named, or all.
fn select_accounts(
    setting: Setting<'_>,
    args: &CompareArgs,
    assumptions: &mut Assumptions,
) -> Result<Vec<Account>, AgentError> {
    let all = select::all_accounts(setting.db, setting.dataset)?;
    if args.accounts.is_empty() {
        let count = all.len();
        let text = text!("No accounts were named: all {count} count.", count);
        assumptions.add("all_accounts", count, text);
        return Ok(all);
    }
    let mut chosen: Vec<Account> = Vec::new();
    for named in &args.accounts {
        let account = select::named_account(&all, named)?;
        if !chosen.iter().any(|known| known.key == account.key) {
            chosen.push(account);
        }
    }
    Ok(chosen)
}

/// Returns the given days, the whole flights, or the current month. The month is that of the
/// account whose day began last, so that the month has begun for all accounts.
fn days(
    setting: Setting<'_>,
    accounts: &[Account],
    args: &CompareArgs,
    assumptions: &mut Assumptions,
) -> Result<Window, AgentError> {
    if let Some(window) = window::given(args.start, args.end, assumptions) {
        return Ok(window);
    }
    if args.is_whole_flight || (args.detail.is_some() && args.list.is_about_flights()) {
        return whole_flights(setting, accounts, assumptions);
    }
    let clock = |a: &Account| LocalNow::new(a.zone.unwrap_or(chrono_tz::UTC), setting.instant);
    let today = accounts.iter().map(|a| clock(a).today).min();
    let today = today.unwrap_or_else(|| setting.instant.date_naive());
    let mut newest = None;
    for account in accounts {
        let now = clock(account);
        let base = Base::new(setting.dataset, &now);
        newest = newest.max(data::newest_days(setting.db, account, base, &now)?.day);
    }
    let month = window::month_of(today);
    Ok(match newest {
        Some(day) if day < month.start => window::newest_month(day, assumptions),
        _ => window::current_month(today, assumptions),
    })
}

/// Returns the window of all flights of the accounts.
fn whole_flights(
    setting: Setting<'_>,
    accounts: &[Account],
    assumptions: &mut Assumptions,
) -> Result<Window, AgentError> {
    let mut campaigns = Vec::new();
    let mut first: Option<NaiveDate> = None;
    let mut today = setting.instant.date_naive();
    for account in accounts {
        let now = LocalNow::new(account.zone.unwrap_or(chrono_tz::UTC), setting.instant);
        let base = Base::new(setting.dataset, &now);
        campaigns.extend(data::campaigns(setting.db, account, base)?);
        first = first.into_iter().chain(data::first_day(setting.db, account, base)?).max();
        today = today.min(now.today);
    }
    Ok(match window::whole_flights(&campaigns, first, assumptions) {
        Some(window) => window,
        None => window::current_month(today, assumptions),
    })
}

/// Computes the figures of an account, or none if the account has no rows in the window.
fn figures(setting: Setting<'_>, account: Account, window: Window) -> Result<Compared, AgentError> {
    let args = Args { start: Some(window.start), end: Some(window.end), ..Args::default() };
    let done =
        analyze::run(setting, account.clone(), Source::Explicit, &args, Assumptions::default());
    match done {
        Ok(analysis) => {
            let standing = analysis.total_figures();
            Ok(Compared { account, analysis: Some(analysis), standing: Some(standing) })
        }
        // All campaigns and given days are requested, so only missing rows can make the input
        // invalid.
        Err(error) if error.code == ErrorCode::InvalidInput => {
            Ok(Compared { account, analysis: None, standing: None })
        }
        Err(error) => Err(error),
    }
}

fn row(one: &Compared) -> Value {
    let account = &one.account;
    let mut row = match &one.standing {
        Some(standing) => report::figures(standing),
        None => Map::new(),
    };
    let (analysis, standing) = (one.analysis.as_ref(), one.standing.as_ref());
    let behind = analysis.map(|a| a.standings.iter().filter(|s| is_behind(s.status())).count());
    let percent = standing.and_then(|s| {
        let budget = s.budget.filter(|budget| *budget > 0)?;
        Some(Ratio::new(100 * i128::from(s.sum.spend), i128::from(budget)).round_to(2))
    });
    row.extend([
        ("account_id".to_owned(), json!(account.id)),
        ("account_name".to_owned(), json!(account.name)),
        ("currency".to_owned(), json!(account.currency)),
        ("time_zone".to_owned(), json!(account.zone.unwrap_or(chrono_tz::UTC).name())),
        ("campaigns".to_owned(), json!(analysis.map_or(0, |a| a.campaigns.len()))),
        ("behind".to_owned(), json!(behind.unwrap_or(0))),
        ("budget".to_owned(), json!(standing.and_then(|s| s.budget).map(money))),
        ("spend_percentage".to_owned(), json!(percent)),
        ("data_through".to_owned(), json!(analysis.and_then(|a| a.feed))),
        ("flags".to_owned(), json!(analysis.map_or_else(|| vec!["no_data"], report::flags))),
    ]);
    if standing.is_none() {
        for name in NO_FIGURES {
            row.insert(name.to_owned(), Value::Null);
        }
        row.insert("pacing_status".to_owned(), json!("NO_BASIS"));
        row.insert("pacing_status_label".to_owned(), json!("No basis"));
    }
    Value::Object(row)
}

/// The figures that an account without rows lacks.
const NO_FIGURES: [&str; 12] = [
    "spend",
    "impressions",
    "planned_to_date",
    "variance",
    "variance_percentage",
    "remaining",
    "required_daily_rate",
    "actual_daily_rate",
    "projected_spend",
    "projected_percentage",
    "at_stake",
    "runs_out_on",
];

/// The sums of one currency.
#[derive(Default)]
struct Totals {
    accounts: usize,
    spend: i64,
    budget: Option<i64>,
    variance: Vec<Ratio>,
    projection: Vec<Ratio>,
    at_stake: Vec<Ratio>,
}

/// Returns the totals of each currency over all accounts that have figures.
fn by_currency(compared: &[Compared]) -> Vec<Value> {
    let mut totals: BTreeMap<Option<&str>, Totals> = BTreeMap::new();
    for one in compared {
        let Some(standing) = &one.standing else { continue };
        let total = totals.entry(one.account.currency.as_deref()).or_default();
        total.accounts += 1;
        total.spend = total.spend.saturating_add(standing.sum.spend);
        if let Some(budget) = standing.budget {
            total.budget = Some(total.budget.unwrap_or(0).saturating_add(budget));
            total.variance.push(standing.pace.variance);
        }
        total.projection.push(standing.pace.projection);
        total.at_stake.extend(standing.at_stake());
    }
    let sum = |amounts: &[Ratio]| crate::flights::sum(amounts.iter().copied()).money();
    totals
        .into_iter()
        .map(|(currency, total)| {
            let known = total.budget.is_some();
            json!({
                "currency": currency,
                "accounts": total.accounts,
                "spend": money(total.spend),
                "budget": total.budget.map(money),
                "variance": known.then(|| sum(&total.variance)),
                "projected_spend": sum(&total.projection),
                "at_stake": known.then(|| sum(&total.at_stake)),
            })
        })
        .collect()
}
