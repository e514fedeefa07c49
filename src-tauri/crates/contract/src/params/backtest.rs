//! Parameters and answers for proposed rules: how they are read, what they would have decided about
//! the past calls of the log, and how they are stored.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{IdleRule, LookAlike, PolicyFault, PolicyVerdict, Text};

wire! {
    /// Proposed rules to read. The rules in use stay as they are.
    struct PolicyPreviewParams {
        /// The text of a rules file, as in `policy.json`.
        rules: String,
    }

    /// How the text of a rules file is read.
    struct PolicyPreview {
        /// Parts of the text that could not be read.
        faults: Vec<PolicyFault>,
        /// The rules that would certainly decide no call, at the present time.
        idle: Vec<IdleRule>,
        /// Words of the rules that mix alphabets, at most 8.
        look_alikes: Vec<LookAlike>,
    }

    /// Rules to store instead of the present ones.
    struct PolicyRulesParams {
        /// The text of a rules file, as in `policy.json`, without faults.
        rules: String,
        /// The fingerprint of the file that the rules were made from, as in `PolicyView`. If the
        /// file has changed since, nothing is stored.
        fingerprint: String,
    }

    /// Rules to test on the calls of the log. No call is made and no rule is changed.
    struct PolicyBacktestParams {
        /// The text of a rules file, as in `policy.json`.
        rules: String,
        /// Selects only calls from this time on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<DateTime<Utc>>,
        /// Selects only records after this number, to continue.
        #[serde(default)]
        after: u64,
        /// The most calls to list, at most 500. With 0, all calls are counted and none are listed.
        #[serde(default)]
        limit: u32,
    }

    /// How proposed rules decide past calls.
    struct PolicyBacktestResponse {
        /// Parts of the rules that could not be read. If there are any, no call was decided.
        faults: Vec<PolicyFault>,
        /// The decided calls by tool and change, ordered by tool.
        counts: Vec<BacktestCount>,
        /// The number of calls that were refused before the rules were evaluated, for example
        /// because of their arguments. Rules do not affect such calls.
        not_by_rules: u64,
        /// The calls whose decision changes or is unknown, oldest first.
        calls: Vec<BacktestCall>,
        /// The number after which to continue. Absent if the end of the log was reached.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<u64>,
    }

    /// The number of past calls of a tool with the same change.
    struct BacktestCount {
        /// The tool of the calls.
        tool: String,
        /// The decision at the time of the call.
        then: PolicyVerdict,
        /// The decision under the proposed rules; absent if unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        now: Option<PolicyVerdict>,
        /// The number of calls.
        calls: u64,
    }

    /// A past call.
    struct BacktestCall {
        /// The number of the record with the original decision.
        seq: u64,
        /// The time of the record.
        at: DateTime<Utc>,
        /// The session of the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
        /// The tool of the call.
        tool: String,
        /// The arguments that were evaluated; absent if they were erased or not stored completely.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(type = "unknown")]
        arguments: Option<Value>,
        /// The decision at the time of the call.
        then: PolicyVerdict,
        /// The decision under the proposed rules; absent if unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        now: Option<PolicyVerdict>,
        /// The rule or default that decides now, or why the decision is unknown.
        why: Text,
        /// Whether the tool's definition has changed since the call. The current definition is
        /// used.
        #[serde(default)]
        definition_changed: bool,
    }
}
