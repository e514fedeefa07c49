//! Reads a question over one source and over all of them, and decides which readings count. A reading
//! counts only if its query can be computed.

use std::ops::Range;

use analytics::{Catalog, Dialect, compile, resolve};
use contract::metric_query::{AsOf, MeasureUse, MetricQuery, TimeGrain};

use crate::{
    Names,
    candidates::{Candidate, SAME},
    central::outlook_of,
    choices::compose_all,
    compose::Composed,
    cover::{Cover, covers},
    edges::{LEFT, edges},
    families::leave_out_relatives,
    items::{Atom, Item},
    lexicon::Lexicon,
    meaning::Meaning,
    names::SourceNames,
    outcome::{Assumed, Correction, Declined, Outcome, Reading, Span, SpanMeaning},
    scan::Scan,
    tokens::{Kind, LONGEST, MOST, Token, tokens},
};

/// The most readings that are offered.
const OFFERED: usize = 4;
/// The most parts of which one is left out where a query cannot be computed.
const MOST_PARTS: usize = 12;
/// The cost of a value that is named twice: the second word rather is another thing of that name.
const REPEATED: u32 = 10;
/// The cost of a default.
const DEFAULT: u32 = 5;

/// The readings over one source.
#[derive(Debug, Default)]
pub(crate) struct Readings {
    /// Those that can be computed, the best first.
    pub candidates: Vec<Candidate>,
    /// The least cost at which the question is declined.
    pub declined: Option<(u32, Declined, Range<usize>)>,
}

/// The question and all that it is read with.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// The lexicon.
    pub lexicon: &'a Lexicon,
    /// The names of all sources.
    pub names: &'a Names,
    /// The sources.
    pub catalog: &'a Catalog,
    /// The moment.
    pub as_of: &'a AsOf,
}

/// Returns the tokens of a text, unless it is too long for a question.
pub(crate) fn short_tokens(text: &str) -> Option<Vec<Token>> {
    if text.len() > LONGEST {
        return None;
    }
    Some(tokens(text)).filter(|tokens| tokens.len() <= MOST)
}

impl Asked<'_> {
    /// Reads a question.
    pub fn read(&self, text: &str) -> Outcome {
        let Some(tokens) = short_tokens(text) else {
            return Outcome::Declined { by: Declined::Length, at: 0..text.len() };
        };
        let mut all = Readings::default();
        for place in self.named_sources(&tokens) {
            let found = self.read_source(&tokens, place);
            all.candidates.extend(found.candidates);
            let is_less = |(cost, ..): &(u32, Declined, Range<usize>)| {
                all.declined.as_ref().is_none_or(|(least, ..)| cost < least)
            };
            if found.declined.as_ref().is_some_and(is_less) {
                all.declined = found.declined;
            }
        }
        leave_out_relatives(self.catalog, &mut all.candidates);
        self.prefer_computed_future(&mut all);
        choose(all)
    }

    /// Leaves it out that figures of the future are declined if a computed source has those that are asked for.
    fn prefer_computed_future(&self, all: &mut Readings) {
        let is_computed = |one: &Candidate| {
            let query = &one.reading.query;
            let mut sources = self.catalog.sources.iter();
            let source = sources.find(|own| Some(own.name()) == query.source.as_ref());
            let outlook = source.and_then(outlook_of);
            let is_own = |used: &MeasureUse| used.measure.is_some() && used.measure == outlook;
            one.left.is_empty() && query.measures.iter().any(is_own)
        };
        let is_forecast = matches!(all.declined, Some((_, Declined::Forecast, _)));
        if is_forecast && all.candidates.iter().any(is_computed) {
            all.declined = None;
        }
    }

    /// Returns the sources that the text names, or else all.
    pub fn named_sources(&self, tokens: &[Token]) -> Vec<usize> {
        let all: Vec<usize> = (0..self.catalog.sources.len()).collect();
        let is_named = |place: &usize| {
            self.names.sources.get(*place).is_some_and(|names| self.is_named(names, tokens))
        };
        let named: Vec<usize> = all.iter().copied().filter(is_named).collect();
        if named.is_empty() { all } else { named }
    }

    /// Whether a text names a source: by several words, or by one after a word such as "in".
    fn is_named(&self, names: &SourceNames, tokens: &[Token]) -> bool {
        let words: Vec<usize> =
            (0..tokens.len()).filter(|at| tokens[*at].kind != Kind::Sign).collect();
        let is_lead = |at: usize| {
            let phrases = self.lexicon.phrases_at(tokens, at);
            let mut meanings = phrases.iter().flat_map(|(_, meanings)| meanings.iter());
            meanings.any(|meaning| matches!(meaning, Meaning::In | Meaning::From))
        };
        words.windows(names.source_words.max(1)).any(|window| {
            let key: String = window.iter().map(|at| tokens[*at].fold.as_str()).collect();
            let before = window[0].checked_sub(1);
            key == names.source && (names.source_words > 1 || before.is_some_and(is_lead))
        })
    }

    /// Reads a question over one source.
    pub fn read_source(&self, tokens: &[Token], place: usize) -> Readings {
        let mut found = Readings::default();
        let (Some(source), Some(names)) =
            (self.catalog.sources.get(place), self.names.sources.get(place))
        else {
            return found;
        };
        let scan = Scan::new(tokens, self.lexicon, source, self.catalog, self.as_of);
        let edges = edges(&scan, names);
        let is_useful = |atom: &Atom| {
            names_something(atom) || matches!(atom, Atom::Period { .. } | Atom::Words(_))
        };
        if !edges.iter().flatten().any(|edge| edge.atoms.iter().any(is_useful)) {
            return found;
        }
        let covers = covers(&edges);
        let mut enough = u32::MAX;
        let is_about = |cover: &&Cover| {
            cover.items.iter().any(is_name)
                || compares_periods(&cover.items)
                || implies_measure(&cover.items)
                || bounds_things(&cover.items)
        };
        for cover in covers.iter().filter(is_about) {
            if cover.cost > enough {
                break;
            }
            match compose_all(&scan, cover) {
                Ok(all) => {
                    let own = self.candidates(tokens, cover.cost, all);
                    let whole = own.iter().filter(|one| one.left.is_empty());
                    let least = whole.map(|one| one.cost + SAME).min();
                    enough = enough.min(least.unwrap_or(u32::MAX));
                    found.candidates.extend(own);
                }
                Err((by, at)) => {
                    if found.declined.is_none() {
                        let at = bytes(tokens, &cover.items[at].tokens);
                        found.declined = Some((cover.cost, by, at));
                    }
                }
            }
        }
        if let (true, Some(cover)) = (found.candidates.is_empty(), covers.first()) {
            found.candidates.extend(self.without_a_part(tokens, &scan, cover));
        }
        found.candidates.sort_by_key(|candidate| candidate.cost);
        found
    }

    /// Returns the readings of the same parts that can be computed. The choice of a figure costs nothing.
    fn candidates(&self, tokens: &[Token], cover: u32, all: Vec<Composed>) -> Vec<Candidate> {
        let all = all.into_iter().filter(|one| self.can_be_computed(&one.query));
        let mut found: Vec<Candidate> =
            all.map(|composed| candidate(tokens, cover, composed)).collect();
        let first = found.first().map(|one| (one.cost, one.reading.score));
        for (one, (cost, score)) in found.iter_mut().zip(first.into_iter().cycle()) {
            one.cost = cost;
            one.reading.score = score;
        }
        found
    }

    /// Reads a question whose query cannot be computed without the operation that it cannot have, such
    /// as hours of a source with days.
    fn without_a_part(
        &self,
        tokens: &[Token],
        scan: &Scan<'_>,
        cover: &Cover,
    ) -> Option<Candidate> {
        let places = (0..cover.items.len()).rev().filter(|at| {
            let item = &cover.items[*at];
            !is_name(item) && !item.is_link()
        });
        places.take(MOST_PARTS).find_map(|at| {
            let mut other = cover.clone();
            other.items.get_mut(at)?.atom = Atom::Left;
            let all = compose_all(scan, &other).ok()?;
            let cost = cover.cost.saturating_add(LEFT);
            self.candidates(tokens, cost, all).into_iter().next()
        })
    }

    /// Whether a query can be computed.
    pub fn can_be_computed(&self, query: &MetricQuery) -> bool {
        let resolved = resolve(query, self.catalog, self.as_of);
        resolved.is_ok_and(|resolved| compile(&resolved, self.catalog, Dialect::DuckDb).is_ok())
    }
}

/// Returns the bytes of some tokens.
pub(crate) fn bytes(tokens: &[Token], at: &Range<usize>) -> Range<usize> {
    let from = tokens.get(at.start).map_or(0, |token| token.range.start);
    let to = at.end.checked_sub(1).and_then(|last| tokens.get(last));
    from..to.map_or(from, |token| token.range.end)
}

/// Returns a composed question as a reading with its cost.
pub(crate) fn candidate(tokens: &[Token], cover: u32, composed: Composed) -> Candidate {
    let Composed { query, items, left, mut assumed, view, form, asked } = composed;
    let unread = |at: &&usize| items[**at].atom != Atom::Left;
    let more = u32::try_from(left.iter().filter(unread).count()).unwrap_or(u32::MAX);
    // The figures beside a verdict are one default.
    let is_measure = |one: &&Assumed| matches!(one, Assumed::Measure(_));
    let measures = assumed.iter().filter(is_measure).count();
    let defaults = assumed.len() - measures.saturating_sub(1);
    let defaults = u32::try_from(defaults).unwrap_or(u32::MAX);
    let cost = cover
        .saturating_add(REPEATED.saturating_mul(repeated(&items)))
        .saturating_add((SAME + 1).saturating_mul(mixed(&items)))
        .saturating_add(LEFT.saturating_mul(more))
        .saturating_add(DEFAULT.saturating_mul(defaults));
    for item in items.iter().filter(|item| !item.amounts.is_empty()) {
        if let Atom::Measure(name) = &item.atom
            && !assumed.contains(&Assumed::Amount(name.clone()))
        {
            assumed.push(Assumed::Amount(name.clone()));
        }
    }
    let mut corrections: Vec<Correction> = Vec::new();
    for correction in items.iter().filter_map(|item| item.correction.as_ref()) {
        if !corrections.contains(correction) {
            corrections.push(correction.clone());
        }
    }
    let spans = items.iter().enumerate().map(|(at, item)| Span {
        at: bytes(tokens, &item.tokens),
        means: span_meaning(item, left.contains(&at)),
    });
    let spans = spans.collect();
    // Values alone beside words that nobody knows are a chance: "pause Brand UK".
    let is_known = left.iter().all(|at| items[*at].atom != Atom::Left && !items[*at].is_soft());
    let is_member =
        |item: &Item| matches!(item.atom, Atom::Measure(_) | Atom::Dimension { .. } | Atom::Source);
    let names = items.iter().any(|item| is_member(item) || (is_known && is_name(item)))
        || (left.is_empty()
            && (compares_periods(&items) || implies_measure(&items) || bounds_things(&items)));
    let read = items.iter().filter(|item| !item.is_link()).count().saturating_sub(left.len());
    let left = left.iter().map(|at| bytes(tokens, &items[*at].tokens)).collect();
    let score = 1_000 - i32::try_from(cost).unwrap_or(i32::MAX / 2);
    let reading = Reading { query, score, spans, corrections, assumed, view, form, asked };
    Candidate { reading, cost, left, read, names }
}

/// Returns the number of values, measures and grains that are named again.
fn repeated(items: &[Item]) -> u32 {
    let is_value = |item: &&Item| matches!(item.atom, Atom::Value { is_part: false, .. });
    let values: Vec<&Atom> = items.iter().filter(is_value).map(|item| &item.atom).collect();
    let again = values.iter().enumerate().filter(|(at, value)| values[..*at].contains(value));
    let grains: Vec<TimeGrain> = items.iter().filter_map(grain_of).collect();
    let twice = grains.iter().enumerate().filter(|(at, grain)| grains[..*at].contains(grain));
    // "Sorted by clicks" names a measure again.
    let is_order = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| items.get(before));
        before.is_some_and(|item| item.means(&Meaning::Sort) || item.means(&Meaning::By))
    };
    let named = items.iter().enumerate();
    let named = named.filter(|(at, item)| matches!(item.atom, Atom::Measure(_)) && !is_order(*at));
    let measures: Vec<&Atom> = named.map(|(_, item)| &item.atom).collect();
    let same = measures.iter().enumerate().filter(|(at, one)| measures[..*at].contains(one));
    u32::try_from(again.count() + twice.count() + same.count()).unwrap_or(u32::MAX)
}

/// Returns the number of values that are joined to one of another dimension. "Sweden and Norway" rather are
/// two countries than a country and something else of that name.
fn mixed(items: &[Item]) -> u32 {
    let dimension = |item: &Item| match &item.atom {
        Atom::Value { dimension, .. } | Atom::Values { dimension, .. } => Some(dimension.clone()),
        _ => None,
    };
    let is_mixed = |window: &&[Item]| {
        let (first, last) = (dimension(&window[0]), dimension(&window[2]));
        window[1].means(&Meaning::And) && first.is_some() && last.is_some() && first != last
    };
    u32::try_from(items.windows(3).filter(is_mixed).count()).unwrap_or(u32::MAX)
}

fn grain_of(item: &Item) -> Option<TimeGrain> {
    item.find(|meaning| match meaning {
        Meaning::Grain(grain) => Some(*grain),
        Meaning::Unit(unit) => Some(crate::compose::grain_of(*unit)),
        _ => None,
    })
}

/// Whether a word implies what is asked for: "busiest day", "best sellers".
fn implies_measure(items: &[Item]) -> bool {
    let names_things = |meaning: &Meaning| {
        matches!(meaning, Meaning::Implied(implied) if implied.things.is_some()).then_some(())
    };
    if items.iter().any(|item| item.find(names_things).is_some()) {
        return true;
    }
    items.iter().any(|item| item.find(|m| matches!(m, Meaning::Implied(_)).then_some(())).is_some())
        && items.iter().any(|item| grain_of(item).is_some())
}

/// Whether parts ask for any things that end, are left or are off a plan by some number.
fn bounds_things(items: &[Item]) -> bool {
    let has = |fits: fn(&Meaning) -> bool| {
        items.iter().any(|item| item.find(|meaning| fits(meaning).then_some(())).is_some())
    };
    let is_number = |item: &Item| matches!(item.atom, Atom::Number(_) | Atom::Period { .. });
    let is_bound = has(|m| {
        matches!(m, Meaning::Ends(_) | Meaning::Begins(_) | Meaning::Remaining | Meaning::Bound(_))
    });
    let is_coming = has(|m| matches!(m, Meaning::NextUnit(_) | Meaning::DayOfYear(_)));
    has(|m| *m == Meaning::Any) && is_bound && (is_coming || items.iter().any(is_number))
}

/// Whether parts compare periods and name nothing else, so that they are about the main measure.
fn compares_periods(items: &[Item]) -> bool {
    let periods = items.iter().filter(|item| matches!(item.atom, Atom::Period { .. })).count();
    let is_compared = items.iter().any(|item| {
        item.means(&Meaning::Compare)
            || item.means(&Meaning::Versus)
            || item.find(|m| matches!(m, Meaning::Compared(_)).then_some(())).is_some()
    });
    let has_compared = items
        .iter()
        .any(|item| item.find(|m| matches!(m, Meaning::Compared(_)).then_some(())).is_some());
    let is_range = items.iter().any(|item| matches!(item.atom, Atom::Period { ends: Some(_), .. }));
    is_compared && (periods > 1 || is_range || (has_compared && periods > 0))
}

/// Whether a part names something of a source. The source itself counts with its rows.
fn is_name(item: &Item) -> bool {
    names_something(&item.atom)
}

fn names_something(atom: &Atom) -> bool {
    matches!(
        atom,
        Atom::Measure(_)
            | Atom::Dimension { .. }
            | Atom::Value { .. }
            | Atom::Values { .. }
            | Atom::Source
    )
}

fn span_meaning(item: &Item, is_left: bool) -> SpanMeaning {
    match &item.atom {
        _ if is_left => SpanMeaning::LeftOut,
        Atom::Measure(name) => SpanMeaning::Measure(name.clone()),
        Atom::Dimension { name, .. } => SpanMeaning::Dimension(name.clone()),
        Atom::Value { dimension, value, .. } => {
            SpanMeaning::Value { dimension: dimension.clone(), value: value.clone() }
        }
        Atom::Values { dimension, text, .. } => {
            SpanMeaning::Value { dimension: dimension.clone(), value: text.clone() }
        }
        Atom::Source => SpanMeaning::Source,
        Atom::Number(_) => SpanMeaning::Number,
        Atom::Period { period, .. } => SpanMeaning::Period(period.clone()),
        Atom::Words(_) => SpanMeaning::Operation,
        Atom::Left => SpanMeaning::LeftOut,
    }
}

/// Chooses among the readings over all sources.
fn choose(readings: Readings) -> Outcome {
    let mut candidates = readings.candidates;
    candidates.retain(|candidate| {
        candidate.names && joined(candidate.left.clone()).len() <= candidate.read + 2
    });
    candidates.sort_by_key(|candidate| candidate.cost);
    let best = candidates.first();
    // Another source may have the plan.
    let is_assumed =
        |best: &Candidate, by| by == Declined::WhatIf && !best.reading.query.what_if.is_empty();
    if let Some((cost, by, at)) = readings.declined
        && best.is_none_or(|best| cost <= best.cost && !is_assumed(best, by))
    {
        return Outcome::Declined { by, at };
    }
    let Some(best) = best.cloned() else { return Outcome::None };
    if !best.left.is_empty() {
        return Outcome::Partly { without: joined(best.left), nearest: Box::new(best.reading) };
    }
    let mut equal: Vec<Reading> = Vec::new();
    for other in candidates {
        let is_same = other.cost <= best.cost + SAME && other.left.is_empty();
        if is_same && !equal.iter().any(|own| own.query == other.reading.query) {
            equal.push(other.reading);
        }
    }
    equal.truncate(OFFERED);
    match equal.len() {
        0 | 1 => Outcome::One(Box::new(best.reading)),
        _ => Outcome::Several(equal),
    }
}

/// Joins the ranges of words that follow each other.
pub(crate) fn joined(ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match found.last_mut() {
            Some(last) if range.start <= last.end + 1 => last.end = last.end.max(range.end),
            _ => found.push(range),
        }
    }
    found
}
