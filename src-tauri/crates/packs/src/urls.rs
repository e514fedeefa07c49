//! Addresses in manifests: the setting that one may begin with, and their form. Knows no requests.

use serde_json::{Map, Value};

/// Splits off the setting that an address begins with. Returns the setting's name and the rest.
pub(crate) fn leading_setting(url: &str) -> Option<(&str, &str)> {
    url.strip_prefix("{settings.")?.split_once('}')
}

/// Fills the setting into an address. The setting must be a web address without a query; it is not
/// a template.
pub(crate) fn with_setting(url: &str, settings: &Map<String, Value>) -> Option<String> {
    let Some((name, rest)) = leading_setting(url) else { return Some(url.to_owned()) };
    let base = settings.get(name)?.as_str()?.trim_end_matches('/');
    is_base_url(base).then(|| format!("{base}{rest}"))
}

/// Whether a text can be the beginning of an address.
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

/// Whether requests to an address are encrypted. Uses the parser of the HTTP client, so that both
/// agree.
pub(crate) fn is_encrypted(address: &str) -> bool {
    url::Url::parse(address).is_ok_and(|url| url.scheme() == "https")
}

/// Returns an address with its leading setting filled in: the user's value, or else the pack's
/// default.
pub fn address_with(
    url: &str,
    defaults: &Map<String, Value>,
    chosen: &Map<String, Value>,
) -> Option<String> {
    let mut settings = defaults.clone();
    settings.extend(chosen.clone());
    with_setting(url, &settings)
}
