//! Names of the keyring entries that the host uses. Knows no values and no servers.

use contract::PackId;

/// The beginning of the keyring entries of packs' credentials.
pub(crate) const OF_PACKS: &str = "credential/";

/// The beginning of the keyring entries of tokens.
pub(crate) const TOKENS: &str = "oauth/";

/// The key of the chosen model's server.
pub(crate) const API_KEY: &str = "OPENAI_API_KEY";

/// Whether a variable in the environment of a terminal holds a key of the app itself.
pub(crate) fn is_own(variable: &str) -> bool {
    models::Api::ALL.iter().any(|api| api.key_variable() == variable)
}

/// Returns the name of a pack's key without its server.
pub(crate) fn entry(pack: &str, variable: &str) -> String {
    format!("{OF_PACKS}{pack}/{variable}")
}

/// Returns the keyring entry of a server's tokens in version 0.1. Present entries begin with it and
/// add the server.
pub(crate) fn tokens_entry(pack: &PackId, server: &str) -> String {
    format!("{TOKENS}{pack}/{server}")
}
