//! Assumptions about flights that go on: another budget, another rate. Moving an amount from one to
//! another is two of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Number;
use ts_rs::TS;

use super::Condition;

/// An assumption about flights that go on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct WhatIf {
    /// The things that it is about, such as `{"campaign": ["A"]}`. Empty: all.
    #[serde(default, rename = "where", skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<Condition>>")]
    pub conditions: Vec<Condition>,
    /// Their budget in the period, all together. Each has the part that it has now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub budget: Option<WhatIfChange>,
    /// Their spend on each day from now on, all together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub rate: Option<WhatIfChange>,
}

/// A change of an amount.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum WhatIfChange {
    /// The new amount.
    To(
        #[schemars(with = "f64")]
        #[ts(type = "number")]
        Number,
    ),
    /// How much more it is. A negative number makes it less.
    By(
        #[schemars(with = "f64")]
        #[ts(type = "number")]
        Number,
    ),
    /// How many percent more it is.
    Percent(
        #[schemars(with = "f64")]
        #[ts(type = "number")]
        Number,
    ),
}
