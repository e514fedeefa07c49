//! Reads a text that asks several questions: sentences that stand alone, and halves that one query
//! cannot say. It must not know how a question is read.

use std::ops::Range;

use contract::metric_query::MetricQuery;

use crate::{
    follow_up::{FollowUp, Shown},
    meaning::{Meaning, Refer},
    outcome::{Assumed, Form, Outcome, Reading, SpanMeaning},
    reading::{Asked, short_tokens},
    tokens::{Kind, Token},
};

/// The most questions of a text.
const MOST: usize = 4;
/// The most places at which a text is divided.
const MOST_CUTS: usize = 6;

/// A part of a text with its reading.
type Part = (Range<usize>, Outcome);

/// A place where a text may be divided.
#[derive(Clone, Copy, Debug)]
struct Cut {
    /// The bytes of the word or sign between both parts.
    from: usize,
    to: usize,
    /// Whether a sentence ends here.
    is_end: bool,
    /// Whether a question of its own begins here.
    is_question: bool,
    /// Whether what follows asks what will be, so that no query says both.
    is_apart: bool,
}

impl Asked<'_> {
    /// Reads each question of a text.
    pub fn read_parts(&self, text: &str) -> Vec<Part> {
        self.read_some(text, MOST)
    }

    /// Reads at most some questions of a text.
    fn read_some(&self, text: &str, most: usize) -> Vec<Part> {
        let whole = |found: Outcome| vec![(0..text.len(), found)];
        let Some(tokens) = short_tokens(text).filter(|_| most > 1) else {
            return whole(self.read(text));
        };
        let cuts = self.cuts(&tokens);
        let mut ends = cuts.iter().filter(|cut| cut.is_end && self.stands_alone(text, **cut));
        if let Some(parts) = ends.find_map(|cut| self.divide(text, *cut, most)) {
            return parts;
        }
        let mut questions = cuts.iter().filter(|cut| cut.is_question && !cut.is_end);
        let are_two = |cut: &Cut, parts: &Vec<Part>| {
            let refers = text.get(cut.to..).is_some_and(|rest| self.is_about_those(rest));
            cut.is_apart || refers || are_two_questions(parts) || have_same_figures(parts)
        };
        if let Some(parts) = questions
            .find_map(|cut| self.divide(text, *cut, most).filter(|parts| are_two(cut, parts)))
        {
            return parts;
        }
        let found = self.read(text);
        if matches!(found, Outcome::One(_) | Outcome::Several(_)) {
            return whole(found);
        }
        let parts = cuts.iter().find_map(|cut| self.divide(text, *cut, most));
        parts.unwrap_or_else(|| whole(found))
    }

    /// Whether the text behind a cut says what it asks for.
    fn stands_alone(&self, text: &str, cut: Cut) -> bool {
        let found = text.get(cut.to..).map(|rest| self.read(rest));
        matches!(found, Some(Outcome::One(reading)) if names_a_measure(&reading))
    }

    /// Returns the places where a text may be divided.
    fn cuts(&self, tokens: &[Token]) -> Vec<Cut> {
        let mut cuts: Vec<Cut> = Vec::new();
        for at in 1..tokens.len().saturating_sub(1) {
            let token = &tokens[at];
            let is_end = token.kind == Kind::Sign && [".", "?", "!", ";"].contains(&&*token.fold);
            let phrases = self.lexicon.phrases_at(tokens, at);
            let joiner = phrases.iter().rev().find(|(_, all)| all.contains(&Meaning::And));
            let len = match joiner {
                // A stroke is a part of a day or of a name.
                Some(_) if token.kind == Kind::Sign && token.is_glued && token.fold != "," => {
                    continue;
                }
                Some((len, _)) => *len,
                None if is_end => 1,
                None => continue,
            };
            if let Some(last) = cuts.last_mut()
                && last.to == token.range.start
            {
                // A comma and an "and" are one place.
                let to = tokens[at + len - 1].range.end;
                last.to = tokens.get(at + len).map_or(to, |next| next.range.start);
                last.is_question |= self.asks_anew(tokens, at + len);
                last.is_apart |= self.has_at(tokens, at + len, |m| *m == Meaning::Will);
                continue;
            }
            let to = tokens[at + len - 1].range.end;
            let to = tokens.get(at + len).map_or(to, |next| next.range.start);
            let is_question = self.asks_anew(tokens, at + len);
            let is_apart = self.has_at(tokens, at + len, |m| *m == Meaning::Will);
            cuts.push(Cut { from: token.range.start, to, is_end, is_question, is_apart });
        }
        cuts.truncate(MOST_CUTS);
        cuts
    }

    /// Whether a token begins words with one of some meanings.
    fn has_at(&self, tokens: &[Token], at: usize, fits: impl Fn(&Meaning) -> bool) -> bool {
        if at >= tokens.len() {
            return false;
        }
        let phrases = self.lexicon.phrases_at(tokens, at);
        phrases.iter().flat_map(|(_, meanings)| meanings.iter()).any(fits)
    }

    /// Whether a question of its own begins at a token: with a rank, a question word, or "why".
    fn asks_anew(&self, tokens: &[Token], at: usize) -> bool {
        let is_asked = |meaning: &Meaning| {
            matches!(
                meaning,
                Meaning::Rank(_)
                    | Meaning::Which
                    | Meaning::Explain
                    | Meaning::When
                    | Meaning::Will
                    | Meaning::Count
                    | Meaning::Extent
            )
        };
        let begins = |at: usize| self.has_at(tokens, at, is_asked);
        let is_empty = tokens.get(at).is_some_and(|token| {
            token.kind == Kind::Number || self.lexicon.is_empty_word(&token.fold)
        });
        begins(at) || (is_empty && at + 1 < tokens.len() && begins(at + 1))
    }

    /// Divides a text in two. Each part must be a question that names a measure or goes on from the first one.
    fn divide(&self, text: &str, cut: Cut, most: usize) -> Option<Vec<Part>> {
        let (first, rest) = (0..cut.from, cut.to..text.len());
        let first_text = text.get(first.clone())?;
        let rest_text = text.get(rest.clone())?;
        let left = self.read(first_text);
        let own = own_reading(&left, cut)?;
        // "The top 3 campaigns and their clicks" are known only when the first part is computed.
        let is_cut = own.query.limit.is_some() || own.query.top.is_some();
        if is_cut && self.refers(rest_text) {
            return None;
        }
        let mut others: Vec<Part> = Vec::new();
        let mut query = own.query.clone();
        for (at, alone) in self.read_some(rest_text, most - 1) {
            let part = rest_text.get(at.clone())?;
            let found = self.after(part, alone, &query)?;
            if let Outcome::One(reading) = &found {
                query = reading.query.clone();
            }
            let at = rest.start + at.start..rest.start + at.end;
            others.push((at.clone(), moved(found, at.start)));
        }
        let left = match others.as_slice() {
            [(_, Outcome::One(right))] if !cut.is_end && is_bare(&own.query) => {
                self.with_the_rest(text, first_text, right).unwrap_or(left)
            }
            _ => left,
        };
        let mut parts = vec![(first, left)];
        parts.append(&mut others);
        (parts.len() <= MOST).then_some(parts)
    }

    /// Whether a text refers to what was shown.
    fn refers(&self, text: &str) -> bool {
        let tokens = short_tokens(text).unwrap_or_default();
        let is_pronoun = |meaning: &Meaning| {
            matches!(meaning, Meaning::Refer(Refer::Their | Refer::Them | Refer::It))
        };
        (0..tokens.len()).any(|at| self.has_at(&tokens, at, is_pronoun))
    }

    /// Whether a text is about the things of the part before it. Articles are no pronouns: "the three best" in
    /// Swedish.
    fn is_about_those(&self, text: &str) -> bool {
        let tokens = short_tokens(text).unwrap_or_default();
        let is_verb = |meaning: &Meaning| matches!(meaning, Meaning::IsIt | Meaning::Will);
        let is_link = |at: usize| {
            tokens
                .get(at)
                .is_none_or(|token| token.kind == Kind::Sign || self.has_at(&tokens, at, is_verb))
        };
        let is_asked = |at: usize| at.checked_sub(1).is_some_and(is_link);
        let is_rank = |at: usize| {
            let is_number = tokens.get(at).is_some_and(|token| token.kind == Kind::Number);
            is_number
                || self.has_at(&tokens, at, |m| matches!(m, Meaning::Rank(_) | Meaning::First))
        };
        (0..tokens.len()).any(|at| {
            self.lexicon.phrases_at(&tokens, at).iter().any(|(len, meanings)| {
                meanings.iter().any(|meaning| match meaning {
                    Meaning::Refer(Refer::Their) => true,
                    Meaning::Refer(Refer::It | Refer::Them) => {
                        *len > 1 || is_link(at + 1) || (is_asked(at) && !is_rank(at + 1))
                    }
                    // "How many tickets were there" refers to nothing.
                    Meaning::Refer(Refer::There) => !is_asked(at),
                    _ => false,
                })
            })
        })
    }

    /// Reads a later part. A part without a period is about that of the question before it.
    fn after(&self, text: &str, alone: Outcome, before: &MetricQuery) -> Option<Outcome> {
        let goes_on = || {
            let FollowUp { outcome, kept } = self.read_follow_up(text, before, &Shown::default());
            Some(outcome).filter(|found| !kept.is_empty() && matches!(found, Outcome::One(_)))
        };
        // "Which campaign there" is about what the part before it is about.
        if self.is_about_those(text)
            && !before.conditions.is_empty()
            && let Some(found) = goes_on()
        {
            return Some(found);
        }
        match alone {
            Outcome::One(mut reading) if names_a_measure(&reading) => {
                let period = before.period.clone();
                if reading.query.period.is_none() && period.is_some() {
                    let mut query = reading.query.clone();
                    query.period = period;
                    if self.can_be_computed(&query) {
                        reading.query = query;
                        reading.assumed.push(Assumed::Period);
                    }
                }
                Some(Outcome::One(reading))
            }
            Outcome::Declined { .. } | Outcome::Several(_) => Some(alone),
            Outcome::One(_) | Outcome::Partly { .. } | Outcome::None => goes_on(),
        }
    }

    /// Reads a first part that is only a measure with all that the second part says behind its own:
    /// "spend and budget by campaign".
    fn with_the_rest(&self, text: &str, first: &str, right: &Reading) -> Option<Outcome> {
        let measure = right.spans.iter().find(|span| is_measure(&span.means))?;
        let rest = text.get(measure.at.end..)?;
        match self.read(&format!("{first} {rest}")) {
            Outcome::One(mut reading) => {
                reading.spans.retain(|span| span.at.end <= first.len());
                reading.corrections.retain(|correction| correction.at.end <= first.len());
                Some(Outcome::One(reading))
            }
            Outcome::Several(_)
            | Outcome::Partly { .. }
            | Outcome::Declined { .. }
            | Outcome::None => None,
        }
    }
}

/// Whether the later parts have groups of their own, which those of the first part do not have. "Spend by
/// campaign, top 5" is one question.
fn are_two_questions(parts: &[Part]) -> bool {
    let groups = |outcome: &Outcome| match outcome {
        Outcome::One(reading) if names_a_measure(reading) => {
            let is_assumed = reading
                .assumed
                .iter()
                .any(|assumed| matches!(assumed, Assumed::Grain | Assumed::Dimension(_)));
            let is_why = reading.query.explain.is_some();
            Some((reading.query.by.clone(), is_why)).filter(|_| !is_assumed)
        }
        Outcome::One(_)
        | Outcome::Several(_)
        | Outcome::Partly { .. }
        | Outcome::Declined { .. }
        | Outcome::None => None,
    };
    let Some(((_, first), rest)) = parts.split_first() else { return false };
    let own = groups(first).map(|(by, _)| by).unwrap_or_default();
    rest.iter().all(|(_, other)| {
        groups(other).is_some_and(|(by, is_why)| is_why || (!by.is_empty() && by != own))
    })
}

/// Whether all parts ask for the same figures under other conditions: "how many are open, and how many are
/// late". One query says no more than one of them.
fn have_same_figures(parts: &[Part]) -> bool {
    let queries: Vec<&MetricQuery> = parts
        .iter()
        .filter_map(|(_, outcome)| match outcome {
            Outcome::One(reading) => Some(&reading.query),
            Outcome::Several(_)
            | Outcome::Partly { .. }
            | Outcome::Declined { .. }
            | Outcome::None => None,
        })
        .collect();
    let Some((first, rest)) = queries.split_first() else { return false };
    let is_other = |other: &&&MetricQuery| {
        other.measures == first.measures
            && other.conditions != first.conditions
            && !other.conditions.is_empty()
    };
    queries.len() == parts.len() && !rest.is_empty() && rest.iter().all(|one| is_other(&one))
}

/// Returns the reading of a first part that counts alone.
fn own_reading(outcome: &Outcome, cut: Cut) -> Option<&Reading> {
    let is_asked = cut.is_end || cut.is_question;
    let is_limited = |reading: &Reading| !reading.query.conditions.is_empty();
    match outcome {
        Outcome::One(reading) => Some(reading.as_ref()).filter(|reading| {
            names_a_measure(reading)
                || asks_about_values(reading)
                || (is_asked && is_limited(reading))
        }),
        Outcome::Several(_) | Outcome::Partly { .. } | Outcome::Declined { .. } | Outcome::None => {
            None
        }
    }
}

/// Whether a text says what it asks for, so that it stands alone.
fn names_a_measure(reading: &Reading) -> bool {
    let is_assumed = |assumed: &Assumed| matches!(assumed, Assumed::Measure(_));
    !reading.assumed.iter().any(is_assumed)
}

/// Whether a text is a question about some values: "what did we do for Easter".
fn asks_about_values(reading: &Reading) -> bool {
    reading.form == Form::Which && !reading.query.conditions.is_empty()
}

fn is_measure(meaning: &SpanMeaning) -> bool {
    matches!(meaning, SpanMeaning::Measure(_))
}

/// Whether a query only has measures.
fn is_bare(query: &MetricQuery) -> bool {
    let bare = MetricQuery {
        source: query.source.clone(),
        measures: query.measures.clone(),
        ..MetricQuery::default()
    };
    *query == bare
}

/// Returns an outcome with its places in the whole text.
fn moved(outcome: Outcome, by: usize) -> Outcome {
    let move_range = |at: &mut Range<usize>| *at = at.start + by..at.end + by;
    let move_reading = |reading: &mut Reading| {
        reading.spans.iter_mut().for_each(|span| move_range(&mut span.at));
        reading.corrections.iter_mut().for_each(|correction| move_range(&mut correction.at));
    };
    match outcome {
        Outcome::One(mut reading) => {
            move_reading(&mut reading);
            Outcome::One(reading)
        }
        Outcome::Several(mut readings) => {
            readings.iter_mut().for_each(move_reading);
            Outcome::Several(readings)
        }
        Outcome::Partly { mut without, mut nearest } => {
            without.iter_mut().for_each(move_range);
            move_reading(&mut nearest);
            Outcome::Partly { without, nearest }
        }
        Outcome::Declined { by: why, mut at } => {
            move_range(&mut at);
            Outcome::Declined { by: why, at }
        }
        Outcome::None => Outcome::None,
    }
}
