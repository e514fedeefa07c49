//! Prepares the text of a server to be shown: on one line, short, and without keys. The module must
//! not know what a failure means.

use contract::{Text, json_text, text};
use engine::{Exact, MARK};
use rmcp::model::ErrorData;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

/// The maximum number of characters of a server's text that are shown.
const SHOWN: usize = 200;

/// Returns a server's text in the form to be shown: on one line, short, and without keys. Returns
/// None if the text is empty or is a page for a browser.
pub(crate) fn shorten(words: &str, secrets: &[SecretString]) -> Option<String> {
    let words = without_keys(words, secrets);
    let plain: String =
        words.chars().map(|sign| if sign.is_control() { ' ' } else { sign }).collect();
    let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() || line.starts_with('<') {
        return None;
    }
    let shown: String = line.chars().take(SHOWN).collect();
    Some(if shown.len() < line.len() { format!("{shown}\u{2026}") } else { shown })
}

/// Returns a text with every key replaced, in any encoding of the key. If two keys begin with the
/// same characters, the longer key is replaced first.
fn without_keys(words: &str, secrets: &[SecretString]) -> String {
    let mut keys: Vec<&str> =
        secrets.iter().map(ExposeSecret::expose_secret).filter(|key| !key.is_empty()).collect();
    keys.sort_by_key(|key| std::cmp::Reverse(key.len()));
    let found = Exact::new(keys.iter().copied()).redact_secrets(words).replace(MARK, "\u{2026}");
    // The matcher omits short keys, which are replaced here.
    keys.into_iter().fold(found, |words, key| words.replace(key, "\u{2026}"))
}

/// Returns the sentence about a status that a server answered with.
pub(crate) fn status_text(status: u16, said: Option<&str>, secrets: &[SecretString]) -> Text {
    match said.and_then(|words| shorten(&message_in(words), secrets)) {
        Some(said) => text!(
            "It answered with the status {status} and said: \u{201c}{said}\u{201d}.",
            status,
            said
        ),
        None => text!("It answered with the status {status}.", status),
    }
}

/// Returns the message in the JSON of an error, or the whole text if it is no such JSON.
pub(crate) fn message_in(words: &str) -> String {
    let whole: Value = serde_json::from_str(words).unwrap_or_default();
    ["/error/message", "/message", "/error_description", "/detail", "/error"]
        .iter()
        .find_map(|at| whole.pointer(at).and_then(Value::as_str).map(str::to_owned))
        .unwrap_or_else(|| words.to_owned())
}

/// The maximum number of characters of the additional data of an error.
const LONGEST_DATA: usize = 2_000;

/// Returns the text of an error together with its additional data, because the cause is often only
/// in the data.
pub(crate) fn words_of(error: &ErrorData) -> String {
    let message = error.message.trim();
    let says_nothing =
        |data: &Value| data.is_null() || data.as_str().is_some_and(|words| words.trim().is_empty());
    let data = error.data.as_ref().filter(|data| !says_nothing(data)).map(json_text::shown);
    let Some(data) = data.as_deref().map(str::trim).filter(|data| !message.contains(data)) else {
        return if message.is_empty() { error.code.0.to_string() } else { message.to_owned() };
    };
    let cut = data.char_indices().nth(LONGEST_DATA).map(|(at, _)| &data[..at]);
    let data = cut.map_or_else(|| data.to_owned(), |cut| format!("{cut}\u{2026}"));
    if message.is_empty() { data } else { format!("{message} {data}") }
}

/// Describes a refusal with the server's text.
pub(crate) fn refusal_kind(error: &ErrorData, secrets: &[SecretString]) -> Text {
    let code = error.code.0;
    match shorten(&words_of(error), secrets) {
        Some(said) => {
            text!("it refuses with the code {code} and says: \u{201c}{said}\u{201d}", code, said)
        }
        None => text!("it refuses with the code {code}", code),
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::ErrorCode;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_servers_error_text_is_shortened_to_one_line_without_keys() {
        let secrets = [SecretString::from("hunter2")];
        let shown = |words: &str| shorten(&message_in(words), &secrets);
        assert_eq!(shown("  no\n\tsuch\u{7} path "), Some("no such path".into()));
        assert_eq!(shown("key hunter2 is old"), Some("key \u{2026} is old".into()));
        let keys = ["a-key/with+signs", "a-key/with+signs that is longer", "k7"];
        let keys = keys.map(SecretString::from);
        for words in [
            "https://x.example/a-key%2Fwith%2Bsigns%20that%20is%20longer is old",
            "https://x.example/a-key%2fwith%2bsigns%20that%20is%20longer is old",
            "a-key/with+signs that is longer is old",
            "YS1rZXkvd2l0aCtzaWducyB0aGF0IGlzIGxvbmdlcg== is old",
            "k7 is old",
        ] {
            let said = shorten(words, &keys).unwrap();
            assert!(said.contains('\u{2026}') && said.ends_with(" is old"), "{said}");
            assert!(!said.contains("longer") && !said.contains("signs"), "{said}");
        }
        assert_eq!(
            shown(r#"{"error": {"code": 1, "message": "No session"}}"#),
            Some("No session".into())
        );
        assert_eq!(shown(r#"{"detail": "Not Found"}"#), Some("Not Found".into()));
        assert_eq!((shown("<!DOCTYPE html><p>hello"), shown(" ")), (None, None));
        assert_eq!(shown(&"\u{e9}".repeat(500)).unwrap().chars().count(), SHOWN + 1);
    }

    #[test]
    fn the_data_member_of_an_error_is_shown() {
        let said = |message: &'static str, data: Option<Value>| {
            words_of(&ErrorData { code: ErrorCode(-32_603), message: message.into(), data })
        };
        let long = said("No.", Some("x".repeat(9_000).into()));
        assert_eq!(long.chars().count(), "No. ".len() + LONGEST_DATA + 1);
        for (message, data, words) in [
            ("Internal error", Some("User expected"), "Internal error User expected"),
            ("User expected", Some("User expected"), "User expected"),
            ("", Some("User expected"), "User expected"),
            ("", None, "-32603"),
            ("No.", Some(" "), "No."),
        ] {
            assert_eq!(said(message, data.map(Value::from)), words);
        }
        let fields = said("Invalid params", Some(json!({"field": "to"})));
        assert_eq!(fields, r#"Invalid params {"field":"to"}"#);
        assert_eq!(said("No.", Some(Value::Null)), "No.");
    }
}
