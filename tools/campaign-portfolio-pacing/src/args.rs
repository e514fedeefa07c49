//! The arguments of the tools, parsed strictly; all errors are reported at once. Missing values are
//! filled in later, when the account and its time zone are known.

use chrono::NaiveDate;
use contract::AgentError;
use serde_json::Value;

use crate::{
    arg_reader::{Reader, object},
    money::MICROS,
    pace::Window,
    time::count_days,
};

pub(crate) use crate::list_request::{ListRequest, Order, StatusFilter};

/// The longest window in days.
pub(crate) const MAX_DAYS: i64 = 366;

/// The arguments of `analyze_portfolio_pacing`, without default values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Args {
    pub(crate) account: Option<String>,
    pub(crate) advertiser: Option<String>,
    pub(crate) campaign: Option<String>,
    pub(crate) start: Option<NaiveDate>,
    pub(crate) end: Option<NaiveDate>,
    /// Whether a question without dates is about whole flights.
    pub(crate) is_whole_flight: bool,
    /// The requested currency of amounts.
    pub(crate) currency: Option<String>,
    pub(crate) budget: Option<i64>,
    pub(crate) compare: Option<Window>,
    /// Whether the days are compared with the period of the same length before them.
    pub(crate) is_against_before: bool,
    pub(crate) change: Change,
    pub(crate) detail: Option<Detail>,
    pub(crate) by: Option<Period>,
    pub(crate) list: ListRequest,
    /// Whether the daily lists of line items, campaigns and portfolio are requested.
    pub(crate) has_daily_lists: bool,
    /// Whether the CSV text is requested, however long it is.
    pub(crate) has_csv: bool,
}

/// The rows of the result's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    Campaigns,
    LineItems,
    Advertisers,
}

impl Detail {
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::Campaigns => "campaigns",
            Self::LineItems => "line_items",
            Self::Advertisers => "advertisers",
        }
    }
}

/// The periods of a breakdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Period {
    Day,
    Week,
    Month,
    /// Mondays to Fridays compared with Saturdays and Sundays.
    Weekday,
}

impl Period {
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Weekday => "weekday",
        }
    }
}

/// A change to try out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) budget: Option<Amount>,
    pub(crate) rate: Option<Amount>,
}

/// A changed amount. Money in micro-units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amount {
    /// Changed by hundredths of a percent.
    Percent(i64),
    /// Changed by an amount.
    By(i64),
    /// Replaced by an amount.
    To(i64),
}

/// Parses the arguments of `analyze_portfolio_pacing`. Text such as "none" for an optional argument
/// counts as absent, because models write such texts.
pub(crate) fn read(value: &Value) -> Result<Args, AgentError> {
    let members = object(value)?;
    let mut reader = Reader::new(&members);
    let args = Args {
        account: reader.text("account_id"),
        advertiser: reader.text("advertiser_filter"),
        campaign: reader.text("campaign"),
        start: reader.date("campaign_start"),
        end: reader.date("campaign_end"),
        is_whole_flight: reader.choice("period", &PERIODS_OF_TIME).is_some(),
        currency: reader.text("currency"),
        budget: reader.number("campaign_budget", MICROS, (0, 1_000_000_000), false),
        compare: compare(&mut reader),
        is_against_before: reader.choice("compare_to", &COMPARED_TO).is_some(),
        change: change(&mut reader),
        detail: reader.choice("detail", &DETAILS),
        by: reader.choice("by", &PERIODS),
        list: ListRequest::read(&mut reader),
        has_daily_lists: reader.switch("daily"),
        has_csv: reader.switch("csv"),
    };
    reader.window("campaign_start", "campaign_end", args.start, args.end);
    if args.is_against_before && args.compare.is_some() {
        reader.fault("compare_to", "it excludes compare_start and compare_end");
    }
    reader.finish(args)
}

/// The arguments of `compare_accounts`, without default values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CompareArgs {
    pub(crate) accounts: Vec<String>,
    pub(crate) start: Option<NaiveDate>,
    pub(crate) end: Option<NaiveDate>,
    pub(crate) is_whole_flight: bool,
    pub(crate) currency: Option<String>,
    /// The rows of the list over all accounts. None if the list consists of the accounts.
    pub(crate) detail: Option<Detail>,
    pub(crate) list: ListRequest,
}

/// Parses the arguments of `compare_accounts`.
pub(crate) fn read_compare(value: &Value) -> Result<CompareArgs, AgentError> {
    let members = object(value)?;
    let mut reader = Reader::new(&members);
    let args = CompareArgs {
        accounts: reader.texts("account_ids"),
        start: reader.date("campaign_start"),
        end: reader.date("campaign_end"),
        is_whole_flight: reader.choice("period", &PERIODS_OF_TIME).is_some(),
        currency: reader.text("currency"),
        detail: reader.choice("detail", &COMPARE_DETAILS).flatten(),
        list: ListRequest::read(&mut reader),
    };
    reader.window("campaign_start", "campaign_end", args.start, args.end);
    reader.finish(args)
}

/// Parses the arguments of `list_accounts`: a part of a name, or nothing.
pub(crate) fn read_list(value: &Value) -> Result<Option<String>, AgentError> {
    let members = object(value)?;
    let mut reader = Reader::new(&members);
    let query = reader.text("query");
    reader.finish(query)
}

const DETAILS: [(&str, Detail); 3] = [
    ("campaigns", Detail::Campaigns),
    ("line_items", Detail::LineItems),
    ("advertisers", Detail::Advertisers),
];
const COMPARE_DETAILS: [(&str, Option<Detail>); 4] = [
    ("accounts", None),
    ("campaigns", Some(Detail::Campaigns)),
    ("line_items", Some(Detail::LineItems)),
    ("advertisers", Some(Detail::Advertisers)),
];
const PERIODS_OF_TIME: [(&str, ()); 1] = [("flight", ())];
const COMPARED_TO: [(&str, ()); 1] = [("before", ())];
const PERIODS: [(&str, Period); 4] = [
    ("day", Period::Day),
    ("week", Period::Week),
    ("month", Period::Month),
    ("weekday", Period::Weekday),
];
fn compare(reader: &mut Reader<'_>) -> Option<Window> {
    let (start, end) = (reader.date("compare_start"), reader.date("compare_end"));
    reader.window("compare_start", "compare_end", start, end);
    match (start, end) {
        (Some(start), Some(end)) => {
            Some(Window { start, end }).filter(|window| window.start <= window.end)
        }
        (Some(_), None) if !reader.has_fault("compare_end") => {
            reader.fault("compare_end", "it is needed with compare_start");
            None
        }
        (None, Some(_)) if !reader.has_fault("compare_start") => {
            reader.fault("compare_start", "it is needed with compare_end");
            None
        }
        _ => None,
    }
}

fn change(reader: &mut Reader<'_>) -> Change {
    /// Hundredths of a percent.
    const PERCENT: i64 = 100;
    let percents = (-100, 100_000);
    let amounts = (-1_000_000_000, 1_000_000_000);
    let budget = [
        reader.number("budget_change_percent", PERCENT, percents, true).map(Amount::Percent),
        reader.number("budget_change_amount", MICROS, amounts, true).map(Amount::By),
    ];
    let rate = [
        reader.number("daily_rate_change_percent", PERCENT, percents, true).map(Amount::Percent),
        reader.number("daily_rate", MICROS, (0, 1_000_000_000), true).map(Amount::To),
    ];
    for (both, name, other) in [
        (budget, "budget_change_amount", "budget_change_percent"),
        (rate, "daily_rate", "daily_rate_change_percent"),
    ] {
        if both.iter().all(Option::is_some) {
            reader.fault(name, format!("it excludes {other}; give one of them"));
        }
    }
    Change { budget: budget.into_iter().flatten().next(), rate: rate.into_iter().flatten().next() }
}

/// Returns the problem of a range of days, and whether its start is the wrong argument.
pub(crate) fn range_fault(start: NaiveDate, end: NaiveDate) -> Option<(bool, &'static str)> {
    if start > end {
        Some((true, "it is after the last day"))
    } else if count_days(start, end) > MAX_DAYS {
        Some((false, "the window is longer than 366 days"))
    } else {
        None
    }
}
