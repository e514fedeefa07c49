//! Sources that are computed from what was delivered and what was planned: which columns of two other
//! sources have which role, and the limits of the verdicts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::SourceName;

/// How the rows of a source are computed from delivery and plan. A query sees the columns of `by`, and
/// those of `PACING_COLUMNS`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct Pacing {
    /// The delivery, in a row for each thing and day.
    pub delivery: PacingDelivery,
    /// The planned amounts.
    pub plan: PacingPlan,
    /// The things that rows belong to, from the largest to the smallest. Those that both sources have
    /// say which plan belongs to which delivery.
    pub by: Vec<PacingName>,
    /// The one of `by` whose budgets are judged if a question names none.
    pub level: String,
    /// The one of `by` whose data arrive apart, such as accounts. Their data end on days of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub feed: Option<String>,
    /// The time zones of feeds that are not those of the question, such as `Europe/Stockholm`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(optional, as = "Option<BTreeMap<String, String>>")]
    pub zones: BTreeMap<String, String>,
    /// The limits of the verdicts.
    #[serde(default, skip_serializing_if = "PacingLimits::is_default")]
    #[ts(optional, as = "Option<PacingLimits>")]
    pub limits: PacingLimits,
}

/// The source with what was delivered. Its day is its time column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct PacingDelivery {
    /// The source.
    pub source: SourceName,
    /// Its column with amounts.
    pub spend: String,
    /// Its column with impressions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub impressions: Option<String>,
}

/// The source with what is planned. Its day is its time column, and `spread` divides its amounts over
/// days.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct PacingPlan {
    /// The source.
    pub source: SourceName,
    /// Its column with budgets.
    pub budget: String,
}

/// A thing that rows belong to, such as a campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct PacingName {
    /// The name of the column.
    pub name: String,
    /// The dimension or column of the delivery. None: it has that of its plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub delivery: Option<String>,
    /// The dimension or column of the plan. None: it has that of its delivery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub plan: Option<String>,
}

/// The limits of verdicts. Percents are whole numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default, deny_unknown_fields)]
pub struct PacingLimits {
    /// On track: the difference to the plan is at most this percent.
    pub on_track: u32,
    /// Slightly behind or ahead: it is at most this percent.
    pub slightly: u32,
    /// Delivered: at the end, at least this percent of the budget was spent.
    pub delivered_from: u32,
    /// Delivered: at most this percent of the budget was spent.
    pub delivered_to: u32,
    /// Too early: fewer full days than these.
    pub early_days: u32,
    /// Too early: less than this percent of the days.
    pub early_percent: u32,
    /// The number of last full days that the actual rate is the mean of.
    pub recent_days: u32,
    /// At risk: the rest of the flight needs at least this percent of the actual rate.
    pub at_risk: u32,
    /// No delivery: this number of last full days without any.
    pub silent_days: u32,
    /// Late data: the last day with data is this number of days ago, or more.
    pub late_days: u32,
}

impl Default for PacingLimits {
    fn default() -> Self {
        Self {
            on_track: 5,
            slightly: 20,
            delivered_from: 98,
            delivered_to: 102,
            early_days: 3,
            early_percent: 10,
            recent_days: 7,
            at_risk: 150,
            silent_days: 2,
            late_days: 2,
        }
    }
}

impl PacingLimits {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The columns of computed sources beside those of `Pacing::by`.
pub const PACING_COLUMNS: [&str; 19] = [
    "day",
    "status",
    "at_risk",
    "runs_out_early",
    "no_delivery",
    "late_data",
    "spend",
    "impressions",
    "thousand_impressions",
    "budget",
    "planned_to_date",
    "spend_to_date",
    "spend_without_budget",
    "daily_rate",
    "needed_per_day",
    "projection",
    "days_left",
    "run_out_day",
    "days_early",
];
