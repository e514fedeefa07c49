//! Turns a protocol result into a plain value: structured content first, then text parsed as JSON,
//! then the text itself.

use base64::{Engine, engine::general_purpose::STANDARD};
use engine::ports::ToolFailure;
use rmcp::model::{CallToolResult, ContentBlock, ReadResourceResult, ResourceContents};
use serde_json::{Value, json};

use crate::failure;

/// The most characters of a tool's error text.
const ERROR_TEXT: usize = 2_000;

/// A resource and its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    pub mime_type: Option<String>,
    pub bytes: Vec<u8>,
}

/// Returns the value of a finished call, or the error that the tool reported.
pub(crate) fn value(result: CallToolResult) -> Result<Value, ToolFailure> {
    if result.is_error.unwrap_or(false) {
        return Err(failure::tool_error(error_text(&result.content)));
    }
    if let Some(structured) = result.structured_content {
        return Ok(structured);
    }
    let mut values: Vec<Value> = result.content.into_iter().map(content).collect();
    Ok(match values.len() {
        0 => json!({}),
        1 => values.remove(0),
        _ => Value::Array(values),
    })
}

/// Returns the value of a raw call result: the last text that is JSON, or else structured content.
/// An error is None if the result is not valid, or the tool's error text.
pub(crate) fn text_value(mut result: Value) -> Result<Value, Option<String>> {
    let texts: Vec<&str> = result["content"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|part| part["type"] == "text")
        .filter_map(|part| part["text"].as_str())
        .collect();
    if result["isError"] == true {
        return Err(Some(shorten_error(&texts)));
    }
    let found: Option<Value> = texts.iter().rev().find_map(|text| serde_json::from_str(text).ok());
    found.or_else(|| result.get_mut("structuredContent").map(Value::take)).ok_or(None)
}

fn content(block: ContentBlock) -> Value {
    match block {
        ContentBlock::Text(text) => {
            serde_json::from_str(&text.text).unwrap_or(Value::String(text.text))
        }
        other => without_data(serde_json::to_value(other).unwrap_or(Value::Null)),
    }
}

/// Replaces the data of pictures and sounds by a description, because a result goes to models and
/// into stores.
fn without_data(mut value: Value) -> Value {
    if let Some(object) = value.as_object_mut()
        && let Some(Value::String(data)) = object.remove("data")
    {
        object.insert("base64_length".to_owned(), json!(data.len()));
    }
    value
}

fn error_text(blocks: &[ContentBlock]) -> String {
    let texts: Vec<&str> = blocks
        .iter()
        .filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        })
        .collect();
    shorten_error(&texts)
}

/// Joins and shortens a tool's error text.
fn shorten_error(texts: &[&str]) -> String {
    let texts: Vec<&str> =
        texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).collect();
    match texts.join("\n") {
        text if text.is_empty() => "The tool reported an error without saying which.".to_owned(),
        text if text.chars().count() > ERROR_TEXT => {
            text.chars().take(ERROR_TEXT).chain(['…']).collect()
        }
        text => text,
    }
}

/// Returns the first content of a resource.
pub(crate) fn resource(server: &str, result: ReadResourceResult) -> Result<Resource, ToolFailure> {
    match result.contents.into_iter().next() {
        Some(ResourceContents::TextResourceContents { mime_type, text, .. }) => {
            Ok(Resource { mime_type, bytes: text.into_bytes() })
        }
        Some(ResourceContents::BlobResourceContents { mime_type, blob, .. }) => {
            let bytes = STANDARD.decode(blob).map_err(|_| {
                failure::unexpected_answer(server, "the resource is not valid base64")
            })?;
            Ok(Resource { mime_type, bytes })
        }
        _ => Err(failure::unexpected_answer(server, "the resource is empty")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_as_json_when_it_is() {
        let call =
            |text: &str| value(CallToolResult::success(vec![ContentBlock::text(text)])).unwrap();
        assert_eq!(call(r#"{"a": 1}"#), json!({"a": 1}));
        assert_eq!(call("plain words"), json!("plain words"));
        assert_eq!(value(CallToolResult::success(vec![])).unwrap(), json!({}));
    }

    #[test]
    fn structured_content_comes_first_and_errors_keep_their_text() {
        let mut result = CallToolResult::success(vec![ContentBlock::text("1")]);
        result.structured_content = Some(json!({"b": 2}));
        assert_eq!(value(result).unwrap(), json!({"b": 2}));
        let failure =
            value(CallToolResult::error(vec![ContentBlock::text("Sold out.")])).unwrap_err();
        assert_eq!(
            (
                failure.error.message.as_str(),
                failure.error.reason_text(),
                failure.may_have_happened
            ),
            ("Sold out.", Some("mcp_tool_error"), false)
        );
    }

    #[test]
    fn of_several_texts_the_last_that_is_json_counts() {
        let text = |text: &str| json!({"type": "text", "text": text});
        let of = |content: Value| text_value(json!({"content": content}));
        assert_eq!(
            of(json!([text("{\"a\": 1}"), text("{\"a\": 2}"), text("for people")])),
            Ok(json!({"a": 2}))
        );
        assert_eq!((of(json!([text("for people")])), of(json!([]))), (Err(None), Err(None)));
        assert_eq!(
            text_value(json!({"content": [text("Sold out.")], "isError": true})),
            Err(Some("Sold out.".into()))
        );
        assert_eq!(
            text_value(json!({"content": [], "structuredContent": {"b": 1}})),
            Ok(json!({"b": 1}))
        );
        assert_eq!(
            (text_value(json!({"content": 7})), text_value(Value::Null)),
            (Err(None), Err(None))
        );
    }

    #[test]
    fn pictures_are_named_not_carried() {
        let shown =
            value(CallToolResult::success(vec![ContentBlock::image("AAAA", "image/png")])).unwrap();
        assert_eq!((shown.get("data"), shown.get("base64_length")), (None, Some(&json!(4))));
    }
}
