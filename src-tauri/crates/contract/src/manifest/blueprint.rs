//! Blocks of an agent's blueprint that a pack may bring: what data it handles and what may go to a model, which calls a person has to
//! approve, and scenarios that show whether it does what it promises.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{Effect, RedactionLevel, ToolId};

/// What data the pack handles, and what of it may go to a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct DataFlow {
    #[schemars(length(min = 1))]
    pub data_classes: Vec<DataClass>,
    pub llm_egress: LlmEgress,
}

impl DataFlow {
    /// What is held back at least from models in turns that have the pack's tools.
    pub fn redaction(&self) -> RedactionLevel {
        let sensitive = self.data_classes.iter().any(|class| matches!(class, DataClass::Pii | DataClass::Confidential));
        self.llm_egress.redaction.unwrap_or(if sensitive { RedactionLevel::Strict } else { RedactionLevel::Basic })
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

/// What may go to a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct LlmEgress {
    /// In words, for the user.
    #[schemars(length(min = 1))]
    pub what_is_sent: String,
    /// False: only models on this computer get to know of its results.
    #[serde(default = "yes")]
    pub allowed: bool,
    /// Held back at least; without it `strict` for PII and confidential data, else `basic`. The user may ask for more, never for less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redaction: Option<RedactionLevel>,
}

fn yes() -> bool {
    true
}

/// What the pack is never trusted with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct Security {
    #[schemars(length(min = 1))]
    pub approvals: Vec<ApprovalDemand>,
}

impl Security {
    /// Whether every call of a tool waits for a person, whatever the policy and the rules of a profile say.
    pub fn needs_person(&self, tool: &ToolId, effect: Effect) -> bool {
        let named = |of: &AppliesTo| of.tool_ids.contains(tool) || of.side_effect_level == Some(effect);
        self.approvals.iter().any(|demand| match demand.mode {
            ApprovalMode::HumanRequired => named(&demand.applies_to),
        })
    }
}

/// Calls that a person has to approve, each of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct ApprovalDemand {
    #[schemars(length(min = 1))]
    pub id: String,
    pub mode: ApprovalMode,
    pub applies_to: AppliesTo,
}

/// Who approves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalMode {
    HumanRequired,
}

/// The tools that are named, and those with this effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct AppliesTo {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_ids: Vec<ToolId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side_effect_level: Option<Effect>,
}

/// How to see whether the pack does what it promises.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct Acceptance {
    #[schemars(length(min = 2))]
    pub scenarios: Vec<Scenario>,
}

/// One case: what is said, and what must come of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    #[schemars(length(min = 1))]
    pub title: String,
    pub given: String,
    /// What happens; also what is sent, unless `message` says it.
    #[schemars(length(min = 1))]
    pub when: String,
    pub then: String,
    /// Such as `status == ok` or `output contains "Kiruna"`; tools/README.md lists them. One that is not known has failed.
    #[schemars(length(min = 1))]
    pub expected_output_checks: Vec<String>,
    pub priority: Priority,
    #[serde(default)]
    pub kind: ScenarioKind,
    /// What is sent, in place of `when`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// False: with the kill switch off.
    #[serde(default = "yes")]
    pub agent_enabled: bool,
}

/// How much a scenario matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, TS)]
pub enum Priority {
    P0,
    P1,
    P2,
}

/// How a scenario is run. Kinds that this app has no adapter for are skipped, and said to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
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

/// What came of running a pack's scenarios.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Evidence {
    pub agent_id: String,
    pub verified_at: chrono::DateTime<chrono::Utc>,
    pub scenarios: Vec<ScenarioResult>,
    pub passed: u32,
    pub failed: u32,
    pub skipped: u32,
}

/// What came of one.
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
