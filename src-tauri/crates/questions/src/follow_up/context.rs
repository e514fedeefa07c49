//! The earlier question that a follow-up goes on from: the parts of it that the new words need.

use chrono::Datelike;
use contract::{
    definitions::Calculation,
    metric_query::{
        CalendarUnit, Condition, GroupBy, MeasureUse, MetricQuery, Period, Scalar, Test,
        WhatIfChange,
    },
};

use super::Shown;
use crate::{
    central::verdict_of,
    compose::{Assumable, measure_assumed},
    items::{Atom, Item},
    meaning::{Alter, Meaning, Refer},
    periods::back,
    scan::Scan,
    things::are_one,
};

/// The fewest days of a period that is a year.
const A_YEAR: i64 = 360;

/// The verdict that stands for all in a question about the distance from the plan.
const BEHIND: &str = "behind";

/// An earlier question.
pub(super) struct Context<'a> {
    pub(super) previous: &'a MetricQuery,
    pub(super) shown: &'a Shown,
    pub(super) scan: &'a Scan<'a>,
}

impl Context<'_> {
    /// Returns the parts of a question with those of the earlier one that it needs.
    pub(super) fn items_with(&self, items: &[Item]) -> Vec<Item> {
        let has = |fits: &dyn Fn(&Item) -> bool| items.iter().any(fits);
        let mut before: Vec<Item> = Vec::new();
        let is_compared =
            has(&|item| item.means(&Meaning::Compare) || item.means(&Meaning::Versus));
        let periods = items.iter().filter(|item| matches!(item.atom, Atom::Period { .. })).count();
        let needs_period = is_compared && periods == 1;
        if let Some(period) = self.previous.period.clone().filter(|_| needs_period) {
            before.push(given(Atom::Period { period, ends: None }));
        }
        if is_compared {
            before.extend(self.value_to_compare(items));
        }
        // "How many campaigns is that" asks for another figure.
        let counts = has(&is_count) && has(&|item| matches!(item.atom, Atom::Dimension { .. }));
        let is_new_assumption =
            self.previous.what_if.is_empty() && supposes(items) || self.is_first_assumption(items);
        // After several figures, the rest is that of the plan.
        let asks_rest =
            has(&|item| item.means(&Meaning::Remaining)) && self.previous.measures.len() != 1;
        let asks_other = counts || is_new_assumption || asks_rest || self.asks_difference(items);
        let is_why = has(&|item| item.means(&Meaning::Explain));
        if !asks_other && !has(&|item| matches!(item.atom, Atom::Measure(_))) {
            let measures = self.previous.measures.iter().filter_map(|used| used.measure.clone());
            let explained = self.previous.explain.iter().map(|explain| explain.measure.clone());
            // The first figure is the one that a reason is asked for.
            let most = if is_why { 1 } else { usize::MAX };
            let all = measures.chain(explained).take(most);
            before.extend(all.map(|name| given(Atom::Measure(name))));
        }
        if !self.has_groups(items) && !is_why && !is_new_assumption {
            for group in &self.previous.by {
                let atom = match &group.by {
                    GroupBy::Dimension(name) => {
                        Atom::Dimension { name: name.clone(), is_form: false }
                    }
                    GroupBy::Time(grain) => Atom::Words(vec![Meaning::By, Meaning::Grain(*grain)]),
                    GroupBy::Define(_) => continue,
                };
                before.push(given(Atom::Words(vec![Meaning::By])));
                before.push(given(atom));
            }
        }
        before.extend(self.assumption(items));
        before.extend(items.iter().cloned());
        before
    }

    /// Returns the parts of the earlier assumption that another amount needs, such as "with 200k instead",
    /// and the things that an assumption is about.
    fn assumption(&self, items: &[Item]) -> Vec<Item> {
        let mut parts: Vec<Item> = Vec::new();
        let supposes = supposes(items);
        let number = items.iter().find_map(|item| match &item.atom {
            Atom::Number(number) => Some(number),
            _ => None,
        });
        let is_value = |item: &Item| matches!(item.atom, Atom::Value { .. } | Atom::Values { .. });
        let has_value = items.iter().any(is_value);
        // The number in "account 23" is no amount.
        let has_thing = items.iter().any(|item| matches!(item.atom, Atom::Dimension { .. }));
        let changes = self.previous.what_if.len() == 1
            && items.iter().all(may_change_amount)
            && (has_value || !has_thing);
        let is_amount = number.filter(|_| changes && !supposes);
        if let (Some(number), [one]) = (is_amount, self.previous.what_if.as_slice()) {
            let kind = if one.budget.is_some() { Assumable::Budget } else { Assumable::Rate };
            let alter = match one.budget.as_ref().or(one.rate.as_ref()) {
                Some(WhatIfChange::By(by)) => Some(by),
                Some(WhatIfChange::Percent(by)) => Some(by).filter(|_| number.is_percent),
                Some(WhatIfChange::To(_)) | None => None,
            };
            let is_less = alter.and_then(serde_json::Number::as_f64).is_some_and(|by| by < 0.0);
            let alter = alter.map(|_| if is_less { Alter::Down } else { Alter::Up });
            parts.push(given(Atom::Words(vec![Meaning::Suppose])));
            parts.extend(alter.map(|alter| given(Atom::Words(vec![Meaning::Alter(alter)]))));
            let measure = measure_assumed(self.scan.source, kind);
            parts.extend(measure.map(|name| given(Atom::Measure(name))));
            if kind == Assumable::Rate {
                let day = Meaning::Unit(CalendarUnit::Day);
                parts.extend([Meaning::Per, day].map(|one| given(Atom::Words(vec![one]))));
            }
        }
        let is_first = self.is_first_assumption(items);
        parts.extend(is_first.then(|| given(Atom::Words(vec![Meaning::Suppose]))));
        if (supposes || is_first || is_amount.is_some()) && !has_value {
            parts.splice(0..0, self.previous.conditions.iter().filter_map(value_of).map(given));
        }
        parts
    }

    /// Whether parts are only an amount for the plan of what was asked about.
    fn is_first_assumption(&self, items: &[Item]) -> bool {
        self.scan.source.definitions.pacing.is_some()
            && self.previous.what_if.is_empty()
            && is_assumed(items)
    }

    /// Whether parts name groups. The name of a thing beside one of its values is no group.
    pub(super) fn has_groups(&self, items: &[Item]) -> bool {
        let is_time = |item: &Item| {
            item.find(|m| matches!(m, Meaning::Unit(_) | Meaning::Grain(_)).then_some(())).is_some()
        };
        let is_group = |(at, item): (usize, &Item)| match &item.atom {
            Atom::Dimension { name, .. } => !self.is_beside_value(items, at, name),
            Atom::Words(_) => is_time(item),
            Atom::Measure(_)
            | Atom::Value { .. }
            | Atom::Values { .. }
            | Atom::Source
            | Atom::Number(_)
            | Atom::Period { .. }
            | Atom::Left => false,
        };
        items.iter().enumerate().any(is_group)
    }

    fn is_beside_value(&self, items: &[Item], at: usize, dimension: &str) -> bool {
        let is_grouped = at.checked_sub(1).is_some_and(|before| {
            let item = &items[before];
            item.means(&Meaning::By) || item.means(&Meaning::Which)
        });
        let places = [at.checked_sub(1), at.checked_add(1)];
        let mut beside = places.into_iter().flatten().filter_map(|place| items.get(place));
        !is_grouped && beside.any(|item| self.is_value_of(item, dimension))
    }

    fn is_value_of(&self, item: &Item, dimension: &str) -> bool {
        match &item.atom {
            Atom::Value { dimension: own, .. } | Atom::Values { dimension: own, .. } => {
                are_one(self.scan.source, own, dimension)
            }
            Atom::Measure(_)
            | Atom::Dimension { .. }
            | Atom::Source
            | Atom::Number(_)
            | Atom::Period { .. }
            | Atom::Words(_)
            | Atom::Left => false,
        }
    }

    /// Adds the things that "how many" counts if it names none: those that were counted or shown.
    pub(super) fn with_counted(&self, items: &[Item]) -> Vec<Item> {
        let is_named = |item: &Item| matches!(item.atom, Atom::Measure(_) | Atom::Dimension { .. });
        let mut items = items.to_vec();
        let place = items.iter().position(is_count).filter(|_| !items.iter().any(is_named));
        // "How many of them are late" counts what was counted, and "how many" alone what was shown.
        let is_limited =
            items.iter().any(|item| matches!(item.atom, Atom::Value { .. } | Atom::Values { .. }));
        if let (Some(place), Some(atom)) = (place, self.counted(is_limited)) {
            items.insert(place + 1, given(atom));
        }
        items
    }

    fn counted(&self, is_limited: bool) -> Option<Atom> {
        let definitions = &self.scan.source.definitions;
        let of = |used: &MeasureUse| match (&used.measure, &used.calculation) {
            (Some(name), _) => match definitions.measures.get(name)?.calculation {
                Calculation::Distinct(_) | Calculation::Count(_) => {
                    Some(Atom::Measure(name.clone()))
                }
                _ => None,
            },
            (None, Some(Calculation::Distinct(name))) => {
                Some(Atom::Dimension { name: name.clone(), is_form: true })
            }
            (None, _) => None,
        };
        let mut groups = self.previous.by.iter().filter_map(|group| match &group.by {
            GroupBy::Dimension(name) => Some(Atom::Dimension { name: name.clone(), is_form: true }),
            GroupBy::Time(_) | GroupBy::Define(_) => None,
        });
        let shown = groups.next();
        let counted = self.previous.measures.iter().find_map(of);
        if is_limited { counted.or(shown) } else { shown.or(counted) }
    }

    /// Reads "a year ago" after a question about a shorter period as that period a year before.
    pub(super) fn go_a_year_back(&self, query: &mut MetricQuery, items: &[Item]) {
        let is_ago = |item: &Item| {
            let mut tokens = item.tokens.clone();
            matches!(item.atom, Atom::Period { period: Period::Year(_), .. })
                && tokens.any(|at| self.scan.end_of(at, &Meaning::Ago).is_some())
        };
        let Some(Period::Year(year)) = query.period else { return };
        let before = self.previous.period.as_ref().and_then(|period| self.scan.days_of(period));
        let Some((from, to)) = before.filter(|_| items.iter().any(is_ago)) else { return };
        let years = u32::try_from(self.scan.today().year() - year).unwrap_or_default();
        if (to - from).num_days() < A_YEAR {
            let from = back(from, CalendarUnit::Year, years);
            // The last day of February has another number a year before.
            let to = to.succ_opt().and_then(|day| back(day, CalendarUnit::Year, years));
            query.period = Some(Period::Range { from, to: to.and_then(|day| day.pred_opt()) });
        }
    }

    /// Leaves out states such as "running" if the period is over: a source that judges things says how they
    /// stand now. Returns their places.
    pub(super) fn leave_states_of_past(
        &self,
        query: &mut MetricQuery,
        items: &[Item],
    ) -> Vec<usize> {
        let Some(verdict) = verdict_of(self.scan.source) else { return Vec::new() };
        let days = query.period.as_ref().and_then(|period| self.scan.days_of(period));
        let is_past = days.is_some_and(|(_, last)| last < self.scan.today());
        let is_state = |item: &Item| {
            matches!(&item.atom, Atom::Values { dimension, .. } if *dimension == verdict)
                && !item.tokens.is_empty()
        };
        let found: Vec<usize> =
            (0..items.len()).filter(|at| is_past && is_state(&items[*at])).collect();
        if !found.is_empty() {
            query
                .conditions
                .retain(|one| !matches!(one, Condition::Is { name, .. } if *name == verdict));
        }
        found
    }

    /// Whether parts ask how far the things are from their plan: "by how much".
    pub(super) fn asks_extent(&self, items: &[Item]) -> bool {
        let is_small = |item: &Item| item.is_link() || is_state(item, self.scan);
        self.scan.source.definitions.pacing.is_some()
            && items.iter().any(|item| item.means(&Meaning::Extent))
            && items.iter().all(is_small)
    }

    /// Whether words of the text name a state.
    pub(super) fn names_state(&self, items: &[Item]) -> bool {
        items.iter().any(|item| !item.tokens.is_empty() && is_state(item, self.scan))
    }

    /// Whether parts ask for the difference to a plan: "by how much", "which is furthest behind".
    pub(super) fn asks_difference(&self, items: &[Item]) -> bool {
        let Some(verdict) = verdict_of(self.scan.source) else { return false };
        let verdict = GroupBy::Dimension(verdict);
        let is_judged = self.previous.by.iter().any(|group| group.by == verdict);
        let is_named = |item: &Item| {
            matches!(item.atom, Atom::Measure(_) | Atom::Number(_)) && item.amounts.is_empty()
        };
        let is_rank =
            |item: &Item| item.find(|m| matches!(m, Meaning::Rank(_)).then_some(())).is_some();
        let ranks = items.iter().any(is_rank) && !items.iter().any(is_named);
        let has_state = || items.iter().any(|item| is_state(item, self.scan));
        self.asks_extent(items) || (ranks && (is_judged || has_state()))
    }

    /// Adds the state whose extent is asked for, if the parts name none.
    pub(super) fn with_state(&self, items: &[Item]) -> Vec<Item> {
        let mut items = items.to_vec();
        let place = items.iter().position(|item| item.means(&Meaning::Extent));
        let is_named = items.iter().any(|item| is_state(item, self.scan));
        let Some(place) = place.filter(|_| self.asks_extent(&items) && !is_named) else {
            return items;
        };
        let state = verdict_of(self.scan.source).map(|dimension| {
            given(Atom::Value { dimension, value: BEHIND.to_owned(), is_part: false })
        });
        if let Some(state) = state {
            items.insert(place + 1, state);
        }
        items
    }

    /// Returns the unit of the calendar before the period of the earlier question, if a part names one:
    /// "the week before".
    pub(super) fn unit_before(&self, items: &[Item]) -> Option<Period> {
        let unit_at = |at: usize| {
            let found = self.scan.phrase(at, |meaning| match meaning {
                Meaning::Unit(unit) => Some(*unit),
                _ => None,
            });
            found.map(|(_, unit)| unit)
        };
        let is_step =
            |item: &&Item| item.find(|m| matches!(m, Meaning::Compared(_)).then_some(())).is_some();
        let unit = items.iter().filter(is_step).find_map(|item| {
            let mut tokens = item.tokens.clone();
            tokens.find_map(unit_at)
        })?;
        let (from, _) = self.scan.days_of(self.previous.period.as_ref()?)?;
        Some(Period::Range { from: back(from, unit, 1), to: from.pred_opt() })
    }

    /// Returns the value that the earlier question was about, if this one compares another one with it.
    fn value_to_compare(&self, items: &[Item]) -> Option<Item> {
        let mut named = items.iter().filter_map(|item| match &item.atom {
            Atom::Value { dimension, .. } | Atom::Values { dimension, .. } => Some(dimension),
            _ => None,
        });
        let (dimension, None) = (named.next()?, named.next()) else { return None };
        self.previous.conditions.iter().find_map(|condition| match condition {
            Condition::Is { name, test: Test::OneOf(values) } if name == dimension => {
                match values.as_slice() {
                    [Scalar::Text(value)] => Some(given(Atom::Value {
                        dimension: dimension.clone(),
                        value: value.clone(),
                        is_part: false,
                    })),
                    _ => None,
                }
            }
            _ => None,
        })
    }

    /// Returns the condition that words such as "them" and "its" mean.
    pub(super) fn referred(&self, items: &[Item]) -> Option<Condition> {
        let name = self.shown.dimension.clone().filter(|_| !self.shown.values.is_empty())?;
        let is_used = items.iter().enumerate().any(|(at, item)| {
            let refer = item.find(|meaning| match meaning {
                Meaning::Refer(refer) => Some(*refer),
                _ => None,
            });
            // "The three best" has an article, no pronoun.
            let is_article = items.get(at + 1).is_some_and(|next| {
                !matches!(next.atom, Atom::Words(_) | Atom::Period { .. })
                    || next
                        .find(|m| matches!(m, Meaning::Rank(_) | Meaning::First).then_some(()))
                        .is_some()
            });
            match refer {
                Some(Refer::Their) => true,
                Some(Refer::Them) => !is_article,
                Some(Refer::It) => !is_article && self.shown.values.len() == 1,
                _ => false,
            }
        });
        is_used.then(|| Condition::one_of(name, self.shown.values.iter().cloned()))
    }
}

/// Whether a part is a verdict.
fn is_state(item: &Item, scan: &Scan<'_>) -> bool {
    match &item.atom {
        Atom::Value { dimension, .. } | Atom::Values { dimension, .. } => {
            verdict_of(scan.source).as_ref() == Some(dimension)
        }
        Atom::Measure(_)
        | Atom::Dimension { .. }
        | Atom::Source
        | Atom::Number(_)
        | Atom::Period { .. }
        | Atom::Words(_)
        | Atom::Left => false,
    }
}

/// Whether parts are only an amount in place of an earlier one: "with 200k instead".
fn is_assumed(items: &[Item]) -> bool {
    let is_amount = |item: &Item| matches!(&item.atom, Atom::Number(number) if !number.is_percent);
    let is_small = |item: &Item| {
        item.is_link() || is_amount(item) || item.means(&Meaning::Refer(Refer::Instead))
    };
    let is_said =
        |item: &Item| item.means(&Meaning::With) || item.means(&Meaning::Refer(Refer::Instead));
    items.iter().filter(|item| is_amount(item)).count() == 1
        && items.iter().any(is_said)
        && items.iter().all(is_small)
}

fn is_count(item: &Item) -> bool {
    item.means(&Meaning::Count) || item.means(&Meaning::Distinct)
}

/// Returns a part that the text does not have.
fn given(atom: Atom) -> Item {
    Item { atom, tokens: 0..0, correction: None, amounts: Vec::new() }
}

/// Whether parts suppose something, or ask whether it is enough.
fn supposes(items: &[Item]) -> bool {
    let is_one = |item: &Item| {
        [Meaning::Suppose, Meaning::If, Meaning::Enough].iter().any(|one| item.means(one))
    };
    items.iter().any(is_one)
}

/// Whether a part may belong to another amount of an assumption.
fn may_change_amount(item: &Item) -> bool {
    match &item.atom {
        Atom::Number(_) | Atom::Value { .. } | Atom::Values { .. } | Atom::Dimension { .. } => true,
        Atom::Words(meanings) => {
            item.is_link()
                || meanings.iter().any(|meaning| {
                    matches!(
                        meaning,
                        Meaning::Refer(_) | Meaning::Alter(_) | Meaning::Rise | Meaning::Fall
                    )
                })
        }
        Atom::Measure(_) | Atom::Source | Atom::Period { .. } | Atom::Left => false,
    }
}

/// Returns the only value of a condition.
fn value_of(condition: &Condition) -> Option<Atom> {
    let Condition::Is { name, test: Test::OneOf(values) } = condition else { return None };
    let [Scalar::Text(value)] = values.as_slice() else { return None };
    Some(Atom::Value { dimension: name.clone(), value: value.clone(), is_part: false })
}
