//! The port for the profile: settings, rules, prices, and known secrets.

use std::sync::Arc;

use futures::future::BoxFuture;
use secrecy::SecretString;

use crate::ports::rows::SessionValues;

/// How a message that needs no specialist is handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Supervision {
    /// The model answers the message. A model that can call tools gets a single call, in which it
    /// answers or routes the message to specialists.
    #[default]
    Assistant,
    /// A decision precedes each answer, and messages outside the specialists' subjects are
    /// declined, as the run contract requires.
    Contract,
}

/// The current settings and rules, which are read each time they are needed.
pub trait Profile: Send + Sync {
    /// Returns the settings that currently apply.
    fn settings(&self) -> Arc<contract::Settings>;
    /// Returns why the settings cannot be used. Until this is corrected, no message is answered and
    /// no tool runs.
    fn settings_fault(&self) -> Option<contract::AgentError> {
        None
    }
    /// Returns the user's rules for tool calls that currently apply.
    fn rules(&self) -> Arc<policy::Rules>;
    /// Returns the prices of models.
    fn prices(&self) -> Arc<contract::PriceTable> {
        Arc::default()
    }
    /// Returns the language, `en` or `sv`.
    fn locale(&self) -> String;
    /// Returns the language of a text, `en` or `sv`, or none if the language is not certain. A
    /// person gets answers in the language of the message.
    fn locale_of(&self, _text: &str) -> Option<String> {
        None
    }
    /// Returns how the messages of people are supervised. Turns for a caller of the run contract or
    /// of the chat API are always supervised as in `Contract`.
    fn supervision(&self) -> Supervision {
        Supervision::Assistant
    }
    /// Returns the name of the operating system's account of the person who runs this process. The
    /// name is stored in the records of this person's messages and decisions.
    fn person(&self) -> Option<String> {
        None
    }
    /// Returns the IANA name of the user's time zone.
    fn time_zone(&self) -> String;
    /// Returns the values of caller-owned parameters that apply in every session, such as
    /// `clientIp`. The texts of the shop are requested in the language `locale`.
    fn caller_values(&self, locale: &str) -> SessionValues;
}

/// Keys and tokens that this process has handled. They are removed from all outgoing text at every
/// redaction level.
pub trait Secrets: Send + Sync {
    /// Returns a number that changes whenever `values` changes. Must be fast.
    fn generation(&self) -> u64;
    /// Returns all known secrets.
    fn values(&self) -> Vec<SecretString>;
    /// Loads secrets that another program may have stored. Called before a person's text is
    /// accepted.
    fn reload_secrets(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
