//! Questions about states, such as a status or a yes and no: "is A behind", "anything overdue in B", "how many
//! have ended". A state is asked for, or a condition on things. It must not know which states there are.

use contract::{
    definitions::{Calculation, DimensionKind},
    metric_query::{Bounds, CalendarUnit, Condition, Group, MeasureUse, Period, Scalar, Test},
    sources::ColumnKind,
};

use super::Composer;
use crate::{
    central::{judged_figures, judged_level, judged_thing},
    items::{Atom, Item},
    meaning::Meaning,
    names::HOLDS,
    outcome::{Assumed, Form},
    tokens::name_words,
};

/// The concept of the vocabulary whose dimensions are states.
const STATES: &str = "status";
/// The verdicts at the end of a period.
const FINAL: usize = 3;

impl Composer<'_> {
    /// Reads the states of a question. Those that stay are conditions, which other rules read.
    pub(super) fn read_states(&mut self) {
        self.leave_open_periods();
        self.judge_at_the_end();
        if self.states().is_empty() {
            return;
        }
        self.skip_today();
        self.skip_last_word();
        self.list_described_things();
        self.count_in_state();
        self.list_unnamed_things();
        self.read_state_question();
    }

    /// Returns the places of free values that are states.
    fn states(&self) -> Vec<usize> {
        (0..self.len()).filter(|at| self.is_free(*at) && self.is_state(*at)).collect()
    }

    /// Whether a dimension is a column with yes and no.
    fn is_flag(&self, name: &str) -> bool {
        let source = self.scan.source;
        let kind = source.definitions.dimensions.get(name).map(|found| &found.kind);
        matches!(kind, Some(DimensionKind::Column(column))
            if source.columns.iter().any(|own| own.name == *column && own.kind == ColumnKind::Flag))
    }

    /// Whether a part is a value of a dimension that says in which state a thing is.
    fn is_state(&self, at: usize) -> bool {
        let Some(name) = self.value_at(at) else { return false };
        let source = self.scan.source;
        let Some(dimension) = source.definitions.dimensions.get(name) else { return false };
        let is_flag = self.is_flag(name) || matches!(dimension.kind, DimensionKind::When(_));
        let says_yes = matches!(&self.items[at].atom, Atom::Value { value, .. }
            if value == HOLDS || self.scan.lexicon.yes.contains(&language::fold(value)));
        let known = self.scan.lexicon.concepts.get(STATES);
        let is_status = |written: &str| {
            let last = name_words(written).pop();
            last.is_some_and(|last| known.is_some_and(|known| known.contains(&last)))
        };
        let mut written = dimension.synonyms.values().flatten().map(String::as_str);
        is_flag
            || says_yes
            || !dimension.values.is_empty()
            || is_status(name)
            || written.any(is_status)
    }

    /// Returns the values of a state as their column has them.
    fn state_values(&self, at: usize) -> Vec<Scalar> {
        match &self.items[at].atom {
            Atom::Value { dimension, value, is_part: false } => {
                vec![self.scalar_of(dimension, value)]
            }
            Atom::Values { dimension, values, .. } => {
                values.iter().map(|value| self.scalar_of(dimension, value)).collect()
            }
            Atom::Value { .. }
            | Atom::Measure(_)
            | Atom::Dimension { .. }
            | Atom::Source
            | Atom::Number(_)
            | Atom::Period { .. }
            | Atom::Words(_)
            | Atom::Left => Vec::new(),
        }
    }

    /// Reads verdicts on a period that is over as those at its end. Words that fit all of these say nothing
    /// about such a period, and stay unused.
    fn judge_at_the_end(&mut self) {
        if self.scan.source.definitions.pacing.is_none() || !self.is_over() {
            return;
        }
        for at in self.states() {
            let named: Vec<String> = match &self.items[at].atom {
                Atom::Value { value, is_part: false, .. } => vec![value.clone()],
                Atom::Values { values, .. } => values.clone(),
                _ => continue,
            };
            let mut last: Vec<String> = Vec::new();
            for value in named.iter().map(|value| analytics::verdict_at_end(value).to_owned()) {
                if !last.contains(&value) {
                    last.push(value);
                }
            }
            if named.len() > 1 && last.len() >= FINAL {
                self.items[at].atom = Atom::Words(Vec::new());
                continue;
            }
            match &mut self.items[at].atom {
                Atom::Value { value, .. } => value.clone_from(&last[0]),
                Atom::Values { values, .. } => *values = last,
                _ => {}
            }
        }
    }

    /// Whether the only period of a question is over.
    fn is_over(&self) -> bool {
        let mut periods = (0..self.len()).filter_map(|at| self.period_at(at));
        let (Some(period), None) = (periods.next(), periods.next()) else { return false };
        let last = self.scan.days_of(period).map(|(_, last)| last);
        last.is_some_and(|last| last < self.scan.today())
    }

    /// Leaves out days until which something happens in a source that judges things: a verdict is on days, and
    /// not on what comes before them.
    fn leave_open_periods(&mut self) {
        let flags = |at: usize| self.dimension_at(at).is_some_and(|name| self.is_flag(name));
        let is_judging = !self.states().is_empty() || (0..self.len()).any(flags);
        if self.scan.source.definitions.pacing.is_none() || !is_judging {
            return;
        }
        for at in 0..self.len() {
            if matches!(self.period_at(at), Some(Period::Range { from: None, .. })) {
                self.items[at].atom = Atom::Words(Vec::new());
            }
        }
    }

    /// Passes over "today" in a source that judges things: a verdict is that of today anyway, and one on the
    /// single day would be another one.
    fn skip_today(&mut self) {
        let has_figure = (0..self.len()).any(|at| {
            let name = self.measure_at(at);
            name.is_some_and(|name| {
                !matches!(self.calculation(name), Some(Calculation::Distinct(_)))
            })
        });
        if self.scan.source.definitions.pacing.is_none() || has_figure {
            return;
        }
        for at in 0..self.len() {
            if self.period_at(at) == Some(&Period::This(CalendarUnit::Day)) {
                self.items[at].atom = Atom::Words(vec![Meaning::Filler]);
            }
        }
    }

    /// Passes over a word that compares with nothing at the end. In Swedish, it says that something is not so yet.
    fn skip_last_word(&mut self) {
        let Some(last) = self.len().checked_sub(1) else { return };
        if self.means(last, &Meaning::Versus) && self.items[last].tokens.len() == 1 {
            self.items[last].atom = Atom::Words(vec![Meaning::Filler]);
        }
    }

    /// Reads the name of a count as the things that it counts if a state describes them: "campaigns that are
    /// not behind", "any campaigns behind".
    fn list_described_things(&mut self) {
        let is_sentence = self.begins_with_verb() && !self.is_whether_any();
        if is_sentence || self.has(&Meaning::Count) {
            return;
        }
        for at in 0..self.len() {
            let Some(counted) = self.counted_things(at) else { continue };
            let Some(state) = self.states().into_iter().find(|place| *place > at) else { continue };
            let is_between = |place: usize| {
                self.is_thin(place)
                    || self.means(place, &Meaning::Not)
                    || self.value_at(place).is_some()
                    || self.is_described(place)
                    || (self.dimension_at(place).is_some() && self.value_at(place + 1).is_some())
            };
            let is_asked = self.is_whether_any()
                || (0..at).any(|place| {
                    self.means(place, &Meaning::List) || self.means(place, &Meaning::Show)
                })
                || (at + 1..state).any(|place| self.means(place, &Meaning::IsIt));
            if is_asked && (at + 1..state).all(is_between) && !self.is_grouped(at) {
                self.items[at].atom = Atom::Dimension { name: counted, is_form: true };
            }
        }
    }

    /// Reads "how many have ended", which names no things, as a count of the things that have the state.
    fn count_in_state(&mut self) {
        let Some(at) = self.places(&Meaning::Count).first().copied() else { return };
        if self.names_things() {
            return;
        }
        let Some((name, used)) = self.count_of_things() else { return };
        self.take(at);
        self.form = Form::HowMany;
        self.assumed.push(Assumed::Measure(name));
        self.measures.push((at, used));
    }

    /// Returns the measure that counts the things or rows which have states.
    fn count_of_things(&self) -> Option<(String, MeasureUse)> {
        let definitions = &self.scan.source.definitions;
        let level = judged_level(self.scan.source);
        let is_own = |calculation: &Calculation| match (calculation, &level) {
            (Calculation::Distinct(of), Some(level)) => of == level,
            (Calculation::Count(of), None) => of == "rows",
            _ => false,
        };
        let found = definitions.measures.iter().find(|(_, one)| is_own(&one.calculation));
        match (found, level) {
            (Some((name, _)), _) => Some((name.clone(), MeasureUse::named(name))),
            (None, Some(level)) => {
                let name = Some(format!("{level}_count"));
                let calculation = Some(Calculation::Distinct(level.clone()));
                Some((level, MeasureUse { calculation, name, ..MeasureUse::default() }))
            }
            (None, None) => Some(("rows".to_owned(), MeasureUse::named("rows"))),
        }
    }

    /// Whether a part names things, figures or rows, and not only values with their dimensions.
    fn names_things(&self) -> bool {
        (0..self.len()).any(|at| {
            let is_described = self.value_at(at + 1).is_some() && !self.is_state(at + 1);
            let is_thing = self.dimension_at(at).is_some() && !is_described;
            is_thing
                || self.measure_at(at).is_some()
                || self.grain_at(at).is_some()
                || self.names_rows(at)
        })
    }

    /// Lists the things that are judged if a question names none: "anything behind in A", "which are behind".
    fn list_unnamed_things(&mut self) {
        let is_any = self.is_whether_any();
        let refers = self.refers() && !is_any;
        let is_other = self.has(&Meaning::Count) || self.has(&Meaning::Explain) || refers;
        let is_asked = self.has(&Meaning::Which) || is_any;
        if is_other || !is_asked || self.names_things() {
            return;
        }
        if let Some(level) = judged_level(self.scan.source) {
            self.assumed.push(Assumed::Dimension(level.clone()));
            self.add_group(0, Group::dimension(level));
        }
    }

    /// Whether words refer to things that were shown before.
    fn refers(&self) -> bool {
        self.items.iter().any(|item| {
            let refer = |meaning: &Meaning| matches!(meaning, Meaning::Refer(_)).then_some(());
            item.find(refer).is_some()
        })
    }

    /// Whether a question asks if there is any such thing.
    pub(super) fn is_whether_any(&self) -> bool {
        (0..self.scan.tokens.len()).any(|at| self.scan.end_of(at, &Meaning::Any).is_some())
    }

    /// Whether a text begins with a verb, as questions for yes or no do.
    fn begins_with_verb(&self) -> bool {
        self.scan.end_of(0, &Meaning::IsIt).is_some()
    }

    /// Whether a text asks for yes or no.
    fn asks_for_truth(&self) -> bool {
        let begins = self.scan.end_of(0, &Meaning::Any).is_some() || self.begins_with_verb();
        let is_question = self.scan.tokens.last().is_some_and(|last| last.fold == "?");
        let is_other = self.items.iter().any(|item| {
            let other = |meaning: &Meaning| {
                let is_other = matches!(
                    meaning,
                    Meaning::Which
                        | Meaning::Count
                        | Meaning::Share
                        | Meaning::Explain
                        | Meaning::Rank(_)
                        | Meaning::Average
                        | Meaning::Versus
                        | Meaning::Compare
                        | Meaning::Trend
                        | Meaning::When
                        | Meaning::Standing
                        | Meaning::List
                        | Meaning::Show
                        | Meaning::By
                );
                is_other.then_some(())
            };
            !is_joining(item) && item.find(other).is_some()
        });
        (begins || is_question) && !is_other
    }

    /// Reads a question for yes or no about a state.
    fn read_state_question(&mut self) {
        let is_rows = self.query.rows || !self.bounds.is_empty();
        let has_figure =
            (0..self.len()).any(|at| self.measure_at(at).is_some_and(|name| !self.is_count(name)));
        if is_rows || has_figure || !self.asks_for_truth() {
            return;
        }
        let Some(last) = self.states().last().copied() else { return };
        let Some(dimension) = self.value_at(last).map(str::to_owned) else { return };
        if self.is_whether_any() {
            self.form = Form::YesNo;
            self.any_in = Some(dimension);
            return;
        }
        if self.names_state_only(&dimension) && !self.begins_with_verb() {
            return;
        }
        self.ask_about_state(&dimension);
    }

    fn is_count(&self, name: &str) -> bool {
        matches!(self.calculation(name), Some(Calculation::Count(_) | Calculation::Distinct(_)))
    }

    /// Whether the states are all that a text names.
    fn names_state_only(&self, dimension: &str) -> bool {
        !(0..self.len()).any(|at| self.value_at(at).is_some_and(|name| name != dimension))
    }

    /// Shows the state that things have, and asks whether it is the one that the text names.
    fn ask_about_state(&mut self, dimension: &str) {
        let own = |at: &usize| self.value_at(*at) == Some(dimension);
        let places: Vec<usize> = self.states().into_iter().filter(own).collect();
        let (Some(first), Some(last)) = (places.first().copied(), places.last().copied()) else {
            return;
        };
        let values: Vec<Scalar> = places.iter().flat_map(|at| self.state_values(*at)).collect();
        // "Isn't A behind?" asks whether it is.
        let not = self.previous(first).filter(|at| self.means(*at, &Meaning::Not));
        let is_not = not.is_some_and(|at| at > 0);
        let is_choice = (first..last).any(|at| self.means(at, &Meaning::Or));
        let joined = (first..last).filter(|at| self.is_joiner(*at) || self.is_thin(*at));
        let words: Vec<usize> = joined.chain(places).chain(not).collect();
        words.into_iter().for_each(|at| self.take(at));
        if self.means(0, &Meaning::IsIt) {
            self.take(0);
        }
        self.form = if is_choice { Form::Figures } else { Form::YesNo };
        let test = if is_not { Test::NoneOf(values) } else { Test::OneOf(values) };
        let asked = Condition::Is { name: dimension.to_owned(), test };
        self.truth = Some(asked).filter(|_| !is_choice);
        let is_grouped = self.show_things(first);
        self.add_group(if is_grouped { self.len() } else { first }, Group::dimension(dimension));
        if (0..self.len()).any(|at| self.measure_at(at).is_some()) {
            return;
        }
        let judged = judged_figures(self.scan.source, self.scan.lexicon);
        let is_judging = self.scan.source.definitions.pacing.is_some() && !judged.is_empty();
        let used: Vec<MeasureUse> = if is_judging {
            judged.into_iter().map(MeasureUse::named).collect()
        } else {
            self.count_of_things().map(|(_, used)| used).into_iter().collect()
        };
        self.measures.extend(used.into_iter().map(|used| (first, used)));
    }

    /// Shows the things that a state is asked of, if the source judges things. Returns whether it does.
    fn show_things(&mut self, at: usize) -> bool {
        if self.scan.source.definitions.pacing.is_none() {
            return false;
        }
        let is_thing = |at: usize| self.dimension_at(at).is_some() || self.measure_at(at).is_some();
        if !(0..self.len()).any(is_thing) {
            let free = (0..self.len()).filter(|at| self.is_free(*at));
            let named: Vec<String> =
                free.filter_map(|at| self.value_at(at).map(str::to_owned)).collect();
            let thing = judged_thing(self.scan.source, &named);
            if let Some(thing) = thing {
                self.add_group(at, Group::dimension(thing));
            }
        }
        true
    }

    /// Returns the condition whose truth a question about states asks for: that there are rows, or that their
    /// count is above zero.
    pub(super) fn state_asked(&mut self) -> Option<Condition> {
        if let Some(truth) = self.truth.take() {
            return Some(truth);
        }
        let dimension = self.any_in.take()?;
        if self.query.by.is_empty() {
            let used = self.query.measures.first()?;
            let name = used.name.clone().or_else(|| used.measure.clone())?;
            let above = Some(Scalar::Number(0.into()));
            let test = Test::Bounds(Bounds { above, ..Bounds::default() });
            return Some(Condition::Is { name, test });
        }
        let is_own = |condition: &&Condition| matches!(condition, Condition::Is { name, .. } if *name == dimension);
        self.query.conditions.iter().find(is_own).cloned()
    }
}

/// Whether a word has a meaning that joins others, so that its other meanings are less likely.
fn is_joining(item: &Item) -> bool {
    item.means(&Meaning::In) || item.means(&Meaning::IsIt)
}
