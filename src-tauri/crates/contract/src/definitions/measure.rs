//! The figures of a source: what is computed, with which unit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::Synonyms;
use crate::{manifest::Localised, metric_query::Condition};

/// A figure of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct Measure {
    /// The calculation.
    #[serde(flatten)]
    pub calculation: Calculation,
    /// The rows that count. Empty: all.
    #[serde(default, rename = "where", skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<Condition>>")]
    pub conditions: Vec<Condition>,
    /// The unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub unit: Option<Unit>,
    /// Where the currency of amounts is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub currency: Option<CurrencyOf>,
    /// Which values are good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub better: Option<Better>,
    /// The number of days for which a value may still change. A file writes it as `30 days`.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "write_days")]
    #[schemars(with = "Option<String>")]
    #[ts(optional, as = "Option<String>")]
    pub settles_after: Option<u32>,
    /// The name for people, by language.
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    #[ts(optional, as = "Option<Localised<String>>")]
    pub title: Localised<String>,
    /// Other names of the measure, by language.
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    #[ts(optional, as = "Option<Synonyms>")]
    pub synonyms: Synonyms,
}

fn write_days<S: serde::Serializer>(days: &Option<u32>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{} days", days.unwrap_or_default()))
}

/// The calculation of a measure. Columns are columns of the source. Measures are other definitions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Calculation {
    /// The sum of a column.
    Sum(String),
    /// The number of rows: `rows`, or a column whose empty cells do not count.
    Count(String),
    /// The number of different values of a dimension or column.
    Distinct(String),
    /// The average of a column.
    Average(String),
    /// The average of a column, weighted by another one.
    Weighted(WeightedAverage),
    /// The sum of the last values of each key.
    Last(LastValue),
    /// The least value of a column.
    Least(String),
    /// The greatest value of a column.
    Greatest(String),
    /// The value in the middle of a column.
    Median(String),
    /// The value below which a part of the rows is.
    Percentile(Percentile),
    /// A number that does not add up at all, such as a reach: the value of the only row.
    Single(String),
    /// The first measure divided by the second one.
    Ratio([String; 2]),
    /// The sum of measures.
    Plus(Vec<String>),
    /// The first measure without the second one.
    Minus([String; 2]),
    /// Another measure, with conditions of its own.
    Of(String),
}

/// An average that counts some rows more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct WeightedAverage {
    /// The column.
    pub column: String,
    /// The column with the weights.
    pub by: String,
}

/// A value of which the last one counts, such as a budget or a stock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct LastValue {
    /// The column.
    pub column: String,
    /// The columns of the key. The last values of different keys are added up.
    pub per: Vec<String>,
}

/// A percentile, interpolated between the two nearest rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct Percentile {
    /// The column.
    pub column: String,
    /// The part of the rows in percent, from 1 to 99.
    pub at: u32,
}

/// The unit of a measure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(from = "String", into = "String")]
#[schemars(with = "String")]
#[ts(type = "string")]
pub enum Unit {
    /// An amount of a currency.
    Money,
    /// A part: 0.25 is shown as 25 %.
    Percent,
    /// Another unit, such as `km`.
    Named(String),
}

impl From<String> for Unit {
    fn from(name: String) -> Self {
        match name.as_str() {
            "money" => Self::Money,
            "percent" => Self::Percent,
            _ => Self::Named(name),
        }
    }
}

impl From<Unit> for String {
    fn from(unit: Unit) -> Self {
        match unit {
            Unit::Money => "money".to_owned(),
            Unit::Percent => "percent".to_owned(),
            Unit::Named(name) => name,
        }
    }
}

/// Where the currency of amounts is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(untagged)]
pub enum CurrencyOf {
    /// In a column.
    Column {
        /// The column.
        column: String,
    },
    /// All amounts have this one, such as `EUR`.
    Constant(String),
}

/// Which values of a measure are good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// High ones.
    Higher,
    /// Low ones.
    Lower,
}

impl Measure {
    /// Creates a measure without unit and conditions.
    pub fn of(calculation: Calculation) -> Self {
        Self {
            calculation,
            conditions: Vec::new(),
            unit: None,
            currency: None,
            better: None,
            settles_after: None,
            title: Localised::new(),
            synonyms: Synonyms::new(),
        }
    }
}
