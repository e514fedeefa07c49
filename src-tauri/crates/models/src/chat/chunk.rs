//! Parses one `data:` line of a chat-completions stream, or a whole answer, into borrowed text. It
//! handles the odd shapes that servers send; it does not know how the pieces are assembled.

use serde::Deserialize;
use serde_json::Value;

use crate::wire::Loose;

/// A chunk, a complete answer or an error object. The fields tell which.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    #[serde(default)]
    pub(super) usage: Option<WireUsage>,
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
    pub(super) reasoning_content: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) reasoning: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) refusal: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) tool_calls: Option<Vec<CallPart<'a>>>,
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
}

/// Name and arguments, or a piece of them.
#[derive(Debug, Default, Deserialize)]
pub(super) struct FunctionPart<'a> {
    #[serde(borrow, default)]
    pub(super) name: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) arguments: Loose<'a>,
}

/// Token counts. Other members of the object are ignored.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(super) struct WireUsage {
    #[serde(default)]
    pub(super) prompt_tokens: Option<f64>,
    #[serde(default)]
    pub(super) completion_tokens: Option<f64>,
}
