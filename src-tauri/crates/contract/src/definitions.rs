//! Definitions: what the columns of a source mean. Dimensions to group by, measures with their unit
//! and how they add up, the time column and joins. A person can read and edit them as a file. The
//! crate `analytics` checks them, hashes them and computes with them.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{SourceName, manifest::Localised};

mod dimension;
mod measure;
mod pacing;
mod read;
mod spread;
mod time;

pub use dimension::{Bins, Dimension, DimensionKind, FirstValue, Groups, Lookup, NameRule, Split};
pub use measure::{
    Better, Calculation, CurrencyOf, LastValue, Measure, Percentile, Unit, WeightedAverage,
};
pub use pacing::{PACING_COLUMNS, Pacing, PacingDelivery, PacingLimits, PacingName, PacingPlan};
pub use read::{read_calculation, read_definitions, read_dimension, read_measure};
pub use spread::{Covers, PLAN_DAY, Spread, SpreadDays, SpreadMonths};
pub use time::{TimeColumn, WeekDay, ZONE_BY_ACCOUNT};

/// The synonyms of a name, by language.
pub type Synonyms = BTreeMap<String, Vec<String>>;

/// The definitions of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct Definitions {
    /// The source.
    pub source: SourceName,
    /// The grain: the meaning of one row.
    #[serde(default, skip_serializing_if = "Grain::is_unknown")]
    #[ts(optional, as = "Option<Grain>")]
    pub rows: Grain,
    /// The column that periods refer to. None if rows have no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub time: Option<TimeColumn>,
    /// How the amounts of a plan are divided over days. None: each row is of one day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub spread: Option<Spread>,
    /// How the rows are computed from two other sources. None: they are those of a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub pacing: Option<Pacing>,
    /// The values that rows can be grouped by.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub dimensions: BTreeMap<String, Dimension>,
    /// The figures of the source.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub measures: BTreeMap<String, Measure>,
    /// Other sources: those that measures are compared with, and those that dimensions come from.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub joins: BTreeMap<String, Join>,
    /// Where rates of currencies are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub rates: Option<Rates>,
}

impl Definitions {
    /// Creates definitions that define nothing.
    pub fn new(source: SourceName) -> Self {
        Self {
            source,
            rows: Grain::default(),
            time: None,
            spread: None,
            pacing: None,
            dimensions: BTreeMap::new(),
            measures: BTreeMap::new(),
            joins: BTreeMap::new(),
            rates: None,
        }
    }
}

/// The meaning of one row of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct Grain {
    /// The columns or dimensions whose values no two rows share. Empty: not known.
    pub one_per: Vec<String>,
}

impl Grain {
    /// Whether nothing is known about what a row is.
    pub fn is_unknown(&self) -> bool {
        self.one_per.is_empty()
    }
}

/// Another source: its measures stand beside those of this one, and its dimensions describe rows of
/// this one if it has at most one row for each value of its columns in `on`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct Join {
    /// The columns of this source, each with that of the other source that has the same values.
    pub on: BTreeMap<String, String>,
    /// The treatment of rows without a partner.
    #[serde(default)]
    pub unmatched: Unmatched,
}

/// The treatment of rows without a partner in the other source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Unmatched {
    /// They are kept, and counted.
    #[default]
    Show,
    /// They are left out, and counted.
    LeaveOut,
}

/// The source that has rates of currencies. The rate of a day is the last one on or before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct Rates {
    /// The source.
    pub source: SourceName,
    /// Its column with days.
    pub day: String,
    /// Its column with the currency that is converted.
    pub from: String,
    /// Its column with the currency that amounts are converted to.
    pub to: String,
    /// Its column with the price of one unit of `from` in `to`.
    pub rate: String,
}

impl<'de> Deserialize<'de> for Definitions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        read_definitions(&value).map_err(serde::de::Error::custom)
    }
}

/// Whether a person approved what a figure was computed with.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
    TS,
)]
#[serde(rename_all = "snake_case")]
// `servers` has another `DefinitionState`, and TypeScript types have no modules.
#[ts(rename = "FigureState")]
pub enum DefinitionState {
    /// All definitions are approved, or need no approval.
    Approved,
    /// A definition was detected or edited, and nobody approved it yet.
    #[default]
    Proposed,
    /// A model wrote the query or a part of it.
    WrittenByModel,
}

/// Why a definition needs the approval of a person.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "snake_case")]
pub enum DefinitionRisk {
    /// A sum that no total line of the file confirms.
    SumNotConfirmed,
    /// A figure computed from others: a ratio, an average, a difference.
    Computed,
    /// Only the last value of each key counts.
    LastValue,
    /// The currency is the same for all rows because somebody said so.
    ConstantCurrency,
    /// Rows with different names count as one.
    MergedNames,
    /// Rows are grouped by a rule.
    DerivedDimension,
    /// Figures of two sources stand side by side.
    Join,
    /// Amounts are converted with rates.
    Rates,
    /// Amounts are divided over days.
    Spread,
    /// Rows are computed from delivery and plan.
    Pacing,
}

/// A definition with its state, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DefinitionView {
    /// The name, as queries use it. Joins have the name `join:SOURCE`.
    pub name: String,
    /// The SHA-256 of the definition, in hexadecimal digits.
    pub hash: String,
    /// Why it needs an approval. Empty: it needs none.
    pub risks: Vec<DefinitionRisk>,
    /// Whether a person approved it, or it needs no approval.
    pub is_approved: bool,
    /// The definition as its file writes it.
    pub written: String,
    /// Its names by language.
    pub title: Localised<String>,
    /// When and where a person approved it. None if nobody did, or if an older version stored it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub approval: Option<DefinitionApproval>,
}

/// A person's approval of a definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct DefinitionApproval {
    /// The time.
    pub at: DateTime<Utc>,
    /// The kind of caller that it came from, by name.
    pub by: String,
}
