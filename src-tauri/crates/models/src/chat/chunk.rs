//! Parses one `data:` line of a chat-completions stream, or a whole answer, into borrowed text. The
//! module handles non-conforming forms that servers send, but does not know how the pieces are
//! assembled.

use serde::Deserialize;
use serde_json::Value;

use super::kept::Members;
use crate::wire::Loose;

/// A chunk, a complete answer or an error object, depending on the fields.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow, default)]
    pub(super) usage: Option<WireUsage<'a>>,
    #[serde(default)]
    pub(super) error: Option<Value>,
}

/// A choice. Only the first choice is used, and no others are requested.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(borrow, default)]
    pub(super) delta: Option<Delta<'a>>,
    /// The message in place of `delta`, if the server does not stream.
    #[serde(borrow, default)]
    pub(super) message: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Loose<'a>,
}

/// The new data since the last chunk.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow, default)]
    pub(super) content: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) refusal: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) tool_calls: Option<Vec<CallPart<'a>>>,
    #[serde(borrow, default, rename = "role")]
    _role: Loose<'a>,
    /// A call in the older form.
    #[serde(borrow, default)]
    pub(super) function_call: Option<FunctionPart<'a>>,
    /// Members that are sent back with the message.
    #[serde(flatten)]
    pub(super) others: Members,
}

/// A piece of a tool call.
#[derive(Debug, Default, Deserialize)]
pub(super) struct CallPart<'a> {
    #[serde(borrow, default)]
    pub(super) index: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) id: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) function: Option<FunctionPart<'a>>,
    #[serde(borrow, default, rename = "type")]
    _kind: Loose<'a>,
    /// Members that are sent back with the call.
    #[serde(flatten)]
    pub(super) others: Members,
}

impl<'a> CallPart<'a> {
    /// Converts a call in the older form to a part.
    pub(super) fn of(function: FunctionPart<'a>) -> Self {
        Self { function: Some(function), ..Self::default() }
    }
}

/// The name and arguments, or pieces of them.
#[derive(Debug, Default, Deserialize)]
pub(super) struct FunctionPart<'a> {
    #[serde(borrow, default)]
    pub(super) name: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) arguments: Loose<'a>,
    #[serde(flatten)]
    pub(super) others: Members,
}

/// Token counts. Other members of the object are ignored.
#[derive(Debug, Default, Deserialize)]
pub(super) struct WireUsage<'a> {
    #[serde(borrow, default)]
    pub(super) prompt_tokens: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) completion_tokens: Loose<'a>,
}

/// Returns a chunk, excluding members that do not have the expected form, so that a non-conforming
/// member only loses itself.
pub(super) fn without_odd_members(mut chunk: Value) -> Value {
    let Some(members) = chunk.as_object_mut() else { return chunk };
    keep_if(members, "usage", Value::is_object);
    keep_if(members, "choices", Value::is_array);
    for choice in parts(members.get_mut("choices")) {
        for name in ["delta", "message"] {
            keep_if(choice, name, Value::is_object);
            let Some(delta) = choice.get_mut(name).and_then(Value::as_object_mut) else { continue };
            if let Some(calls) = delta.get_mut("tool_calls").filter(|calls| calls.is_object()) {
                *calls = Value::Array(vec![calls.take()]);
            }
            keep_if(delta, "tool_calls", Value::is_array);
            keep_if(delta, "function_call", Value::is_object);
            for call in parts(delta.get_mut("tool_calls")) {
                keep_if(call, "function", Value::is_object);
            }
        }
    }
    chunk
}

fn keep_if(members: &mut Members, name: &str, fits: impl Fn(&Value) -> bool) {
    if members.get(name).is_some_and(|value| !fits(value)) {
        members.remove(name);
    }
}

/// Returns the parts of a list that are objects. Other parts are removed.
fn parts(list: Option<&mut Value>) -> impl Iterator<Item = &mut Members> {
    let list = list.and_then(Value::as_array_mut);
    list.into_iter().flat_map(|list| {
        list.retain(Value::is_object);
        list.iter_mut().filter_map(Value::as_object_mut)
    })
}

/// Returns JSON with its syntax errors repaired: invalid numbers become null, unpaired surrogates
/// become the replacement character, and control characters in texts are escaped.
pub(super) fn repaired(json: &str) -> String {
    const NO_NUMBERS: [&str; 3] = ["NaN", "Infinity", "-Infinity"];
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    let mut is_text = false;
    while let Some(c) = rest.chars().next() {
        let mut len = c.len_utf8();
        match c {
            '"' => is_text = !is_text,
            '\\' if is_text => {
                len = escape_len(rest);
                if len == 0 {
                    out.push_str("\\ufffd");
                    rest = rest.get(6..).unwrap_or_default();
                    continue;
                }
            }
            '\0'..='\u{1f}' if is_text => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
                rest = &rest[len..];
                continue;
            }
            _ if is_text => {}
            _ => {
                if let Some(word) = NO_NUMBERS.iter().find(|word| rest.starts_with(**word)) {
                    out.push_str("null");
                    rest = &rest[word.len()..];
                    continue;
                }
            }
        }
        let (part, after) = rest.split_at_checked(len).unwrap_or((rest, ""));
        out.push_str(part);
        rest = after;
    }
    out
}

/// Returns the length of the escape at the beginning of the text, or 0 for an unpaired surrogate.
fn escape_len(text: &str) -> usize {
    let unit = |text: &str| {
        let digits = text.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    match unit(text) {
        None => 1 + text[1..].chars().next().map_or(0, char::len_utf8),
        Some(0xd800..=0xdbff) => match text.get(6..).and_then(unit) {
            Some(0xdc00..=0xdfff) => 12,
            _ => 0,
        },
        Some(0xdc00..=0xdfff) => 0,
        Some(_) => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_json_of_servers_is_repaired_and_valid_json_is_unchanged() {
        let table = [
            (r#"{"a":NaN,"b":[-Infinity,Infinity]}"#, r#"{"a":null,"b":[null,null]}"#),
            (r#"{"a":"\ud83d"}"#, r#"{"a":"\ufffd"}"#),
            (r#"{"a":"\ude00x"}"#, r#"{"a":"\ufffdx"}"#),
            ("{\"a\":\"b\tc\nd\"}", r#"{"a":"b\u0009c\u000ad"}"#),
            (
                r#"{"a":"NaN \"\\","b":"\ud83d\ude00 \u00e5 å"}"#,
                r#"{"a":"NaN \"\\","b":"\ud83d\ude00 \u00e5 å"}"#,
            ),
            (r#"{"a":"\"#, r#"{"a":"\"#),
            (r#"{"a":"\u12"#, r#"{"a":"\u12"#),
        ];
        for (broken, expected) in table {
            assert_eq!(repaired(broken), expected, "{broken}");
        }
    }
}
