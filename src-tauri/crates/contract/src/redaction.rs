//! The data that may leave this computer for a model, and the counts of what was redacted. Never a
//! value.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The rules for models that do not run on this computer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default, deny_unknown_fields)]
pub struct EgressSettings {
    /// If false, only the offline model and servers on this computer may answer.
    pub allowed: bool,
    /// How much is replaced before a text goes to a model.
    pub redaction: RedactionLevel,
}

impl Default for EgressSettings {
    fn default() -> Self {
        Self { allowed: true, redaction: RedactionLevel::Basic }
    }
}

/// How much is replaced by placeholders. Keys and tokens that this app knows are removed at every
/// level.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
    TS,
)]
#[serde(rename_all = "snake_case")]
pub enum RedactionLevel {
    /// Only keys and tokens that this app knows.
    None,
    /// E-mail addresses, phone numbers, payment cards, IBANs, personal identity numbers, keys.
    #[default]
    Basic,
    /// Also web addresses and long tokens.
    Strict,
}

/// Declares the kinds from one table: each with its name on the wire and in placeholders.
macro_rules! redaction_kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal,)+) => {
        /// A kind of redacted value.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
            JsonSchema, TS,
        )]
        #[serde(rename_all = "snake_case")]
        pub enum RedactionKind {
            $($(#[$doc])* $kind,)+
        }

        impl RedactionKind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind),+];

            /// The kind as it is on the wire and in placeholders.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)+
                }
            }
        }
    };
}

redaction_kinds! {
    /// A key or token that this app handles. It is removed and never restored.
    Secret = "secret",
    /// An e-mail address.
    Email = "email",
    /// A phone number.
    Phone = "phone",
    /// The number of a payment card.
    Card = "card",
    /// An international bank account number.
    Iban = "iban",
    /// A personal identity number.
    PersonalId = "personal_id",
    /// A key in a form that providers use, or a private key.
    Key = "key",
    /// A web address.
    Url = "url",
    /// A long text of random-looking characters.
    Token = "token",
    /// Text that already looked like a placeholder. It gets a placeholder of its own, so that it is
    /// never taken for another one.
    Literal = "literal",
}

/// The number of values of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct RedactionCount {
    /// The kind of the values.
    pub kind: RedactionKind,
    /// The number of different values.
    pub count: u32,
}
