//! The user's rules about tool calls (`policy.json`), the rules that currently apply, and the
//! verdict on a call. The crate `policy` decides which rule takes precedence.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::{Effect, PolicyMode, SessionId, Text, ToolId};

/// The file `policy.json` of a profile: the calls that the user allows, wants to approve, or
/// denies, in addition to the policy in the settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyFile {
    /// For editors: the location of this file's schema.
    #[serde(rename = "$schema", skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The version of the format, at most 2. Absent means any version that this program knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// The rules. Their order has no meaning: deny takes precedence over ask, and ask over allow.
    pub rules: Vec<PolicyRule>,
    /// Permissions that are valid until a given time, for writes that their pack declares
    /// grantable.
    pub grants: Vec<StandingGrant>,
}

impl PolicyFile {
    /// The newest version of the format. Since version 2, rules have `callers` and `expires_at`.
    pub const VERSION: u32 = 2;
}

/// The effect of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum RuleAction {
    /// The call is refused.
    Deny,
    /// A person must approve the call.
    Ask,
    /// The call runs. Does not apply to destructive tools, nor to writes under `read_only_only`.
    Allow,
}

/// A rule. All given conditions must be met.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct PolicyRule {
    /// The name of the rule in decisions. Unique in the file.
    pub id: String,
    /// The effect of the rule on a matching call.
    pub action: RuleAction,
    /// The id of the tool; `*` stands for any text.
    pub tool: String,
    /// If given, the rule applies only to tools with this effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// Arguments that must be equal, by name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[ts(type = "Record<string, unknown>")]
    pub arguments: Map<String, Value>,
    /// The callers whose calls the rule applies to: `window`, `terminal`, `chat_api`, `agent`,
    /// `schedule` or `inside`, or one named caller as `agent:NAME`. Absent means every caller.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub callers: Vec<String>,
    /// The time from which the rule has no effect. Absent means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
    /// The reason that is shown with the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A permission that the user has written in the file. Like any grant, it covers fewer calls once
/// untrusted content has entered a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct StandingGrant {
    /// The name of the grant, unique in the file.
    pub id: String,
    /// The id of a single tool, without `*`.
    pub tool: ToolId,
    /// The session to which the permission is limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// Arguments that must be equal, by name. Numbers and booleans that are not named may have any
    /// value; every other argument must be named.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[ts(type = "Record<string, unknown>")]
    pub arguments: Map<String, Value>,
    /// The time at which the permission expires.
    pub expires_at: DateTime<Utc>,
}

/// A part of the file that could not be read. As long as there is such a part, every call needs an
/// approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PolicyFault {
    /// The rule or grant, and its line.
    pub place: Text,
    /// A sentence that describes the problem.
    pub problem: Text,
}

/// The settings and rules that currently decide which calls may run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PolicyView {
    /// The default for tools without a rule.
    pub mode: PolicyMode,
    /// The path of the rules file.
    pub file: String,
    /// Whether the file exists.
    pub found: bool,
    /// The rules that could be read.
    pub rules: Vec<PolicyRule>,
    /// The standing permissions that could be read.
    pub grants: Vec<StandingGrant>,
    /// The parts that could not be read.
    pub faults: Vec<PolicyFault>,
    /// The rules that certainly decide no call, at the present time.
    pub idle: Vec<IdleRule>,
    /// The readable parts as the text of a rules file, in the form in which changed rules are
    /// stored.
    pub text: String,
    /// SHA-256 (hex) of the rules file; empty if there is no file or it cannot be read.
    pub fingerprint: String,
}

/// A rule that certainly decides no call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct IdleRule {
    /// The position of the rule in the list of rules, from 0.
    pub rule: usize,
    /// The position of the rule that decides every call that this rule matches. Absent if the rule
    /// has expired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<usize>,
}

/// The result of a policy check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum PolicyVerdict {
    /// The call runs without asking.
    Allow,
    /// A person must approve the call.
    Ask,
    /// The call is refused.
    Deny,
}
