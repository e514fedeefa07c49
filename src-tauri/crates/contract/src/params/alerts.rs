//! Parameters and answers of the commands about alerts. The types that are stored are in `alerts`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use crate::alerts::{
    Alert, AlertCondition, AlertRule, AlertRuleContent, AlertRuleView, AlertTrialDay,
};
use crate::{AlertId, AlertRuleId, Text};

wire! {
    /// All rules of alerts.
    struct AlertRulesResponse {
        /// The rules, by name.
        rules: Vec<AlertRuleView>,
        /// The files of rules that cannot be read, one line each.
        faults: Vec<Text>,
    }

    /// Makes a rule, or changes one. If the rule was changed since the revision, nothing is stored.
    /// A rule with another query or condition is checked anew, without its earlier alerts.
    struct AlertRuleSaveParams {
        /// The rule; absent makes a new one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        id: Option<AlertRuleId>,
        /// The revision that was shown; 0 for a new rule.
        revision: u64,
        /// The whole content from now on.
        content: AlertRuleContent,
    }

    /// Deletes a rule with its alerts. If the rule was changed since the revision, it stays.
    struct AlertRuleRemoveParams {
        /// The rule.
        id: AlertRuleId,
        /// The revision that was shown.
        revision: u64,
    }

    /// Tries a rule on past days, without storing or telling anything.
    struct AlertRuleTryParams {
        /// The rule.
        content: AlertRuleContent,
        /// The number of the last full days: at most 92; 0 means 30.
        #[serde(default)]
        days: u32,
    }

    /// The news that a rule would have told.
    struct AlertTrial {
        /// The number of days that were checked.
        checked: u32,
        /// The begins and ends that would have been told, the oldest first.
        days: Vec<AlertTrialDay>,
    }

    /// All alerts.
    struct AlertsResponse {
        /// The alerts: open ones first, then the newest first.
        alerts: Vec<Alert>,
        /// The number of alerts that nobody marked as seen.
        unseen: u32,
    }

    /// Marks alerts as seen.
    struct AlertSeenParams {
        /// The alerts. Empty: all.
        ids: Vec<AlertId>,
    }
}
