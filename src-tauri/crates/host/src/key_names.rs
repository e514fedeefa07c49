//! Names of the host's keyring entries. Knows no values and no servers.

use contract::PackId;

/// The prefix of entries with packs' credentials.
pub(crate) const OF_PACKS: &str = "credential/";

/// The prefix of entries with OAuth tokens.
pub(crate) const TOKENS: &str = "oauth/";

/// The name of the key for the configured model's server.
pub(crate) const API_KEY: &str = "OPENAI_API_KEY";

/// The variables in the environment that hold the app's own keys.
pub(crate) const OWN: &[&str] = &[API_KEY, "ANTHROPIC_API_KEY", "GEMINI_API_KEY"];

/// Returns the entry name of a pack's key without its server.
pub(crate) fn entry(pack: &str, variable: &str) -> String {
    format!("{OF_PACKS}{pack}/{variable}")
}

/// Returns the entry name of a server's tokens in version 0.1. The present entry adds the server's
/// origin to this name.
pub(crate) fn tokens_entry(pack: &PackId, server: &str) -> String {
    format!("{TOKENS}{pack}/{server}")
}
