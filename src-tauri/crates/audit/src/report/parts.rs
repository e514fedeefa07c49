//! The parts of a page that are made from records.

use contract::{Destination, DestinationKind, PreviewState, PreviewView};
use messages::Language;
use serde_json::Value;

use super::html::Html;
use super::texts::{Word, word_of};
use super::{Action, Entry, Facts};
use crate::{body, canon, hex};

/// A page and its language.
pub(super) struct Page {
    html: Html,
    language: Language,
}

impl Page {
    pub(super) fn new(html: Html, language: Language) -> Self {
        Self { html, language }
    }

    pub(super) fn end(self) -> String {
        self.html.end()
    }

    fn say(&self, word: Word) -> &'static str {
        word.text(self.language)
    }

    /// Returns the translated word for a name in a record, or the name itself.
    fn name(&self, name: &str) -> String {
        word_of(name).map_or_else(|| name.to_owned(), |word| self.say(word).to_owned())
    }

    fn named(&self, entry: &Entry, member: &str) -> Option<String> {
        entry.body.text(member).filter(|text| !text.is_empty()).map(|text| self.name(text))
    }

    /// Returns a value behind a commitment as one line. Returns None if the record has no such
    /// value.
    fn line(&self, entry: &Entry, member: &str) -> Option<String> {
        entry.body.commitments.contains_key(member).then(|| match entry.revealed.get(member) {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => self.say(Word::Erased).to_owned(),
        })
    }

    /// Writes a summary of the decision in a few lines.
    pub(super) fn summary(&mut self, action: &Action<'_>) {
        let answer = action.answer();
        let of = action.requested.or(answer);
        let rows = [
            (self.say(Word::Decision), answer.and_then(|entry| self.named(entry, "status"))),
            (self.say(Word::Tool), of.and_then(|entry| text(entry, "tool"))),
            (self.say(Word::Time), answer.map(|entry| time(&entry.body.at))),
            (self.say(Word::Record), answer.map(|entry| entry.body.seq.to_string())),
            (self.say(Word::Session), of.and_then(|entry| entry.body.session.clone())),
        ];
        self.html.rows(&rows);
    }

    /// Writes that there is no question. `entry` is the record of a direct call and names the
    /// caller.
    pub(super) fn no_question(&mut self, entry: Option<&Entry>) {
        self.html.heading(self.say(Word::Question));
        self.html.paragraph(self.say(Word::NoQuestion));
        if let Some(entry) = entry {
            self.html.paragraph(self.say(Word::DirectCall));
            self.who_asked(entry);
        }
    }

    /// Writes the question that began a turn, and who asked it.
    pub(super) fn question(&mut self, entry: &Entry) {
        self.html.heading(self.say(Word::Question));
        match entry.revealed.get("input") {
            Some(Value::String(asked)) => self.html.quote(asked),
            Some(other) => self.html.value(other),
            None => self.html.erased(self.say(Word::Erased)),
        }
        self.who_asked(entry);
    }

    fn who_asked(&mut self, entry: &Entry) {
        self.html.subheading(self.say(Word::Asked));
        let rows = [
            (self.say(Word::Person), self.line(entry, "person")),
            (self.say(Word::Through), self.named(entry, "origin")),
            (self.say(Word::Time), Some(time(&entry.body.at))),
            (self.say(Word::Agent), text(entry, "agent")),
            (self.say(Word::Model), text(entry, "model")),
            (self.say(Word::Record), Some(entry.body.seq.to_string())),
        ];
        self.html.rows(&rows);
    }

    /// Writes an action from its proposal to its result.
    pub(super) fn action(&mut self, action: &Action<'_>) {
        self.html.begin_part();
        self.html.heading(self.say(Word::Shown));
        if let Some(entry) = action.requested {
            self.proposal(entry);
        }
        self.html.heading(self.say(Word::Signed));
        if let Some(entry) = action.answer() {
            self.answer(entry);
        }
        self.html.heading(self.say(Word::Ran));
        match action.intent {
            Some(intent) => self.call(intent, action.requested, action.outcome),
            None => self.html.paragraph(self.say(Word::NotRun)),
        }
        self.html.end_part();
    }

    fn proposal(&mut self, entry: &Entry) {
        let rows = [
            (self.say(Word::Tool), text(entry, "tool")),
            (self.say(Word::Server), text(entry, "server")),
            (self.say(Word::Effect), self.named(entry, "effect")),
            (self.say(Word::Why), text(entry, "why")),
            (self.say(Word::Time), Some(time(&entry.body.at))),
            (self.say(Word::Expires), text(entry, "expires_at")),
            (self.say(Word::Hash), text(entry, "hash")),
            (self.say(Word::Record), Some(entry.body.seq.to_string())),
        ];
        self.html.rows(&rows);
        self.member(entry, "arguments", Word::Arguments);
        self.destinations(entry, Word::NotAllowedYet);
        self.preview(entry);
        if !is_nothing(entry, "excerpts") {
            self.member(entry, "excerpts", Word::Excerpts);
        }
    }

    fn answer(&mut self, entry: &Entry) {
        let taken = entry.body.fields.get("duration_ms").and_then(Value::as_u64);
        let rows = [
            (self.say(Word::Decision), self.named(entry, "status")),
            (self.say(Word::Person), self.line(entry, "person")),
            (self.say(Word::Through), self.named(entry, "by")),
            (self.say(Word::Time), Some(time(&entry.body.at))),
            (self.say(Word::TimeTaken), taken.map(|millis| self.seconds(millis))),
            (self.say(Word::Reason), self.line(entry, "reason")),
            (self.say(Word::Hash), text(entry, "hash")),
            (self.say(Word::Record), Some(entry.body.seq.to_string())),
        ];
        self.html.rows(&rows);
    }

    /// Writes a call that ran without an approval, such as a read, or a change that a rule allowed.
    pub(super) fn unapproved(&mut self, intent: &Entry, outcome: Option<&Entry>) {
        let is_read = intent.body.text("effect") == Some("read_only");
        self.html.begin_part();
        self.html.heading(self.say(if is_read { Word::Read } else { Word::Changed }));
        self.call(intent, None, outcome);
        self.html.end_part();
    }

    fn call(&mut self, intent: &Entry, shown: Option<&Entry>, outcome: Option<&Entry>) {
        // If there is a proposal, it has already shown these values.
        let effect = self.named(intent, "effect").filter(|_| shown.is_none());
        let why = text(intent, "why").filter(|_| shown.is_none());
        let bytes = intent.body.fields.get("sends_bytes").and_then(Value::as_u64);
        let rows = [
            (self.say(Word::Tool), text(intent, "tool")),
            (self.say(Word::Effect), effect),
            (self.say(Word::WhyItRan), why),
            (self.say(Word::SendsBytes), bytes.map(|bytes| bytes.to_string())),
            (self.say(Word::Time), Some(time(&intent.body.at))),
            (self.say(Word::Record), Some(intent.body.seq.to_string())),
        ];
        self.html.rows(&rows);
        let arguments = |entry: &Entry| entry.revealed.get("arguments").map(decoded);
        match (arguments(intent), shown.and_then(arguments)) {
            (Some(sent), Some(shown)) if sent == shown => {
                self.html.paragraph(self.say(Word::SameArguments));
            }
            _ => self.member(intent, "arguments", Word::Arguments),
        }
        self.destinations(intent, Word::SendsTo);
        self.html.subheading(self.say(Word::Result));
        let Some(entry) = outcome else {
            self.html.paragraph(self.say(Word::UnknownOutcome));
            return;
        };
        let took = entry.body.fields.get("duration_ms").and_then(Value::as_u64);
        let rows = [
            (self.say(Word::Status), self.named(entry, "status")),
            (self.say(Word::Time), Some(time(&entry.body.at))),
            (self.say(Word::Took), took.map(|millis| self.seconds(millis))),
            (self.say(Word::Record), Some(entry.body.seq.to_string())),
        ];
        self.html.rows(&rows);
        self.member(entry, "result", Word::Result);
        self.member(entry, "error", Word::Error);
    }

    /// Writes a value behind a commitment, or the note that it was erased.
    fn member(&mut self, entry: &Entry, member: &str, label: Word) {
        if !entry.body.commitments.contains_key(member) {
            return;
        }
        if label != Word::Result {
            self.html.subheading(self.say(label));
        }
        match entry.revealed.get(member) {
            Some(value) => self.html.value(&decoded(value)),
            None => self.html.erased(self.say(Word::Erased)),
        }
    }

    /// Writes the destinations that a read sends data to, if there are any.
    fn destinations(&mut self, entry: &Entry, label: Word) {
        if is_nothing(entry, "destinations") {
            return;
        }
        let value = entry.revealed.get("destinations").map(decoded);
        let found: Option<Vec<Destination>> =
            value.and_then(|value| serde_json::from_value(value).ok());
        let Some(found) = found else { return self.member(entry, "destinations", label) };
        let kind = |place: &Destination| match place.kind {
            DestinationKind::Host => Word::HostPlace,
            DestinationKind::Recipient => Word::RecipientPlace,
            DestinationKind::Server => Word::ServerPlace,
        };
        let lines: Vec<Vec<String>> = found
            .iter()
            .map(|place| vec![place.name.clone(), self.say(kind(place)).to_owned()])
            .collect();
        self.html.table(&[self.say(label), self.say(Word::Kind)], &lines);
    }

    fn preview(&mut self, entry: &Entry) {
        if is_nothing(entry, "preview") {
            return;
        }
        let value = entry.revealed.get("preview").map(decoded);
        let view: Option<PreviewView> = value.and_then(|value| serde_json::from_value(value).ok());
        let Some(view) = view else { return self.member(entry, "preview", Word::Preview) };
        self.html.subheading(self.say(Word::Preview));
        self.html.paragraph(&view.summary);
        for (label, state) in [(Word::Before, &view.before), (Word::After, &view.after)] {
            self.preview_state(label, state);
        }
    }

    fn preview_state(&mut self, label: Word, state: &PreviewState) {
        let mut lines: Vec<Vec<String>> = state
            .rows
            .iter()
            .map(|row| vec![row.label.clone(), row.quantity.clone(), row.amount.clone()])
            .collect();
        if !state.total.is_empty() {
            lines.push(vec![self.say(Word::Total).to_owned(), String::new(), state.total.clone()]);
        }
        if !lines.is_empty() {
            self.html.table(&[self.say(label), "", ""], &lines);
        }
    }

    /// Writes which conversation the page is about.
    pub(super) fn session(&mut self, entries: &[Entry]) {
        let session = entries.first().and_then(|entry| entry.body.session.clone());
        let between = entries.first().zip(entries.last()).map(|(first, last)| {
            format!("{} \u{2013} {}", time(&first.body.at), time(&last.body.at))
        });
        let rows = [(self.say(Word::Session), session), (self.say(Word::Time), between)];
        self.html.rows(&rows);
    }

    pub(super) fn verification(&mut self, facts: &Facts) {
        self.html.heading(self.say(Word::Verify));
        self.html.paragraph(self.say(Word::HowTo));
        self.html.command("csign audit verify FOLDER\npython3 verify.py FOLDER");
        if facts.has_receipts {
            self.html.paragraph(self.say(Word::HowToReceipts));
        }
        let rows = [
            (self.say(Word::Log), Some(facts.origin.clone())),
            (self.say(Word::Key), Some(facts.fingerprint.clone())),
            (self.say(Word::Size), Some(facts.size.to_string())),
            (self.say(Word::Root), Some(facts.root.clone())),
        ];
        self.html.rows(&rows);
    }

    /// Lists all records of the page with their hashes, so that a printed page can be compared with
    /// files.
    pub(super) fn records(&mut self, entries: &[Entry]) {
        self.html.heading(self.say(Word::Records));
        let heads = [Word::Record, Word::Time, Word::Event, Word::Status, Word::Leaf];
        let heads = heads.map(|word| self.say(word));
        let lines: Vec<Vec<String>> = entries
            .iter()
            .map(|entry| {
                vec![
                    entry.body.seq.to_string(),
                    time(&entry.body.at),
                    self.name(&entry.body.kind),
                    self.named(entry, "status").unwrap_or_default(),
                    hex::encode(&entry.leaf),
                ]
            })
            .collect();
        self.html.table(&heads, &lines);
    }

    fn seconds(&self, millis: u64) -> String {
        let point = self.language.formats().decimal;
        let tenths = millis.saturating_add(50) / 100;
        format!("{}{point}{} {}", tenths / 10, tenths % 10, self.say(Word::Seconds))
    }
}

fn text(entry: &Entry, member: &str) -> Option<String> {
    entry.body.text(member).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Formats the time of a record, to the second.
fn time(at: &str) -> String {
    body::parse_instant(at)
        .map_or_else(|| at.to_owned(), |at| at.format("%Y-%m-%d %H:%M:%S").to_string())
}

/// Returns whether the entry has no value for `member`: the member is absent, or is revealed as
/// null or as an empty list.
fn is_nothing(entry: &Entry, member: &str) -> bool {
    let is_empty = |value: &Value| {
        let value = decoded(value);
        value.is_null() || value.as_array().is_some_and(Vec::is_empty)
    };
    !entry.body.commitments.contains_key(member) || entry.revealed.get(member).is_some_and(is_empty)
}

/// Parses a value that was recorded as JSON text. A text that would lose information, such as the
/// last digits of a number, stays a text.
fn decoded(value: &Value) -> Value {
    let Value::String(text) = value else { return value.clone() };
    let Ok(parsed) = serde_json::from_str::<Value>(text) else { return value.clone() };
    let is_same = serde_json::to_string(&parsed).is_ok_and(|again| again == *text)
        || canon::canonical_text(&parsed).is_ok_and(|again| again == *text);
    let is_plain = parsed.is_string() || parsed.is_number() || parsed.is_boolean();
    if is_same && !is_plain { parsed } else { value.clone() }
}
