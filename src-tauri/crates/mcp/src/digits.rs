//! Keeps the digits of a server's structured content. The protocol library reads numbers as
//! doubles, so content with a number that would change is passed to the library as text. The module
//! must not know servers.

use contract::json_text;
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    #[serde(borrow)]
    structured_content: Option<&'a RawValue>,
}

/// Returns a message with its structured content as a text, if a number in the content would
/// change. Returns None if the message need not be changed.
pub(crate) fn keep_digits(message: &str) -> Option<String> {
    // Most messages have no structured content and are not parsed.
    if !message.contains("structuredContent") {
        return None;
    }
    let result = serde_json::from_str::<Message<'_>>(message).ok()?.result?;
    let content = serde_json::from_str::<Answer<'_>>(result.get()).ok()?.structured_content?.get();
    if json_text::keeps_digits(content) {
        return None;
    }
    let start = (content.as_ptr() as usize).checked_sub(message.as_ptr() as usize)?;
    let (before, after) = (message.get(..start)?, message.get(start + content.len()..)?);
    Some(format!("{before}{}{after}", serde_json::to_string(content).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &str = r#"{"id":1,"result":{"content":[],"structuredContent":{"id":123456789012345678901234567890,"p":1.10}}}"#;
    const KEPT: &str = r#"{"id":1,"result":{"content":[],"structuredContent":"{\"id\":123456789012345678901234567890,\"p\":1.10}"}}"#;

    #[test]
    fn structured_content_becomes_text_only_if_a_number_would_lose_digits() {
        assert_eq!(keep_digits(LONG).as_deref(), Some(KEPT));
        for same in [
            r#"{"id":1,"result":{"structuredContent":{"id":12,"text":"1.10"}}}"#,
            r#"{"id":1,"result":{"structuredContent":null}}"#,
            r#"{"id":1,"params":{"structuredContent":1.10}}"#,
            r#"{"id":1,"result":{"content":[{"structuredContent":1.10}]}}"#,
            "structuredContent 1.10",
        ] {
            assert_eq!(keep_digits(same), None, "{same}");
        }
    }
}
