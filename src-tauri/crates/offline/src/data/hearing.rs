//! Decides whether a message asks the sources, the packs, or both: the side that leaves fewer of its words
//! over, and of two equal ones the one that it names. It must not know how either is answered.

use chrono::{DateTime, NaiveDate, Utc};
use contract::{
    manifest::SlotKind,
    metric_query::{AsOf, MetricQuery},
};
use questions::{Outcome, Reading};

use super::{
    KnownSources, Previous,
    fits::{DataFit, PackFit, names, names_only_things, readings_of},
    part::{Part, is_same},
    readings::ReadingKey,
    splitting::cuts,
    telling::ways_to_say,
};
use crate::{
    book::Book,
    goal::Doubt,
    handbook::{self, Answer},
    pattern::word_indices,
    reader::{Meaning, Reader, Talk},
    social::{self, Social},
    state::State,
    understand::understand,
};

/// The most words that are named as not understood.
const WORDS_NAMED: usize = 3;

/// The languages in which the reader says questions.
const SPOKEN: [&str; 2] = ["en", "sv"];

/// A message as it was understood.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard {
    /// The requests to packs, or the talk.
    pub(crate) meaning: Meaning,
    /// The questions about sources.
    pub(crate) parts: Vec<Part>,
    /// Whether these questions come before the requests.
    pub(crate) begins_with_data: bool,
}

impl Heard {
    fn of_pack(meaning: Meaning) -> Self {
        Self { meaning, parts: Vec::new(), begins_with_data: false }
    }

    fn of_data(meaning: &Meaning, parts: Vec<Part>) -> Self {
        let meaning = Meaning { lang: meaning.lang, ..Meaning::default() };
        Self { meaning, parts, begins_with_data: true }
    }

    /// Returns the tools that the message needs, in its order. The tool of metric queries stands for
    /// all questions about sources, also for those that it need not be called for.
    pub(crate) fn tools(&self, book: &Book) -> Vec<usize> {
        let data = book.data.filter(|_| !self.parts.is_empty()).map(|tools| tools.measure);
        let (first, last) = if self.begins_with_data { (data, None) } else { (None, data) };
        let goals = self.meaning.goals.iter().map(|goal| goal.tool);
        first.into_iter().chain(goals).chain(last).collect()
    }
}

/// The side that a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Data,
    Pack,
    /// A part of the message may be for each side.
    Open,
}

/// Understands messages in the state of a conversation.
pub(crate) struct Ear<'a> {
    /// The packs.
    pub(crate) book: &'a Book,
    /// The state before the message.
    pub(crate) state: &'a State,
    /// The day.
    pub(crate) today: NaiveDate,
    /// The sources.
    pub(crate) known: Option<&'a KnownSources>,
    /// The moment.
    pub(crate) as_of: &'a AsOf,
}

impl Ear<'_> {
    /// Understands a message.
    pub(crate) fn hear(&self, message: &str) -> Heard {
        let meaning = self.understand(message);
        let Some(known) = self.known.filter(|_| self.book.data.is_some()) else {
            return Heard::of_pack(meaning);
        };
        let parts = self.with_open_words(known, message, self.read(known, message));
        let own = self.data_fit(known, &parts);
        let pack = self.pack_fit(&meaning, &parts, own, message);
        let is_button = || own.is_full && own.names && self.is_whole(known, message);
        let side = match self.side(&meaning, own, pack) {
            Side::Open if is_button() => Side::Data,
            Side::Open => match self.divide(known, message) {
                Some(divided) => return divided,
                None => self.closer_side(own, pack),
            },
            side @ (Side::Data | Side::Pack) => side,
        };
        match side {
            Side::Data => {
                let is_read = |part: &Part| !matches!(part.outcome, Outcome::None);
                Heard::of_data(&meaning, parts.into_iter().filter(is_read).collect())
            }
            Side::Pack | Side::Open => Heard::of_pack(self.without_guess(meaning, message)),
        }
    }

    /// Names the words of a question about the past that a pack declines because of other words in it. A pack
    /// without periods cannot be meant: "what did we pay for water in October".
    fn without_guess(&self, meaning: Meaning, message: &str) -> Meaning {
        let Some(Talk::Cannot { pack, .. }) = meaning.talk else { return meaning };
        let words = self.words_of_past(pack, message);
        if words.is_empty() {
            return meaning;
        }
        Meaning { talk: Some(Talk::NotUnderstood(words)), ..meaning }
    }

    /// Returns the words of a question about the past that a pack does not know. Empty: it names no past, or
    /// the pack has periods.
    fn words_of_past(&self, pack: usize, message: &str) -> Vec<String> {
        let (book, tokens) = (self.book, self.book.read_words(message));
        let facts = self.reader().facts_of(&tokens);
        let is_past = |first: NaiveDate| first < self.today;
        let period = facts.period.filter(|period| period.start.is_some_and(is_past));
        let takes_days = |kind: &SlotKind| matches!(kind, SlotKind::DateStart | SlotKind::DateEnd);
        let has_periods =
            book.tools.iter().any(|tool| tool.pack == pack && tool.has_slot(takes_days));
        let Some(period) = period.filter(|_| !has_periods) else { return Vec::new() };
        let words = word_indices(&tokens);
        let declined = book.declined.find(&tokens, &words).into_iter();
        let refused: Vec<usize> = declined.flat_map(|(_, hit, _)| hit.used).collect();
        let is_foreign = |at: &usize| {
            let (word, own) = (&tokens[*at].norm, &book.packs[pack]);
            !refused.contains(at)
                && !period.at.contains(at)
                && !language::is_stop_word(word)
                && !language::is_small_talk(word)
                && !language::is_filler(word)
                && !own.is_vocabulary(word)
                && !own.describes(word)
        };
        let named = words.into_iter().filter(is_foreign).take(WORDS_NAMED);
        named.map(|at| tokens[at].raw.clone()).collect()
    }

    /// Leaves over the words that the question before left over, if a message goes on from that one: an answer
    /// would be without them.
    fn with_open_words(
        &self,
        known: &KnownSources,
        message: &str,
        mut parts: Vec<Part>,
    ) -> Vec<Part> {
        let open = &self.state.open_words;
        if open.is_empty() || self.is_whole(known, message) {
            return parts;
        }
        if let [part] = parts.as_mut_slice()
            && (part.goes_on || !readings_of(part).into_iter().any(names))
            && !readings_of(part).into_iter().any(names_only_things)
        {
            part.leave_over(open);
        }
        parts
    }

    fn understand(&self, message: &str) -> Meaning {
        understand(message, self.state, self.book, self.today)
    }

    /// Returns how well parts of a message fit the sources. The status of a computed source is named
    /// without a measure.
    fn data_fit(&self, known: &KnownSources, parts: &[Part]) -> DataFit {
        let mut own = DataFit::of(self.book, parts);
        own.names |= parts.iter().flat_map(readings_of).any(|one| is_computed(known, &one.query));
        own
    }

    /// Returns how well a message fits the packs. A refusal because of words that the sources know says
    /// nothing about them.
    fn pack_fit(&self, meaning: &Meaning, parts: &[Part], own: DataFit, message: &str) -> PackFit {
        let fit = PackFit::of(self.book, self.state, meaning, message);
        let is_refused =
            matches!(meaning.talk, Some(Talk::Cannot { .. } | Talk::Social(Social::OffTopic)));
        let is_about_data = own.names || own.declines;
        if !is_refused || !is_about_data {
            return fit;
        }
        let tokens = self.book.read_words(message);
        let words = word_indices(&tokens);
        let declined = self.book.declined.find(&tokens, &words).into_iter();
        let mut refused: Vec<usize> = declined.flat_map(|(_, hit, _)| hit.used).collect();
        refused.extend(social::tokens_off_topic(&tokens, &words));
        let left = DataFit::words_left(parts);
        let is_left = |at: &usize| {
            let word = &tokens[*at].fold;
            !language::is_stop_word(word) && left.contains(word)
        };
        let stands = refused.iter().any(is_left);
        PackFit { left: if stands { fit.left } else { usize::MAX }, ..fit }
    }

    /// Reads the questions about sources in a message.
    pub(crate) fn read(&self, known: &KnownSources, message: &str) -> Vec<Part> {
        let key = ReadingKey {
            message: message.to_owned(),
            asked: self.state.asked.clone(),
            day: self.as_of.moment.date(),
            zone: self.as_of.zone.clone(),
        };
        known.readings.find_or_add(key, || self.read_anew(known, message))
    }

    fn read_anew(&self, known: &KnownSources, message: &str) -> Vec<Part> {
        let going_on = self.read_on(known, message).filter(|_| !self.is_whole(known, message));
        let part = |outcome| Part {
            text: message.to_owned(),
            at: 0..message.len(),
            outcome,
            goes_on: true,
        };
        if let Some(outcome @ (Outcome::One(_) | Outcome::Several(_))) = going_on {
            return vec![part(outcome)];
        }
        let parts = self.read_alone(known, message);
        let alone = DataFit::of(self.book, &parts);
        let left_of = |parts: &[Part]| DataFit::of(self.book, parts).left;
        let next = going_on.filter(|_| !alone.is_full).map(|outcome| vec![part(outcome)]);
        // A message that names a measure of another source leaves fewer words over if it stands alone.
        match next {
            Some(next) if !alone.names || left_of(&next) <= alone.left => next,
            Some(_) | None => parts,
        }
    }

    fn read_alone(&self, known: &KnownSources, message: &str) -> Vec<Part> {
        let reader = known.reader();
        let found = reader.read_parts(message, &known.names, &known.catalog, self.as_of);
        let part = |(at, outcome)| Part { text: message.to_owned(), at, outcome, goes_on: false };
        found.into_iter().map(part).collect()
    }

    /// Whether a message is a question as the reader says it, such as the text of a button. It goes on
    /// from no other one, also if it names no measure.
    fn is_whole(&self, known: &KnownSources, message: &str) -> bool {
        let reader = known.reader();
        let found = reader.read(message, &known.names, &known.catalog, self.as_of);
        let Outcome::One(reading) = found else { return false };
        let mut ways = SPOKEN.into_iter().flat_map(|tag| ways_to_say(known, &reading.query, tag));
        ways.any(|said| said == message)
    }

    /// Reads a message that goes on from the last question, in each of the ways in which that one was
    /// read. None if it stands alone, or changes nothing.
    fn read_on(&self, known: &KnownSources, message: &str) -> Option<Outcome> {
        let mut readings: Vec<Reading> = Vec::new();
        for before in &self.state.asked {
            match self.read_after(known, message, before)? {
                Outcome::One(reading) => {
                    if !readings.iter().any(|one| is_same(&one.query, &reading.query)) {
                        readings.push(*reading);
                    }
                }
                other @ (Outcome::Several(_)
                | Outcome::Partly { .. }
                | Outcome::Declined { .. }
                | Outcome::None) => return Some(other),
            }
        }
        match readings.len() {
            0 | 1 => readings.pop().map(|reading| Outcome::One(Box::new(reading))),
            _ => Some(Outcome::Several(readings)),
        }
    }

    fn read_after(
        &self,
        known: &KnownSources,
        message: &str,
        before: &Previous,
    ) -> Option<Outcome> {
        let found = known.reader().read_follow_up(
            message,
            (&before.query, &before.shown),
            &known.names,
            &known.catalog,
            self.as_of,
        );
        // A question with several readings may go on as one of them.
        let is_open = self.state.asked.len() > 1;
        let is_new = |query: &MetricQuery| is_open || !is_same(query, &before.query);
        let changes = match &found.outcome {
            Outcome::One(reading) => reading.view.is_some() || is_new(&reading.query),
            Outcome::Several(_) | Outcome::Partly { .. } | Outcome::Declined { .. } => true,
            Outcome::None => false,
        };
        (changes && !found.kept.is_empty()).then_some(found.outcome)
    }

    fn side(&self, meaning: &Meaning, own: DataFit, pack: PackFit) -> Side {
        if self.has_open_question() {
            let is_new = is_lost(meaning) && own.is_full && (own.names || own.names_value);
            return if is_new { Side::Data } else { Side::Pack };
        }
        if matches!(meaning.talk, Some(Talk::More | Talk::Dropped)) {
            return Side::Pack;
        }
        // "Increase the budget" asks for a change of the world, and for no figure.
        let is_refused = matches!(meaning.talk, Some(Talk::Cannot { .. }));
        if is_refused && own.guesses_change {
            return Side::Pack;
        }
        // "Spend in October, and how do I export it?" has a part for each side.
        let may_have_both = own.left > 0 && !own.is_none && !(pack.is_full && pack.left == 0);
        if pack.writes || may_have_both { Side::Open } else { self.closer_side(own, pack) }
    }

    /// Returns the side that leaves fewer words over.
    fn closer_side(&self, own: DataFit, pack: PackFit) -> Side {
        // A change is only asked for if a person means it, so a part of a question is not preferred.
        // A thing that only a source names is no thing of a pack.
        let is_named = pack.is_foreign && (own.tells || (own.is_full && own.names));
        // "With 700 instead" is about the budget that was assumed before.
        let goes_on = own.goes_on && own.is_full && own.assumes && self.state.is_after_data;
        // "And how much a day", after a figure, is no question about the product.
        let is_next = own.goes_on && own.names && self.state.is_after_data && pack.is_section;
        let is_of_data = is_named || goes_on || is_next;
        let is_change = pack.writes && !(pack.refuses && own.is_full) && !is_of_data;
        if own.is_none || is_change {
            return Side::Pack;
        }
        let of_data = (own.left, own.claim(self.state.is_after_data));
        if is_of_data {
            return Side::Data;
        }
        if of_data < (pack.left, pack.claim()) { Side::Data } else { Side::Pack }
    }

    /// Whether a pack waits for an answer. A refusal because of unused words waits for none.
    fn has_open_question(&self) -> bool {
        let is_refusal =
            |doubt: &Option<Doubt>| matches!(doubt, Some(Doubt::Unused(_) | Doubt::UnknownName(_)));
        self.state.pending.as_ref().is_some_and(|pending| !is_refusal(&pending.goal.doubt))
    }

    /// Divides a message into a question about a source and a request to a pack, or a question about the
    /// product. Each must use all of its words.
    fn divide(&self, known: &KnownSources, message: &str) -> Option<Heard> {
        cuts(message).into_iter().find_map(|cut| {
            let (first, rest) = (message.get(..cut.at.start)?, message.get(cut.at.end..)?);
            let data_first = || self.pair(known, first, rest, true);
            data_first().or_else(|| {
                let is_open = !cut.ends_sentence && self.takes_the_rest(first);
                // "How do I export spend and clicks" is one question.
                let is_one = |heard: &Heard| !cut.ends_sentence && has_section(&heard.meaning);
                self.pair(known, rest, first, false).filter(|heard| !is_open && !is_one(heard))
            })
        })
    }

    fn pair(
        &self,
        known: &KnownSources,
        data: &str,
        pack: &str,
        begins_with_data: bool,
    ) -> Option<Heard> {
        let parts = self.read_alone(known, data);
        let own = self.data_fit(known, &parts);
        if !own.is_full || !own.names {
            return None;
        }
        let meaning = self.understand(pack);
        let fits = PackFit::of(self.book, self.state, &meaning, pack);
        let is_request = fits.is_full && (fits.writes || self.is_strong(pack));
        // A question in a list of words may look like a section.
        let is_about_product = has_section(&meaning) && handbook::asks_how(pack);
        let is_other = is_request || is_about_product;
        is_other.then_some(Heard { meaning, parts, begins_with_data })
    }

    fn reader(&self) -> Reader<'_> {
        Reader { book: self.book, state: self.state, today: self.today }
    }

    /// Whether a phrase of a pack matches, and not only names or dates.
    fn is_strong(&self, text: &str) -> bool {
        let (reader, tokens) = (self.reader(), self.book.read_words(text));
        let facts = reader.facts_of(&tokens);
        reader.best_candidate(&tokens, &facts).is_some_and(|found| found.strong)
    }

    /// Whether a request takes the words after it verbatim.
    fn takes_the_rest(&self, text: &str) -> bool {
        self.reader().takes_verbatim(&self.book.read_words(text))
    }
}

/// Whether a query asks a source that is computed from others.
fn is_computed(known: &KnownSources, query: &MetricQuery) -> bool {
    let mut sources = known.catalog.sources.iter();
    let source = sources.find(|source| Some(source.name()) == query.source.as_ref());
    source.is_some_and(|source| source.definitions.pacing.is_some())
}

/// Whether neither a pack nor the handbook understands a message.
fn is_lost(meaning: &Meaning) -> bool {
    matches!(
        meaning.talk,
        Some(Talk::AskAgain | Talk::NotUnderstood(_) | Talk::Handbook(Answer::Missing { .. }))
    )
}

/// Whether a section of the handbook answers a message.
fn has_section(meaning: &Meaning) -> bool {
    matches!(meaning.talk, Some(Talk::Handbook(Answer::Section(_))))
}

/// Returns a moment in a time zone such as `Europe/Stockholm`.
pub(crate) fn moment(now: DateTime<Utc>, zone: &str) -> AsOf {
    let zone: chrono_tz::Tz = zone.parse().unwrap_or(chrono_tz::UTC);
    AsOf { moment: now.with_timezone(&zone).naive_local(), zone: zone.name().to_owned() }
}
