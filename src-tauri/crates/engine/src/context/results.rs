//! Stores the complete results that the model saw only in part, and offers a built-in tool for
//! reading more of them: a part by position, or the part around a searched text. The tool sends no
//! request.

use std::{collections::HashMap, sync::Arc};

use contract::{
    AgentError, CallId, Effect, Reach, ResultView, ToolSpec, ToolTarget, json_text,
    manifest::{Backoff, IdempotencyStrategy, Kind, Latency, OutputTrust},
    text,
};
use serde_json::{Value, json};

use crate::canonical::{canonical, sha256_hex};

/// The tool's name for the model and in records.
pub(crate) const NAME: &str = "read_result";
const SERVICE: &str = "results";
/// The number of characters shown before a found text.
const BEFORE: usize = 200;

/// The results that the model has seen only in part, by call. None if the model cannot read more.
pub(crate) struct ResultStore(Option<HashMap<CallId, Arc<Value>>>);

impl ResultStore {
    /// Creates an empty store. `is_readable` says whether the tool is offered. Remote callers only
    /// have the tools of their contract.
    pub(crate) fn new(is_readable: bool) -> Self {
        Self(is_readable.then(HashMap::new))
    }

    pub(crate) fn is_readable(&self) -> bool {
        self.0.is_some()
    }

    /// Stores the complete result of a call whose result was shortened.
    pub(crate) fn keep(&mut self, call: &CallId, data: Arc<Value>) {
        if let Some(kept) = &mut self.0 {
            kept.insert(call.clone(), data);
        }
    }

    /// Returns the tool if there is a result that it can read.
    pub(crate) fn tool(&self) -> Option<ToolSpec> {
        self.0.as_ref().is_some_and(|kept| !kept.is_empty()).then(spec)
    }

    /// Returns a part of a stored result. `border` adjusts a position so that no redacted value is
    /// split.
    pub(crate) fn read(
        &self,
        arguments: &Value,
        most: usize,
        border: &dyn Fn(&str, usize) -> usize,
    ) -> Result<Value, AgentError> {
        let handle = arguments.get("handle").and_then(Value::as_str).unwrap_or_default();
        let Some(data) =
            self.0.as_ref().and_then(|kept| kept.get(&CallId(handle.to_owned())).cloned())
        else {
            let error = AgentError::invalid(text!("There is no kept result {handle}.", handle));
            return Err(error
                .reason("unknown_handle")
                .hint("Use the handle that stands in the cut result, or call the tool again."));
        };
        let number = |name: &str| {
            arguments.get(name).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok())
        };
        let (offset, length) =
            (number("offset").unwrap_or(0), number("length").unwrap_or(most).min(most));
        part_of_text(
            &json_text::shown(&data),
            offset,
            length,
            arguments.get("find").and_then(Value::as_str),
            border,
        )
        .map(|mut found| {
            found["handle"] = json!(handle);
            found
        })
    }
}

/// Returns the definition of the built-in tool.
pub fn result_reader() -> ToolSpec {
    spec()
}

/// Whether a call is for this built-in tool.
pub(crate) fn is_own_tool(spec: &ToolSpec) -> bool {
    matches!(&spec.target, ToolTarget::BuiltIn { service } if service == SERVICE)
        && spec.id.as_str() == NAME
}

/// Returns a part of the text. Positions are byte offsets at character borders, as returned in
/// `next_offset`.
fn part_of_text(
    text: &str,
    offset: usize,
    length: usize,
    find: Option<&str>,
    border: &dyn Fn(&str, usize) -> usize,
) -> Result<Value, AgentError> {
    let from = border(text, floor(text, offset));
    let start = match find.filter(|wanted| !wanted.is_empty()) {
        Some(wanted) => match text[from..].find(wanted) {
            Some(at) => border(text, floor(text, (from + at).saturating_sub(BEFORE).max(from))),
            None => {
                return Ok(
                    json!({"characters": text.len(), "found": false, "text": "", "next_offset": null}),
                );
            }
        },
        None => from,
    };
    let end = floor(text, start.saturating_add(length.max(1)));
    // A part has at least one character, so that a reader always makes progress.
    let end = if end <= start { ceil(text, start + 1) } else { end };
    let whole = border(text, end);
    let end = if whole <= start { end } else { whole };
    Ok(
        json!({"characters": text.len(), "offset": start, "text": &text[start..end], "next_offset": (end < text.len()).then_some(end)}),
    )
}

fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceil(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

fn spec() -> ToolSpec {
    let input = json!({"type": "object", "additionalProperties": false, "required": ["handle"], "properties": {
        "handle": {"type": "string", "description": "The handle that stands in the cut result"},
        "offset": {"type": "integer", "minimum": 0, "description": "Where to begin (default 0); next_offset of the part before goes on"},
        "length": {"type": "integer", "minimum": 1, "description": "At most so many characters"},
        "find": {"type": "string", "description": "Begin where this text occurs, from offset on"}}});
    let mut spec = ToolSpec {
        id: NAME.into(),
        pack: "countersign".into(),
        model_name: NAME.into(),
        title: "Read more of a result".into(),
        description: "Gives more of a tool result that was cut because it is long.".into(),
        use_when: vec!["A result says \"truncated\" and the part that is missing matters.".into()],
        do_not_use_when: vec!["The answer stands in the part that is shown.".into()],
        kind: Kind::InternalService,
        effect: Effect::ReadOnly,
        open_world: false,
        // The outside content was already recorded when the result arrived.
        reach: Reach::Here,
        is_description_accepted: true,
        output_trust: OutputTrust::Trusted,
        grantable: false,
        human_required: false,
        latency: Latency::Fast,
        input_schema: input.clone(),
        full_input_schema: input,
        output_schema: json!({"type": "object"}),
        error_schema: json!({}),
        caller_owned: Vec::new(),
        timeout_ms: 1_000,
        max_attempts: 1,
        backoff: Backoff::Fixed,
        idempotency: IdempotencyStrategy::None,
        idempotency_key_ref: None,
        auth: None,
        audit_required: false,
        view: ResultView::default(),
        preview: None,
        session_values: Vec::new(),
        as_of: None,
        target: ToolTarget::BuiltIn { service: SERVICE.into() },
        definition_hash: String::new(),
    };
    spec.definition_hash = sha256_hex(canonical(&json!(spec)).as_bytes());
    spec
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn anywhere(_: &str, at: usize) -> usize {
        at
    }

    #[test]
    fn reading_a_result_returns_the_part_around_a_searched_text() {
        let text = format!("{}needle{}", "a".repeat(1_000), "b".repeat(1_000));
        let found = part_of_text(&text, 0, 300, Some("needle"), &anywhere).unwrap();
        assert_eq!(found["offset"], 800);
        assert!(found["text"].as_str().unwrap().contains("needle"));
        assert_eq!(
            part_of_text(&text, 1_100, 300, Some("needle"), &anywhere).unwrap()["found"],
            false
        );
        assert_eq!(
            part_of_text(&text, 99_999, 10, None, &anywhere).unwrap()["next_offset"],
            Value::Null
        );
    }

    proptest! {
        /// Reading repeatedly from `next_offset` gives the whole text, regardless of the length of
        /// the parts.
        #[test]
        fn the_parts_of_a_result_read_one_after_another_give_the_whole_text(text in any::<String>(), length in 1_usize..40) {
            let (mut whole, mut at) = (String::new(), 0);
            loop {
                let found = part_of_text(&text, at, length, None, &anywhere).unwrap();
                whole.push_str(found["text"].as_str().unwrap());
                match found["next_offset"].as_u64() {
                    Some(next) => at = usize::try_from(next).unwrap(),
                    None => break,
                }
            }
            prop_assert_eq!(whole, text);
        }
    }
}
