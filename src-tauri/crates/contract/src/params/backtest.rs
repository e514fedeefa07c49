//! Parameters and answers of the test of proposed rules on the past calls of the log.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{PolicyFault, PolicyVerdict, Text};

wire! {
    /// Rules to test on the calls of the log. No call is made and no rule is changed.
    struct PolicyBacktestParams {
        /// The text of a rules file, as in `policy.json`.
        rules: String,
        /// Only calls from this moment on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<DateTime<Utc>>,
        /// Only records after this number, to continue.
        #[serde(default)]
        after: u64,
        /// The most calls to list, at most 500. With 0 all calls are counted and none is listed.
        #[serde(default)]
        limit: u32,
    }

    /// How proposed rules decide past calls.
    struct PolicyBacktestResponse {
        /// Parts of the rules that could not be read. If there are any, no call was decided.
        faults: Vec<PolicyFault>,
        /// The decided calls by tool and change, ordered by tool.
        counts: Vec<BacktestCount>,
        /// The number of calls that were refused before any rule was asked, for example because of
        /// their arguments. Rules change nothing about them.
        not_by_rules: u64,
        /// The calls whose decision changes or cannot be told, oldest first.
        calls: Vec<BacktestCall>,
        /// The number after which to continue. Absent if the end of the log was reached.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<u64>,
    }

    /// The number of past calls of one tool with one change.
    struct BacktestCount {
        /// The tool of the calls.
        tool: String,
        /// The decision of that time.
        then: PolicyVerdict,
        /// The decision under the proposed rules; absent if it cannot be told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        now: Option<PolicyVerdict>,
        /// The number of calls.
        calls: u64,
    }

    /// One past call.
    struct BacktestCall {
        /// The number of the record that has the decision of that time.
        seq: u64,
        /// The moment of the record.
        at: DateTime<Utc>,
        /// The session of the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
        /// The tool of the call.
        tool: String,
        /// The arguments that were judged; absent if they were erased or never stored as a whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(type = "unknown")]
        arguments: Option<Value>,
        /// The decision of that time.
        then: PolicyVerdict,
        /// The decision under the proposed rules; absent if it cannot be told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        now: Option<PolicyVerdict>,
        /// The statement that decides now, or why that cannot be told.
        why: Text,
        /// Whether the tool was defined differently when it was called. It is judged as it is now.
        #[serde(default)]
        definition_changed: bool,
    }
}
