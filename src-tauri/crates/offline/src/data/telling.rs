//! Writes the answers to the questions about sources of a message: figures, a choice of readings, words
//! that no reading uses, and questions that no query can say. Each button sends a question that is read
//! in one way. The figures themselves are written in `answer`.

use contract::{
    Choice, RememberedWord,
    metric_query::{AsOf, Condition, DataResult, MetricQuery, Test},
};
use messages::Language;
use questions::{Declined, Outcome, Reading, SpanMeaning, View};
use serde_json::json;

use super::{
    KnownSources,
    answer::Answer,
    asking::{PartEnd, read_result},
    part::{Part, is_same},
};
use crate::{
    reply::{Reply, Speaker},
    template::escape_markdown,
    texts::Text,
};

/// Writes the answers of a message.
pub(crate) struct Teller<'a> {
    /// Writes sentences.
    pub(crate) speaker: Speaker<'a>,
    /// The sources.
    pub(crate) known: &'a KnownSources,
    /// The moment.
    pub(crate) as_of: &'a AsOf,
}

impl Teller<'_> {
    /// Returns the answers to all questions of a message.
    pub(crate) fn tell(&self, parts: &[Part], ends: &[PartEnd]) -> Reply {
        let answers = parts.iter().zip(ends).map(|(part, end)| {
            let own = self.tell_part(part, end);
            if parts.len() == 1 {
                return own;
            }
            // The words of each question say which answer is whose.
            let words = part.words(&part.at).trim().trim_end_matches(['?', '.', '!', ',', ' ']);
            Reply { text: format!("{}: {}", escape_markdown(words), own.text), ..own }
        });
        answers.fold(Reply::default(), Reply::and)
    }

    fn tell_part(&self, part: &Part, end: &PartEnd) -> Reply {
        match end {
            PartEnd::Answer { reading, result } => {
                let text = read_result(result).map(|result| self.answer(part, reading, &result));
                let text = text.unwrap_or_else(|| self.speaker.say(Text::Done));
                Reply { text, choices: Vec::new() }
            }
            PartEnd::Ask(readings) => self.ask(part, readings),
            PartEnd::Failed(failure) => {
                Reply { text: self.speaker.explain_failure(failure), choices: Vec::new() }
            }
            PartEnd::Said => self.say_why_not(part),
            PartEnd::NotOffered => self.speaker.plain_reply(Text::ToolOff),
            PartEnd::Unfinished => self.speaker.plain_reply(Text::Unfinished),
        }
    }

    /// Returns the answer from a result, with what was corrected and assumed.
    fn answer(&self, part: &Part, reading: &Reading, result: &DataResult) -> String {
        let is_said = result.asked.as_ref().is_some_and(|asked| !asked.parts.is_empty());
        let asks_about_all = asks_about_all(part.words(&part.at));
        let KnownSources { catalog, .. } = self.known;
        let question = self.known.reader().say(&reading.query, catalog, self.language());
        let question = question.as_deref().unwrap_or_else(|| part.words(&part.at).trim());
        let speaker = self.speaker;
        let mut sources = catalog.sources.iter();
        let source = sources.find(|one| Some(one.name()) == reading.query.source.as_ref());
        let answer = Answer { speaker, reading, result, asks_about_all, question, source }.text();
        format!("{answer}{}{}", self.corrected(part, reading), self.assumed(reading, is_said))
    }

    /// Returns the language of questions that the reader says.
    fn language(&self) -> &'static str {
        let tag = self.speaker.lang.tag();
        if tag == "sv" { tag } else { "en" }
    }

    /// Returns a query as a question that is read as this query, and in no other way. A value of
    /// several dimensions needs the name of its own. The chart or file that was asked for stays.
    fn question(&self, query: &MetricQuery, view: Option<View>) -> Option<String> {
        let reader = self.known.reader();
        let KnownSources { catalog, names, .. } = self.known;
        let ways = ways_to_say(self.known, query, self.language());
        let language = Language::of_tag(self.language());
        let form = view.map(|view| text_of_view(view).text(language));
        let in_form =
            |form: &'static str| ways.iter().map(move |text| (format!("{text} {form}"), view));
        let plain = ways.iter().map(|text| (text.clone(), None));
        let mut texts = form.into_iter().flat_map(in_form).chain(plain);
        let is_read = |(text, view): &(String, Option<View>)| {
            let found = reader.read(text, names, catalog, self.as_of);
            let Outcome::One(read) = found else { return false };
            is_same(&read.query, query) && (view.is_none() || read.view == *view)
        };
        texts.find(is_read).map(|(text, _)| text)
    }

    /// Returns the line that names misspelled words.
    fn corrected(&self, part: &Part, reading: &Reading) -> String {
        let line = |correction: &questions::Correction| {
            let word = self.speaker.quote_words(&[part.words(&correction.at).to_owned()]);
            let name = escape_markdown(&correction.name.replace('_', " "));
            self.speaker.fill(Text::DataReadAs, &[("word", &word), ("name", &name)])
        };
        let lines: Vec<String> = reading.corrections.iter().map(line).collect();
        if lines.is_empty() { String::new() } else { format!("\n\n*{}*", lines.join(" ")) }
    }

    /// Returns the line that says the whole query, if parts of it are assumed and the result does not
    /// say it in words.
    fn assumed(&self, reading: &Reading, is_said: bool) -> String {
        if is_said || reading.assumed.is_empty() {
            return String::new();
        }
        let KnownSources { catalog, .. } = self.known;
        let said = self.known.reader().say(&reading.query, catalog, self.language());
        let line = said.map(|question| {
            let question = escape_markdown(&question);
            self.speaker.fill(Text::DataAssumed, &[("question", &question)])
        });
        line.map(|line| format!("\n\n*{line}*")).unwrap_or_default()
    }

    /// Asks which of several readings is meant.
    fn ask(&self, part: &Part, readings: &[Reading]) -> Reply {
        let choices: Vec<Choice> = readings
            .iter()
            .filter_map(|reading| {
                let question = self.question(&reading.query, reading.view)?;
                let remember = self.remembered(part, reading, readings);
                Some(Choice { remember, ..Choice::new(question.clone(), question) })
            })
            .collect();
        Reply { text: self.speaker.say(Text::DataSeveral), choices }
    }

    /// Returns the word that one reading understands in another way than the others. A person can have
    /// it understood so from now on.
    fn remembered(
        &self,
        part: &Part,
        reading: &Reading,
        readings: &[Reading],
    ) -> Option<RememberedWord> {
        let source = reading.query.source.clone()?;
        let is_the_same_source =
            |other: &&Reading| other.query.source.as_ref() == Some(&source) && *other != reading;
        let others = || readings.iter().filter(is_the_same_source);
        reading.spans.iter().find_map(|span| {
            let name = match &span.means {
                SpanMeaning::Measure(name) | SpanMeaning::Dimension(name) => name,
                SpanMeaning::Value { .. }
                | SpanMeaning::Source
                | SpanMeaning::Period(_)
                | SpanMeaning::Number
                | SpanMeaning::Operation
                | SpanMeaning::LeftOut => return None,
            };
            let differs = |other: &Reading| {
                let mut spans = other.spans.iter();
                spans.any(|one| one.at == span.at && one.means != span.means)
            };
            others().any(differs).then(|| RememberedWord {
                source: source.clone(),
                name: name.clone(),
                word: part.words(&span.at).to_owned(),
                language: self.language().to_owned(),
            })
        })
    }

    /// Says in one line why there is no answer, with the nearest question that has one.
    fn say_why_not(&self, part: &Part) -> Reply {
        match &part.outcome {
            Outcome::Partly { without, nearest } => {
                let words: Vec<String> =
                    without.iter().map(|at| part.words(at).to_owned()).collect();
                let words = self.speaker.quote_words(&words);
                match self.question(&nearest.query, nearest.view) {
                    Some(question) => {
                        let said = escape_markdown(&question);
                        let values: [(&str, &str); 2] = [("words", &words), ("question", &said)];
                        let text = self.speaker.fill(Text::DataWithout, &values);
                        Reply { text, choices: vec![Choice::new(question.clone(), question)] }
                    }
                    None => Reply {
                        text: self.speaker.fill(Text::DataUnknownWords, &[("words", &words)]),
                        choices: Vec::new(),
                    },
                }
            }
            Outcome::Declined { by, at } => {
                let words = self.speaker.quote_words(&[part.words(at).to_owned()]);
                let mut text = self.speaker.fill(text_of(*by), &[("words", &words)]);
                let nearest = self.nearest(part, *by, at);
                let nearest = nearest.and_then(|query| self.question(&query, None));
                if let Some(question) = &nearest {
                    let said = escape_markdown(question);
                    let next = self.speaker.fill(Text::DataNearest, &[("question", &said)]);
                    text = format!("{text} {next}");
                }
                let choices = nearest.map(|question| Choice::new(question.clone(), question));
                Reply { text, choices: choices.into_iter().collect() }
            }
            Outcome::One(_) | Outcome::Several(_) | Outcome::None => {
                self.speaker.plain_reply(Text::NotUnderstood)
            }
        }
    }

    /// Whether the answers name values of a source of which models on other computers do not get all
    /// data. Results of calls have a mark of their own, so this is about answers without a call.
    pub(crate) fn names_local_values(&self, parts: &[Part]) -> bool {
        let offered = |part: &Part| match &part.outcome {
            Outcome::Partly { nearest, .. } => Some(nearest.query.clone()),
            Outcome::Declined { by, at } => self.nearest(part, *by, at),
            Outcome::One(_) | Outcome::Several(_) | Outcome::None => None,
        };
        !self.known.limited.is_empty()
            && parts.iter().filter_map(offered).any(|query| self.has_local_values(&query))
    }

    fn has_local_values(&self, query: &MetricQuery) -> bool {
        let KnownSources { catalog, limited, .. } = self.known;
        let names_values = !query.conditions.is_empty()
            || query.measures.iter().any(|used| !used.conditions.is_empty())
            || query.compare.as_ref().is_some_and(|compare| !compare.values.is_empty());
        let is_limited = query.source.iter().any(|source| limited.contains(source));
        let joined = analytics::joined_sources(query, catalog);
        names_values && (is_limited || joined.iter().any(|source| limited.contains(source)))
    }

    /// Returns the nearest question to one that is declined: what an instruction would do, or the question
    /// without the words that are declined.
    fn nearest(
        &self,
        part: &Part,
        by: Declined,
        at: &std::ops::Range<usize>,
    ) -> Option<MetricQuery> {
        if by != Declined::Instruction {
            return self.without(part, at);
        }
        let request = part.words(&part.at).trim();
        let language = Language::of_tag(self.language());
        let text = Text::WhatIfMessage.fill(language, &[("request", request)]);
        let KnownSources { catalog, names, .. } = self.known;
        match self.known.reader().read(&text, names, catalog, self.as_of) {
            Outcome::One(reading) => Some(reading.query),
            Outcome::Several(readings) => readings.into_iter().next().map(|one| one.query),
            Outcome::Partly { .. } | Outcome::Declined { .. } | Outcome::None => None,
        }
    }

    /// Returns the question without some words, if that is one.
    fn without(&self, part: &Part, at: &std::ops::Range<usize>) -> Option<MetricQuery> {
        let before = part.text.get(part.at.start..at.start)?;
        let after = part.text.get(at.end..part.at.end)?;
        let KnownSources { catalog, names, .. } = self.known;
        let rest = format!("{before} {after}");
        match self.known.reader().read(&rest, names, catalog, self.as_of) {
            Outcome::One(reading) | Outcome::Partly { nearest: reading, .. } => Some(reading.query),
            Outcome::Several(_) | Outcome::Declined { .. } | Outcome::None => None,
        }
    }
}

/// Returns questions that say a query. None of them may be read as this query alone.
pub(super) fn ways_to_say(
    known: &KnownSources,
    query: &MetricQuery,
    language: &str,
) -> Vec<String> {
    let said = known.reader().say(query, &known.catalog, language);
    said.map(|said| vec![said.clone(), with_dimensions(said, query)]).unwrap_or_default()
}

/// Returns the words that ask for a form of the answer.
fn text_of_view(view: View) -> Text {
    match view {
        View::Chart => Text::AsChartMessage,
        View::Bar => Text::AsBarChartMessage,
        View::Line => Text::AsLineChartMessage,
        View::Table => Text::AsTableMessage,
        View::Csv => Text::AsCsvMessage,
    }
}

/// Whether a question is about all of its things, and not about any of them.
fn asks_about_all(text: &str) -> bool {
    let tokens = language::tokens(text);
    let is_said = |word: String| tokens.iter().any(|token| token.fold == word);
    let languages = ["en", "sv"].map(Language::of_tag).into_iter();
    let words = languages.flat_map(|one| Text::WordsForAllMessage.text(one).split_whitespace());
    words.map(language::fold).any(is_said)
}

/// Adds the name of its dimension before each value of a question.
fn with_dimensions(question: String, query: &MetricQuery) -> String {
    query.conditions.iter().fold(question, |text, condition| match condition {
        Condition::Is { name, test: Test::OneOf(values) | Test::NoneOf(values) } => {
            let mut named = text;
            for value in values {
                let quoted = json!(value).to_string();
                let name = name.replace('_', " ");
                named = named.replacen(&quoted, &format!("{name} {quoted}"), 1);
            }
            named
        }
        Condition::Is { .. } | Condition::And(_) | Condition::Or(_) | Condition::Not(_) => text,
    })
}

/// Returns the sentence about a kind of question that is not computed.
fn text_of(by: Declined) -> Text {
    match by {
        Declined::Forecast => Text::DataNoForecast,
        Declined::Cause => Text::DataNoCause,
        Declined::Significance => Text::DataNoSignificance,
        Declined::Funnel => Text::DataNoFunnel,
        Declined::Cohort => Text::DataNoCohort,
        Declined::Definition => Text::DataDefinition,
        Declined::WhatIf => Text::DataNoWhatIf,
        Declined::Instruction => Text::DataNoInstruction,
        Declined::Length => Text::DataTooLong,
    }
}
