//! Parts of an agent's blueprint that a pack may include: the data it handles and sends to a model,
//! the calls that a person must approve, and scenarios that test its promises.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{Effect, RedactionLevel, ToolId};

/// The data that the pack handles, and which of it may be sent to a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct DataFlow {
    /// The kinds of data that the pack handles.
    #[schemars(length(min = 1))]
    pub data_classes: Vec<DataClass>,
    /// The rules for data that is sent to a model.
    pub llm_egress: LlmEgress,
}

impl DataFlow {
    /// Returns the minimum redaction level of turns that can use the pack's tools.
    pub fn redaction(&self) -> RedactionLevel {
        let sensitive = self
            .data_classes
            .iter()
            .any(|class| matches!(class, DataClass::Pii | DataClass::Confidential));
        self.llm_egress.redaction.unwrap_or(if sensitive {
            RedactionLevel::Strict
        } else {
            RedactionLevel::Basic
        })
    }
}

/// A kind of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum DataClass {
    /// Personal data; written `PII`.
    #[serde(rename = "PII")]
    Pii,
    /// Data that is confidential to the organisation.
    Confidential,
    /// Data for use inside the organisation.
    Internal,
    /// Data that anybody may see.
    Public,
    /// Data whose kind the author cannot state.
    Unknown,
}

/// The data that may be sent to a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct LlmEgress {
    /// A description of the data, for the user.
    #[schemars(length(min = 1))]
    pub what_is_sent: String,
    /// If false, results go only to models on this computer.
    #[serde(default = "yes")]
    pub allowed: bool,
    /// The minimum redaction level; if absent, `strict` for PII and confidential data, otherwise
    /// `basic`. The user may choose a higher level, but not a lower one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redaction: Option<RedactionLevel>,
}

fn yes() -> bool {
    true
}

/// Restrictions that no user setting can lift.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct Security {
    /// The calls that a person must approve, at least one group.
    #[schemars(length(min = 1))]
    pub approvals: Vec<ApprovalDemand>,
}

impl Security {
    /// Whether every call of a tool needs a person's approval, regardless of the policy and the
    /// rules of a profile.
    pub fn needs_person(&self, tool: &ToolId, effect: Effect) -> bool {
        let named =
            |of: &AppliesTo| of.tool_ids.contains(tool) || of.side_effect_level == Some(effect);
        self.approvals.iter().any(|demand| match demand.mode {
            ApprovalMode::HumanRequired => named(&demand.applies_to),
        })
    }
}

/// Calls for which a person must approve each call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct ApprovalDemand {
    /// The id of the requirement, for the author.
    #[schemars(length(min = 1))]
    pub id: String,
    /// The kind of approval that is required.
    pub mode: ApprovalMode,
    /// The calls to which the requirement applies.
    pub applies_to: AppliesTo,
}

/// The person who must approve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalMode {
    /// A person must approve each call.
    HumanRequired,
}

/// The named tools, and all tools with this effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct AppliesTo {
    /// Tools by their id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_ids: Vec<ToolId>,
    /// The effect that a tool must have; absent if only `tool_ids` applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side_effect_level: Option<Effect>,
}

/// Scenarios that test the pack's promises.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct Acceptance {
    /// The scenarios, in the order in which they run.
    #[schemars(length(min = 2))]
    pub scenarios: Vec<Scenario>,
}

/// One scenario: a message, and the expected result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The name of the scenario.
    #[schemars(length(min = 1))]
    pub title: String,
    /// The situation before the event, as information for readers.
    pub given: String,
    /// The event of the scenario, which is also the message unless `message` is given.
    #[schemars(length(min = 1))]
    pub when: String,
    /// The expected behaviour, as information for readers.
    pub then: String,
    /// Checks such as `status == ok` or `output contains "Kiruna"`; tools/README.md lists them. An
    /// unknown check fails.
    #[schemars(length(min = 1))]
    pub expected_output_checks: Vec<String>,
    /// The importance of the scenario.
    pub priority: Priority,
    /// How the scenario is run.
    #[serde(default)]
    pub kind: ScenarioKind,
    /// The message to send, instead of `when`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// If false, the scenario runs with the assistant switched off.
    #[serde(default = "yes")]
    pub agent_enabled: bool,
}

/// The importance of a scenario.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
pub enum Priority {
    /// The highest priority.
    P0,
    /// The middle priority.
    P1,
    /// The lowest priority.
    P2,
}

/// How a scenario is run. Kinds that this app cannot run are skipped and reported.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "snake_case")]
pub enum ScenarioKind {
    /// A check whether the pack could answer now; no message is sent.
    HttpHealth,
    /// A run with its complete response.
    #[default]
    HttpRun,
    /// Two runs in one conversation; the second run shows which earlier messages the agent
    /// remembers.
    HttpConversationDebug,
    /// A run whose response is streamed like over a WebSocket.
    WsStreaming,
    /// A run whose response is streamed like server-sent events.
    SseStreaming,
    /// A step of a data pipeline; skipped.
    Pipeline,
    /// A scheduled job; skipped.
    Cron,
    /// A background worker; skipped.
    Worker,
    /// A call through a client library; skipped.
    Sdk,
}

/// The results of running a pack's scenarios.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Evidence {
    /// The agent that was tested.
    pub agent_id: String,
    /// The time at which the scenarios ran.
    pub verified_at: chrono::DateTime<chrono::Utc>,
    /// The result of each scenario, in the order in which they ran.
    pub scenarios: Vec<ScenarioResult>,
    /// The number of scenarios that passed.
    pub passed: u32,
    /// The number of scenarios that failed.
    pub failed: u32,
    /// The number of scenarios that were skipped.
    pub skipped: u32,
}

/// The result of one scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ScenarioResult {
    /// The name of the scenario, from the manifest.
    pub title: String,
    /// How much the scenario matters, from the manifest.
    pub priority: Priority,
    /// How the scenario ended.
    pub status: ScenarioStatus,
    /// The result of each check of the scenario.
    pub checks: Vec<CheckResult>,
    /// The duration in milliseconds.
    pub duration_ms: u64,
    /// The reason why the scenario could not run or was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// How a scenario ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ScenarioStatus {
    /// Every check succeeded.
    Passed,
    /// A check failed, or the run failed.
    Failed,
    /// This app cannot run the scenario.
    Skipped,
}

/// A check of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct CheckResult {
    /// The check as written in the manifest.
    pub check: String,
    /// Whether the check succeeded.
    pub result: ScenarioStatus,
    /// The value in the response.
    pub actual: String,
    /// The value that the check requires.
    pub expected: String,
}
