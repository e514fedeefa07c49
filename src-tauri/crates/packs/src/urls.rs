//! Handles addresses in manifests: their syntax, and the setting with which an address may begin.

use serde_json::{Map, Value};

/// Splits off the setting at the beginning of an address. Returns the setting's name and the rest.
pub(crate) fn leading_setting(url: &str) -> Option<(&str, &str)> {
    url.strip_prefix("{settings.")?.split_once('}')
}

/// Replaces the setting in an address by its value. The value must be a web address without a
/// query, and is not parsed as a template.
pub(crate) fn with_setting(url: &str, settings: &Map<String, Value>) -> Option<String> {
    let Some((name, rest)) = leading_setting(url) else { return Some(url.to_owned()) };
    let base = settings.get(name)?.as_str()?.trim_end_matches('/');
    is_base_url(base).then(|| format!("{base}{rest}"))
}

/// Whether a text can be used as the beginning of an address.
pub(crate) fn is_base_url(text: &str) -> bool {
    let plain = !text.contains(['{', '}', '?', '#', '\\'])
        && !text.chars().any(|c| c.is_control() || c.is_whitespace());
    plain
        && url::Url::parse(text).is_ok_and(|url| {
            matches!(url.scheme(), "https" | "http")
                && url.host().is_some()
                && url.username().is_empty()
        })
}

/// Whether requests to an address are encrypted. Uses the HTTP client's parser, so that this check
/// and the client agree.
pub(crate) fn is_encrypted(address: &str) -> bool {
    url::Url::parse(address).is_ok_and(|url| url.scheme() == "https")
}

/// Returns an address with its setting replaced by the user's value or the pack's default.
pub fn address_with(
    url: &str,
    defaults: &Map<String, Value>,
    chosen: &Map<String, Value>,
) -> Option<String> {
    let mut settings = defaults.clone();
    settings.extend(chosen.clone());
    with_setting(url, &settings)
}
