//! Settings as edited in the window and stored in `countersign.toml`. Secrets are never here.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::{AgentId, Budgets, Conversation, EgressSettings, ToolId, ToolSpec};

/// All settings with their defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// `en`, `sv` or `system`.
    pub language: String,
    /// `light`, `dark`, `contrast` or `system`.
    pub theme: String,
    /// Whether the assistant may answer and act. If it is false, every run is refused.
    pub agent_enabled: bool,
    /// Switches of single agents and tools.
    pub switches: Switches,
    /// Whether the first-run page has been answered.
    pub welcomed: bool,
    /// The model that answers.
    pub model: ModelSettings,
    /// The rules for data that leaves this computer for a model.
    pub egress: EgressSettings,
    /// Limits of a turn.
    pub limits: Limits,
    /// How much of earlier messages a model sees.
    pub conversation: Conversation,
    /// The use of long-term memories.
    pub memory: MemorySettings,
    /// Spending limits.
    pub budgets: Budgets,
    /// The default for tools without a rule.
    pub policy: PolicyMode,
    /// Whether `csign approvals approve` may decide. Changed only in the approval window.
    pub decide_from_terminal: bool,
    /// The audit log: how long it keeps values, and who confirms its checkpoints.
    pub audit: AuditSettings,
    /// IANA zone for dates in answers; `system` uses the machine's.
    pub time_zone: String,
    /// The user's choices about single packs, by pack id.
    pub packs: BTreeMap<String, PackChoice>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            language: "system".into(),
            theme: "system".into(),
            agent_enabled: true,
            switches: Switches::default(),
            welcomed: false,
            model: ModelSettings::default(),
            egress: EgressSettings::default(),
            limits: Limits::default(),
            conversation: Conversation::default(),
            memory: MemorySettings::default(),
            budgets: Budgets::default(),
            policy: PolicyMode::WritesRequireApproval,
            decide_from_terminal: false,
            audit: AuditSettings::default(),
            time_zone: "system".into(),
            packs: BTreeMap::new(),
        }
    }
}

/// How long the audit log keeps values, and the services that confirm its checkpoints. They get no
/// records: a witness gets the size and hashes, an authority one hash. An empty address: none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default, deny_unknown_fields)]
pub struct AuditSettings {
    /// Days after which the values of a record are erased, such as questions and arguments. The
    /// records stay. 0 keeps the values.
    pub keep_values_days: u32,
    /// The address of a witness (C2SP tlog-witness) that cosigns checkpoints.
    pub witness_url: String,
    /// The witness's key, as `name+id+key`.
    pub witness_key: String,
    /// The address of an authority that stamps one checkpoint a day (RFC 3161).
    pub timestamp_url: String,
}

/// The model that compares memories with questions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum MemoryModelSource {
    /// The built-in model, which compares parts of words.
    #[default]
    BuiltIn,
    /// An embedding model of the configured provider.
    Provider,
    /// A static model in a folder on this computer.
    Folder,
}

/// The choice of the model that compares memories.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryModel {
    /// The origin of the model.
    pub source: MemoryModelSource,
    /// The name of the embedding model at the provider.
    pub name: String,
    /// The folder with `model.safetensors` and `tokenizer.json`.
    pub folder: String,
}

/// The use of long-term memories.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default, deny_unknown_fields)]
pub struct MemorySettings {
    /// Whether a model gets the memories that fit a message.
    pub recall: bool,
    /// Whether these may be summaries of the user's other conversations. Notes of the profile are
    /// used in all of them.
    pub whole_profile: bool,
    /// The model that compares memories with questions.
    pub model: MemoryModel,
}

impl Default for MemorySettings {
    fn default() -> Self {
        Self { recall: true, whole_profile: false, model: MemoryModel::default() }
    }
}

/// Agents and tools that are switched off. All others are on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default, deny_unknown_fields)]
pub struct Switches {
    /// Specialists that may not answer.
    pub agents_off: BTreeSet<AgentId>,
    /// Tools that may not be called.
    pub tools_off: BTreeSet<ToolId>,
}

impl Switches {
    /// Whether an agent is on.
    pub fn agent(&self, id: &AgentId) -> bool {
        !self.agents_off.contains(id)
    }
    /// Whether a tool's own switch is on. A switch applies with and without the pack in its id.
    pub fn tool(&self, tool: &ToolSpec) -> bool {
        !self.tools_off.iter().any(|off| tool.is_named(off))
    }

    /// Switches one tool of `all` on. If an id without a pack has switched off several tools, the
    /// others stay off.
    pub fn switch_tool_on(&mut self, id: &ToolId, all: &[ToolSpec]) -> bool {
        let Some(tool) = all.iter().find(|tool| tool.id == *id) else {
            return self.tools_off.remove(id);
        };
        let named: Vec<ToolId> =
            self.tools_off.iter().filter(|off| tool.is_named(off)).cloned().collect();
        for off in &named {
            self.tools_off.remove(off);
            self.tools_off.extend(
                all.iter()
                    .filter(|other| other.pack != tool.pack && other.is_named(off))
                    .map(ToolSpec::qualified_id),
            );
        }
        !named.is_empty()
    }
}

/// The user's choices about one pack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default, deny_unknown_fields)]
pub struct PackChoice {
    /// Whether its HTTP tools may reach this computer and the local network, if they ask for it.
    pub private_network: bool,
    /// Values instead of the manifest's defaults, by name.
    #[ts(type = "Record<string, unknown>")]
    pub settings: Map<String, Value>,
}

/// The model that answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default, deny_unknown_fields)]
pub struct ModelSettings {
    /// `offline`, or the name of a provider wire, such as `openai_compatible`.
    pub provider: String,
    /// Empty for the provider's own address.
    pub base_url: String,
    /// The name of the model at the provider.
    pub model: String,
    /// The name of the model of the same provider that summarises older messages. Empty for the
    /// model that answers.
    pub summariser: String,
    /// Addresses on this computer at which a model runs, as a person says. At any other address a
    /// model counts as one elsewhere, because a program there could pass data on.
    pub runs_here: Vec<String>,
    /// Whether a model that can think does so before it answers, and shows it.
    pub reasoning: bool,
    /// Seconds without data after which a stream counts as stalled.
    pub idle_timeout_s: u32,
    /// The same for a server on this computer or in the local network. A model there may need minutes to
    /// read a long conversation.
    pub local_idle_timeout_s: u32,
    /// How often a failed call is made again (0 = never).
    pub max_retries: u32,
    /// Used if the model above cannot be reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<FallbackModel>,
}

/// A second model. It is used only if the first one fails before its answer begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default, deny_unknown_fields)]
pub struct FallbackModel {
    /// As for the first model.
    pub provider: String,
    /// Empty for the provider's own address.
    pub base_url: String,
    /// The name of the model at the provider.
    pub model: String,
}

impl Default for FallbackModel {
    fn default() -> Self {
        Self { provider: "offline".into(), base_url: String::new(), model: String::new() }
    }
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self {
            provider: "offline".into(),
            base_url: "https://api.openai.com/v1".into(),
            model: "gpt-4o-mini".into(),
            summariser: String::new(),
            runs_here: Vec::new(),
            reasoning: false,
            idle_timeout_s: 60,
            local_idle_timeout_s: 600,
            max_retries: 2,
            fallback: None,
        }
    }
}

/// Limits of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Model calls of a specialist's run (1 to 20); the last is made without tools.
    pub rounds: u32,
    /// Model calls of a turn over all specialists (4 to 100).
    pub model_calls: u32,
    /// How often a turn is passed to a specialist (1 to 12).
    pub hops: u32,
    /// Tool calls of a round (1 to 10). Further calls get a "limit" result.
    pub calls_per_round: u32,
    /// Messages of the window that the model sees of earlier turns.
    pub window_messages: u32,
    /// Characters of one tool result that the model sees.
    pub result_chars: u32,
    /// Seconds until a pending action expires.
    pub approval_expiry_s: u32,
    /// The number of newest turns whose recordings are kept for a replay; 0 keeps none.
    pub recorded_turns: u32,
    /// Characters of one message.
    pub message_chars: u32,
    /// Seconds that a turn may take, without the time that a person takes to decide. After that, no
    /// tool is called or retried, and the model is called once more for an answer from the results
    /// so far.
    pub deadline_s: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rounds: 6,
            model_calls: 24,
            hops: 6,
            calls_per_round: 3,
            window_messages: 20,
            result_chars: 16_000,
            approval_expiry_s: 600,
            recorded_turns: 100,
            message_chars: 20_000,
            deadline_s: 60,
        }
    }
}

/// The default for tools without a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum PolicyMode {
    /// Only read-only tools run; every write is denied.
    ReadOnlyOnly,
    /// Read-only tools run; every write needs an approval.
    WritesRequireApproval,
    /// Writes run without an approval; destructive tools still need one.
    WritesAllowed,
}
