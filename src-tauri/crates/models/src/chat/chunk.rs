//! Parses one `data:` line of a chat-completions stream, or a whole answer, into borrowed text. It
//! handles the odd shapes that servers send; it does not know how the pieces are assembled.

use serde::Deserialize;
use serde_json::Value;

use super::kept::Members;
use crate::wire::Loose;

/// A chunk, a complete answer or an error object. The fields tell which.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow, default)]
    pub(super) usage: Option<WireUsage<'a>>,
    #[serde(default)]
    pub(super) error: Option<Value>,
}

/// A choice. Only the first one is used; no others are requested.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(borrow, default)]
    pub(super) delta: Option<Delta<'a>>,
    /// Instead of `delta`, if the server does not stream.
    #[serde(borrow, default)]
    pub(super) message: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Loose<'a>,
}

/// The data since the last chunk.
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
    #[serde(borrow, default, rename = "function_call")]
    _function_call: Loose<'a>,
    /// Members that go back with the message.
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
    /// Members that go back with the call.
    #[serde(flatten)]
    pub(super) others: Members,
}

/// Name and arguments, or a piece of them.
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

/// Returns a chunk without the members that have another shape than they should. An odd member costs
/// only itself.
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
