//! Help with a question that is being typed: words that fit, words that the offline model would not
//! use, and questions to begin with. It reads what is known of the sources, asks no database, and
//! stores nothing.

use std::ops::Range;

use contract::{
    metric_query::AsOf,
    params::{
        CompletionKind, QuestionCompletion, QuestionCorrection, QuestionReadParams,
        QuestionReadResponse, QuestionSpan, QuestionSuggestionsParams, QuestionSuggestionsResponse,
    },
};
use engine::ports::{Models as _, Profile as _, Roster as _};
use offline::KnownSources;
use questions::{Outcome, Reading, Shown};

use crate::host::Host;

/// The most questions that are suggested at once.
const MOST_SUGGESTIONS: usize = 12;
/// The longest text in bytes that is read, because it is read at each pause of the person.
const LONGEST: usize = 4_000;
/// Answers to a message that is not understood.
const UNSURE: [&str; 2] = ["not_understood", "ask_again"];

impl Host {
    /// Reads a question that is being typed.
    pub(crate) async fn read_question(&self, params: &QuestionReadParams) -> QuestionReadResponse {
        let mut response = QuestionReadResponse {
            completions: Vec::new(),
            unused: Vec::new(),
            corrections: Vec::new(),
        };
        if params.text.len() > LONGEST {
            return response;
        }
        let Some(known) = self.sources.known().await else { return response };
        let text = without_mentions(&params.text, &self.names_of_specialists());
        let places = Places(&params.text);
        let KnownSources { catalog, names, .. } = known.as_ref();
        let cursor = places.byte_at(params.cursor);
        let found = known.reader().complete(&text, cursor, names, catalog, &params.language);
        let completed = |completion: questions::Completion| QuestionCompletion {
            from: places.unit_at(completion.replace.start),
            to: places.unit_at(completion.replace.end),
            kind: kind_of(completion.kind),
            insert: completion.insert,
            of: completion.of,
        };
        response.completions = found.into_iter().map(completed).collect();
        if self.is_read_offline(&text, params.before.is_some(), &known) {
            self.check_words(&text, params, &known, &mut response);
        }
        response
    }

    /// Adds the words that the offline model would not use, and those that it would correct.
    fn check_words(
        &self,
        text: &str,
        params: &QuestionReadParams,
        known: &KnownSources,
        response: &mut QuestionReadResponse,
    ) {
        let reader = known.reader();
        let KnownSources { catalog, names, .. } = known;
        let (as_of, before) = (self.as_of(), params.before.as_deref());
        let outcomes: Vec<Outcome> = match before {
            Some(before) => {
                let before = (before, &Shown::default());
                vec![reader.read_follow_up(text, before, names, catalog, &as_of).outcome]
            }
            None => {
                let parts = reader.read_parts(text, names, catalog, &as_of);
                parts.into_iter().map(|(_, outcome)| outcome).collect()
            }
        };
        // A text that is about no source may be about anything else that the assistant does.
        if outcomes.iter().all(|outcome| matches!(outcome, Outcome::None)) {
            return;
        }
        let places = Places(&params.text);
        let unused = reader.check(text, before, names, catalog, &as_of);
        response.unused = unused.iter().map(|at| places.span(at)).collect();
        let readings = outcomes.iter().filter_map(reading_of);
        let corrected = readings.flat_map(|reading| &reading.corrections).map(|correction| {
            let QuestionSpan { from, to } = places.span(&correction.at);
            QuestionCorrection { from, to, read_as: correction.name.clone() }
        });
        response.corrections = corrected.collect();
    }

    /// Returns questions that can be answered from the sources.
    pub(crate) async fn suggest_questions(
        &self,
        params: &QuestionSuggestionsParams,
    ) -> QuestionSuggestionsResponse {
        let Some(known) = self.sources.known().await else {
            return QuestionSuggestionsResponse { questions: Vec::new() };
        };
        let reader = known.reader();
        let KnownSources { catalog, names, values, .. } = known.as_ref();
        // The offline model reads questions in these two languages.
        let language = if params.language == "sv" { "sv" } else { "en" };
        let mut asked = catalog.clone();
        if let Some(source) = &params.source {
            asked.sources.retain(|one| one.name() == source);
        }
        let mut questions: Vec<String> = match &params.query {
            Some(query) => reader.say(query, &asked, language).into_iter().collect(),
            None => reader.suggest(&asked, values, language, MOST_SUGGESTIONS),
        };
        let (as_of, is_offline) = (self.as_of(), self.models.current(None).in_process());
        questions.retain(|text| {
            // Names of other sources may change how a question is read, and a pack may answer it.
            let Outcome::One(read) = reader.read(text, names, catalog, &as_of) else {
                return false;
            };
            let is_about = params.source.is_none() || read.query.source == params.source;
            is_about && (!is_offline || self.is_read_offline(text, false, &known))
        });
        questions.truncate(usize::try_from(params.limit).unwrap_or(MOST_SUGGESTIONS));
        QuestionSuggestionsResponse { questions }
    }

    /// Whether the offline model would answer this text from the sources. A language model reads
    /// every word.
    fn is_read_offline(&self, text: &str, goes_on: bool, known: &KnownSources) -> bool {
        if !self.models.current(None).in_process() {
            return false;
        }
        let explained = self.models.explain_message(text, self.now(), Some(known));
        let is_for_sources = match explained.otherwise.as_deref() {
            None => true,
            // It is explained as a first message. A question that goes on says less than that.
            Some(talk) => goes_on && UNSURE.contains(&talk),
        };
        is_for_sources && explained.goals.is_empty()
    }

    fn names_of_specialists(&self) -> Vec<String> {
        let agents = self.packs.tools.agents();
        let names = agents.iter().flat_map(|agent| [agent.name.clone(), agent.id.to_string()]);
        let mut names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        names
    }

    /// Returns the present moment in the time zone of the profile.
    fn as_of(&self) -> AsOf {
        let zone: chrono_tz::Tz = self.profile.time_zone().parse().unwrap_or(chrono_tz::UTC);
        let moment = self.now().with_timezone(&zone).naive_local();
        AsOf { moment, zone: zone.name().to_owned() }
    }
}

fn reading_of(outcome: &Outcome) -> Option<&Reading> {
    match outcome {
        Outcome::One(reading) => Some(reading),
        Outcome::Partly { nearest, .. } => Some(nearest),
        Outcome::Several(_) | Outcome::Declined { .. } | Outcome::None => None,
    }
}

fn kind_of(kind: questions::CompletionKind) -> CompletionKind {
    match kind {
        questions::CompletionKind::Measure => CompletionKind::Measure,
        questions::CompletionKind::Dimension => CompletionKind::Dimension,
        questions::CompletionKind::Value => CompletionKind::Value,
        questions::CompletionKind::Period => CompletionKind::Period,
        questions::CompletionKind::Operation => CompletionKind::Operation,
    }
}

/// Replaces the specialists that a text addresses with `@` by spaces of as many bytes. `names` has
/// the longest names first.
fn without_mentions(text: &str, names: &[String]) -> String {
    let mut left = text.to_owned();
    for (at, _) in text.match_indices('@') {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|sign| !sign.is_whitespace() && sign != '(') {
            continue;
        }
        let rest = &text[at + 1..];
        let is_named = |name: &&String| {
            let typed = rest.get(..name.len()).map(str::to_lowercase);
            let next = rest.get(name.len()..).and_then(|rest| rest.chars().next());
            typed == Some(name.to_lowercase()) && next.is_none_or(|sign| !sign.is_alphanumeric())
        };
        if let Some(name) = names.iter().find(is_named) {
            left.replace_range(at..=at + name.len(), &" ".repeat(name.len() + 1));
        }
    }
    left
}

/// Positions in a text: bytes for the reader, UTF-16 code units for pages.
struct Places<'a>(&'a str);

impl Places<'_> {
    /// Returns the byte of a code unit. A position inside a character is that of the character.
    fn byte_at(&self, unit: u32) -> usize {
        let unit = usize::try_from(unit).unwrap_or(usize::MAX);
        let mut units = 0;
        for (byte, sign) in self.0.char_indices() {
            units += sign.len_utf16();
            if units > unit {
                return byte;
            }
        }
        self.0.len()
    }

    fn unit_at(&self, byte: usize) -> u32 {
        let units = self.0.get(..byte).unwrap_or(self.0).encode_utf16().count();
        u32::try_from(units).unwrap_or(u32::MAX)
    }

    fn span(&self, at: &Range<usize>) -> QuestionSpan {
        QuestionSpan { from: self.unit_at(at.start), to: self.unit_at(at.end) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_code_units_for_pages_and_bytes_for_the_reader() {
        let places = Places("på 😀 x");
        assert_eq!(
            [0, 2, 3, 4, 5, 6, 7, 99].map(|unit| places.byte_at(unit)),
            [0, 3, 4, 4, 8, 9, 10, 10]
        );
        assert_eq!([0, 3, 4, 8, 9, 10].map(|byte| places.unit_at(byte)), [0, 2, 3, 5, 6, 7]);
    }

    #[test]
    fn a_specialist_that_is_addressed_is_no_part_of_the_question() {
        let names = ["Åke Berg".to_owned(), "Data".to_owned()];
        let read = |text: &str| without_mentions(text, &names);
        assert_eq!(read("@data spend"), "      spend");
        // The blanks are as many as the bytes of the mention.
        assert_eq!(
            read("spend, @Åke Berg: by week"),
            format!("spend, {}: by week", " ".repeat(10))
        );
        for text in ["@Database spend", "me@data", "@nobody spend", "@"] {
            assert_eq!(read(text), text);
        }
    }
}
