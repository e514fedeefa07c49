//! The data that may be sent from this computer to a model, and the counts of redacted values,
//! without the values.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The rules for models that do not run on this computer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default, deny_unknown_fields)]
pub struct EgressSettings {
    /// If false, only the offline model and servers on this computer may answer.
    pub allowed: bool,
    /// How much of a text is replaced before the text is sent to a model.
    pub redaction: RedactionLevel,
}

impl Default for EgressSettings {
    fn default() -> Self {
        Self { allowed: true, redaction: RedactionLevel::Basic }
    }
}

/// How much is replaced by placeholders. Keys and tokens that the app knows are removed at every
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
    /// Only keys and tokens that the app knows.
    None,
    /// E-mail addresses, phone numbers, payment cards, IBANs, personal identity numbers, keys.
    #[default]
    Basic,
    /// Also web addresses and long tokens.
    Strict,
}

/// Declares the kinds in a table, each with its name for serialisation and placeholders.
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

            /// Returns the name of the kind, as serialised and in placeholders.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)+
                }
            }
        }
    };
}

redaction_kinds! {
    /// A key or token that the app uses. It is removed and never restored.
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
    /// A key in the format of a provider, or a private key.
    Key = "key",
    /// A web address.
    Url = "url",
    /// A long text of random-looking characters.
    Token = "token",
    /// Text that already looks like a placeholder. It is replaced by a placeholder, so that it is
    /// not mistaken for another one.
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
