//! Converts a protocol result to a plain value. Text stays unchanged. Structured content becomes a
//! value, and texts with different content are kept beside it. Pictures, files and unknown kinds of
//! content are replaced with descriptions.

use base64::{Engine, engine::general_purpose::STANDARD};
use contract::json_text;
use engine::ports::ToolFailure;
use rmcp::model::{ReadResourceResult, ResourceContents};
use serde_json::{Map, Value, json};

use crate::failure;

/// The maximum number of characters of a tool's error text.
const ERROR_TEXT: usize = 2_000;
/// The maximum number of bytes of a file in a result that is shown as text.
const FILE_TEXT: usize = 1024 * 1024;
/// The note for content of an unknown kind, and the maximum number of bytes of one of its members.
const UNKNOWN: &str = "this kind of content is unknown to the app";
const UNKNOWN_MEMBER: usize = 2_000;

/// The note for content with a large number, and the value above which a double does not keep all
/// digits.
const LOST_DIGITS: &str = "a long number in this result may have lost its last digits on the way";
const EXACT_BELOW: f64 = 9_007_199_254_740_992.0;

/// The content of a resource, and its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    pub mime_type: Option<String>,
    pub bytes: Vec<u8>,
}

/// Whether a value is the result of a call, even if parts of it are non-conforming.
fn is_call_result(result: &Value) -> bool {
    ["content", "structuredContent", "isError"].iter().any(|member| result.get(member).is_some())
}

/// Returns the value of a non-conforming result, because the call was carried out anyway. The first
/// version of the protocol used `toolResult`.
fn odd_value(mut result: Value) -> Value {
    let Some(members) = result.as_object_mut() else {
        return if result.is_null() { json!({}) } else { result };
    };
    members.remove("resultType");
    members.remove("_meta");
    match members.remove("toolResult") {
        Some(said) if members.is_empty() => said,
        Some(said) => {
            members.insert("toolResult".to_owned(), said);
            result
        }
        None => result,
    }
}

/// Returns the value of a finished call, or the error that the tool reported.
pub(crate) fn value(mut result: Value) -> Result<Value, ToolFailure> {
    if !is_call_result(&result) {
        return Ok(odd_value(result));
    }
    if is_error(&result) {
        return Err(failure::tool_error(error_text(&result)));
    }
    let structured = result.get_mut("structuredContent").map(Value::take);
    let blocks = match result.get_mut("content").map(Value::take) {
        Some(Value::Array(blocks)) => blocks,
        None | Some(Value::Null) => Vec::new(),
        Some(one) => vec![one],
    };
    if let Some(structured) = structured.filter(|value| !value.is_null()) {
        let members = json_text::members_of(&structured).into_owned();
        let (repeated, others): (Vec<Value>, Vec<Value>) =
            blocks.into_iter().map(content).partition(|part| repeats(part, &members));
        let mut others = if repeats_in_parts(&others, &members) { Vec::new() } else { others };
        let structured = as_it_came(structured, &repeated);
        if may_have_lost_digits(&structured) {
            others.push(LOST_DIGITS.into());
        }
        return Ok(json_text::with_parts(structured, others));
    }
    let mut values: Vec<Value> = blocks.into_iter().map(content).collect();
    Ok(match values.len() {
        0 => json!({}),
        1 => values.remove(0),
        _ => Value::Array(values),
    })
}

fn is_error(result: &Value) -> bool {
    result["isError"] == true || result["isError"] == "true"
}

/// Whether a text only repeats the structured content or its only member.
fn repeats(part: &Value, structured: &Value) -> bool {
    let Some(text) = part.as_str() else { return false };
    let members = structured.as_object().filter(|members| members.len() == 1);
    let only = members.and_then(|members| members.values().next());
    let read = serde_json::from_str::<Value>(text).ok();
    let is_it = |value: &Value| *part == *value || read.as_ref().is_some_and(|read| read == value);
    // A text with digits that are missing in the member contains more than the member.
    is_it(structured)
        || only.is_some_and(|only| *part == *only || json_text::keeps_digits(text) && is_it(only))
}

/// Whether several texts are the items of a list in the structured content, one text for each item.
fn repeats_in_parts(parts: &[Value], structured: &Value) -> bool {
    let members = structured.as_object().filter(|members| members.len() == 1);
    let only = members.and_then(|members| members.values().next()).unwrap_or(structured);
    only.as_array().is_some_and(|items| {
        items.len() == parts.len()
            && parts.iter().zip(items).all(|(part, item)| repeats(part, item))
    })
}

/// Returns structured content as the text that repeats it, if only the text has all digits.
fn as_it_came(structured: Value, texts: &[Value]) -> Value {
    let is_whole = |text: &&str| {
        serde_json::from_str::<Value>(text).is_ok_and(|value| value == structured)
            && !json_text::keeps_digits(text)
    };
    let text = texts.iter().filter_map(Value::as_str).find(is_whole).map(str::to_owned);
    text.map_or(structured, Value::String)
}

/// Whether a value contains a number so large that some of its digits may be lost.
fn may_have_lost_digits(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            number.is_f64() && number.as_f64().is_some_and(|number| number.abs() >= EXACT_BELOW)
        }
        Value::Array(items) => items.iter().any(may_have_lost_digits),
        Value::Object(members) => members.values().any(may_have_lost_digits),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

/// Returns the value of a raw call result: the last text that is JSON, or else the structured
/// content. The error is the tool's error text, or None if the result is invalid.
pub(crate) fn text_value(mut result: Value) -> Result<Value, Option<String>> {
    if is_error(&result) {
        return Err(Some(error_text(&result)));
    }
    let found: Option<Value> =
        texts(&result).iter().rev().find_map(|text| serde_json::from_str(text).ok());
    found.or_else(|| result.get_mut("structuredContent").map(Value::take)).ok_or(None)
}

fn parts(result: &Value) -> impl Iterator<Item = &Value> {
    result["content"].as_array().into_iter().flatten()
}

fn texts(result: &Value) -> Vec<&str> {
    parts(result)
        .filter(|part| part["type"] == "text")
        .filter_map(|part| part["text"].as_str())
        .collect()
}

fn content(mut block: Value) -> Value {
    if block.is_string() {
        return block;
    }
    if block["type"] == "text" && block["text"].is_string() {
        return block["text"].take();
    }
    match block["type"].as_str() {
        Some("image" | "audio") => without_data(block),
        Some("resource_link") => block,
        Some("resource") if block["resource"].is_object() => embedded(block),
        _ => unknown(block),
    }
}

/// Replaces the data of pictures and sounds with a description, because results are sent to models
/// and stored.
fn without_data(mut value: Value) -> Value {
    if let Some(object) = value.as_object_mut()
        && let Some(Value::String(data)) = object.remove("data")
    {
        object.insert("base64_length".to_owned(), json!(data.len()));
    }
    value
}

/// Describes a file in a result by its type, size and name. A file that is text is shown as text.
fn embedded(mut block: Value) -> Value {
    let Some(resource) = block["resource"].as_object_mut() else { return block };
    let Some(Value::String(blob)) = resource.remove("blob") else { return block };
    let kind = resource.get("mimeType").and_then(Value::as_str).unwrap_or_default();
    let is_text = is_text_type(kind) && blob.len() / 4 * 3 <= FILE_TEXT;
    let bytes = STANDARD.decode(&blob);
    let text = bytes.as_ref().ok().filter(|_| is_text).cloned().map(String::from_utf8);
    match (text, bytes) {
        (Some(Ok(text)), _) => resource.insert("text".to_owned(), json!(text)),
        (_, Ok(bytes)) => resource.insert("bytes".to_owned(), json!(bytes.len())),
        (_, Err(_)) => resource.insert("base64_length".to_owned(), json!(blob.len())),
    };
    block
}

fn is_text_type(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let others =
        ["application/json", "application/xml", "application/javascript", "application/yaml"];
    kind.starts_with("text/")
        || kind.ends_with("+json")
        || kind.ends_with("+xml")
        || others.contains(&kind.as_str())
}

/// Describes content of an unknown kind. Large members are omitted, and only their names are shown.
fn unknown(block: Value) -> Value {
    let Value::Object(members) = block else { return json!({"note": UNKNOWN, "value": block}) };
    let mut kept = Map::new();
    let mut left_out = Map::new();
    for (name, value) in members {
        let bytes = value.to_string().len();
        if bytes > UNKNOWN_MEMBER {
            left_out.insert(name, json!(bytes));
        } else {
            kept.insert(name, value);
        }
    }
    kept.insert("note".to_owned(), json!(UNKNOWN));
    if !left_out.is_empty() {
        kept.insert("left_out_bytes".to_owned(), Value::Object(left_out));
    }
    Value::Object(kept)
}

/// Joins and shortens a tool's error text: its texts, and its structured content if that contains
/// more.
fn error_text(result: &Value) -> String {
    let structured = result.get("structuredContent").filter(|value| !value.is_null());
    let said = structured.map(json_text::shown).filter(|said| said != "{}");
    let repeats_texts =
        |value: &Value| texts(result).iter().any(|text| repeats(&json!(text), value));
    let members = structured.map(json_text::members_of);
    let said = said.filter(|_| !members.is_some_and(|members| repeats_texts(&members)));
    let lone = result["content"].as_str();
    let files = parts(result).filter_map(|part| part["resource"]["text"].as_str());
    let texts = texts(result).into_iter().chain(lone).chain(files).chain(said.as_deref());
    let texts: Vec<&str> = texts.map(str::trim).filter(|text| !text.is_empty()).collect();
    // If there is no text, the other parts are the only information.
    let others =
        || parts(result).cloned().map(content).map(|part| json_text::shown(&part).into_owned());
    let joined =
        if texts.is_empty() { others().collect::<Vec<_>>().join("\n") } else { texts.join("\n") };
    match joined {
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

    fn of(result: Value) -> Value {
        value(result).unwrap()
    }

    fn text(text: &str) -> Value {
        json!({"type": "text", "text": text})
    }

    #[test]
    fn a_text_result_is_not_parsed_or_reformatted() {
        for said in [
            "1.10",
            "1e5",
            "123456789012345678901234567890",
            "{\"b\": 1,\n \"a\": 1.10}",
            "plain words",
            "null",
        ] {
            assert_eq!(of(json!({"content": [text(said)]})), json!(said));
        }
        assert_eq!(of(json!({"content": []})), json!({}));
        assert_eq!(of(json!({"content": "words"})), json!("words"), "a list of one is left out");
        assert_eq!(of(json!({"content": [text("1.10"), text("2")]})), json!(["1.10", "2"]));
    }

    #[test]
    fn texts_beside_structured_content_are_kept_unless_they_repeat_it() {
        let both = |structured: Value, texts: &[&str]| {
            let parts: Vec<Value> = texts.iter().map(|said| text(said)).collect();
            of(json!({"content": parts, "structuredContent": structured}))
        };
        let one = json!({"n": 1});
        assert_eq!(both(one.clone(), &["{\"n\": 1}"]), one);
        assert_eq!(both(json!({"result": "hello"}), &["hello"]), json!({"result": "hello"}));
        assert_eq!(
            both(json!({"result": 1.1}), &["1.10"]),
            json!({"structuredContent": {"result": 1.1}, "content": ["1.10"]})
        );
        let list = json!({"result": [{"a": 1}, {"a": 2}]});
        assert_eq!(both(list.clone(), &["{\"a\":1}", "{\"a\":2}"]), list);
        assert_eq!(
            both(one.clone(), &["{\"n\": 1}", "Ask again tomorrow."]),
            json!({"structuredContent": {"n": 1}, "content": ["Ask again tomorrow."]})
        );
        let long = "{\"id\": 123456789012345678901234567890}";
        assert_eq!(both(serde_json::from_str(long).unwrap(), &[long]), json!(long));
    }

    #[test]
    fn a_result_whose_numbers_lost_digits_says_so() {
        let read = |structured: &str| {
            let structured: Value = serde_json::from_str(structured).unwrap();
            of(json!({"content": [], "structuredContent": structured}))
        };
        let long = read("{\"rows\": [{\"id\": 123456789012345678901234567890}]}");
        assert_eq!(long["content"], json!([LOST_DIGITS]));
        for whole in ["{\"id\": 18446744073709551615, \"price\": 1.10}", "{\"id\": \"1e30\"}"] {
            assert_eq!(read(whole), serde_json::from_str::<Value>(whole).unwrap());
        }
    }

    #[test]
    fn an_answer_without_the_shape_of_a_call_result_is_passed_on() {
        for (said, value) in [
            (json!("done"), json!("done")),
            (json!(["a", 1]), json!(["a", 1])),
            (json!({"output": "done"}), json!({"output": "done"})),
            (json!({"resultType": "complete", "_meta": {}}), json!({})),
            (Value::Null, json!({})),
            (json!({"toolResult": {"n": 1}}), json!({"n": 1})),
            (json!({"toolResult": 1, "more": 2}), json!({"toolResult": 1, "more": 2})),
        ] {
            assert_eq!(of(said.clone()), value, "{said}");
        }
    }

    #[test]
    fn an_error_is_recognised_in_any_part_of_a_result() {
        let told = |result: Value| value(result).unwrap_err();
        let failure = told(json!({"content": [text("Sold out.")], "isError": true}));
        assert_eq!(
            (
                failure.error.message.as_str(),
                failure.error.reason_text(),
                failure.may_have_happened
            ),
            ("Sold out.", Some("mcp_tool_error"), false)
        );
        let code = json!({"code": "E42"});
        for (result, said) in [
            (
                json!({"content": [], "structuredContent": code, "isError": true}),
                "{\"code\":\"E42\"}",
            ),
            (
                json!({"content": [text("No.")], "structuredContent": code, "isError": true}),
                "No.\n{\"code\":\"E42\"}",
            ),
            (
                json!({"content": [text("{\"code\": \"E42\"}")], "structuredContent": code, "isError": true}),
                "{\"code\": \"E42\"}",
            ),
            (json!({"content": "No.", "isError": "true"}), "No."),
            (json!({"isError": true}), "The tool reported an error without saying which."),
            (
                json!({"content": [text("Failed."), {"type": "resource", "resource": {"uri": "a://log", "text": "line 3"}}], "isError": true}),
                "Failed.\nline 3",
            ),
            (
                json!({"content": [{"type": "resource_link", "uri": "a://log"}], "isError": true}),
                r#"{"type":"resource_link","uri":"a://log"}"#,
            ),
        ] {
            assert_eq!(told(result.clone()).error.message, said, "{result}");
        }
    }

    #[test]
    fn an_embedded_file_is_described_and_a_text_file_is_decoded() {
        let file =
            |resource: Value| of(json!({"content": [{"type": "resource", "resource": resource}]}));
        let shown = file(
            json!({"uri": "a://b.pdf", "mimeType": "application/pdf", "blob": STANDARD.encode([0; 300])}),
        );
        assert_eq!(
            shown,
            json!({"type": "resource", "resource": {"uri": "a://b.pdf", "mimeType": "application/pdf", "bytes": 300}})
        );
        let shown = file(
            json!({"uri": "a://b.csv", "mimeType": "text/csv; charset=utf-8", "blob": STANDARD.encode("a,b\n1.10,2")}),
        );
        assert_eq!(shown["resource"]["text"], "a,b\n1.10,2");
        let large = file(
            json!({"uri": "a://b.csv", "mimeType": "text/csv", "blob": STANDARD.encode(vec![b'x'; FILE_TEXT + 3])}),
        );
        assert_eq!(large["resource"]["bytes"], FILE_TEXT + 3);
        let odd = file(json!({"uri": "a://b", "blob": "*"}));
        assert_eq!(odd["resource"], json!({"uri": "a://b", "base64_length": 1}));
    }

    #[test]
    fn known_content_parts_are_kept_beside_unknown_ones() {
        let shown = of(
            json!({"content": [text("one"), {"type": "hologram", "depth": 3, "data": "x".repeat(9_000)},
            {"type": "resource_link", "uri": "a://b", "name": "b"}, {"type": "text", "text": 7}]}),
        );
        assert_eq!(shown[0], "one");
        assert_eq!((&shown[1]["depth"], shown[1].get("data")), (&json!(3), None));
        assert_eq!((&shown[1]["type"], &shown[1]["note"]), (&json!("hologram"), &json!(UNKNOWN)));
        assert_eq!(shown[1]["left_out_bytes"]["data"], 9_002);
        assert_eq!((&shown[2]["name"], &shown[3]["text"]), (&json!("b"), &json!(7)));
    }

    #[test]
    fn the_last_text_part_that_is_json_is_the_result() {
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
    fn a_picture_in_a_result_is_described_without_its_data() {
        let picture = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
        let shown = of(json!({"content": [picture]}));
        assert_eq!((shown.get("data"), shown.get("base64_length")), (None, Some(&json!(4))));
    }
}
