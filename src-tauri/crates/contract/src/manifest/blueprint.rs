//! Blocks of an agent's blueprint that a pack may include: the data it handles and what may go to a
//! model, the calls that a person must approve, and scenarios that test its promises.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{Effect, RedactionLevel, ToolId};

/// The data that the pack handles, and what of it may go to a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct DataFlow {
    #[schemars(length(min = 1))]
    pub data_classes: Vec<DataClass>,
    pub llm_egress: LlmEgress,
}

impl DataFlow {
    /// Returns the minimum redaction level of turns that have the pack's tools.
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
    #[serde(rename = "PII")]
    Pii,
    Confidential,
    Internal,
    Public,
    Unknown,
}

/// The data that may go to a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct LlmEgress {
    /// A description of the data, for the user.
    #[schemars(length(min = 1))]
    pub what_is_sent: String,
    /// If false, only models on this computer get its results.
    #[serde(default = "yes")]
    pub allowed: bool,
    /// The minimum redaction level; without it `strict` for PII and confidential data, else
    /// `basic`. The user may choose a higher level, but not a lower one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redaction: Option<RedactionLevel>,
}

fn yes() -> bool {
    true
}

/// Restrictions that no setting of the user can lift.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct Security {
    #[schemars(length(min = 1))]
    pub approvals: Vec<ApprovalDemand>,
}

impl Security {
    /// Whether every call of a tool needs a person's approval, whatever the policy and the rules of
    /// a profile say.
    pub fn needs_person(&self, tool: &ToolId, effect: Effect) -> bool {
        let named =
            |of: &AppliesTo| of.tool_ids.contains(tool) || of.side_effect_level == Some(effect);
        self.approvals.iter().any(|demand| match demand.mode {
            ApprovalMode::HumanRequired => named(&demand.applies_to),
        })
    }
}

/// Calls that a person must approve one by one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct ApprovalDemand {
    #[schemars(length(min = 1))]
    pub id: String,
    pub mode: ApprovalMode,
    pub applies_to: AppliesTo,
}

/// The person who must approve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalMode {
    HumanRequired,
}

/// The named tools, and all tools with this effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct AppliesTo {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_ids: Vec<ToolId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side_effect_level: Option<Effect>,
}

/// Scenarios that test the pack's promises.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct Acceptance {
    #[schemars(length(min = 2))]
    pub scenarios: Vec<Scenario>,
}

/// One scenario: a message, and the expected result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    #[schemars(length(min = 1))]
    pub title: String,
    pub given: String,
    /// The event of the scenario. It is also the message, unless `message` is given.
    #[schemars(length(min = 1))]
    pub when: String,
    pub then: String,
    /// Such as `status == ok` or `output contains "Kiruna"`; tools/README.md lists them. An unknown
    /// check fails.
    #[schemars(length(min = 1))]
    pub expected_output_checks: Vec<String>,
    pub priority: Priority,
    #[serde(default)]
    pub kind: ScenarioKind,
    /// The message to send, instead of `when`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// If false, the scenario runs with the assistant switched off.
    #[serde(default = "yes")]
    pub agent_enabled: bool,
}

/// How much a scenario matters.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
pub enum Priority {
    P0,
    P1,
    P2,
}

/// How a scenario is run. Kinds that this app cannot run are skipped and reported as skipped.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "snake_case")]
pub enum ScenarioKind {
    HttpHealth,
    #[default]
    HttpRun,
    HttpConversationDebug,
    WsStreaming,
    SseStreaming,
    Pipeline,
    Cron,
    Worker,
    Sdk,
}

/// The results of running a pack's scenarios.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Evidence {
    pub agent_id: String,
    pub verified_at: chrono::DateTime<chrono::Utc>,
    pub scenarios: Vec<ScenarioResult>,
    pub passed: u32,
    pub failed: u32,
    pub skipped: u32,
}

/// The result of one scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ScenarioResult {
    pub title: String,
    pub priority: Priority,
    pub status: ScenarioStatus,
    pub checks: Vec<CheckResult>,
    pub duration_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// How a scenario ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ScenarioStatus {
    Passed,
    Failed,
    Skipped,
}

/// One check of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct CheckResult {
    pub check: String,
    pub result: ScenarioStatus,
    pub actual: String,
    pub expected: String,
}
