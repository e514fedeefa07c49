//! Alerts: rules over figures that are checked for each full day, and what they found. A rule is a
//! metric query in its relative form and a condition. Where rules are stored, and how a day is
//! decided, is not known here.

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{
    AlertId, AlertRuleId, SourceName, Text,
    metric_query::{DataColumn, MetricQuery},
};

/// The longest name of a rule, in characters.
pub const LONGEST_RULE_NAME: usize = 200;
/// The most rules of a profile.
pub const MOST_RULES: usize = 100;
/// The most days in the conditions of rules.
pub const MOST_RULE_DAYS: u32 = 366;
/// The most past days that a rule can be tried on.
pub const MOST_TRIED_DAYS: u32 = 92;

/// A rule as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AlertRule {
    /// The identifier.
    pub id: AlertRuleId,
    /// The number of the last change, from 1. A change names the number that it was made from.
    pub revision: u64,
    /// When the rule was made.
    pub created_at: DateTime<Utc>,
    /// When the rule was changed last.
    pub changed_at: DateTime<Utc>,
    /// The part that a person changes.
    pub content: AlertRuleContent,
}

/// The part of a rule that a person changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AlertRuleContent {
    /// The name.
    pub name: String,
    /// The figures, without the moment that relative periods refer to. Each of its groups has an
    /// alert of its own.
    pub query: MetricQuery,
    /// The condition that is told.
    pub condition: AlertCondition,
    /// Whether the rule is checked.
    pub is_on: bool,
}

/// The condition of a rule, about the first figure of its query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum AlertCondition {
    /// The figure differs from that of the compared period by both, or more.
    Changed {
        /// The least difference in percent of the compared figure.
        percent: f64,
        /// The least difference in the unit of the figure.
        amount: f64,
    },
    /// The figure is beyond a value.
    Beyond {
        /// The side of the value on which the condition holds.
        side: AlertSide,
        /// The value.
        value: f64,
    },
    /// The figure is empty or 0 on as many last days.
    NoDataFor {
        /// The number of days.
        days: u32,
    },
    /// The figure is a number of days, or a day, and at most as many days are left.
    RunsOutWithin {
        /// The number of days.
        days: u32,
    },
    /// A column of text has another value than on the day before.
    StatusChanged {
        /// The column.
        dimension: String,
    },
}

/// A side of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum AlertSide {
    /// Greater than the value.
    Above,
    /// Less than the value.
    Below,
}

/// A rule in a list, with the state of its checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AlertRuleView {
    /// The rule.
    pub rule: AlertRule,
    /// The last day that was checked. None: no day yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub checked_to: Option<NaiveDate>,
    /// Why the rule could not be checked, with the remedy. None if it could.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub fault: Option<Text>,
}

/// A value of a dimension that an alert is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AlertGroup {
    /// The column.
    pub dimension: String,
    /// The value.
    #[ts(type = "string | number | boolean | null")]
    pub value: Value,
}

/// A figure of an alert.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AlertFigure {
    /// The column.
    pub column: DataColumn,
    /// The value.
    #[ts(type = "string | number | boolean | null")]
    pub value: Value,
}

/// A condition that held, told once, and once more when it was resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Alert {
    /// The identifier.
    pub id: AlertId,
    /// The rule.
    pub rule: AlertRuleId,
    /// The name of the rule.
    pub name: String,
    /// The source of the figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub source: Option<SourceName>,
    /// The group that the condition held for. Empty: all rows of the query together.
    pub group: Vec<AlertGroup>,
    /// The first full day on which the condition held.
    pub since: NaiveDate,
    /// When the alert was made.
    pub told_at: DateTime<Utc>,
    /// The first full day on which the condition did not hold any more. None: it still holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub resolved_on: Option<NaiveDate>,
    /// When this was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub resolved_at: Option<DateTime<Utc>>,
    /// Whether a person marked the alert as seen.
    pub is_seen: bool,
    /// The figures of the first day.
    pub figures: Vec<AlertFigure>,
    /// The value of the column before, if it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub before: Option<String>,
    /// The question that explains the alert, at the moment that the first day was over.
    pub question: MetricQuery,
}

/// The alerts that a notification is about. There is at most one on a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AlertDigest {
    /// The number of new alerts.
    pub told: u32,
    /// The number of alerts that were resolved.
    pub resolved: u32,
    /// One line for each of the first alerts.
    pub lines: Vec<Text>,
}

/// A past day on which a rule would have told or resolved something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AlertTrialDay {
    /// The day.
    pub day: NaiveDate,
    /// Whether a condition began to hold. Otherwise, it was resolved.
    pub is_told: bool,
    /// The group.
    pub group: Vec<AlertGroup>,
    /// The figures of the day.
    pub figures: Vec<AlertFigure>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_condition_is_written_and_read_in_one_form() {
        for written in [
            json!({"changed": {"percent": 20.0, "amount": 100.0}}),
            json!({"beyond": {"side": "below", "value": 1.5}}),
            json!({"no_data_for": {"days": 2}}),
            json!({"runs_out_within": {"days": 7}}),
            json!({"status_changed": {"dimension": "status"}}),
        ] {
            let condition: AlertCondition = serde_json::from_value(written.clone()).unwrap();
            assert_eq!(serde_json::to_value(&condition).unwrap(), written);
        }
    }
}
