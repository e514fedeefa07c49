//! Redacts every text for a model: removes secrets first, then replaces pattern matches by level. A
//! value that occurs again gets the same number.

use std::{borrow::Cow, sync::Arc};

use serde_json::Value;

use crate::{
    Exact, Kind, Level, MARK, Numbers, Outbound, OutboundValue, Replaced,
    json::{self, Leaf},
    patterns::{self, TextContext},
    placeholder::placeholders,
};

/// The bytes examined on both sides of a cut.
const CONTEXT_BYTES: usize = 4_096;

/// The redacted result, and the values that were replaced in it.
#[derive(Clone, Debug)]
pub struct Redacted<T> {
    /// The text or value with placeholders.
    pub out: T,
    /// The values that the placeholders stand for.
    pub replaced: Replaced,
}

/// Redacts at one level, with the secrets known when it is created.
#[derive(Clone, Debug)]
pub struct Redactor {
    level: Level,
    exact: Arc<Exact>,
}

impl Redactor {
    /// Creates a redactor. At `Level::None` it removes secrets only and makes no placeholders.
    pub fn new(level: Level, exact: Arc<Exact>) -> Self {
        Self { level, exact }
    }

    /// Redacts a text for a model.
    pub fn text(&self, numbers: &mut Numbers, text: &str) -> Redacted<Outbound> {
        let mut replaced = Replaced::default();
        let scrubbed = self.exact.redact_secrets(text);
        replaced.add_secrets(scrubbed.matches(MARK).count());
        let out = self.redact_patterns(numbers, &scrubbed, TextContext::Text, &mut replaced);
        Redacted { out: Outbound::new(out.as_deref().unwrap_or(&scrubbed)), replaced }
    }

    /// Redacts a value for a model: every text, number and name in the value.
    pub fn value(&self, numbers: &mut Numbers, value: &Arc<Value>) -> Redacted<OutboundValue> {
        let mut replaced = Replaced::default();
        let mut scrubbed = Arc::clone(value);
        if self.exact.value_contains_secret(value) {
            self.exact.scrub_value(Arc::make_mut(&mut scrubbed));
        }
        let out = json::map_leaves(&scrubbed, "", &mut |leaf, name| {
            let (text, context) = match leaf {
                Leaf::Text(text) => (Cow::Borrowed(text), TextContext::Member(name)),
                Leaf::Number(number) if number.as_u64().is_some_and(patterns::may_be) => {
                    (Cow::Owned(number.to_string()), TextContext::Number(name))
                }
                Leaf::Number(_) => return None,
            };
            if text.contains('<') {
                replaced.add_secrets(text.matches(MARK).count());
            }
            self.redact_patterns(numbers, &text, context, &mut replaced)
        });
        let out = out.map_or_else(|| OutboundValue::same(&scrubbed), OutboundValue::new);
        Redacted { out, replaced }
    }

    /// Redacts a text that is built from redacted texts, or that contains only names from the
    /// program, such as tool names. Only secrets are removed.
    pub fn redact_composed_text(&self, text: &str) -> Outbound {
        Outbound::new(&self.exact.redact_secrets(text))
    }

    /// Returns a position at or shortly before `at` where a text can be cut without splitting a
    /// secret or a match.
    pub fn safe_cut_position(&self, text: &str, at: usize) -> usize {
        let near = |mut at: usize| {
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let (from, to) =
            (near(at.saturating_sub(CONTEXT_BYTES)), near((at + CONTEXT_BYTES).min(text.len())));
        let part = &text[from..to];
        let patterns = patterns::spans(part, self.level, TextContext::Text)
            .into_iter()
            .map(|(range, _)| range);
        let spans = self.exact.spans(part).into_iter().chain(patterns);
        spans
            .filter(|span| from + span.start < at && at < from + span.end)
            .map(|span| from + span.start)
            .min()
            .unwrap_or(at)
    }

    /// Redacts a value such as a tool's schema. Only secrets are removed.
    pub fn redact_definition(&self, value: &Value) -> OutboundValue {
        let mut copy = value.clone();
        self.exact.scrub_value(&mut copy);
        OutboundValue::new(copy)
    }

    /// Replaces the pattern matches of a text. Returns None if there are none.
    fn redact_patterns(
        &self,
        numbers: &mut Numbers,
        text: &str,
        context: TextContext<'_>,
        replaced: &mut Replaced,
    ) -> Option<String> {
        if self.level == Level::None {
            return None;
        }
        let mut spans = patterns::spans(text, self.level, context);
        spans.extend(placeholders(text).map(|(range, _)| (range, Kind::Literal)));
        if spans.is_empty() {
            return None;
        }
        // The match that begins first takes precedence; of matches that begin together, the
        // longest.
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
