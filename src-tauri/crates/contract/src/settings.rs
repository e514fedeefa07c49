//! Settings as edited in the window and stored in `countersign.toml`. Secrets are never stored in
//! settings.

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
    /// The size of everything in the windows, in percent (80 to 200).
    pub zoom: u16,
    /// Whether the assistant may answer and act. If false, every run is refused.
    pub agent_enabled: bool,
    /// Switches of individual agents and tools.
    pub switches: Switches,
    /// Whether the first-run page has been completed.
    pub welcomed: bool,
    /// The model that answers.
    pub model: ModelSettings,
    /// The rules for data that is sent from this computer to a model.
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
    /// Whether `csign approvals approve` may decide. This can be changed only in the approval
    /// window.
    pub decide_from_terminal: bool,
    /// The audit log: how long it keeps values, and the services that confirm its checkpoints.
    pub audit: AuditSettings,
    /// The storage of sources of data.
    pub data: DataSettings,
    /// The IANA time zone for dates in answers; `system` uses the zone of this computer.
    pub time_zone: String,
    /// The user's choices about individual packs, by pack id.
    pub packs: BTreeMap<String, PackChoice>,
    /// The widths of columns that the user chose in tables of the window, in characters: by table,
    /// then by column.
    pub column_widths: BTreeMap<String, BTreeMap<String, u16>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            language: "system".into(),
            theme: "system".into(),
            zoom: 100,
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
            data: DataSettings::default(),
            time_zone: "system".into(),
            packs: BTreeMap::new(),
            column_widths: BTreeMap::new(),
        }
    }
}

/// How long the audit log keeps values, and the services that confirm its checkpoints. The services
/// get no records: a witness gets the size and hashes, an authority gets a hash. An empty address
/// means no service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default, deny_unknown_fields)]
pub struct AuditSettings {
    /// The days after which the values of a record, such as questions and arguments, are erased.
    /// The records remain. 0 keeps the values forever.
    pub keep_values_days: u32,
    /// The address of a witness (C2SP tlog-witness) that cosigns checkpoints.
    pub witness_url: String,
    /// The witness's key, in the format `name+id+key`.
    pub witness_key: String,
    /// The address of an authority that stamps a checkpoint each day (RFC 3161).
    pub timestamp_url: String,
}

/// The storage of sources of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default, deny_unknown_fields)]
pub struct DataSettings {
    /// The megabytes that the rows of all imported files may take on the disk. Beyond that, the rows
    /// of the oldest undone or replaced imports are deleted, never those in force.
    pub snapshot_limit_mb: u32,
}

impl Default for DataSettings {
    fn default() -> Self {
        Self { snapshot_limit_mb: 20_000 }
    }
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
    /// Whether a model gets the memories that match a message.
    pub recall: bool,
    /// Whether these memories may be summaries of the user's other conversations. Notes of the
    /// profile are always used.
    pub whole_profile: bool,
    /// The model that compares memories with questions.
    pub model: MemoryModel,
}

impl Default for MemorySettings {
    fn default() -> Self {
        Self { recall: true, whole_profile: false, model: MemoryModel::default() }
    }
}

/// Agents and tools that are switched off. All others are switched on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default, deny_unknown_fields)]
pub struct Switches {
    /// Specialists that may not answer.
    pub agents_off: BTreeSet<AgentId>,
    /// Tools that may not be called.
    pub tools_off: BTreeSet<ToolId>,
}

impl Switches {
    /// Whether an agent is switched on.
    pub fn agent(&self, id: &AgentId) -> bool {
        !self.agents_off.contains(id)
    }
    /// Whether a tool is switched on. A switch applies with and without the pack in its id.
    pub fn tool(&self, tool: &ToolSpec) -> bool {
        !self.tools_off.iter().any(|off| tool.is_named(off))
    }

    /// Switches on a tool of `all`. If an id without a pack had switched off several tools, the
    /// others remain switched off.
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

/// The user's choices about a pack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default, deny_unknown_fields)]
pub struct PackChoice {
    /// Whether the pack's HTTP tools may reach this computer and the local network, if the manifest
    /// requests it.
    pub private_network: bool,
    /// Values that replace the manifest's defaults, by name.
    #[ts(type = "Record<string, unknown>")]
    pub settings: Map<String, Value>,
}

/// The model that answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default, deny_unknown_fields)]
pub struct ModelSettings {
    /// `offline`, or the name of a provider's protocol, such as `openai_compatible`.
    pub provider: String,
    /// The address; empty for the provider's own address.
    pub base_url: String,
    /// The name of the model at the provider.
    pub model: String,
    /// The name of the model of the same provider for summaries of older messages; empty for the
    /// model that answers.
    pub summariser: String,
    /// Addresses on this computer at which, according to a person, a model runs. A model at any
    /// other address is treated as remote, because a program there could forward data.
    pub runs_here: Vec<String>,
    /// Whether a model that can think does so before it answers, and shows its thoughts.
    pub reasoning: bool,
    /// Seconds without data after which a stream is treated as stalled.
    pub idle_timeout_s: u32,
    /// The same limit for a server on this computer or in the local network. A model there may need
    /// minutes to read a long conversation.
    pub local_idle_timeout_s: u32,
    /// The number of retries of a failed call (0 = none).
    pub max_retries: u32,
    /// The model that is used if the first model cannot be reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<FallbackModel>,
}

/// A second model, which is used only if the first model fails before its answer begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default, deny_unknown_fields)]
pub struct FallbackModel {
    /// The provider, in the same format as for the first model.
    pub provider: String,
    /// The address; empty for the provider's own address.
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
    /// Model calls of a specialist's run (1 to 20); the last call is made without tools.
    pub rounds: u32,
    /// Model calls of a turn over all specialists (4 to 100).
    pub model_calls: u32,
    /// The most times that a turn is passed to a specialist (1 to 12).
    pub hops: u32,
    /// Tool calls of a round (1 to 10). Further calls get the outcome "limit".
    pub calls_per_round: u32,
    /// Messages of earlier turns that the model sees in modes with a window.
    pub window_messages: u32,
    /// Characters of a tool result that the model sees.
    pub result_chars: u32,
    /// Seconds until a pending action expires.
    pub approval_expiry_s: u32,
    /// The number of newest turns whose recordings are kept for a replay; 0 keeps none.
    pub recorded_turns: u32,
    /// The most characters of a message.
    pub message_chars: u32,
    /// Seconds that a turn may take, excluding the time that a person needs to decide. After that,
    /// no tool is called or retried, and the model is called once more for an answer from the
    /// results so far.
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
