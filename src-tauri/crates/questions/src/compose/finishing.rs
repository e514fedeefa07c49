//! Makes the query from all that was read, fills what the text does not say, and names what is left
//! over.

use contract::metric_query::{
    Bounds, Condition, Group, GroupBy, MeasureUse, Scalar, SecondStep, StepCalculation,
    StepMeasure, Test, Top,
};

use super::{Composed, Composer, Ranked, grouping::order};
use crate::{
    items::Atom,
    meaning::{Bound, Meaning, Refer},
    outcome::{Assumed, Form},
};

impl Composer<'_> {
    /// Returns the query with all that was read.
    pub(super) fn finish(mut self) -> Composed {
        self.group_shared_names();
        self.bound_measures();
        self.measures.sort_by_key(|(at, _)| *at);
        self.by.sort_by_key(|(at, _)| *at);
        self.query.measures = self.measures.drain(..).map(|(_, used)| used).collect();
        self.query.by = self.by.drain(..).map(|(_, group)| group).collect();
        let is_running = |used: &MeasureUse| used.running || used.rolling.is_some();
        if self.query.measures.iter().any(is_running) && !self.has_time_group() {
            self.need_time();
            self.query.by.extend(self.by.drain(..).map(|(_, group)| group));
        }
        self.show_effects();
        self.read_standing();
        self.default_measure();
        // "By campaign and in total"
        let is_total = |at: usize| {
            self.means(at, &Meaning::Sum)
                && self.next(at + 1).is_none()
                && self.previous(at).is_some_and(|before| self.is_joiner(before))
        };
        self.query.totals |= !self.query.by.is_empty() && (0..self.len()).any(is_total);
        if !self.query.by.is_empty() {
            self.conditions.append(&mut self.bounds);
        }
        self.conditions.sort_by_key(|(at, _)| *at);
        self.query.conditions = self.conditions.drain(..).map(|(_, condition)| condition).collect();
        self.finish_what_if();
        if let Some(ranked) = self.ranked.take() {
            self.set_order(ranked);
        }
        self.second_step();
        let asked = self.state_asked();
        self.asked = self.asked.take().or(asked);
        let left = self.left();
        let parts = self.items.iter().filter_map(|item| match &item.atom {
            Atom::Value { value, is_part: true, .. } => Some(Assumed::PartOfName(value.clone())),
            Atom::Values { text, is_part: true, .. } => Some(Assumed::PartOfName(text.clone())),
            _ => None,
        });
        self.assumed.extend(parts);
        Composed {
            query: self.query,
            items: self.items,
            left,
            assumed: self.assumed,
            view: self.view,
            form: self.form,
            asked: self.asked,
        }
    }

    /// Shows the values of a name that several of them share side by side.
    fn group_shared_names(&mut self) {
        let is_one = self.query.compare.is_some() || self.query.rows || self.explained;
        for at in (0..self.len()).filter(|_| !is_one && self.ranked.is_none()).collect::<Vec<_>>() {
            if let Atom::Values { dimension, is_part: true, .. } = &self.items[at].atom {
                let group = Group::dimension(dimension);
                self.add_group(at, group);
            }
        }
    }

    fn has_time_group(&self) -> bool {
        self.query.by.iter().any(|group| matches!(group.by, GroupBy::Time(_)))
    }

    /// Adds the measures of conditions that are not among the figures yet. Without a group, a condition
    /// on a figure says nothing, and its words are left over.
    fn bound_measures(&mut self) {
        self.ask_about_change();
        let is_asked = self.form == Form::YesNo && self.bounds.len() == 1;
        if self.by.is_empty() && is_asked {
            self.asked = self.bounds.pop().map(|(at, condition)| {
                self.measure_of_bound(at, &condition);
                condition
            });
        }
        if self.by.is_empty() && !self.bounds.is_empty() {
            for place in std::mem::take(&mut self.paired) {
                self.used[place] = false;
            }
            self.leave_bounds_without_numbers();
            for (at, _) in std::mem::take(&mut self.bounds) {
                let words = at.saturating_sub(3)..(at + 4).min(self.used.len());
                for place in words {
                    let is_number = matches!(self.items[place].atom, Atom::Number(_));
                    self.used[place] &= !is_number;
                }
            }
        }
        for (at, condition) in self.bounds.clone() {
            self.measure_of_bound(at, &condition);
        }
    }

    /// Leaves over the words of bounds that have no number: "with less than a week left".
    fn leave_bounds_without_numbers(&mut self) {
        for (first, last) in self.bound_spans.clone() {
            let is_number = |at: usize| matches!(self.items[at].atom, Atom::Number(_));
            let has_number = (first..=last).any(is_number);
            for at in (first..=last).filter(|_| !has_number) {
                self.used[at] &= !matches!(self.items[at].atom, Atom::Words(_));
            }
        }
    }

    /// Reads whether a change is the one that the text asks for: "did clicks rise", "is spend lower than last
    /// month".
    fn ask_about_change(&mut self) {
        let is_asked = self.form == Form::YesNo && self.query.compare.is_some();
        let ([(_, used)], true, true) = (self.measures.as_slice(), self.by.is_empty(), is_asked)
        else {
            return;
        };
        let moved = (0..self.len()).filter(|at| self.used[*at]).filter_map(|at| {
            let versus = self.means(at, &Meaning::Versus);
            match (self.means(at, &Meaning::Rise), self.means(at, &Meaning::Fall)) {
                (true, false) => Some(Bound::Above),
                (false, true) => Some(Bound::Below),
                _ => self.comparative_at(at).or(self.bound_at(at).filter(|_| versus)),
            }
        });
        let sides: Vec<Bound> = moved.collect();
        let zero = Some(Scalar::Number(0.into()));
        let bounds = match sides.as_slice() {
            [Bound::Above] => Bounds { above: zero, ..Bounds::default() },
            [Bound::From] => Bounds { from: zero, ..Bounds::default() },
            [Bound::Below] => Bounds { below: zero, ..Bounds::default() },
            [Bound::To] => Bounds { to: zero, ..Bounds::default() },
            _ => return,
        };
        let name = format!("{}_change", figure_name(used));
        self.asked = Some(Condition::Is { name, test: Test::Bounds(bounds) });
    }

    fn measure_of_bound(&mut self, at: usize, condition: &Condition) {
        for name in names_of(condition) {
            let own = name.strip_suffix("_growth").unwrap_or(&name).to_owned();
            let is_used = |(_, used): &(usize, MeasureUse)| {
                used.measure.as_ref() == Some(&own) || used.name.as_ref() == Some(&own)
            };
            if !self.measures.iter().any(is_used) && !self.explained {
                self.measures.push((at, MeasureUse::named(own)));
            }
        }
    }

    /// Shows the main measure if the text names none.
    fn default_measure(&mut self) {
        if !self.query.measures.is_empty() || self.explained || self.query.rows {
            return;
        }
        if let Some(name) = self.scan.main_measure() {
            self.assumed.push(Assumed::Measure(name.clone()));
            self.query.measures.push(MeasureUse::named(name));
        }
    }

    fn set_order(&mut self, ranked: Ranked) {
        let measures = &self.query.measures;
        let used = match &ranked.measure {
            Some(name) => measures.iter().find(|used| used.measure.as_ref() == Some(name)),
            None => None,
        };
        let Some(used) = used.or(measures.first()) else { return };
        let mut name = figure_name(used);
        if let Some((ending, _)) = self.change.filter(|_| ranked.is_change) {
            name = format!("{name}_{ending}");
        }
        match ranked.of {
            // The last of the first N is the Nth.
            Some(of) if ranked.nth.is_some() => {
                self.query.order.push(order(name.clone(), !ranked.descending));
                self.query.limit = Some(1);
                self.query.top = Some(Top {
                    n: ranked.nth.unwrap_or(1),
                    of: Some(of),
                    per: Vec::new(),
                    by: Some(name),
                    lowest: !ranked.descending,
                    others: false,
                });
            }
            Some(of) => {
                self.query.top = Some(Top {
                    n: ranked.limit.unwrap_or(1),
                    of: Some(of),
                    per: ranked.per,
                    by: Some(name),
                    lowest: !ranked.descending,
                    others: false,
                });
            }
            None => {
                self.query.order.push(order(name, ranked.descending));
                self.query.limit = self.query.limit.or(ranked.limit);
            }
        }
    }

    /// Adds the second step of counts and averages over groups.
    fn second_step(&mut self) {
        let step = match (&self.counted, self.averaged) {
            (Some(dimension), _) => {
                let name = Some(format!("{dimension}_count"));
                StepMeasure { calculation: StepCalculation::Count("rows".to_owned()), name }
            }
            (None, true) => {
                let Some(used) = self.query.measures.first() else { return };
                let figure = figure_name(used);
                let name = Some(format!("average_{figure}"));
                StepMeasure { calculation: StepCalculation::Average(figure), name }
            }
            (None, false) => return,
        };
        self.query.then = Some(SecondStep { measures: vec![step], by: Vec::new() });
    }

    /// Whether a value is the owner of what follows a word such as "its": it is before the word, or the subject
    /// of a question: "how much of its budget has A spent".
    fn owns(&self, value: usize, at: usize) -> bool {
        value < at || self.means(value.saturating_sub(1), &Meaning::IsIt)
    }

    /// Whether the words of a period may be the last day of things: "campaigns by last day".
    fn may_be_last_day(&self, at: usize) -> bool {
        let Some(tokens) = self.period_at(at).map(|_| self.items[at].tokens.clone()) else {
            return false;
        };
        let ends = |meaning: &Meaning| matches!(meaning, Meaning::Ends(_)).then_some(());
        self.scan.phrase(tokens.start, ends).is_some_and(|(end, ())| end == tokens.end)
    }

    /// Returns the places of the parts that no rule used.
    fn left(&self) -> Vec<usize> {
        // "A and its campaigns", "campaigns and their budget" say whose they are.
        let is_owned = |at: usize| {
            self.means(at, &Meaning::Refer(Refer::Their))
                && ((0..self.len())
                    .any(|place| self.value_at(place).is_some() && self.owns(place, at))
                    || (0..at).any(|place| self.dimension_at(place).is_some()))
        };
        let is_left = |at: &usize| {
            !self.used[*at] && (!self.items[*at].is_link() || self.says_more(*at)) && !is_owned(*at)
        };
        (0..self.items.len()).filter(is_left).collect()
    }

    /// Whether a word that joins others says more here: "over budget", "are we on budget", "behind" as the
    /// last word in Swedish.
    fn says_more(&self, at: usize) -> bool {
        let next = (at + 1..self.len()).find(|next| !self.is_thin(*next));
        let is_measure = next.is_some_and(|next| {
            self.measure_at(next).is_some() || matches!(self.items[next].atom, Atom::Source)
        });
        let is_bound = self.items[at].find(|m| matches!(m, Meaning::Bound(_)).then_some(()));
        let is_side = is_bound.is_some() || self.side_of_word(at).is_some();
        if (is_bound.is_some() && is_measure) || (is_side && self.is_side_of_extent(at)) {
            return true;
        }
        let is_group = self.means(at, &Meaning::By) || self.means(at, &Meaning::Per);
        // "What did each cost?", "most expensive per click"
        let is_divided = self.means(at, &Meaning::Per) || self.query.by.is_empty();
        // The particle of a verb is before a place: "ligger efter i konto 17".
        let is_particle = self.means(at, &Meaning::By) && self.means(at + 1, &Meaning::In);
        let is_without = next.is_none() || (is_measure && is_divided) || is_particle;
        if is_group && !self.is_article(at) && is_without && !self.used[at] {
            return true;
        }
        if is_group && !self.used[at] && next.is_some_and(|next| self.may_be_last_day(next)) {
            return true;
        }
        let is_name = |place: usize| {
            self.measure_at(place).is_some()
                || self.value_at(place).is_some()
                || self.dimension_at(place).is_some()
                || self.period_at(place).is_some()
        };
        self.form == Form::YesNo
            && self.means(at, &Meaning::In)
            && next == Some(at + 1)
            && is_measure
            && !(0..at).any(is_name)
    }
}

/// Returns the figures of a condition.
fn names_of(condition: &Condition) -> Vec<String> {
    match condition {
        Condition::Is { name, .. } => vec![name.clone()],
        Condition::And(parts) | Condition::Or(parts) => parts.iter().flat_map(names_of).collect(),
        Condition::Not(part) => names_of(part),
    }
}

/// Returns the name of a figure in the result.
fn figure_name(used: &MeasureUse) -> String {
    let own = used.measure.as_deref().unwrap_or("figure");
    let unit = used.per.map(|unit| format!("{unit:?}").to_lowercase());
    match (&used.name, unit) {
        (Some(name), _) => name.clone(),
        (None, _) if !used.share_of.is_empty() => format!("{own}_share"),
        (None, _) if used.running => format!("{own}_running"),
        (None, _) if used.rolling.is_some() => format!("{own}_rolling"),
        (None, Some(unit)) => format!("{own}_per_{unit}"),
        (None, None) => own.to_owned(),
    }
}
