//! Reads a conversation into parts for a page: messages, calls with their results, approvals, and
//! the records that prove each turn. Does not know how a part is written.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use contract::{
    AgentError, Approval, ApprovalId, ApprovalStatus, CallId, Item, ItemBody, ResultView, ToolId,
    ToolOutcome,
    definitions::DefinitionState,
    json_text,
    result::{ResultContent, read_content},
};
use messages::Language;
use render::{ResultStyle, write_result};
use serde_json::Value;

use super::{
    Conversation, Receipt,
    words::{Word, of_outcome, of_status},
};

/// The most rows of a result.
const MOST_ROWS: usize = 500;
/// The most characters of a result without a shape.
const MOST_CHARACTERS: usize = 8_000;

/// The contents of a page.
pub(super) struct Page {
    pub(super) title: String,
    /// Lines about the export.
    pub(super) about: Vec<String>,
    pub(super) parts: Vec<Part>,
    /// The number of results of which only a part is written.
    pub(super) cut: u64,
}

/// A part under a heading.
pub(super) struct Part {
    pub(super) kind: Kind,
    pub(super) heading: String,
    pub(super) at: Option<DateTime<Utc>>,
    pub(super) contents: Vec<Content>,
}

/// The author of a part. `Proof` is the records of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    User,
    Assistant,
    Call,
    Approval,
    Note,
    Proof,
}

/// A piece of a part.
pub(super) enum Content {
    /// A text by a person, a model or a server, with its line breaks.
    Quote(String),
    /// Markdown by a model.
    Answer(String),
    /// Markdown that this export wrote from a result.
    Table(String),
    /// A sentence of this export.
    Line(String),
    /// A value as JSON.
    Json(String),
}

/// Reads the parts, in the order of the conversation. The records of a turn follow its last item.
pub(super) fn read(conversation: &Conversation, language: Language) -> Page {
    let mut reader =
        Reader { conversation, language, calls: BTreeMap::new(), seen: BTreeSet::new(), cut: 0 };
    let mut last_of_turn: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, item) in conversation.items.iter().enumerate() {
        last_of_turn.insert(item.turn.as_str(), at);
    }
    let receipts = conversation.receipts_by_turn();
    let mut parts = Vec::new();
    for (at, item) in conversation.items.iter().enumerate() {
        parts.extend(reader.read_item(item));
        if last_of_turn.get(item.turn.as_str()) == Some(&at)
            && let Some(receipts) = receipts.get(item.turn.as_str())
        {
            parts.extend(reader.proof_of(receipts));
        }
    }
    let title = &conversation.summary.title;
    Page {
        title: if title.is_empty() { Word::Untitled.text(language).into() } else { title.clone() },
        about: read_about(conversation, language),
        parts,
        cut: reader.cut,
    }
}

/// Returns the lines about the export, with the messages that it does not have.
fn read_about(conversation: &Conversation, language: Language) -> Vec<String> {
    let id = conversation.summary.id.as_str();
    let time = time_text(conversation.exported_at);
    let mut about = vec![
        Word::Exported.fill(language, &[("time", time.as_str())]),
        Word::Session.fill(language, &[("id", id)]),
        Word::Verify.fill(language, &[("id", id)]),
    ];
    let Conversation { other_versions, deleted, .. } = conversation;
    if other_versions + deleted > 0 {
        let (versions, deleted) = (other_versions.to_string(), deleted.to_string());
        let counts = [("versions", versions.as_str()), ("deleted", deleted.as_str())];
        about.push(Word::NotIncluded.fill(language, &counts));
    }
    about
}

/// Returns a time as it is written on a page.
pub(super) fn time_text(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M UTC").to_string()
}

struct Reader<'a> {
    conversation: &'a Conversation,
    language: Language,
    /// The title and arguments of each call.
    calls: BTreeMap<&'a CallId, (&'a str, &'a Value)>,
    /// The approvals that are written already.
    seen: BTreeSet<&'a ApprovalId>,
    cut: u64,
}

impl<'a> Reader<'a> {
    fn read_item(&mut self, item: &'a Item) -> Option<Part> {
        let part = |kind, heading: String, contents| {
            Some(Part { kind, heading, at: Some(item.created_at), contents })
        };
        match &item.body {
            ItemBody::UserMessage { text } => {
                part(Kind::User, self.word(Word::You), vec![Content::Quote(text.clone())])
            }
            ItemBody::AssistantText { text, model, agent, partial, .. } => {
                let name = agent.clone().unwrap_or_else(|| self.word(Word::Assistant));
                let heading = match model {
                    Some(model) => format!("{name} · {model}"),
                    None => name,
                };
                let mut contents = vec![Content::Answer(text.clone())];
                if *partial {
                    contents.push(Content::Line(self.word(Word::Partial)));
                }
                part(Kind::Assistant, heading, contents)
            }
            ItemBody::ToolCall { call, title, arguments, .. } => {
                self.calls.insert(call, (title.as_str(), arguments));
                None
            }
            ItemBody::ToolResult { call, tool, outcome, data, error, view, .. } => {
                let (heading, contents) =
                    self.read_result((call, tool, *outcome), (view, data), error.as_ref());
                part(Kind::Call, heading, contents)
            }
            ItemBody::Approval { approval, tool, status, reason, .. } => {
                if !self.seen.insert(approval) {
                    return None;
                }
                let is_it = |one: &&Approval| one.id == *approval;
                let Some(found) = self.conversation.approvals.iter().find(is_it) else {
                    // A shared session brings its newest approvals only.
                    let heading = self.approval_heading(tool.as_str(), *status);
                    return part(Kind::Approval, heading, self.read_reason(reason.as_deref()));
                };
                let heading = self.approval_heading(&found.tool_title, found.status);
                part(Kind::Approval, heading, self.read_approval(found))
            }
            ItemBody::Redaction { counts, .. } => {
                let count: u64 = counts.iter().map(|one| u64::from(one.count)).sum();
                let line = Word::Redacted.count(self.language, count);
                part(Kind::Note, self.word(Word::Notice), vec![Content::Line(line)])
            }
            ItemBody::Summary { text, messages, .. } => {
                let heading = Word::Summary.count(self.language, *messages);
                part(Kind::Note, heading, vec![Content::Quote(text.clone())])
            }
            ItemBody::Notice { text, .. } => {
                let text = text.as_str().to_owned();
                part(Kind::Note, self.word(Word::Notice), vec![Content::Quote(text)])
            }
        }
    }

    /// Returns the heading and contents of a call with its result.
    fn read_result(
        &mut self,
        (call, tool, outcome): (&CallId, &ToolId, ToolOutcome),
        (view, data): (&ResultView, &Value),
        error: Option<&AgentError>,
    ) -> (String, Vec<Content>) {
        let asked = self.calls.get(call).copied();
        let title = asked.map_or(tool.as_str(), |(title, _)| title);
        let heading = format!("{title} · {}", self.word(of_outcome(outcome)));
        let mut contents = Vec::new();
        if let Some((_, arguments)) = asked {
            contents.push(Content::Line(self.word(Word::Request)));
            contents.push(Content::Json(pretty(arguments)));
        }
        if let Some(error) = error {
            contents.push(Content::Quote(error.message.clone()));
        }
        if !data.is_null() {
            match write_result(title, view, data, &self.style()) {
                Some(written) => {
                    self.cut += u64::from(written.is_cut);
                    let content = read_content(view, &json_text::members_of(data));
                    // A reader must know it before the figures.
                    if content.as_ref().is_some_and(is_of_model) {
                        contents.push(Content::Line(self.word(Word::ByModel)));
                    }
                    contents.push(Content::Table(written.markdown));
                    contents.extend(notes_of(content));
                }
                None => contents.extend(self.read_value(data)),
            }
        }
        (heading, contents)
    }

    /// Returns a result without a shape as JSON, and a line if it is cut.
    fn read_value(&mut self, data: &Value) -> Vec<Content> {
        let json = pretty(data);
        let total = json.chars().count();
        if total <= MOST_CHARACTERS {
            return vec![Content::Json(json)];
        }
        self.cut += 1;
        let (shown, total) = (MOST_CHARACTERS.to_string(), total.to_string());
        let line = Word::FirstCharacters
            .fill(self.language, &[("shown", shown.as_str()), ("total", total.as_str())]);
        vec![Content::Json(json.chars().take(MOST_CHARACTERS).collect()), Content::Line(line)]
    }

    fn read_approval(&self, approval: &Approval) -> Vec<Content> {
        let fill = |word: Word, name: &str, value: &str| {
            Content::Line(word.fill(self.language, &[(name, value)]))
        };
        let mut contents = vec![
            Content::Line(self.word(Word::Request)),
            Content::Json(approval.arguments.clone()),
            fill(Word::Fingerprint, "hash", &approval.hash),
            fill(Word::Why, "text", approval.why.as_str()),
        ];
        if let Some(at) = approval.decided_at {
            contents.push(fill(Word::DecidedAt, "time", &time_text(at)));
        }
        contents.extend(self.read_reason(approval.reason.as_deref()));
        contents
    }

    fn read_reason(&self, reason: Option<&str>) -> Vec<Content> {
        let line = |text| Content::Line(Word::Reason.fill(self.language, &[("text", text)]));
        reason.map(line).into_iter().collect()
    }

    fn approval_heading(&self, tool: &str, status: ApprovalStatus) -> String {
        format!("{} · {tool} · {}", self.word(Word::Approval), self.word(of_status(status)))
    }

    /// Returns the part about the records of a turn.
    fn proof_of(&self, receipts: &[&Receipt]) -> Option<Part> {
        let last = receipts.last()?;
        let (count, seq) = (receipts.len() as u64, last.seq.to_string());
        let counted = Word::Records.count(self.language, count);
        let line =
            messages::fill(&counted, &[("record", seq.as_str()), ("hash", last.leaf.as_str())]);
        Some(Part {
            kind: Kind::Proof,
            heading: String::new(),
            at: None,
            contents: vec![Content::Line(line)],
        })
    }

    fn style(&self) -> ResultStyle<'static> {
        let formats = self.language.formats();
        ResultStyle {
            language: self.language.tag(),
            decimal: formats.decimal,
            group: formats.group,
            percent: formats.percent,
            yes_no: [Word::Yes.text(self.language), Word::No.text(self.language)],
            no_rows: Word::NoRows.text(self.language),
            first_rows: Word::FirstRows.text(self.language),
            first_columns: Word::FirstColumns.text(self.language),
            total: Word::Total.text(self.language),
            most_rows: MOST_ROWS,
        }
    }

    fn word(&self, word: Word) -> String {
        word.text(self.language).to_owned()
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}

/// Whether a model wrote the query of a result.
fn is_of_model(content: &ResultContent) -> bool {
    content.state == Some(DefinitionState::WrittenByModel)
}

/// Returns the notes of a result about its figures, such as a period that is not over.
fn notes_of(content: Option<ResultContent>) -> Vec<Content> {
    let notes = content.and_then(|one| one.computed).map(|one| one.notes).unwrap_or_default();
    notes.iter().map(|note| Content::Quote(note.as_str().to_owned())).collect()
}
