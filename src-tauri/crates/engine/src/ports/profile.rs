//! The port for the profile: settings, rules, prices, and known secrets.

use std::sync::Arc;

use futures::future::BoxFuture;
use secrecy::SecretString;

use crate::ports::rows::SessionValues;

/// The way in which a message that needs no specialist is treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Supervision {
    /// The model answers it. A model that can call tools is asked once: it answers, or hands the
    /// message to specialists.
    #[default]
    Assistant,
    /// A decision comes before each answer, and what lies in no specialist's field is declined, as
    /// the run contract asks for.
    Contract,
}

/// The current settings and rules. They are read each time they are needed.
pub trait Profile: Send + Sync {
    /// Returns the settings in force.
    fn settings(&self) -> Arc<contract::Settings>;
    /// Returns why the settings cannot be used. Until then nothing is answered or run.
    fn settings_fault(&self) -> Option<contract::AgentError> {
        None
    }
    /// Returns the user's rules for tool calls, as in force.
    fn rules(&self) -> Arc<policy::Rules>;
    /// Returns the prices of models.
    fn prices(&self) -> Arc<contract::PriceTable> {
        Arc::default()
    }
    /// Returns the language, `en` or `sv`.
    fn locale(&self) -> String;
    /// Returns the language of a text, `en` or `sv`, or None if it is not certain. People are
    /// answered in the language of their message.
    fn locale_of(&self, _text: &str) -> Option<String> {
        None
    }
    /// Returns how the messages of people are supervised. Turns for a caller of the run contract
    /// or of the chat API are always supervised by the contract.
    fn supervision(&self) -> Supervision {
        Supervision::Assistant
    }
    /// Returns the name under which the operating system knows the person who runs this process.
    /// It stands in the records of what that person asked and decided.
    fn person(&self) -> Option<String> {
        None
    }
    /// Returns the IANA name of the user's time zone.
    fn time_zone(&self) -> String;
    /// Returns the values of caller-owned parameters that apply in every session, such as
    /// `clientIp`. The shop's texts are asked for in the language `locale`.
    fn caller_values(&self, locale: &str) -> SessionValues;
}

/// Keys and tokens that this process has handled. They are removed from all outgoing text at every
/// redaction level.
pub trait Secrets: Send + Sync {
    /// Returns a number that changes whenever `values` does. Must be cheap.
    fn generation(&self) -> u64;
    /// Returns all known secrets.
    fn values(&self) -> Vec<SecretString>;
    /// Looks for secrets that another program may have stored. Called before a person's text is
    /// accepted.
    fn reload_secrets(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
