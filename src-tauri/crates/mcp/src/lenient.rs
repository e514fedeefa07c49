//! Converts non-conforming messages of a server to valid messages. Servers that are written by hand
//! send `"error": null` beside a result, several messages in one list, unpaired surrogates or
//! `NaN`. The protocol library would drop such a message, and its request would wait until the
//! timeout. The module knows the form of a message, but no transport.

use std::{borrow::Cow, collections::BTreeMap};

use contract::json_text;
use serde_json::{Value, json, value::RawValue};

use crate::digits::keep_digits;

/// The escape for a character that cannot be read.
const UNREADABLE: &str = "\\ufffd";
/// The protocol's code for an internal error. It is used for an error without a code, because the
/// call may have taken effect.
const NO_CODE: i64 = -32_603;
/// Values that some programs write although they are not JSON.
const NO_NUMBERS: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

/// A number with at most this many characters and without an exponent is never too large for a
/// double.
const MANY_DIGITS: usize = 300;

type Members<'a> = BTreeMap<String, &'a RawValue>;

/// Returns the messages of a text. Returns None if the text need not be changed, or contains no
/// message.
pub(crate) fn messages_in(said: &[u8]) -> Option<Vec<String>> {
    let without_mark = said.strip_prefix(b"\xEF\xBB\xBF");
    let said = without_mark.unwrap_or(said).trim_ascii();
    if !matches!(said.first(), Some(b'{' | b'[')) {
        return None;
    }
    let readable = String::from_utf8_lossy(said);
    let strict = strict_json(&readable);
    let text = strict.as_deref().unwrap_or(&readable);
    if text.starts_with('[') {
        let batch: Vec<&RawValue> = serde_json::from_str(text).ok()?;
        let all = batch.iter().all(|message| message.get().starts_with('{'));
        let read =
            |message: &&RawValue| mended(message.get()).unwrap_or_else(|| message.get().to_owned());
        return (all && !batch.is_empty()).then(|| batch.iter().map(read).collect());
    }
    let is_same =
        without_mark.is_none() && strict.is_none() && matches!(readable, Cow::Borrowed(_));
    match mended(text) {
        Some(message) => Some(vec![message]),
        None if is_same => None,
        None => Some(vec![text.to_owned()]),
    }
}

/// Returns a message in the protocol's form and with all its digits. Returns None if the message
/// need not be changed.
fn mended(message: &str) -> Option<String> {
    let shaped = in_shape(message);
    keep_digits(shaped.as_deref().unwrap_or(message)).or(shaped)
}

/// Returns a message with all required members, and without members that are null.
fn in_shape(message: &str) -> Option<String> {
    let version = RawValue::from_string("\"2.0\"".to_owned()).ok()?;
    let nothing = RawValue::NULL;
    let mut members: Members<'_> = serde_json::from_str(message).ok()?;
    let is_null = |members: &Members<'_>, name: &str| {
        members.get(name).is_some_and(|value| value.get() == "null")
    };
    if members.contains_key("method") {
        let before = members.len();
        for name in ["id", "params", "result", "error"] {
            if is_null(&members, name) {
                members.remove(name);
            }
        }
        return if members.len() < before { serde_json::to_string(&members).ok() } else { None };
    }
    let mut is_changed = false;
    if is_null(&members, "error") {
        members.remove("error");
        members.entry("result".to_owned()).or_insert(nothing);
        is_changed = true;
    }
    let error = members.get("error").and_then(|error| error_in_shape(error.get()));
    if let Some(error) = &error {
        members.insert("error".to_owned(), error);
        is_changed = true;
    }
    // An answer with both members would be a success and a failure. Only the error is kept, because
    // a failure must not be missed.
    if members.contains_key("error") {
        is_changed |= members.remove("result").is_some();
    }
    if is_answer_without_version(&members) {
        members.insert("jsonrpc".to_owned(), &version);
        is_changed = true;
    }
    if is_changed { serde_json::to_string(&members).ok() } else { None }
}

/// Whether these are exactly the members of an answer, except for the version. Other members are
/// not allowed, because a line of a log can look like an answer.
fn is_answer_without_version(members: &Members<'_>) -> bool {
    let known = ["jsonrpc", "id", "result", "error"];
    members.get("jsonrpc").is_none_or(|version| version.get() != "\"2.0\"")
        && members.contains_key("id")
        && (members.contains_key("result") || members.contains_key("error"))
        && members.keys().all(|name| known.contains(&name.as_str()))
}

/// Returns an error with a code and a message. Returns None if the error already has both.
fn error_in_shape(error: &str) -> Option<Box<RawValue>> {
    let said: Value = serde_json::from_str(error).ok()?;
    let code = match &said["code"] {
        Value::String(code) => code.parse().ok(),
        code => code.as_i64(),
    };
    let code = code.filter(|code| i32::try_from(*code).is_ok());
    if said["message"].is_string() && said["code"].is_number() && code.is_some() {
        return None;
    }
    let words = match said.get("message").filter(|words| !words.is_null()) {
        Some(words) => json_text::shown(words).into_owned(),
        None => json_text::shown(&said).into_owned(),
    };
    let mut whole = json!({"code": code.unwrap_or(NO_CODE), "message": words});
    if let Some(data) = said.get("data") {
        whole["data"] = data.clone();
    }
    RawValue::from_string(whole.to_string()).ok()
}

/// Returns a text as strictly valid JSON: unpaired surrogates become the replacement character, raw
/// control characters are escaped, and numbers that JSON or doubles cannot represent become texts.
/// Returns None if the text need not be changed.
fn strict_json(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let (mut mended, mut kept, mut at, mut in_text) = (String::new(), 0, 0, false);
    while let Some(&byte) = bytes.get(at) {
        let (length, instead) = match (in_text, byte) {
            (_, b'"') => {
                in_text = !in_text;
                (1, None)
            }
            (true, b'\\') => escape(&bytes[at..]),
            (true, byte) if byte < b' ' => (1, Some(Cow::Owned(format!("\\u{byte:04x}")))),
            (false, b'0'..=b'9' | b'-' | b'N' | b'I') => number(&text[at..]),
            _ => (1, None),
        };
        if let Some(instead) = instead {
            mended.push_str(&text[kept..at]);
            mended.push_str(&instead);
            kept = at + length;
        }
        at += length;
    }
    if kept == 0 {
        return None;
    }
    mended.push_str(&text[kept..]);
    Some(mended)
}

type Step = (usize, Option<Cow<'static, str>>);

/// Reads an escape in a text. A pair of surrogates is one character; an unpaired surrogate is
/// unreadable.
fn escape(rest: &[u8]) -> Step {
    let half = |at: usize| {
        let digits = rest.get(at..)?.strip_prefix(b"\\u")?.get(..4)?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    match (half(0), half(6)) {
        (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => (12, None),
        (Some(0xD800..=0xDFFF), _) => (6, Some(Cow::Borrowed(UNREADABLE))),
        _ => (2, None),
    }
}

/// Reads a number, or a word such as `NaN`.
fn number(rest: &str) -> Step {
    if let Some(word) = NO_NUMBERS.iter().find(|word| rest.starts_with(**word)) {
        return (word.len(), Some(Cow::Owned(format!("\"{word}\""))));
    }
    let is_part = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    let length = rest.bytes().take_while(|byte| is_part(*byte)).count().max(1);
    let text = &rest[..length];
    let may_be_too_large = length > MANY_DIGITS || text.contains(['e', 'E']);
    let is_too_large = may_be_too_large && text.parse::<f64>().is_ok_and(f64::is_infinite);
    let quoted = || Cow::Owned(format!("\"{text}\""));
    (length, is_too_large.then(quoted))
}

#[cfg(test)]
mod tests {
    use rmcp::model::{JsonRpcMessage, ServerJsonRpcMessage};

    use super::*;

    /// Returns the messages that the library reads from a text.
    fn read(said: &[u8]) -> Vec<ServerJsonRpcMessage> {
        let messages = messages_in(said)
            .unwrap_or_else(|| vec![String::from_utf8_lossy(said).trim().to_owned()]);
        messages.iter().filter_map(|message| serde_json::from_str(message).ok()).collect()
    }

    #[test]
    fn an_answer_in_a_non_conforming_envelope_is_read() {
        let result = r#""result":{"content":[{"type":"text","text":"done"}]}"#;
        for said in [
            format!(r#"{{"jsonrpc":"2.0","id":1,{result},"error":null}}"#),
            format!(r#"{{"error":null,"id":1,{result},"jsonrpc":"2.0"}}"#),
            format!(r#"{{"id":1,{result}}}"#),
            format!(r#"{{"jsonrpc":2.0,"id":"1",{result}}}"#),
            format!(r#"{{"jsonrpc":"1.0","id":1.0,{result},"error":null}}"#),
            format!(r#"[{{"jsonrpc":"2.0","id":1,{result}}}]"#),
            format!("\u{feff}  {{\"jsonrpc\":\"2.0\",\"id\":1,{result}}}\r"),
        ] {
            let read = read(said.as_bytes());
            let [JsonRpcMessage::Response(answer)] = read.as_slice() else {
                panic!("{said}: {read:?}")
            };
            assert_eq!(serde_json::to_value(&answer.result).unwrap()["content"][0]["text"], "done");
        }
        let empty = read(br#"{"jsonrpc":"2.0","id":1,"result":null,"error":null}"#);
        assert!(matches!(empty.as_slice(), [JsonRpcMessage::Response(_)]), "{empty:?}");
    }

    #[test]
    fn an_error_in_a_non_conforming_envelope_is_read() {
        for (said, code, words) in [
            (
                r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":-32602,"message":"No."}}"#,
                -32602,
                "No.",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]},"error":{"code":7,"message":"No."}}"#,
                7,
                "No.",
            ),
            (r#"{"jsonrpc":"2.0","id":1,"error":"No."}"#, -32603, "No."),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"message":"No."}}"#, -32603, "No."),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":"-32602","message":"No."}}"#,
                -32602,
                "No.",
            ),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":"E_NO","message":"No."}}"#, -32603, "No."),
            (
                r#"{"id":1,"error":{"code":99999999999,"reason":"No."}}"#,
                -32603,
                r#"{"code":99999999999,"reason":"No."}"#,
            ),
        ] {
            let read = read(said.as_bytes());
            let [JsonRpcMessage::Error(answer)] = read.as_slice() else {
                panic!("{said}: {read:?}")
            };
            assert_eq!(
                (answer.error.code.0, answer.error.message.as_ref()),
                (code, words),
                "{said}"
            );
        }
        let data = read(br#"{"id":1,"error":{"message":"No.","data":{"field":"to"}}}"#);
        let [JsonRpcMessage::Error(answer)] = data.as_slice() else { panic!("{data:?}") };
        assert_eq!(answer.error.data, Some(json!({"field": "to"})));
    }

    #[test]
    fn a_json_array_of_messages_is_read_as_single_messages() {
        let read = read(
            br#"[{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":null,"id":null},
                {"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"error":"No."}]"#,
        );
        assert!(
            matches!(
                read.as_slice(),
                [
                    JsonRpcMessage::Notification(_),
                    JsonRpcMessage::Response(_),
                    JsonRpcMessage::Error(_)
                ]
            ),
            "{read:?}"
        );
    }

    #[test]
    fn invalid_json_text_is_repaired() {
        for (said, read) in [
            (&br#"{"a":"x\ud83d"}"#[..], json!({"a": "x\u{fffd}"})),
            (br#"{"a":"\udca9\ud83d\udca9\ud83dx"}"#, json!({"a": "\u{fffd}\u{1f4a9}\u{fffd}x"})),
            (br#"{"a":"\\ud83d"}"#, json!({"a": "\\ud83d"})),
            (b"{\"a\":\"one\ttwo\x1b[0m\"}", json!({"a": "one\ttwo\u{1b}[0m"})),
            (b"{\"a\":\"caf\xe9\"}", json!({"a": "caf\u{fffd}"})),
            (
                br#"{"a":NaN,"b":[-Infinity,Infinity],"c":"NaN"}"#,
                json!({"a": "NaN", "b": ["-Infinity", "Infinity"], "c": "NaN"}),
            ),
            (br#"{"a":1e400,"b":-2.5e3}"#, json!({"a": "1e400", "b": -2500.0})),
        ] {
            let text = messages_in(said)
                .map_or(String::from_utf8_lossy(said).into_owned(), |all| all.concat());
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), read);
        }
    }

    #[test]
    fn valid_messages_and_lines_that_are_no_messages_are_unchanged() {
        for same in [
            r#"{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"n":1.5,"error":null}}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#,
            r#"{"level":"info","id":7,"result":"ok"}"#,
            r#"{"status":200,"message":"Success","results":[]}"#,
            "[1, 2]",
            "[INFO] started",
            "{ready}",
            "Listening on 3000",
            "",
        ] {
            assert_eq!(messages_in(same.as_bytes()), None, "{same}");
        }
    }
}
