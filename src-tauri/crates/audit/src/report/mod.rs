//! Pages for people and for printing: the report of a session and the receipt of a decision. They
//! show only the content of the records and their values. `parts` writes the parts of a page.

mod html;
mod parts;
mod texts;

use std::collections::BTreeMap;

use messages::Language;
use serde_json::Value;

use crate::body::Body;
use crate::tree::Hash;
use html::Html;
use parts::Page;
use texts::Word;

/// A record with the values that still exist.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) body: Body,
    pub(crate) leaf: Hash,
    pub(crate) revealed: BTreeMap<String, Value>,
}

/// The statements of a page about the log.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) origin: String,
    pub(crate) fingerprint: String,
    pub(crate) size: u64,
    pub(crate) root: String,
    pub(crate) has_receipts: bool,
}

/// The records of one action that was proposed to a person.
#[derive(Clone, Debug, Default)]
struct Action<'a> {
    requested: Option<&'a Entry>,
    /// The resolutions of the action in order, such as approved and then done.
    resolved: Vec<&'a Entry>,
    intent: Option<&'a Entry>,
    outcome: Option<&'a Entry>,
}

impl<'a> Action<'a> {
    fn add(&mut self, entry: &'a Entry) {
        match entry.body.kind.as_str() {
            "approval_requested" => self.requested = Some(entry),
            "approval_resolved" => self.resolved.push(entry),
            "tool_intent" => self.intent = Some(entry),
            "tool_outcome" => self.outcome = Some(entry),
            _ => {}
        }
    }

    /// Returns the record with the answer of a person, or with the expiry.
    fn answer(&self) -> Option<&'a Entry> {
        let is_answer =
            |entry: &&&Entry| matches!(entry.body.text("status"), Some("approved" | "rejected"));
        self.resolved.iter().find(is_answer).or(self.resolved.first()).copied()
    }
}

/// The records of a page, indexed by the ids that connect them.
struct Index<'a> {
    actions: BTreeMap<&'a str, Action<'a>>,
    /// Results of calls that needed no approval.
    outcomes: BTreeMap<&'a str, &'a Entry>,
}

impl<'a> Index<'a> {
    fn of(entries: &'a [Entry]) -> Self {
        let mut index = Self { actions: BTreeMap::new(), outcomes: BTreeMap::new() };
        for entry in entries {
            match (entry.body.text("approval"), entry.body.text("call")) {
                (Some(approval), _) => index.actions.entry(approval).or_default().add(entry),
                (None, Some(call)) if entry.body.kind == "tool_outcome" => {
                    index.outcomes.insert(call, entry);
                }
                (None, _) => {}
            }
        }
        index
    }
}

/// Writes the receipt of one decision.
pub(crate) fn decision_page(entries: &[Entry], facts: &Facts, language: Language) -> String {
    let index = Index::of(entries);
    let title = Word::DecisionTitle.text(language);
    let mut page = Page::new(Html::begin(language.tag(), title), language);
    for action in index.actions.values() {
        page.summary(action);
    }
    match entries.iter().find(|entry| is_question(entry)) {
        Some(question) => page.question(question),
        None => page.no_question(entries.iter().find(|entry| is_direct(entry))),
    }
    for action in index.actions.values() {
        page.action(action);
    }
    page.verification(facts);
    page.records(entries);
    page.end()
}

/// Writes the report of a session, one question after the other.
pub(crate) fn session_page(entries: &[Entry], facts: &Facts, language: Language) -> String {
    let index = Index::of(entries);
    let title = Word::SessionTitle.text(language);
    let mut page = Page::new(Html::begin(language.tag(), title), language);
    page.session(entries);
    let mut turn = None;
    for entry in entries {
        if is_question(entry) && entry.body.turn != turn {
            turn.clone_from(&entry.body.turn);
            page.question(entry);
        } else if is_direct(entry) && entry.body.turn != turn {
            turn.clone_from(&entry.body.turn);
            page.no_question(Some(entry));
        }
        let kind = entry.body.kind.as_str();
        match (kind, entry.body.text("approval"), entry.body.text("call")) {
            ("approval_requested", Some(approval), _) => {
                if let Some(action) = index.actions.get(approval) {
                    page.action(action);
                }
            }
            ("tool_intent", None, call) => {
                let outcome = call.and_then(|call| index.outcomes.get(call)).copied();
                page.unapproved(entry, outcome);
            }
            _ => {}
        }
    }
    page.verification(facts);
    page.records(entries);
    page.end()
}

/// Whether the record contains the question. A turn that only carries out a later decision has no
/// question.
fn is_question(entry: &Entry) -> bool {
    entry.body.kind == "run_started" && entry.body.commitments.contains_key("input")
}

/// Whether the record belongs to a call that was made directly. Such a record names the caller,
/// because there is no question.
fn is_direct(entry: &Entry) -> bool {
    let is_of_call = matches!(entry.body.kind.as_str(), "approval_requested" | "tool_intent");
    is_of_call && entry.body.text("origin").is_some()
}
