//! Sentences for the user about the keyring, in English and Swedish.

use contract::KeyringState;

/// A sentence, and what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    pub message: &'static str,
    pub hint: &'static str,
}

/// Describes a state of the keyring. Languages other than Swedish get English.
pub fn describe(state: KeyringState, locale: &str) -> Text {
    if locale.starts_with("sv") { swedish(state) } else { english(state) }
}

fn english(state: KeyringState) -> Text {
    match state {
        KeyringState::Ready => Text {
            message: "The keyring is ready.",
            hint: "Keys are kept in the keyring of your desktop.",
        },
        KeyringState::Locked => Text {
            message: "The keyring is locked.",
            hint: "Unlock it (log in to the desktop, or open Passwords and Keys), or enter the key for this run only.",
        },
        KeyringState::Missing => Text {
            message: "No keyring was found.",
            hint: "Start a keyring such as gnome-keyring or KWallet, or enter the key for this run only. Keys are never written to a file.",
        },
    }
}

fn swedish(state: KeyringState) -> Text {
    match state {
        KeyringState::Ready => Text {
            message: "Nyckelringen är redo.",
            hint: "Nycklar sparas i skrivbordets nyckelring.",
        },
        KeyringState::Locked => Text {
            message: "Nyckelringen är låst.",
            hint: "Lås upp den (logga in på skrivbordet eller öppna Lösenord och nycklar), eller ange nyckeln bara för den här körningen.",
        },
        KeyringState::Missing => Text {
            message: "Ingen nyckelring hittades.",
            hint: "Starta en nyckelring, till exempel gnome-keyring eller KWallet, eller ange nyckeln bara för den här körningen. Nycklar skrivs aldrig till en fil.",
        },
    }
}
