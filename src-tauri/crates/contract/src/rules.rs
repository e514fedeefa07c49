//! The user's rules about tool calls (`policy.json`), the rules in force, and the verdict on one
//! call. The crate `policy` decides which rule takes precedence.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::{Effect, PolicyMode, SessionId, Text, ToolId};

/// The file `policy.json` of a profile: what the user allows, asks for and denies, in addition to
/// the policy in the settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyFile {
    /// For editors: where the schema of this file lies.
    #[serde(rename = "$schema", skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Their order has no meaning: deny takes precedence over ask, ask over allow.
    pub rules: Vec<PolicyRule>,
    /// Permissions that are valid until a day, for writes that their pack declares grantable.
    pub grants: Vec<StandingGrant>,
}

/// The effect of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum RuleAction {
    /// The call is refused.
    Deny,
    /// A person must approve the call.
    Ask,
    /// Does not allow destructive tools, nor writes under `read_only_only`.
    Allow,
}

/// One rule. All given conditions must hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct PolicyRule {
    /// The name of the rule in decisions. Unique in the file.
    pub id: String,
    /// The effect of the rule on a call that fits it.
    pub action: RuleAction,
    /// A tool id; `*` stands for any text.
    pub tool: String,
    /// If given, the rule applies only to tools with this effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// Arguments that must be equal, by name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[ts(type = "Record<string, unknown>")]
    pub arguments: Map<String, Value>,
    /// Shown with the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A permission that the user has written down. Like any grant, it covers less once untrusted
/// content has entered a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct StandingGrant {
    /// Unique among the grants of the file.
    pub id: String,
    /// One tool by its id, without `*`.
    pub tool: ToolId,
    /// Only in this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// Arguments that must be equal, by name. Numbers and booleans that are not named may have any
    /// value; every other argument must be named.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[ts(type = "Record<string, unknown>")]
    pub arguments: Map<String, Value>,
    /// The moment at which the permission ends.
    pub expires_at: DateTime<Utc>,
}

/// A part of the file that could not be read. While there is one, every call needs an approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PolicyFault {
    /// The rule or grant, and its line.
    pub place: Text,
    /// A sentence that says why it could not be read.
    pub problem: Text,
}

/// Everything that decides what may run, as in force now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PolicyView {
    /// The default for tools without a rule.
    pub mode: PolicyMode,
    /// Where the rules are read from.
    pub file: String,
    /// Whether the file exists.
    pub found: bool,
    /// The rules that could be read.
    pub rules: Vec<PolicyRule>,
    /// The standing permissions that could be read.
    pub grants: Vec<StandingGrant>,
    /// The parts that could not be read.
    pub faults: Vec<PolicyFault>,
}

/// The result of a policy check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum PolicyVerdict {
    /// The call runs without a question.
    Allow,
    /// A person must approve the call.
    Ask,
    /// The call is refused.
    Deny,
}
