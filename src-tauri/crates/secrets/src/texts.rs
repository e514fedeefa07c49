//! Sentences for the user about the keyring.

use contract::KeyringState;
use messages::Language;

messages::keys! {
    /// A sentence about the keyring.
    enum Sentence in "keyring" {
        Ready => "ready",
        ReadyHint => "ready_hint",
        Locked => "locked",
        LockedHint => "locked_hint",
        Missing => "missing",
        MissingHint => "missing_hint",
    }
}

/// A sentence for the user, and what the user can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    pub message: &'static str,
    pub hint: &'static str,
}

/// Describes a state of the keyring.
pub fn describe(state: KeyringState, locale: &str) -> Text {
    let (message, hint) = match state {
        KeyringState::Ready => (Sentence::Ready, Sentence::ReadyHint),
        KeyringState::Locked => (Sentence::Locked, Sentence::LockedHint),
        KeyringState::Missing => (Sentence::Missing, Sentence::MissingHint),
    };
    let language = Language::of_tag(locale);
    Text { message: message.text(language), hint: hint.text(language) }
}
