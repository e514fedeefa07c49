//! The one function that every text for a model goes through: secrets out, then patterns by level, each value by its number.

use std::{borrow::Cow, sync::Arc};

use serde_json::Value;

use crate::{
    Exact, Kind, Level, MARK, Numbers, Outbound, OutboundValue, Replaced,
    json::{self, Leaf},
    kind::placeholders,
    patterns::{self, Place},
};

/// Bytes that are looked at on both sides of a cut.
const CONTEXT_BYTES: usize = 4_096;

/// What came out, and what was replaced in it.
#[derive(Clone, Debug)]
pub struct Redacted<T> {
    pub out: T,
    pub replaced: Replaced,
}

/// A level with the secrets known now.
#[derive(Clone, Debug)]
pub struct Redactor {
    level: Level,
    exact: Arc<Exact>,
}

impl Redactor {
    /// At `Level::None` only secrets are removed, and no placeholder is made.
    pub fn new(level: Level, exact: Arc<Exact>) -> Self {
        Self { level, exact }
    }

    /// A text for a model.
    pub fn text(&self, numbers: &mut Numbers, text: &str) -> Redacted<Outbound> {
        let mut replaced = Replaced::default();
        let scrubbed = self.exact.scrub(text);
        replaced.add_secrets(scrubbed.matches(MARK).count());
        let out = self.redact_patterns(numbers, &scrubbed, Place::Text, &mut replaced);
        Redacted { out: Outbound::new(out.as_deref().unwrap_or(&scrubbed)), replaced }
    }

    /// A value for a model: every text, number and name in it.
    pub fn value(&self, numbers: &mut Numbers, value: &Arc<Value>) -> Redacted<OutboundValue> {
        let mut replaced = Replaced::default();
        let mut scrubbed = Arc::clone(value);
        if self.exact.value_contains_secret(value) {
            self.exact.scrub_value(Arc::make_mut(&mut scrubbed));
        }
        let out = json::map_leaves(&scrubbed, "", &mut |leaf, name| {
            let (text, place) = match leaf {
                Leaf::Text(text) => (Cow::Borrowed(text), Place::Member(name)),
                Leaf::Number(number) if number.as_u64().is_some_and(patterns::may_be) => (Cow::Owned(number.to_string()), Place::Number(name)),
                Leaf::Number(_) => return None,
            };
            if text.contains('<') {
                replaced.add_secrets(text.matches(MARK).count());
            }
            self.redact_patterns(numbers, &text, place, &mut replaced)
        });
        let out = out.map_or_else(|| OutboundValue::same(&scrubbed), OutboundValue::new);
        Redacted { out, replaced }
    }

    /// A text that is made of redacted ones, or names things of the program (tools): only secrets are looked for.
    pub fn composed(&self, text: &str) -> Outbound {
        Outbound::new(&self.exact.scrub(text))
    }

    /// Where a text may be cut instead of here, so that no half of anything is left on either side: at most a little earlier.
    pub fn border(&self, text: &str, at: usize) -> usize {
        let near = |mut at: usize| {
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let (from, to) = (near(at.saturating_sub(CONTEXT_BYTES)), near((at + CONTEXT_BYTES).min(text.len())));
        let part = &text[from..to];
        let patterns = patterns::spans(part, self.level, Place::Text).into_iter().map(|(range, _)| range);
        let spans = self.exact.spans(part).into_iter().chain(patterns);
        spans.filter(|span| from + span.start < at && at < from + span.end).map(|span| from + span.start).min().unwrap_or(at)
    }

    /// A value of that sort, such as a tool's schema.
    pub fn definition(&self, value: &Value) -> OutboundValue {
        let mut copy = value.clone();
        self.exact.scrub_value(&mut copy);
        OutboundValue::new(copy)
    }

    /// `None`: as it was.
    fn redact_patterns(&self, numbers: &mut Numbers, text: &str, place: Place<'_>, replaced: &mut Replaced) -> Option<String> {
        if self.level == Level::None {
            return None;
        }
        let mut spans = patterns::spans(text, self.level, place);
        spans.extend(placeholders(text).map(|(range, _)| (range, Kind::Literal)));
        if spans.is_empty() {
            return None;
        }
        // The one that begins first, and of those the longest.
        spans.sort_by(|(a, _), (b, _)| a.start.cmp(&b.start).then(b.end.cmp(&a.end)));
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for (range, kind) in spans {
            if range.start < done {
                continue;
            }
            let value = &text[range.clone()];
            let placeholder = numbers.placeholder(kind, value);
            replaced.add(placeholder, value);
            out.push_str(&text[done..range.start]);
            out.push_str(&placeholder.to_string());
            done = range.end;
        }
        out.push_str(&text[done..]);
        Some(out)
    }
}
