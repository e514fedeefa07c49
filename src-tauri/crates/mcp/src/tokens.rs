//! Finds the tokens of a sign-in in the text that the host stores. The module knows no server and
//! no request.

use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

/// Returns the tokens in the text that the host stores.
pub(crate) fn tokens_in(stored: &SecretString) -> Vec<SecretString> {
    let stored: Value = serde_json::from_str(stored.expose_secret()).unwrap_or_default();
    ["access_token", "refresh_token", "id_token"]
        .iter()
        .filter_map(|name| stored["token_response"][name].as_str())
        .map(SecretString::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_oauth_tokens_are_found() {
        let stored = r#"{"client_id": "c", "token_response": {"access_token": "a-1", "token_type": "bearer", "refresh_token": "r-1"}}"#;
        let found = |stored: &str| -> Vec<String> {
            let tokens = tokens_in(&SecretString::from(stored));
            tokens.iter().map(|token| token.expose_secret().to_owned()).collect()
        };
        assert_eq!(found(stored), ["a-1", "r-1"]);
        assert!(found(r#"{"token_response": null}"#).is_empty() && found("x").is_empty());
    }
}
