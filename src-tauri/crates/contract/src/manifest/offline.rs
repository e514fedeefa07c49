//! The part of a manifest that the offline model reads: triggers, slots and answer templates. Data, no code.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Text by language tag (`en`, `sv`).
pub type Localised<T> = BTreeMap<String, T>;

/// What the offline model says for the pack as a whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PackOffline {
    /// Example questions for "what can you do".
    #[serde(default)]
    pub examples: Localised<Vec<String>>,
}

/// How the offline model recognises, fills and words one tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolOffline {
    /// Phrases that speak for this tool; a phrase matches when its words occur.
    #[serde(default)]
    pub triggers: Localised<Vec<String>>,
    /// Phrases that speak against it.
    #[serde(default)]
    pub not: Localised<Vec<String>>,
    #[serde(default)]
    pub slots: Vec<Slot>,
    /// A minijinja template over `args`, `result` and helpers; its output is the answer in Markdown.
    #[serde(default)]
    pub answer: Localised<String>,
}

/// How one argument is taken from the text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Slot {
    pub parameter: String,
    pub kind: SlotKind,
    /// Asked for when the text does not give it.
    #[serde(default)]
    pub required: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// Kind `entity`: which kind of entity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<String>,
}

/// The kinds of slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SlotKind {
    Quantity,
    Number,
    Money,
    DateStart,
    DateEnd,
    Entity,
    /// What remains of the message after the triggers, as search words.
    Rest,
}
