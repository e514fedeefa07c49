//! Makes texts for snapshots that are the same in every run.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

/// Values that differ from run to run, with the word that replaces them. Equal values of a text get
/// equal numbers, so that a snapshot still shows which values belong together.
static VARYING: LazyLock<Vec<(Regex, &str, bool)>> = LazyLock::new(|| {
    [
        (r"(?:/[\w.-]+)*/\.tmp[A-Za-z0-9]{6}", "folder", false),
        (r"\b[a-z]+_[0-9a-f]{32}\b|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", "id", true),
        (r"\b[0-9a-f]{16,64}\b", "hash", true),
        (r"[A-Za-z0-9+/]{43}=", "base64", false),
        (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|\+00:00)?", "time", false),
        (r#""nextDeliveryDate": "[\d-]+""#, "next delivery", false),
        (r"\b127\.0\.0\.1:\d+", "address", false),
        (r#"\b\d+ ms\b|\b\d+ min \d+ s\b|(?:"duration_?[mM]s": ?)\d+"#, "duration", false),
    ]
    .map(|(pattern, name, is_counted)| {
        (Regex::new(pattern).expect("a valid pattern"), name, is_counted)
    })
    .into()
});

/// Replaces ids, hashes, times, durations, addresses of test servers and temporary folders.
pub fn redact(text: &str) -> String {
    let mut text = text.to_owned();
    for (pattern, name, is_counted) in VARYING.iter() {
        let mut known: Vec<String> = Vec::new();
        let replaced = pattern.replace_all(&text, |found: &Captures<'_>| {
            if !is_counted {
                return format!("<{name}>");
            }
            let value = &found[0];
            let place = known.iter().position(|one| one == value).unwrap_or_else(|| {
                known.push(value.to_owned());
                known.len() - 1
            });
            format!("<{name} {}>", place + 1)
        });
        text = replaced.into_owned();
    }
    text
}

/// Writes JSON for a snapshot: one member per line, redacted.
pub fn redact_json(value: &Value) -> String {
    redact(&serde_json::to_string_pretty(value).expect("JSON is written"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_differ_between_runs_are_replaced_by_numbered_words() {
        let (one, two) =
            ("0198c0de-0000-7000-8000-000000000001", "0198c0de-0000-7000-8000-000000000002");
        let text =
            format!("{one} {two} {one} at 2026-11-21T10:00:00.5Z in /tmp/.tmpAb12Cd/data, 17 ms");
        assert_eq!(redact(&text), "<id 1> <id 2> <id 1> at <time> in <folder>/data, <duration>");
        assert_eq!(redact("account 17 from 2026-11-01"), "account 17 from 2026-11-01");
        assert_eq!(redact("http://127.0.0.1:4711/v1"), "http://<address>/v1");
    }
}
