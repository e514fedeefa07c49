//! Names of the host's keyring entries. Knows no values and no servers.

use contract::PackId;

/// The prefix of entries with packs' credentials.
pub(crate) const OF_PACKS: &str = "credential/";

/// The prefix of entries with OAuth tokens.
pub(crate) const TOKENS: &str = "oauth/";

/// The name of the key for the configured model's server.
pub(crate) const API_KEY: &str = "OPENAI_API_KEY";

/// Whether a variable in a terminal's environment contains a key of the app itself.
pub(crate) fn is_app_key(variable: &str) -> bool {
    models::Api::ALL.iter().any(|api| api.key_variable() == variable)
}

/// Returns the entry name of a pack's key without its server.
pub(crate) fn entry_name(pack: &str, variable: &str) -> String {
    format!("{OF_PACKS}{pack}/{variable}")
}

/// Returns the entry name of a server's tokens in version 0.1. The current entry adds the server's
/// origin to this name.
pub(crate) fn tokens_entry(pack: &PackId, server: &str) -> String {
    format!("{TOKENS}{pack}/{server}")
}
