//! What differs between the wires that providers speak, as the shared transport sees it: how a request is written, how the
//! events of an answer are read, how models are listed. Connections, time and retries are not known here.

mod answer;
mod loose;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use engine::ports::{Message, ModelError, ModelEvent, ModelRequest, Opaque};
use reqwest::Url;
use reqwest::header::HeaderMap;
use serde_json::Value;

pub(crate) use answer::{Answer, in_order};
pub(crate) use loose::Loose;

/// One way of asking a server for an answer.
pub(crate) trait Wire: Send + Sync {
    /// Where requests go, of which some are for a whole answer.
    fn url(&self, base: &Url, whole: bool) -> Url;
    /// Where the models are listed.
    fn list_url(&self, base: &Url) -> Url;
    /// Headers of every request beside the content's type, the key among them.
    fn headers(&self) -> &HeaderMap;
    /// The body. `plain` leaves out what a server may refuse and an answer does not need.
    fn body(&self, request: &ModelRequest, plain: bool) -> Result<Vec<u8>, serde_json::Error>;
    /// Words of a refusal that speak of what `plain` leaves out.
    fn optional(&self) -> &'static [&'static str];
    /// Reads one answer.
    fn assembler(&self) -> Box<dyn Assemble>;
    /// Names of the models in a listing; `None` when it is no listing of this wire.
    fn parse_model_list(&self, list: &Value) -> Option<Vec<String>>;
}

/// What a piece of data meant for the reader of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FeedResult {
    /// Not part of the answer; does not count as progress.
    Ignored,
    /// The answer went on.
    Progress,
    /// The server said that nothing follows.
    Done,
}

/// Puts the events of one answer together.
pub(crate) trait Assemble: Send {
    /// What has arrived so far.
    fn answer(&self) -> &Answer;
    /// Whether anything of the answer has arrived: a retry would be seen, or paid, twice.
    fn has_begun(&self) -> bool {
        self.answer().begun
    }
    /// Whether the model has said why it stopped.
    fn is_finished(&self) -> bool {
        self.answer().finish.is_some()
    }
    /// Whether an event of this name must be understood; others may be anything.
    fn handles_event(&self, event: &str) -> bool {
        event == "message"
    }
    /// Takes one event's data, or a whole answer. Text and reasoning are pushed to `out`.
    fn feed(&mut self, data: &str, out: &mut VecDeque<ModelEvent>) -> Result<FeedResult, ModelError>;
    /// Ends the answer: the calls in the server's order, what the server wants back, then `Done`.
    fn end(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<(), ModelError>;
}

/// `base` with a path behind its own.
pub(crate) fn join_url(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}/{path}", base.path().trim_end_matches('/')));
    url
}

/// Names under `data`, as OpenAI and Anthropic list them.
pub(crate) fn listed_ids(list: &Value) -> Option<Vec<String>> {
    let models = list.get("data")?.as_array()?;
    Some(models.iter().filter_map(|model| model.get("id")?.as_str()).filter(|id| !id.is_empty()).map(str::to_owned).collect())
}

/// What came with a message, when it was this very maker's: anyone else's is of no use and stays here.
pub(crate) fn own<'a>(opaque: Option<&'a Opaque>, maker: &str) -> Option<&'a Value> {
    opaque.filter(|opaque| opaque.maker == maker).map(|opaque| opaque.data.as_ref())
}

/// The arguments as written, or an empty object where they are no JSON: some servers refuse a conversation with such a call.
pub(crate) fn parsable(arguments: &str) -> &str {
    if serde_json::from_str::<serde::de::IgnoredAny>(arguments).is_ok() { arguments } else { "{}" }
}

/// The arguments as an object, empty where they are none.
pub(crate) fn as_object(arguments: &str) -> Value {
    serde_json::from_str(arguments).ok().filter(Value::is_object).unwrap_or_else(|| Value::Object(serde_json::Map::new()))
}

/// Instructions of the host that follow a result, for wires without a role for them there: in front of it, in a tag of their own.
pub(crate) fn before_result(instructions: &str, result: &str) -> String {
    format!("<host_instructions>\n{instructions}\n</host_instructions>\n{result}")
}

/// Whether this message stands behind results, with nothing but instructions between.
pub(crate) fn follows_result(messages: &[Message], at: usize) -> bool {
    let before = messages[..at].iter().rev().find(|message| !matches!(message, Message::System { .. }));
    matches!(before, Some(Message::Tool { .. }))
}

/// A result with the instructions that follow it at once.
pub(crate) fn with_instructions<'a>(after: &'a [Message], result: &'a str) -> Cow<'a, str> {
    let texts = after.iter().map_while(|message| if let Message::System { text } = message { Some(text.as_str()) } else { None });
    let texts: Vec<&str> = texts.collect();
    if texts.is_empty() { Cow::Borrowed(result) } else { Cow::Owned(before_result(&texts.join("\n\n"), result)) }
}

/// The id itself where every server takes it (at most 40 plain characters), else a short name that is always the same for it.
pub(crate) fn wire_id(id: &str) -> Cow<'_, str> {
    let plain = !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if plain && id.len() <= 40 { Cow::Borrowed(id) } else { Cow::Owned(short_id(id)) }
}

/// Nine letters and digits, always the same for the same id.
pub(crate) fn short_id(id: &str) -> String {
    const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    let mut rest = hasher.finish();
    let mut short = String::with_capacity(9);
    for _ in 0..9 {
        short.push(char::from(LETTERS.get(usize::try_from(rest % 62).unwrap_or(0)).copied().unwrap_or(b'0')));
        rest /= 62;
    }
    short
}

/// A token count, whatever number the server wrote.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the safe range first")]
pub(crate) fn count(tokens: f64) -> u64 {
    if tokens.is_finite() { tokens.clamp(0.0, 9e15) as u64 } else { 0 }
}

/// A token count in an object, by name.
pub(crate) fn tokens(usage: &Value, name: &str) -> Option<u64> {
    usage.get(name)?.as_f64().map(count)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn long_and_odd_ids_are_shortened_the_same_way_each_time() {
        let long = "call_0198c0de-0000-7000-8000-0000000000001";
        assert!(wire_id(long).len() <= 40);
        assert_eq!(wire_id(long), wire_id(long));
        assert_ne!(wire_id(long), wire_id("call_0198c0de-0000-7000-8000-0000000000002"));
        assert_eq!(wire_id("call_1"), "call_1");
        assert_ne!(wire_id("a.b"), "a.b");
    }

    #[test]
    fn only_its_own_maker_gets_something_back() {
        let opaque = Opaque { maker: "a".into(), data: Arc::new(Value::Bool(true)) };
        assert_eq!(own(Some(&opaque), "a"), Some(&Value::Bool(true)));
        assert_eq!(own(Some(&opaque), "b"), None);
        assert_eq!(own(None, "a"), None);
    }
}
