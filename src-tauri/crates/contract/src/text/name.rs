//! A name or a value of the data as the value of a placeholder. It is shown as it is, and never looked
//! up in a catalogue: a campaign may have the name of a button.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Param, ToParam};
use crate::manifest::Localised;

/// A name or a value of the data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct GivenName {
    /// The name in English, or the value.
    pub text: String,
    /// The names that people gave it, by language. Empty: it has one name in all languages.
    pub names: Localised<String>,
}

impl GivenName {
    /// Creates a value, or a name that is the same in all languages.
    pub fn of(text: impl Into<String>) -> Self {
        Self { text: text.into(), names: Localised::new() }
    }
}

impl fmt::Display for GivenName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl ToParam for GivenName {
    fn to_param(&self) -> Param {
        Param::Name(self.clone())
    }
}
