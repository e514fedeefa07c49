//! Defines the part of a manifest that the offline model reads: phrases, slots, things and answer
//! templates.
//!
//! Phrases are words in order. `a|b` gives alternatives for a word, `*` allows a few words in
//! between, `^` at the start ties the phrase to the beginning of the sentence, and a leading `~`
//! marks a weak phrase that matches only together with other evidence. Case, diacritics and small
//! typing errors do not matter. Templates are minijinja; a text that ends in `.jinja` names a file
//! of the pack.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ToolId;

/// Text by language tag (`en`, `sv`).
pub type Localised<T> = BTreeMap<String, T>;

/// The texts of a pack's `messages/LANG.json` by language and key. A text may have separate forms
/// for the number one and for other numbers.
pub type PackTexts = Localised<Map<String, Value>>;

/// The forms in which a manifest gives a text. The packs crate converts all of them to texts by
/// language.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only the schema has this form")]
pub(crate) enum Words {
    /// `@KEY`: the text of a key in the pack's `messages/LANG.json`.
    Key(#[schemars(regex(pattern = r"^@[A-Za-z0-9_]+$"))] String),
    /// A text in each language.
    ByLanguage(Localised<String>),
}

/// The forms in which a manifest gives a template.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only the schema has this form")]
pub(crate) enum Templates {
    /// A single template for all languages. Its words come from `messages/LANG.json` with the
    /// function `t`.
    All(String),
    /// A template in each language.
    ByLanguage(Localised<String>),
}

/// The data for the offline model about the pack as a whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PackOffline {
    /// The purpose of the pack, in words that continue "I can ...".
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "Words")]
    pub can: Localised<String>,
    /// Example questions for "what can you do".
    #[serde(default)]
    pub examples: Localised<Vec<String>>,
    /// Kinds of things that results list and that users refer to, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub things: BTreeMap<String, Thing>,
    /// Requests that seem to be meant for this pack but that it cannot fulfil.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cannot: Vec<Cannot>,
    /// Words of a language, with the corresponding words in the pack's data.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub synonyms: Localised<BTreeMap<String, String>>,
    /// Words that describe one of several variants, such as colours. Such words narrow a choice and
    /// are not used as search words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<String>,
    /// Words that never describe a thing, such as the name of the cart to which the thing is added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
    /// Words of the pack's subject area, by which a message of one or two words can be understood.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vocabulary: Vec<String>,
    /// The tool that answers metric queries. Its argument `query` is one. With it, the offline model
    /// answers questions about sources of data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric_queries: Option<ToolId>,
    /// The tool that draws the answer of a metric query as a chart. Its result has the figures in
    /// `result`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charts: Option<ToolId>,
    /// The tool that answers metric queries about what explains a change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<ToolId>,
}

/// A request that is declined with a specific answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cannot {
    /// Phrases that indicate the request.
    pub triggers: Localised<Vec<String>>,
    /// The answer that declines the request.
    #[schemars(with = "Words")]
    pub answer: Localised<String>,
}

/// A kind of thing that results list: a product, a variant, a line of a cart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Thing {
    /// Nouns for the thing ("products"), used in questions to the user.
    #[serde(default)]
    #[schemars(with = "Words")]
    pub nouns: Localised<String>,
    /// The tools that find such things.
    pub sources: Vec<ThingSource>,
    /// A template over `item`: a line that identifies the thing.
    #[schemars(with = "Templates")]
    pub label: Localised<String>,
    /// JSON pointers into an item to the texts compared with the user's words; `*` stands for every
    /// element.
    pub words: Vec<String>,
    /// JSON pointer to the value that identifies the same item in other results.
    pub id: String,
    /// A template expression over `item` that is true if a write may use the thing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usable: Option<String>,
    /// The answer if no usable thing is left: a template over `items`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "Templates")]
    pub unusable: Localised<String>,
    /// The answer if no thing was found: a template over `words`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "Templates")]
    pub none: Localised<String>,
    /// The sort orders that people ask for, such as "the cheapest".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rankings: Vec<Ranking>,
}

/// An order of things by a number. The offline model sorts the found things only if the search has
/// found all things.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ranking {
    /// Phrases that ask for the order, in the same format as the triggers of an intent.
    pub phrases: Localised<Vec<String>>,
    /// JSON pointer to the number in each thing.
    pub field: String,
    /// `below`: the smallest first. `above`: the largest first.
    pub side: Side,
    /// Arguments with which the search returns all things.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, Value>,
    /// The name of the order, shown below the answer: "cheapest first".
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "Words")]
    pub label: Localised<String>,
}

/// A tool whose result contains things.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThingSource {
    /// The identifier of the tool.
    pub tool: String,
    /// JSON pointer to the list in the result; empty means the whole result.
    #[serde(default)]
    pub list: String,
    /// Whether the result itself is the only thing when the list is empty or missing.
    #[serde(default)]
    pub or_self: bool,
    /// How to call the tool to find a thing. If absent, only results of other calls of the tool are
    /// read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub find: Option<Find>,
    /// JSON pointer to the total number of things, if the list may contain only the first things.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<String>,
}

/// How a tool is called to find things.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "snake_case", deny_unknown_fields)]
pub enum Find {
    /// By the user's words, which are passed in this parameter.
    Words {
        /// The parameter of the tool that takes the words.
        parameter: String,
    },
    /// By a field of another thing that was chosen before.
    Thing {
        /// The parameter of the tool that takes the value.
        parameter: String,
        /// The kind of the other thing.
        thing: String,
        /// JSON pointer to the value in the other thing.
        field: String,
    },
    /// Without arguments. The tool is called again in every turn, because its result changes.
    All,
}

/// How the offline model recognises a tool, fills its arguments and writes the answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolOffline {
    /// The requests that the tool serves, each with its own phrases and answer.
    #[serde(default)]
    pub intents: Vec<Intent>,
    /// How the arguments are read from the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<Slot>,
    /// JSON pointer to the instant that a result describes. The same call within 15 minutes of that
    /// instant is answered with that result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
    /// The sentence after a write that did not happen, e.g. "Nothing was added to the cart."
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "Words")]
    pub undone: Localised<String>,
}

/// A kind of request that a tool serves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Intent {
    /// The name of the intent, unique within the tool.
    pub name: String,
    /// Phrases that indicate the intent.
    #[serde(default)]
    pub triggers: Localised<Vec<String>>,
    /// Phrases that exclude the intent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not: Localised<Vec<String>>,
    /// Whether the pack's vocabulary alone is enough to recognise the intent.
    #[serde(default)]
    pub bare: bool,
    /// Fixed arguments of this intent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, Value>,
    /// Whether the intent takes at least two things, with a call for each ("compare ...").
    #[serde(default)]
    pub several: bool,
    /// A template over `args`, `result` (or `results`) and helpers; its output is the answer in
    /// Markdown. If it is missing, the answer of the tool's first intent is used.
    #[serde(default)]
    #[schemars(with = "Templates")]
    pub answer: Localised<String>,
}

/// How an argument is read from the text. A parameter with a dot (`filters.maxPrice`) is set inside
/// an object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
// The JSON Schema refuses unknown members, because serde cannot do so together with `flatten`.
#[schemars(extend("unevaluatedProperties" = false))]
pub struct Slot {
    /// The parameter of the tool that takes the value.
    pub parameter: String,
    /// The kind of value to look for.
    #[serde(flatten)]
    pub kind: SlotKind,
    /// Whether the user is asked for the value if the text does not contain it.
    #[serde(default)]
    pub required: bool,
    /// The value if the text does not contain any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// Phrases of which one must occur next to the value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cues: Localised<Vec<String>>,
}

/// The kinds of slots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SlotKind {
    /// How many of a thing: a whole number from 1.
    Quantity,
    /// An amount of money or another number.
    Number,
    /// The first day of the period in the text.
    DateStart,
    /// The last day of the period in the text.
    DateEnd,
    /// One of several values, each with the phrases that mean it.
    Choice {
        /// The values, each with its phrases.
        values: Vec<ChoiceValue>,
    },
    /// Text exactly as typed: quoted text, or the text after a cue.
    Verbatim,
    /// One of the pack's entities. `nouns` may stand before an id that is not in the table
    /// ("account 99").
    Entity {
        /// The kind of entity, as in the manifest's `entities`.
        entity: String,
        /// Nouns for the entity.
        #[serde(default)]
        nouns: Localised<Vec<String>>,
    },
    /// A field of a thing that the user names or refers to.
    Thing {
        /// The kind of thing.
        thing: String,
        /// JSON pointer to the value in the thing.
        field: String,
    },
    /// The remaining words, for a search.
    Words,
    /// The fixed `value`, if a cue occurs.
    Flag {
        /// The value of the parameter.
        value: Value,
    },
    /// A bound taken from a field of the previously listed things ("cheaper ones"), used if a cue
    /// occurs.
    Listed {
        /// The kind of thing that was listed.
        thing: String,
        /// JSON pointer to the value in each thing.
        field: String,
        /// The side of the listed values on which matching values lie.
        side: Side,
    },
}

/// A value of a choice, with its phrases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChoiceValue {
    /// The value of the parameter.
    pub value: Value,
    /// Phrases in the same format as the triggers of an intent.
    pub phrases: Localised<Vec<String>>,
}

/// The side on which a value must lie, relative to the middle of a list or a single thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Smaller than the listed values.
    Below,
    /// Larger than the listed values.
    Above,
}

impl Thing {
    /// Returns the source for the tool if its results contain such things.
    pub fn source(&self, tool: &ToolId) -> Option<&ThingSource> {
        self.sources.iter().find(|source| source.tool == tool.as_str())
    }
}
