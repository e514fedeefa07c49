//! Writes an answer: the outcome of each goal as Markdown, and suggested answers as buttons. All
//! figures come from results, and no tool is treated specially.

use std::sync::Arc;

use contract::{Choice, ToolOutcome, manifest::Thing};
use messages::Language;
use serde_json::{Value, json};

use super::{
    book::{Book, Pack},
    facts::Position,
    goal::{Goal, Listing, Outcome, Why},
    history::Failure,
    template::{self, escape_markdown},
    texts::{self, Text},
};

/// The most list lines in a question.
pub(super) const SHOWN: usize = 9;

/// The text of an answer, with the buttons below it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reply {
    pub(super) text: String,
    pub(super) choices: Vec<Choice>,
}

impl Reply {
    /// Returns this reply and another one below it.
    pub(super) fn and(mut self, next: Self) -> Self {
        if !self.text.is_empty() && !next.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(&next.text);
        self.choices.extend(next.choices);
        self
    }
}

/// Writes replies in a given language.
#[derive(Clone, Copy)]
pub(super) struct Speaker<'a> {
    pub(super) book: &'a Book,
    pub(super) lang: Language,
}

impl Speaker<'_> {
    pub(super) fn say(&self, text: Text) -> String {
        text.text(self.lang).to_owned()
    }

    pub(super) fn fill(&self, text: Text, values: &[(&str, &str)]) -> String {
        text.fill(self.lang, values)
    }

    /// Returns a note below an answer: a sentence in italics.
    fn note(&self, text: Text, values: &[(&str, &str)]) -> String {
        format!("\n\n*{}*", self.fill(text, values))
    }

    /// Returns the answer about all goals of a message.
    pub(super) fn answer_all(&self, goals: &[(Goal, Outcome)]) -> Reply {
        let mut reply = Reply::default();
        let mut later: Vec<String> = Vec::new();
        for (goal, outcome) in goals {
            if *outcome == Outcome::Later {
                later.push(self.subject_text(goal));
                continue;
            }
            let mut part = self.answer_goal(goal, outcome);
            let unused = self.words_unused_by(goal, outcome);
            if !unused.is_empty() {
                let words = self.quote_words(&unused);
                part.text.push_str(&self.note(Text::NotUsed, &[("words", &words)]));
            }
            if let Outcome::Answer { args, results } = outcome
                && self.book.strange_words(goal.tool, args, results).is_some()
            {
                part.text.push_str(&self.arranged_note(goal));
            }
            if let Outcome::Answer { args, results } = outcome
                && let Some((_, strange, _)) = self.book.strange_words(goal.tool, args, results)
                && !strange.is_empty()
            {
                let words = self.quote_words(&strange);
                part.text.push_str(&self.note(Text::NoResultNames, &[("words", &words)]));
            }
            if part.text.is_empty() || reply.text.contains(&part.text) {
                continue;
            }
            if !reply.text.is_empty() {
                reply.text.push_str("\n\n");
            }
            reply.text.push_str(&part.text);
            reply.choices.extend(part.choices);
        }
        if !later.is_empty() {
            let later = later.join(", ");
            let later = self.fill(Text::GoesOnWith, &[("goals", &later)]);
            reply.text.push_str(&format!("\n\n{later}"));
        }
        reply
    }

    /// Returns the words of the message that an answer does not use.
    fn words_unused_by(&self, goal: &Goal, outcome: &Outcome) -> Vec<String> {
        let Outcome::Answer { args, results } = outcome else { return Vec::new() };
        let template = self.answer_template(goal);
        let takes = |name: &str| template.is_some_and(|text| template::uses(text, name));
        let mut unused = goal.unused.clone();
        let parts = || self.book.find_asked_parts(goal, results.first()?);
        unused.extend(parts().filter(|_| !takes("asked")).map(|parts| parts.words));
        let without =
            results.first().map(|result| self.book.find_words_without_thing(goal, args, result));
        unused.extend(without.unwrap_or_default());
        unused.dedup();
        unused.extend(goal.count.filter(|_| !takes("count")).map(|count| count.to_string()));
        unused
    }

    /// Returns the template of a goal's answer.
    fn answer_template(&self, goal: &Goal) -> Option<&String> {
        let tool = &self.book.tools[goal.tool];
        let wanted = &tool.intents[goal.intent].answer;
        let first = || tool.intents.first().map(|intent| &intent.answer);
        self.lang.pick(if wanted.is_empty() { first()? } else { wanted })
    }

    /// Returns the note below a search about its sort order and its excluded things.
    fn arranged_note(&self, goal: &Goal) -> String {
        let is_search = self.book.tools[goal.tool]
            .has_slot(|kind| matches!(kind, contract::manifest::SlotKind::Words));
        let mut note = String::new();
        let label = self.book.ranking(goal).and_then(|ranking| self.lang.pick(&ranking.label));
        if let Some(label) = label.filter(|_| is_search) {
            note.push_str(&self.note(Text::Order, &[("order", label)]));
        }
        if !goal.excluded.is_empty() {
            let words = self.quote_words(&goal.excluded);
            note.push_str(&self.note(Text::LeftOut, &[("words", &words)]));
        }
        note
    }

    /// Returns the subject of a goal in the words of the message.
    fn subject_text(&self, goal: &Goal) -> String {
        let target = &goal.target;
        let words = if target.said.is_empty() { target.words() } else { target.said.clone() };
        let chosen = || {
            let (kind, item) = goal.chosen.last()?;
            self.thing(goal, kind)?
                .words
                .first()
                .and_then(|name| item.pointer(name)?.as_str())
                .map(escape_markdown)
        };
        match (&words[..], target.places.first().filter(|_| !target.open)) {
            ([], Some(Position::Nth(place))) => {
                self.fill(Text::Nth, &[("place", &place.to_string())])
            }
            ([], _) => chosen().unwrap_or_else(|| self.say(Text::Rest)),
            _ => escape_markdown(&words.join(" ")),
        }
    }

    pub(super) fn answer_goal(&self, goal: &Goal, outcome: &Outcome) -> Reply {
        match outcome {
            Outcome::Answer { args, results } => self.render_answer(goal, args, results),
            Outcome::Failed { failure } => {
                Reply { text: self.describe_failure(goal, failure), choices: Vec::new() }
            }
            Outcome::Ask { listing, why } => self.ask_which(goal, listing, why),
            Outcome::Nothing { thing, words } => self.nothing_found(goal, thing, words),
            Outcome::Doubt(doubt) => self.describe_doubt(goal, doubt),
            Outcome::Unusable { thing, items } => {
                let pack = self.book.pack_of(goal.tool);
                let text = pack
                    .thing(thing)
                    .and_then(|thing| self.lang.pick(&thing.unusable))
                    .and_then(|text| self.render(pack, text, &json!({ "items": items })));
                Reply {
                    text: text.unwrap_or_else(|| self.say(Text::NoneAvailable)),
                    choices: Vec::new(),
                }
            }
            Outcome::Later => Reply::default(),
            Outcome::NotOffered => self.plain_reply(Text::ToolOff),
            Outcome::Unfinished => self.plain_reply(Text::Unfinished),
        }
    }

    /// Says that the asked specialist has none of the tools that a message needs, and which ones have them.
    /// A tool of the specialist's own pack, or of a pack without a specialist, is switched off.
    pub(super) fn name_specialists(&self, tools: &[usize], own: &[String]) -> Reply {
        let mut names: Vec<String> = Vec::new();
        let is_of_other = |tool: &&usize| !self.book.is_beside(**tool, own);
        let others = tools.iter().filter(is_of_other);
        for name in others.filter_map(|tool| self.book.pack_of(*tool).specialist.first()) {
            let name = format!("**{}**", escape_markdown(name));
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if names.is_empty() {
            return self.plain_reply(Text::ToolOff);
        }
        let names = self.join(&names);
        let text = self.fill(Text::OfOtherSpecialist, &[("names", &names)]);
        Reply { text, choices: Vec::new() }
    }

    pub(super) fn plain_reply(&self, text: Text) -> Reply {
        Reply { text: self.say(text), choices: Vec::new() }
    }

    fn thing(&self, goal: &Goal, name: &str) -> Option<&Thing> {
        self.book.pack_of(goal.tool).thing(name)
    }

    fn render_answer(
        &self,
        goal: &Goal,
        args: &serde_json::Map<String, Value>,
        results: &[Arc<Value>],
    ) -> Reply {
        let tool = &self.book.tools[goal.tool];
        let said = template::AnswerInputs {
            intent: &tool.intents[goal.intent].name,
            args,
            asked: results.first().and_then(|result| self.book.find_asked_parts(goal, result)),
            count: goal.count,
        };
        let texts = &self.book.pack_of(goal.tool).texts;
        let text = self
            .answer_template(goal)
            .and_then(|text| template::answer(text, texts, self.lang, &said, results));
        let text = text.map(|text| remove_empty_lines(&text)).filter(|text| !text.is_empty());
        Reply { text: text.unwrap_or_else(|| self.say(Text::Done)), choices: Vec::new() }
    }

    fn describe_failure(&self, goal: &Goal, failure: &Failure) -> String {
        let tool = &self.book.tools[goal.tool];
        if failure.outcome == ToolOutcome::Unknown {
            return self.explain_failure(failure);
        }
        let undone = tool.is_write().then(|| {
            self.lang.pick(&tool.undone).cloned().unwrap_or_else(|| self.say(Text::NothingChanged))
        });
        let why = self.explain_failure(failure);
        undone.map_or(why.clone(), |undone| format!("{undone} {why}"))
    }

    /// Returns the reason why a call failed.
    pub(super) fn explain_failure(&self, failure: &Failure) -> String {
        let reason = failure.reason.as_deref().map(|reason| escape_markdown(reason.trim()));
        match failure.outcome {
            ToolOutcome::Rejected => match reason {
                Some(reason) => self.fill(Text::RejectedBecause, &[("reason", &reason)]),
                None => self.say(Text::Rejected),
            },
            ToolOutcome::Expired => self.say(Text::Expired),
            ToolOutcome::Denied => self.say(Text::Denied),
            ToolOutcome::Cancelled => self.say(Text::Cancelled),
            ToolOutcome::Limit => self.say(Text::NoCallsLeft),
            ToolOutcome::Unknown => self.say(Text::UnknownOutcome),
            ToolOutcome::Ok | ToolOutcome::Error => {
                let message = if failure.message.is_empty() {
                    self.say(Text::ToolFailed)
                } else {
                    escape_markdown(&failure.message)
                };
                failure
                    .hint
                    .as_deref()
                    .map_or(message.clone(), |hint| format!("{message} {}", escape_markdown(hint)))
            }
        }
    }

    fn ask_which(&self, goal: &Goal, listing: &Listing, why: &Why) -> Reply {
        let pack = &self.book.packs[listing.pack];
        let Some(thing) = pack.thing(&listing.thing) else {
            return Reply::default();
        };
        let labels: Vec<String> =
            listing.items.iter().map(|item| self.item_label(pack, thing, item)).collect();
        let writes = self.book.tools[goal.tool].is_write();
        let lead = match why {
            Why::Several | Why::OutOfRange(_) if labels.is_empty() => {
                return self.ask_for_thing(thing);
            }
            Why::Several | Why::SomeUnusable(_) => self.say(Text::WhichOne),
            Why::OutOfRange(place) => self.fill(Text::OutOfRange, &[("place", &place.to_string())]),
            Why::NoneFits(words) => {
                let words = escape_markdown(&words.join(" "));
                self.fill(Text::NoneFits, &[("words", &words)])
            }
            Why::Unusable(items) => {
                let text = self
                    .lang
                    .pick(&thing.unusable)
                    .and_then(|text| self.render(pack, text, &json!({ "items": items })));
                let text = text.unwrap_or_else(|| self.say(Text::NotAvailable));
                format!("{} {}", text.trim(), self.say(Text::TheseAvailable))
            }
            Why::Confirm => self.say(Text::IsItThisOne),
        };
        let mut text = format!("{lead}\n");
        for (i, label) in labels.iter().take(SHOWN).enumerate() {
            text.push_str(&format!("\n{}. {label}", i + 1));
        }
        if labels.len() > SHOWN {
            // A search returns only its first results, so the total number is unknown.
            text.push_str(&format!("\n\n{}", self.say(Text::AndMore)));
        }
        if let Why::SomeUnusable(gone) = why {
            let gone: Vec<String> =
                gone.iter().take(SHOWN).map(|item| self.item_label(pack, thing, item)).collect();
            let gone = gone.join("; ");
            let gone = self.fill(Text::GoneNow, &[("items", &gone)]);
            text.push_str(&format!("\n\n{gone}"));
        }
        if writes && labels.len() > 1 && matches!(why, Why::Several | Why::SomeUnusable(_)) {
            text.push_str(&format!("\n\n{}", self.say(Text::NothingChangedYet)));
        }
        Reply { text, choices: self.build_choices(&labels, *why == Why::Confirm) }
    }

    /// Returns the rest of a list, with continued numbering.
    pub(super) fn show_more(&self, listing: Option<&Listing>) -> Reply {
        let found = listing.and_then(|listing| {
            let pack = &self.book.packs[listing.pack];
            Some((listing, pack, pack.thing(&listing.thing)?))
        });
        let Some((listing, pack, thing)) = found else {
            return self.plain_reply(Text::CannotShowMore);
        };
        if listing.hidden_items().is_empty() && listing.partial {
            return self.plain_reply(Text::NoMoreFound);
        }
        if listing.hidden_items().is_empty() {
            return self.plain_reply(Text::ThatIsAll);
        }
        let before = listing.shown_items().len();
        let line = |(i, item): (usize, &Value)| {
            format!("{}. {}", before + i + 1, self.item_label(pack, thing, item))
        };
        let lines: Vec<String> =
            listing.hidden_items().iter().take(SHOWN).enumerate().map(line).collect();
        Reply { text: lines.join("\n"), choices: Vec::new() }
    }

    fn ask_for_thing(&self, thing: &Thing) -> Reply {
        let noun = self.lang.pick(&thing.nouns).cloned().unwrap_or_else(|| self.say(Text::One));
        Reply { text: self.fill(Text::WhichThing, &[("noun", &noun)]), choices: Vec::new() }
    }

    fn build_choices(&self, labels: &[String], confirm: bool) -> Vec<Choice> {
        if confirm && labels.len() == 1 {
            let choice = |label, message| Choice::new(self.say(label), self.say(message));
            return vec![choice(Text::Yes, Text::YesMessage), choice(Text::No, Text::NoMessage)];
        }
        labels
            .iter()
            .zip(texts::NTH_MESSAGES)
            .map(|(label, message)| {
                let label = remove_markdown(label);
                // The button shows price and stock, but the message that it sends needs only the
                // name.
                let said = label.split(" – ").next().unwrap_or(&label);
                let message = self.fill(message, &[("label", said)]);
                Choice::new(label, message)
            })
            .collect()
    }

    fn item_label(&self, pack: &Pack, thing: &Thing, item: &Value) -> String {
        self.lang
            .pick(&thing.label)
            .map(|text| template::label(text, &pack.texts, self.lang, item))
            .unwrap_or_default()
    }

    fn render(&self, pack: &Pack, template: &str, values: &Value) -> Option<String> {
        template::render(template, &pack.texts, self.lang, values)
    }

    fn nothing_found(&self, goal: &Goal, thing: &str, words: &[String]) -> Reply {
        let pack = self.book.pack_of(goal.tool);
        let text = pack
            .thing(thing)
            .and_then(|thing| self.lang.pick(&thing.none))
            .and_then(|text| self.render(pack, text, &json!({ "words": words.join(" ") })));
        Reply {
            text: text
                .map(|text| remove_empty_lines(&text))
                .unwrap_or_else(|| self.say(Text::NothingFound)),
            choices: Vec::new(),
        }
    }
}

/// Removes empty lines at the start and end, and repeated empty lines.
fn remove_empty_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut empty = 0;
    for line in text.trim().lines() {
        empty = if line.trim().is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
    out.trim_end().to_owned()
}

/// Returns a label without Markdown, for a button.
fn remove_markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next()),
            '*' => {}
            _ => out.push(c),
        }
    }
    out
}
