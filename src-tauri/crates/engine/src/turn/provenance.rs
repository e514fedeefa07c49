//! Collects the untrusted content of a turn: its sources, and the excerpts that a person sees
//! beside a proposal. The policy decides, based on whether there is any untrusted content.

use std::{borrow::Cow, sync::Arc};

use contract::{CallId, Item, ItemBody, ToolId, ToolSpec, UntrustedContent};
use parking_lot::Mutex;
use serde_json::Value;

/// The number of results kept for quotations, and the number of results quoted.
const KEPT: usize = 64;
const QUOTED: usize = 3;
/// The number of characters kept of a result, and the number quoted.
const CHARS: usize = 32_000;
const EXCERPT: usize = 240;
/// The most characters of a source that are searched for the origin of a value.
const SEARCHED: usize = 200_000;
/// The shortest argument that is searched for. Shorter texts occur too often.
const SHORTEST: usize = 4;

/// The untrusted sources of a turn.
#[derive(Default)]
pub(crate) struct UntrustedSources(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    /// The sources, oldest first.
    sources: Vec<Source>,
    /// The arguments of calls in earlier turns. They are quoted last.
    arguments: Vec<Source>,
    /// Whether there were too many sources to keep all of them.
    is_cut: bool,
}

/// All outside content that a turn has seen, for a search.
pub(crate) struct OutsideContent {
    /// The sources, newest first. Each text is on a single line.
    pub(crate) sources: Vec<(UntrustedContent, String)>,
    /// Whether `sources` contains all of the content.
    pub(crate) is_whole: bool,
}

struct Source {
    /// The source, without an excerpt.
    from: UntrustedContent,
    content: Content,
}

/// The content of a source. Its text is created only for a proposal, because most turns have none.
enum Content {
    Text(String),
    Data(Arc<Value>),
    /// A result of an earlier turn.
    Earlier(Arc<Item>),
}

impl Content {
    /// Returns at most `CHARS` characters of the content on one line.
    fn text(&self) -> String {
        let text = match self {
            Self::Text(text) => one_line(text),
            Self::Data(data) => join_texts(data),
            Self::Earlier(item) => {
                let ItemBody::ToolResult { data, .. } = &item.body else { return String::new() };
                join_texts(data)
            }
        };
        text.chars().take(CHARS).collect()
    }

    fn is_data(&self, data: &Value) -> bool {
        matches!(self, Self::Data(known) if **known == *data)
    }

    /// Returns the complete content, including member names and numbers, on one line, and whether
    /// it is complete.
    fn whole_text(&self) -> (String, bool) {
        let mut all = String::new();
        let is_whole = match self {
            Self::Text(text) => push_line(&mut all, text),
            Self::Data(data) => push_scalars(&mut all, data),
            Self::Earlier(item) => match &item.body {
                ItemBody::ToolResult { data, summary, .. } => {
                    push_scalars(&mut all, data) && push_line(&mut all, summary)
                }
                _ => true,
            },
        };
        (all, is_whole)
    }
}

impl UntrustedSources {
    /// Whether the turn contains untrusted content.
    pub(crate) fn is_any(&self) -> bool {
        let kept = self.lock();
        !kept.sources.is_empty() || !kept.arguments.is_empty()
    }

    /// Returns the content that is searched for the origin of a value.
    pub(crate) fn content(&self) -> OutsideContent {
        let kept = self.lock();
        let mut is_whole = !kept.is_cut;
        let text_of = |source: &Source| {
            let (text, is_all) = source.content.whole_text();
            is_whole &= is_all;
            (source.from.clone(), text)
        };
        let sources = kept.sources.iter().rev().chain(kept.arguments.iter().rev());
        let sources = sources.map(text_of).collect();
        OutsideContent { sources, is_whole }
    }

    /// Adds the content that a call returned: its data, or the text of its failure.
    pub(crate) fn note_call_content(
        &self,
        spec: &ToolSpec,
        call: &CallId,
        data: &Arc<Value>,
        summary: &str,
    ) {
        let content = match data.is_null() {
            true => Content::Text(summary.to_owned()),
            false => Content::Data(Arc::clone(data)),
        };
        self.add(of_tool(&spec.id, &spec.title, spec.target.server(), call), content);
    }

    /// Adds the result of a call in an earlier turn.
    pub(crate) fn add_recalled_result(&self, spec: Option<&ToolSpec>, result: &Arc<Item>) {
        let ItemBody::ToolResult { tool, call, .. } = &result.body else { return };
        let (title, server) =
            spec.map_or((tool.as_str(), ""), |spec| (spec.title.as_str(), spec.target.server()));
        self.add(of_tool(tool, title, server, call), Content::Earlier(Arc::clone(result)));
    }

    /// Adds arguments from an earlier turn as a source of untrusted content. If this turn also has
    /// the original source, the excerpt is taken from the original source.
    pub(crate) fn add_recalled_arguments(&self, arguments: &Value) {
        let mut kept = self.lock();
        if !kept.arguments.iter().any(|source| source.content.is_data(arguments)) {
            let content = Content::Data(Arc::new(arguments.clone()));
            kept.arguments.push(Source { from: of_no_call(), content });
        }
    }

    /// Adds untrusted content without a known call: a summary created from such content, or hints
    /// of a caller that quote it.
    pub(crate) fn add_remembered_text(&self, text: &str) {
        self.add(of_no_call(), Content::Text(text.to_owned()));
    }

    /// Adds the description of a tool that its server wrote and nobody accepted, once per turn.
    pub(crate) fn add_description(&self, spec: &ToolSpec) {
        let from = UntrustedContent {
            tool: spec.id.clone(),
            tool_title: spec.title.clone(),
            server: spec.target.server().to_owned(),
            call: None,
            excerpt: String::new(),
            quoted: false,
        };
        let is_known = |source: &Source| source.from.call.is_none() && source.from.tool == spec.id;
        if !self.lock().sources.iter().any(is_known) {
            self.add(from, Content::Text(spec.description.clone()));
        }
    }

    /// Adds the sources that preceded an earlier proposal.
    pub(crate) fn add_followed_sources(&self, follows: &[UntrustedContent]) {
        for from in follows {
            self.add(from.clone(), Content::Text(from.excerpt.clone()));
        }
    }

    fn add(&self, from: UntrustedContent, content: Content) {
        let mut kept = self.lock();
        // The history of a message may contain a result that the turn already has.
        if from.call.is_some() && kept.sources.iter().any(|source| source.from.call == from.call) {
            return;
        }
        // The first sources are kept, because later calls may depend on them.
        if kept.sources.len() >= KEPT {
            kept.sources.remove(KEPT / 2);
            kept.is_cut = true;
        }
        kept.sources.push(Source { from, content });
    }

    /// Returns the sources that precede a proposal: first the sources that contain one of its
    /// arguments, then the newest.
    pub(crate) fn find_followed_sources(&self, arguments: &Value) -> Vec<UntrustedContent> {
        let wanted: Vec<String> = texts(arguments)
            .into_iter()
            .map(one_line)
            .filter(|text| text.chars().count() >= SHORTEST)
            .collect();
        let quote = |source: &Source| {
            let content = source.content.text();
            let at = wanted.iter().find_map(|text| content.find(text.as_str()));
            UntrustedContent {
                excerpt: excerpt_at(&content, at.unwrap_or(0)),
                quoted: at.is_some(),
                ..source.from.clone()
            }
        };
        let kept = self.lock();
        let mut quotes: Vec<UntrustedContent> = kept.sources.iter().rev().map(quote).collect();
        // A person must see at least one source if the turn is untrusted.
        let is_needed = quotes.is_empty();
        if !quotes.iter().any(|quote| quote.quoted) {
            let repeated = kept.arguments.iter().rev().map(quote);
            quotes.extend(repeated.filter(|quote| is_needed || quote.quoted));
        }
        // The sort is stable, so that the newest source stays first within both groups.
        quotes.sort_by_key(|quote| !quote.quoted);
        quotes.truncate(QUOTED);
        quotes
    }

    fn lock(&self) -> parking_lot::MutexGuard<'_, Kept> {
        self.0.lock()
    }
}

/// Whether an item contains outside content: a result with such content, or a text or arguments
/// from a turn that had seen such content.
pub(crate) fn is_from_outside(item: &Item) -> bool {
    match &item.body {
        ItemBody::ToolResult { untrusted, .. }
        | ItemBody::ToolCall { untrusted, .. }
        | ItemBody::AssistantText { untrusted, .. } => *untrusted,
        ItemBody::UserMessage { .. }
        | ItemBody::Approval { .. }
        | ItemBody::Redaction { .. }
        | ItemBody::Summary { .. }
        | ItemBody::Notice { .. } => false,
    }
}

/// Returns a source without a known call.
fn of_no_call() -> UntrustedContent {
    UntrustedContent {
        tool: ToolId::new(""),
        tool_title: String::new(),
        server: String::new(),
        call: None,
        excerpt: String::new(),
        quoted: false,
    }
}

fn of_tool(tool: &ToolId, title: &str, server: &str, call: &CallId) -> UntrustedContent {
    let (tool_title, server) = (title.to_owned(), server.to_owned());
    UntrustedContent {
        tool: tool.clone(),
        tool_title,
        server,
        call: Some(call.clone()),
        excerpt: String::new(),
        quoted: false,
    }
}

/// Returns the texts of a result on one line.
fn join_texts(data: &Value) -> String {
    let mut all = String::new();
    for text in texts(data) {
        if all.len() > CHARS {
            break;
        }
        if !all.is_empty() {
            all.push(' ');
        }
        all.push_str(&one_line(text.get(..text.floor_char_boundary(CHARS)).unwrap_or(text)));
    }
    all
}

/// Returns the texts of a JSON value without member names.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(list) => list.iter().flat_map(texts).collect(),
        Value::Object(members) => members.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// Appends a text on one line. Returns whether the whole text fitted.
fn push_line(all: &mut String, text: &str) -> bool {
    if !all.is_empty() {
        all.push(' ');
    }
    let room = SEARCHED.saturating_sub(all.len());
    all.push_str(&one_line(&text[..text.floor_char_boundary(room)]));
    text.len() <= room
}

/// Appends every text, number and name of a JSON value. Returns whether all of them fitted.
fn push_scalars(all: &mut String, value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => true,
        Value::Number(number) => push_line(all, &number.to_string()),
        Value::String(text) => {
            push_line(all, text)
                && match contract::json_text::members_of(value) {
                    // A text that contains JSON may write letters as escapes, so it is parsed.
                    Cow::Owned(members) => push_scalars(all, &members),
                    Cow::Borrowed(_) => true,
                }
        }
        Value::Array(list) => list.iter().all(|value| push_scalars(all, value)),
        Value::Object(members) => {
            members.iter().all(|(name, value)| push_line(all, name) && push_scalars(all, value))
        }
    }
}

pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the part of a text around a position.
pub(crate) fn excerpt_at(text: &str, at: usize) -> String {
    let from = text.floor_char_boundary(at.saturating_sub(EXCERPT / 3));
    let part: String = text[from..].chars().take(EXCERPT).collect();
    let (before, after) =
        (if from > 0 { "…" } else { "" }, if from + part.len() < text.len() { "…" } else { "" });
    format!("{before}{part}{after}")
}
