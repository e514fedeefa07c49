//! Words an answer: the outcome of each goal as Markdown in English or Swedish, and suggested
//! answers as buttons. Figures come only from results. Knows no tool by name.

use std::sync::Arc;

use contract::{Choice, ToolOutcome, manifest::Thing};
use language::Language;
use serde_json::{Value, json};

use super::{
    book::Book,
    facts::Position,
    goal::{Goal, Listing, Outcome, Why},
    history::Failure,
    template::{self, escape_markdown},
};

/// The highest number of list lines that a question shows.
pub(super) const SHOWN: usize = 9;

/// The text of an answer, with the buttons below it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reply {
    pub(super) text: String,
    pub(super) choices: Vec<Choice>,
}

/// Words a reply in one language.
#[derive(Clone, Copy)]
pub(super) struct Speaker<'a> {
    pub(super) book: &'a Book,
    pub(super) lang: Language,
}

impl Speaker<'_> {
    pub(super) fn in_language(&self, en: &str, sv: &str) -> String {
        match self.lang {
            Language::En => en.to_owned(),
            Language::Sv => sv.to_owned(),
        }
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
                part.text.push_str(&self.in_language(
                    &format!("\n\n*I did not use {words}.*"),
                    &format!("\n\n*Jag använde inte {words}.*"),
                ));
            }
            if let Outcome::Answer { args, results, .. } = outcome
                && self.book.strange_words(goal.tool, args, results).is_some()
            {
                part.text.push_str(&self.arranged_note(goal));
            }
            if let Outcome::Answer { args, results, .. } = outcome
                && let Some((_, strange, _)) = self.book.strange_words(goal.tool, args, results)
                && !strange.is_empty()
            {
                let words = self.quote_words(&strange);
                part.text.push_str(&self.in_language(
                    &format!("\n\n*No result names {words}.*"),
                    &format!("\n\n*Inget resultat nämner {words}.*"),
                ));
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
            reply.text.push_str(&self.in_language(
                &format!("\n\nAfter that I go on with: {later}."),
                &format!("\n\nSedan går jag vidare med: {later}."),
            ));
        }
        reply
    }

    /// Returns the words of the message that an answer does not use.
    fn words_unused_by(&self, goal: &Goal, outcome: &Outcome) -> Vec<String> {
        let Outcome::Answer { results, .. } = outcome else { return Vec::new() };
        let template = self.answer_template(goal);
        let takes = |name: &str| template.is_some_and(|text| template::uses(text, name));
        let mut unused = goal.unused.clone();
        let parts = || self.book.find_asked_parts(goal, results.first()?);
        unused.extend(parts().filter(|_| !takes("asked")).map(|parts| parts.words));
        let without =
            results.first().map(|result| self.book.find_words_without_thing(goal, result));
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

    /// Returns the lines below a search about its order and what it left out.
    fn arranged_note(&self, goal: &Goal) -> String {
        let is_search = self.book.tools[goal.tool]
            .has_slot(|kind| matches!(kind, contract::manifest::SlotKind::Words));
        let mut note = String::new();
        let label = self.book.ranking(goal).and_then(|ranking| self.lang.pick(&ranking.label));
        if let Some(label) = label.filter(|_| is_search) {
            note.push_str(&self.in_language(
                &format!("\n\n*Order: {label}.*"),
                &format!("\n\n*Ordning: {label}.*"),
            ));
        }
        if !goal.excluded.is_empty() {
            let words = self.quote_words(&goal.excluded);
            note.push_str(&self.in_language(
                &format!("\n\n*Left out: all that is only {words}.*"),
                &format!("\n\n*Utelämnat: allt som bara är {words}.*"),
            ));
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
            ([], _) => chosen().unwrap_or_else(|| self.in_language("the rest", "resten")),
            _ => escape_markdown(&words.join(" ")),
        }
    }

    pub(super) fn answer_goal(&self, goal: &Goal, outcome: &Outcome) -> Reply {
        match outcome {
            Outcome::Answer { args, results, as_of } => self.render_answer(goal, args, results, *as_of),
            Outcome::Failed { failure } => Reply { text: self.describe_failure(goal, failure), choices: Vec::new() },
            Outcome::Ask { listing, why } => self.ask_which(goal, listing, why),
            Outcome::Nothing { thing, words } => self.nothing_found(goal, thing, words),
            Outcome::Doubt(doubt) => self.describe_doubt(goal, doubt),
            Outcome::Unusable { thing, items } => {
                let text = self
                    .thing(goal, thing)
                    .and_then(|thing| self.lang.pick(&thing.unusable))
                    .and_then(|text| template::render(text, self.lang, &json!({ "items": items })));
                Reply {
                    text: text.unwrap_or_else(|| self.in_language("None of them can be had right now.", "Ingen av dem går att få just nu.")), choices: Vec::new()
                }
            }
            Outcome::Later => Reply::default(),
            Outcome::NotOffered => self.plain_reply(
                "The tool for that is switched off. You can switch it on under Tools.",
                "Verktyget för det är avstängt. Du kan slå på det under Verktyg.",
            ),
            Outcome::Unfinished => self.plain_reply(
                "I had to stop before I was done: this turn has no calls left. Ask again and I will go on.",
                "Jag fick sluta innan jag var klar: rundan har inga anrop kvar. Fråga igen så fortsätter jag.",
            ),
        }
    }

    pub(super) fn plain_reply(&self, en: &str, sv: &str) -> Reply {
        Reply { text: self.in_language(en, sv), choices: Vec::new() }
    }

    fn thing(&self, goal: &Goal, name: &str) -> Option<&Thing> {
        self.book.pack_of(goal.tool).thing(name)
    }

    fn render_answer(
        &self,
        goal: &Goal,
        args: &serde_json::Map<String, Value>,
        results: &[Arc<Value>],
        as_of: bool,
    ) -> Reply {
        let tool = &self.book.tools[goal.tool];
        let said = template::AnswerInputs {
            intent: &tool.intents[goal.intent].name,
            args,
            asked: results.first().and_then(|result| self.book.find_asked_parts(goal, result)),
            count: goal.count,
        };
        let text = self
            .answer_template(goal)
            .and_then(|text| template::answer(text, self.lang, &said, results, as_of));
        let mut text = text.map(|text| remove_empty_lines(&text)).filter(|text| !text.is_empty());
        if let (true, Some(text)) = (as_of, text.as_mut()) {
            text.push_str(&self.reused_note(tool, results));
        }
        Reply {
            text: text.unwrap_or_else(|| {
                self.in_language(
                    "Done. The result is shown above.",
                    "Klart. Resultatet visas ovan.",
                )
            }),
            choices: Vec::new(),
        }
    }

    /// Returns the line under an answer from an earlier result: the time of that result, and that
    /// no new request was made.
    fn reused_note(&self, tool: &super::book::Tool, results: &[Arc<Value>]) -> String {
        let at =
            tool.as_of.as_ref().and_then(|pointer| results.first()?.pointer(pointer)?.as_str());
        let at = at
            .and_then(|text| chrono::DateTime::parse_from_rfc3339(text).ok())
            .map(|at| at.format("%H:%M").to_string())
            .unwrap_or_default();
        let line = self.in_language(
            &format!("Same account and period as before (data as of {at})."),
            &format!("Samma konto och period som nyss (data per {at})."),
        );
        format!("\n\n*{line}*")
    }

    fn describe_failure(&self, goal: &Goal, failure: &Failure) -> String {
        let tool = &self.book.tools[goal.tool];
        let undone = tool.is_write().then(|| {
            self.lang
                .pick(&tool.undone)
                .cloned()
                .unwrap_or_else(|| self.in_language("Nothing was changed.", "Inget ändrades."))
        });
        let reason = failure.reason.as_deref().map(|reason| escape_markdown(reason.trim()));
        let why = match failure.outcome {
            ToolOutcome::Rejected => match reason {
                Some(reason) => self.in_language(&format!("You rejected it: {reason}"), &format!("Du avslog det: {reason}")),
                None => self.in_language("You rejected it.", "Du avslog det."),
            },
            ToolOutcome::Expired => self.in_language(
                "The approval expired before anyone decided. Ask again to get a new one.",
                "Godkännandet gick ut innan någon bestämde sig. Be om det igen för att få ett nytt.",
            ),
            ToolOutcome::Denied => self.in_language("A policy rule does not allow it.", "En policyregel tillåter det inte."),
            ToolOutcome::Cancelled => self.in_language("It was cancelled.", "Det avbröts."),
            ToolOutcome::Limit => {
                self.in_language("This turn has no tool calls left. Ask again and I will go on.", "Rundan har inga verktygsanrop kvar. Fråga igen så fortsätter jag.")
            }
            ToolOutcome::Unknown => {
                return self.in_language(
                    "It is not known whether this happened: the app stopped in between. Check before you ask again.",
                    "Det är okänt om detta hände: appen stannade mitt i. Kontrollera innan du ber om det igen.",
                );
            }
            ToolOutcome::Ok | ToolOutcome::Error => {
                let message = if failure.message.is_empty() { self.in_language("The tool failed.", "Verktyget misslyckades.") } else { escape_markdown(&failure.message) };
                failure.hint.as_deref().map_or(message.clone(), |hint| format!("{message} {}", escape_markdown(hint)))
            }
        };
        undone.map_or(why.clone(), |undone| format!("{undone} {why}"))
    }

    fn ask_which(&self, goal: &Goal, listing: &Listing, why: &Why) -> Reply {
        let Some(thing) = self.book.packs[listing.pack].thing(&listing.thing) else {
            return Reply::default();
        };
        let labels: Vec<String> =
            listing.items.iter().map(|item| self.item_label(thing, item)).collect();
        let writes = self.book.tools[goal.tool].is_write();
        let lead = match why {
            Why::Several | Why::OutOfRange(_) if labels.is_empty() => {
                return self.ask_for_thing(thing);
            }
            Why::Several | Why::SomeUnusable(_) => {
                self.in_language("Which one do you mean?", "Vilken menar du?")
            }
            Why::OutOfRange(place) => self.in_language(
                &format!("There is no number {place} in the list. Which one do you mean?"),
                &format!("Det finns ingen nummer {place} i listan. Vilken menar du?"),
            ),
            Why::NoneFits(words) => {
                let words = escape_markdown(&words.join(" "));
                self.in_language(
                    &format!("Nothing there is “{words}”. This is what there is:"),
                    &format!("Inget där är ”{words}”. Det här finns:"),
                )
            }
            Why::Unusable(items) => {
                let text = self
                    .lang
                    .pick(&thing.unusable)
                    .and_then(|text| template::render(text, self.lang, &json!({ "items": items })));
                let text = text.unwrap_or_else(|| {
                    self.in_language(
                        "That one cannot be had right now.",
                        "Den går inte att få just nu.",
                    )
                });
                format!("{} {}", text.trim(), self.in_language("These can:", "De här går att få:"))
            }
            Why::Confirm => self.in_language(
                "I am not sure that this is what you mean. Is it this one?",
                "Jag är inte säker på att det är den du menar. Är det den här?",
            ),
        };
        let mut text = format!("{lead}\n");
        for (i, label) in labels.iter().take(SHOWN).enumerate() {
            text.push_str(&format!("\n{}. {label}", i + 1));
        }
        if labels.len() > SHOWN {
            // The total number is not known, because a search returns only its first results.
            text.push_str(&self.in_language(
                "\n\n… and more. Say more words to narrow it down.",
                "\n\n… och fler. Säg fler ord så blir listan kortare.",
            ));
        }
        if let Why::SomeUnusable(gone) = why {
            let gone: Vec<String> =
                gone.iter().take(SHOWN).map(|item| self.item_label(thing, item)).collect();
            let gone = gone.join("; ");
            text.push_str(&self.in_language(
                &format!("\n\nNot available right now: {gone}."),
                &format!("\n\nGår inte att få just nu: {gone}."),
            ));
        }
        if writes && labels.len() > 1 && matches!(why, Why::Several | Why::SomeUnusable(_)) {
            text.push_str(
                &self.in_language(
                    "\n\nNothing has been changed yet.",
                    "\n\nInget har ändrats ännu.",
                ),
            );
        }
        Reply { text, choices: self.build_choices(&labels, *why == Why::Confirm) }
    }

    /// Returns the rest of a list. The numbers continue.
    pub(super) fn show_more(&self, listing: Option<&Listing>) -> Reply {
        let found = listing.and_then(|listing| {
            Some((listing, self.book.packs[listing.pack].thing(&listing.thing)?))
        });
        let Some((listing, thing)) = found else {
            return self.plain_reply(
                "I cannot show more of that. Say what to look for.",
                "Mer av det kan jag inte visa. Säg vad jag ska leta efter.",
            );
        };
        if listing.hidden_items().is_empty() && listing.partial {
            return self.plain_reply(
                "I have no more than those: a search brings only its first ones. Say more words to narrow it down.",
                "Fler än så har jag inte: en sökning ger bara de första. Säg fler ord så blir den smalare.",
            );
        }
        if listing.hidden_items().is_empty() {
            return self.plain_reply("That is all there is.", "Det är allt som finns.");
        }
        let before = listing.shown_items().len();
        let line = |(i, item): (usize, &Value)| {
            format!("{}. {}", before + i + 1, self.item_label(thing, item))
        };
        let lines: Vec<String> =
            listing.hidden_items().iter().take(SHOWN).enumerate().map(line).collect();
        Reply { text: lines.join("\n"), choices: Vec::new() }
    }

    fn ask_for_thing(&self, thing: &Thing) -> Reply {
        let noun =
            self.lang.pick(&thing.nouns).cloned().unwrap_or_else(|| self.in_language("one", "en"));
        Reply {
            text: self.in_language(
                &format!("Which {noun} do you mean? Say its name, or what to look for."),
                &format!("Vilken {noun} menar du? Säg namnet, eller vad jag ska leta efter."),
            ),
            choices: Vec::new(),
        }
    }

    fn build_choices(&self, labels: &[String], confirm: bool) -> Vec<Choice> {
        if confirm && labels.len() == 1 {
            return vec![
                Choice {
                    label: self.in_language("Yes", "Ja"),
                    message: self.in_language("Yes", "Ja"),
                },
                Choice {
                    label: self.in_language("No", "Nej"),
                    message: self.in_language("No", "Nej"),
                },
            ];
        }
        let names: [&str; SHOWN] = match self.lang {
            Language::En => [
                "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth",
                "ninth",
            ],
            Language::Sv => [
                "första", "andra", "tredje", "fjärde", "femte", "sjätte", "sjunde", "åttonde",
                "nionde",
            ],
        };
        labels
            .iter()
            .zip(names)
            .map(|(label, name)| {
                let label = remove_markdown(label);
                // The button shows price and stock, but its message needs only the name.
                let said = label.split(" – ").next().unwrap_or(&label).to_owned();
                let message = self.in_language(
                    &format!("The {name} one: {said}"),
                    &format!("Den {name}: {said}"),
                );
                Choice { label, message }
            })
            .collect()
    }

    fn item_label(&self, thing: &Thing, item: &Value) -> String {
        self.lang
            .pick(&thing.label)
            .map(|text| template::label(text, self.lang, item))
            .unwrap_or_default()
    }

    fn nothing_found(&self, goal: &Goal, thing: &str, words: &[String]) -> Reply {
        let text = self.thing(goal, thing).and_then(|thing| self.lang.pick(&thing.none)).and_then(
            |text| template::render(text, self.lang, &json!({ "words": words.join(" ") })),
        );
        Reply {
            text: text.map(|text| remove_empty_lines(&text)).unwrap_or_else(|| {
                self.in_language(
                    "I found nothing like that. Try other words.",
                    "Jag hittade inget sådant. Prova med andra ord.",
                )
            }),
            choices: Vec::new(),
        }
    }
}

/// Removes empty lines at the ends, and repeated empty lines.
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
