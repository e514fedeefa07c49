//! The first and the last day of things: "campaigns ending in the next 10 days", "which end before 15
//! February", "when does X end", "list campaigns by end date". A plan says which columns have these days;
//! other sources say so by a name of the vocabulary. It must not know words of any language.

use chrono::{Datelike, Months, NaiveDate};
use contract::{
    definitions::{Calculation, Spread},
    metric_query::{Bounds, CalendarUnit, Condition, MeasureUse, Period, Scalar, Test},
    sources::ColumnKind,
};

use super::{Composer, grouping::order};
use crate::{
    items::{Atom, Item},
    meaning::{Bound, Meaning, Tense, TextTest},
    periods::{back, forward},
    tokens::name_words,
};

/// The words between a verb and its days.
const LEADS: [Meaning; 7] = [
    Meaning::Per,
    Meaning::By,
    Meaning::Within,
    Meaning::Coming,
    Meaning::Until,
    Meaning::Before,
    Meaning::After,
];

/// The day of a thing that is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    First,
    Last,
}

/// The days that bound an edge, and the last place of their words.
struct Days {
    from: Option<NaiveDate>,
    to: Option<NaiveDate>,
    last: usize,
    /// The length of time from today, if they are named so.
    within: Option<(u32, CalendarUnit)>,
}

impl Composer<'_> {
    /// Reads all words about first and last days.
    pub(super) fn read_flights(&mut self) {
        self.leave_states_with_days();
        for at in 0..self.len() {
            if let Some((edge, tense)) = self.edge_at(at).filter(|_| self.is_free(at)) {
                self.read_flight(at, edge, tense);
            }
        }
    }

    /// Leaves out states that are named with the words for an end and a day, if the source has no such day:
    /// "tar slut" alone is a state, "tar slut före den 15 december" is an end.
    fn leave_states_with_days(&mut self) {
        let has_day = self.edge_column(Edge::Last).is_some();
        let is_state =
            |at: &usize| self.value_at(*at).is_some() || self.dimension_at(*at).is_some();
        for at in (0..self.len()).filter(is_state).collect::<Vec<_>>() {
            let tokens = self.items[at].tokens.clone();
            let ends = |meaning: &Meaning| match meaning {
                Meaning::Ends(tense) => Some(*tense),
                _ => None,
            };
            let Some((end, tense)) = self.scan.phrase(tokens.start, ends) else { continue };
            let has_days = self.days_after(at, tense).is_some();
            if !has_day && end == tokens.end && has_days {
                self.items[at].atom = Atom::Words(Vec::new());
            }
        }
    }

    /// Returns the edge that a part is about, and whether it is over.
    fn edge_at(&self, at: usize) -> Option<(Edge, Tense)> {
        self.items.get(at)?.find(|meaning| match meaning {
            Meaning::Ends(tense) => Some((Edge::Last, *tense)),
            Meaning::Begins(tense) => Some((Edge::First, *tense)),
            Meaning::Text(TextTest::Ends) => Some((Edge::Last, Tense::Open)),
            Meaning::Starting => Some((Edge::First, Tense::Open)),
            _ => None,
        })
    }

    fn read_flight(&mut self, at: usize, edge: Edge, tense: Tense) {
        // "The week ending 15 November" is a week.
        let is_unit = at > 0 && self.unit_at(at - 1).is_some();
        // "Spend starting 1 November" is about the spend.
        let is_of_figure =
            self.previous(at).is_some_and(|before| self.measure_at(before).is_some());
        if is_unit || (is_of_figure && edge == Edge::First) {
            return;
        }
        match self.days_after(at, tense) {
            Some(days) => self.bound_edge(at, edge, &days),
            None => self.show_edge(at, edge),
        }
    }

    /// Reads the days behind a word such as "ending".
    fn days_after(&self, at: usize, tense: Tense) -> Option<Days> {
        let mut place = at + 1;
        let mut is_last = false;
        let is_led = |place: usize| {
            self.is_thin(place) || LEADS.iter().any(|meaning| self.means(place, meaning))
        };
        while is_led(place) {
            is_last |= self.means(place, &Meaning::By) || self.means(place, &Meaning::Until);
            place += 1;
        }
        let today = self.scan.today();
        if let Some(count) = self.number_at(place).and_then(|number| number.count())
            && let Some(unit) = self.unit_at(place + 1)
        {
            let to = forward(today, unit, count)?;
            let within = Some((count, unit));
            return Some(Days { from: Some(today), to: Some(to), last: place + 1, within });
        }
        // "Next month" is one of the calendar, "within a month" is a length of time.
        let is_length = (at + 1..place).any(|place| self.means(place, &Meaning::Within));
        if let Some(unit) = self.unit_at(place).filter(|_| is_length) {
            let (to, within) = (Some(forward(today, unit, 1)?), Some((1, unit)));
            return Some(Days { from: Some(today), to, last: place, within });
        }
        if let Some(unit) = self.next_unit(place) {
            let (_, last) = self.scan.days_of(&Period::This(unit))?;
            let from = last.succ_opt()?;
            let to = forward(from, unit, 1)?.pred_opt()?;
            let from = Some(from).filter(|_| !is_last);
            return Some(Days { from, to: Some(to), last: place, within: None });
        }
        if let Some(day) = self.day_of_year(place, tense) {
            let leads = |meaning: &Meaning| (at + 1..place).any(|at| self.means(at, meaning));
            let (from, to) = match (leads(&Meaning::Before), leads(&Meaning::After)) {
                (true, _) => (None, day.pred_opt()),
                (false, true) => (day.succ_opt(), None),
                (false, false) => (Some(day).filter(|_| !is_last), Some(day)),
            };
            return Some(self.not_over(Days { from, to, last: place, within: None }, tense));
        }
        let period = self.period_at(place).filter(|_| self.is_free(place))?;
        let (from, to) = match period {
            Period::Range { from, to } => (*from, *to),
            other => self.scan.days_of(other).map(|(from, to)| (Some(from), Some(to)))?,
        };
        let (from, to) = self.coming(place, (from, to), tense);
        let days = Days { from: from.filter(|_| !is_last), to, last: place, within: None };
        Some(self.not_over(days, tense))
    }

    /// Returns days from today on: what ends before a day to come has not ended yet.
    fn not_over(&self, days: Days, tense: Tense) -> Days {
        let today = self.scan.today();
        let is_open = tense == Tense::Open && days.to.is_some_and(|to| to >= today);
        Days { from: days.from.or(is_open.then_some(today)), ..days }
    }

    /// Returns the next or the last day of a year that has a name of its own.
    fn day_of_year(&self, at: usize, tense: Tense) -> Option<NaiveDate> {
        let [month, day] = self.items.get(at)?.find(|meaning| match meaning {
            Meaning::DayOfYear(day) => Some(*day),
            _ => None,
        })?;
        let today = self.scan.today();
        let own = NaiveDate::from_ymd_opt(today.year(), month, day)?;
        match (tense, own < today) {
            (Tense::Open, true) => forward(own, CalendarUnit::Year, 1),
            (Tense::Past, false) => back(own, CalendarUnit::Year, 1),
            (Tense::Open, false) | (Tense::Past, true) => Some(own),
        }
    }

    /// Returns the unit of the calendar after this one that a part names.
    fn next_unit(&self, at: usize) -> Option<CalendarUnit> {
        self.items.get(at)?.find(|meaning| match meaning {
            Meaning::NextUnit(unit) => Some(*unit),
            _ => None,
        })
    }

    /// Returns the days of a month without a year as those to come: elsewhere, a month is the last one.
    fn coming(
        &self,
        at: usize,
        (from, to): (Option<NaiveDate>, Option<NaiveDate>),
        tense: Tense,
    ) -> (Option<NaiveDate>, Option<NaiveDate>) {
        let tokens = || self.items[at].tokens.clone();
        let has_year = tokens().any(|token| {
            let digits = self.scan.tokens[token].fold.split(['-', '.']).next().map(str::len);
            let is_number = self.scan.tokens[token].fold.starts_with(|c: char| c.is_ascii_digit());
            is_number && digits == Some(4)
        });
        let is_named = tokens().any(|token| {
            let named = |meaning: &Meaning| {
                matches!(meaning, Meaning::Month(_) | Meaning::Quarter(_)).then_some(())
            };
            self.scan.phrase(token, named).is_some()
        });
        let is_past = to.or(from).is_some_and(|day| day < self.scan.today());
        if tense == Tense::Past || has_year || !is_named || !is_past {
            return (from, to);
        }
        let year = |day: NaiveDate| day.checked_add_months(Months::new(12));
        (from.and_then(year), to.and_then(year))
    }

    /// Reads a bound of a first or last day.
    fn bound_edge(&mut self, at: usize, edge: Edge, days: &Days) {
        let is_not = |place: &usize| self.means(*place, &Meaning::Not);
        let before = (0..at).rev().take_while(|place| self.is_thin(*place) || is_not(place));
        let not = before.into_iter().find(is_not);
        let words = || (at..=days.last).chain(not);
        let time_left = self.time_left().filter(|_| edge == Edge::Last);
        if let (Some((count, unit)), Some((name, own))) = (days.within, time_left) {
            let Some(value) = super::remaining::in_unit(count, unit, own) else { return };
            let bound = if not.is_some() { Bound::Above } else { Bound::To };
            words().for_each(|place| self.take(place));
            self.bound_to(at, days.last, &name, bound, value);
            return;
        }
        // The computed source knows which days are left.
        if days.within.is_some() && edge == Edge::Last && self.is_plan_of_another() {
            return;
        }
        let Some(used) = self.edge_measure(edge) else { return };
        let Some(name) = used.name.clone() else { return };
        let day = |day: Option<NaiveDate>| day.map(|day| Scalar::Text(day.to_string()));
        let test = match (not, days.from, days.to) {
            (None, from, to) => Bounds { from: day(from), to: day(to), ..Bounds::default() },
            (Some(_), from, to) if from.is_none_or(|from| from == self.scan.today()) => {
                Bounds { above: day(to), ..Bounds::default() }
            }
            (Some(_), from, None) => Bounds { below: day(from), ..Bounds::default() },
            (Some(_), Some(_), Some(_)) | (Some(_), None, _) => return,
        };
        words().for_each(|place| self.take(place));
        self.measures.push((at, used));
        self.bounds.push((at, Condition::Is { name, test: Test::Bounds(test) }));
        self.bound_spans.push((at, days.last));
        self.assume_things();
    }

    /// Reads "when does X end" and "campaigns by end date".
    fn show_edge(&mut self, at: usize, edge: Edge) {
        let before = self.previous(at);
        let leads = |meaning: &Meaning| before.is_some_and(|before| self.means(before, meaning));
        let is_order = leads(&Meaning::By) || leads(&Meaning::Sort);
        let is_name = self.is_noun(at);
        let when = self.places(&Meaning::When).first().copied().filter(|when| *when < at);
        if !is_order && !is_name && when.is_none() {
            return;
        }
        let Some(used) = self.edge_measure(edge) else { return };
        let Some(name) = used.name.clone() else { return };
        self.take(at);
        when.into_iter().for_each(|when| self.take(when));
        if let (true, Some(before)) = (is_order, before) {
            self.take(before);
            self.query.order.push(order(name, self.has(&Meaning::Descending)));
        }
        self.measures.push((at, used));
    }

    /// Whether the words of an edge are a noun: "end date". "The last day" may be yesterday.
    fn is_noun(&self, at: usize) -> bool {
        let tokens = self.items[at].tokens.clone();
        let lead = |meaning: &Meaning| matches!(meaning, Meaning::Relative(_)).then_some(());
        tokens.len() > 1
            && self.scan.phrase(tokens.start, lead).is_none()
            && !self.means(at, &Meaning::Text(TextTest::Ends))
    }

    /// Whether a source is the plan of a computed one, and the question names no source.
    fn is_plan_of_another(&self) -> bool {
        let own = self.scan.source.name();
        let is_own = |source: &analytics::SourceModel| {
            source.definitions.pacing.as_ref().is_some_and(|one| one.plan.source == *own)
        };
        let is_named = self.items.iter().any(|item| matches!(item.atom, Atom::Source));
        !is_named && self.scan.catalog.sources.iter().any(is_own)
    }

    /// Returns the first or last day of a thing as a figure.
    fn edge_measure(&self, edge: Edge) -> Option<MeasureUse> {
        let column = self.edge_column(edge)?;
        let (name, calculation) = match edge {
            Edge::First => ("first_day", Calculation::Least(column)),
            Edge::Last => ("last_day", Calculation::Greatest(column)),
        };
        let (name, calculation) = (Some(name.to_owned()), Some(calculation));
        Some(MeasureUse { calculation, name, ..MeasureUse::default() })
    }

    /// Returns the column with the first or last day: those of a plan, or the only one with such a name.
    fn edge_column(&self, edge: Edge) -> Option<String> {
        let definitions = &self.scan.source.definitions;
        if let Some(Spread::Days(days)) = &definitions.spread {
            let first = definitions.time.as_ref().map(|time| time.column.clone());
            return if edge == Edge::Last { Some(days.until.clone()) } else { first };
        }
        let concept = if edge == Edge::Last { "last_day" } else { "first_day" };
        let known = self.scan.lexicon.concepts.get(concept)?;
        let mut columns = self.scan.source.columns.iter().filter(|column| {
            matches!(column.kind, ColumnKind::Day | ColumnKind::Moment)
                && known.contains(&name_words(&column.name).concat())
        });
        columns.next().filter(|_| columns.next().is_none()).map(|column| column.name.clone())
    }
}

/// Whether a time to come only bounds the first or last day of things: "campaigns ending next month".
pub(super) fn is_bound_of_edge(items: &[Item], at: usize) -> bool {
    let is_edge = |item: &Item| {
        item.find(|m| matches!(m, Meaning::Ends(_) | Meaning::Begins(_)).then_some(())).is_some()
    };
    let is_coming = items[at].find(|m| matches!(m, Meaning::NextUnit(_)).then_some(()));
    is_coming.is_some()
        && items[..at].iter().rev().find(|item| !item.is_link()).is_some_and(is_edge)
}
