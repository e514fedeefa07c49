//! Puts the parts of a question together to a metric query, by rules about kinds of parts: a bound
//! belongs to the measure beside it, values of one dimension are alternatives, a rank needs something
//! to rank. Each rule uses the parts that it understands; the parts that no rule uses are left over.
//! It must not know words of any language.

use std::sync::LazyLock;

use contract::{
    definitions::{Calculation, Unit},
    metric_query::{CalendarUnit, Condition, Group, MeasureUse, MetricQuery, TimeGrain},
};

use crate::{
    cover::Cover,
    items::{Atom, Item},
    meaning::{Meaning, Refer},
    outcome::{Assumed, Declined, Form, View},
    scan::Scan,
};

mod bounds;
mod comparing;
mod counting;
mod deviations;
mod earlier;
mod excluding;
mod expecting;
mod extremes;
mod figures;
mod finishing;
mod firsts;
mod flights;
mod grouping;
mod listing;
mod needed;
mod operators;
mod pairs;
mod ranking;
mod remaining;
mod shares;
mod standing;
mod states;
mod texts;
mod weekdays;
mod what_if;

pub(crate) use ranking::name_of;
pub(crate) use shares::part_name;
pub(crate) use what_if::{Assumable, about_things, measure_assumed};

/// A question put together.
#[derive(Clone, Debug)]
pub(crate) struct Composed {
    /// The query.
    pub query: MetricQuery,
    /// The parts.
    pub items: Vec<Item>,
    /// The parts that are left over, by their places.
    pub left: Vec<usize>,
    /// The members of the query that the text does not say.
    pub assumed: Vec<Assumed>,
    /// The form of the answer.
    pub view: Option<View>,
    /// The kind of sentence.
    pub form: Form,
    /// The condition on a figure whose truth is asked.
    pub asked: Option<Condition>,
}

/// A rank that was read.
#[derive(Clone, Debug, Default)]
struct Ranked {
    /// The measure. None: the first one.
    measure: Option<String>,
    descending: bool,
    limit: Option<u32>,
    /// The name of the groups that are ranked.
    of: Option<String>,
    per: Vec<String>,
    /// The only place in the order that counts.
    nth: Option<u32>,
    /// Whether the change decides, and not the figure itself.
    is_change: bool,
}

/// The rules over the parts of a question.
struct Composer<'a> {
    scan: &'a Scan<'a>,
    items: Vec<Item>,
    used: Vec<bool>,
    query: MetricQuery,
    /// Groups with the place of their part.
    by: Vec<(usize, Group)>,
    /// Conditions with the place of their part.
    conditions: Vec<(usize, Condition)>,
    /// Conditions on figures with the place of their part.
    bounds: Vec<(usize, Condition)>,
    /// The first and last place of the words of each of them.
    bound_spans: Vec<(usize, usize)>,
    /// The words that compare one measure with another one.
    paired: Vec<usize>,
    /// Measures with the place of their part.
    measures: Vec<(usize, MeasureUse)>,
    ranked: Option<Ranked>,
    /// The dimension whose values are counted after conditions on figures.
    counted: Option<String>,
    /// The measure that is averaged over groups.
    averaged: bool,
    explained: bool,
    /// How a change is ordered: the ending of the figure, and whether small values are asked for.
    change: Option<(&'static str, bool)>,
    assumed: Vec<Assumed>,
    view: Option<View>,
    form: Form,
    /// The condition on a figure whose truth is asked.
    asked: Option<Condition>,
    /// The condition on a state whose truth is asked.
    truth: Option<Condition>,
    /// The dimension of the states of which any one is asked for.
    any_in: Option<String>,
}

/// Puts a question together. Fails if it asks for something that no metric query can say.
pub(crate) fn compose(scan: &Scan<'_>, cover: &Cover) -> Result<Composed, (Declined, usize)> {
    let items = cover.items.clone();
    let declined = (0..items.len())
        .find(|at| declined_by(&items[*at]).is_some() && !flights::is_bound_of_edge(&items, *at));
    if let Some(at) = declined
        && let Some(by) = declined_by(&items[at])
        && (by != Declined::Forecast || scan.source.definitions.pacing.is_none())
    {
        return Err((by, at));
    }
    let mut composer = Composer {
        scan,
        used: vec![false; items.len()],
        items,
        query: MetricQuery { source: Some(scan.source.name().clone()), ..MetricQuery::default() },
        by: Vec::new(),
        conditions: Vec::new(),
        bounds: Vec::new(),
        bound_spans: Vec::new(),
        paired: Vec::new(),
        measures: Vec::new(),
        ranked: None,
        counted: None,
        averaged: false,
        explained: false,
        change: None,
        assumed: Vec::new(),
        view: None,
        form: Form::default(),
        asked: None,
        truth: None,
        any_in: None,
    };
    if let Some(at) = composer.effect() {
        return Err((Declined::Cause, at));
    }
    composer.join_amounts();
    composer.name_counted_things();
    composer.skip_all_things();
    composer.skip_compounds();
    composer.read_forms();
    composer.read_what_if()?;
    composer.read_needed();
    composer.read_run_out();
    composer.read_expected()?;
    composer.read_flights();
    composer.read_texts();
    composer.read_rows();
    composer.read_operators();
    composer.read_row_conditions();
    composer.read_deviations();
    composer.read_remaining();
    composer.read_distances();
    composer.read_nearest();
    composer.read_pairs();
    composer.read_bounds();
    composer.join_bounds();
    composer.read_states();
    composer.read_counts();
    composer.read_exclusions();
    composer.read_comparison();
    composer.read_weekdays();
    composer.read_firsts();
    composer.read_rank();
    composer.read_figures();
    composer.read_groups();
    composer.read_when();
    composer.read_full();
    composer.read_values();
    composer.read_measures();
    composer.read_order();
    composer.read_currency();
    Ok(composer.finish())
}

fn declined_by(item: &Item) -> Option<Declined> {
    item.find(|meaning| match meaning {
        Meaning::Declined(by) => Some(*by),
        _ => None,
    })
}

impl Composer<'_> {
    fn len(&self) -> usize {
        self.items.len()
    }

    fn is_free(&self, at: usize) -> bool {
        self.used.get(at).is_some_and(|used| !used)
    }

    fn take(&mut self, at: usize) {
        if let Some(used) = self.used.get_mut(at) {
            *used = true;
        }
    }

    /// Whether the part at a place is a word with a meaning, whether it was used or not.
    fn means(&self, at: usize, meaning: &Meaning) -> bool {
        self.items.get(at).is_some_and(|item| item.means(meaning))
    }

    /// Returns the places of free parts with a meaning.
    fn places(&self, meaning: &Meaning) -> Vec<usize> {
        (0..self.len()).filter(|at| self.is_free(*at) && self.means(*at, meaning)).collect()
    }

    fn has(&self, meaning: &Meaning) -> bool {
        (0..self.len()).any(|at| self.means(at, meaning))
    }

    fn measure_at(&self, at: usize) -> Option<&str> {
        match &self.items.get(at)?.atom {
            Atom::Measure(name) => Some(name),
            _ => None,
        }
    }

    fn dimension_at(&self, at: usize) -> Option<&str> {
        match &self.items.get(at)?.atom {
            Atom::Dimension { name, .. } => Some(name),
            _ => None,
        }
    }

    /// Returns the dimension of a value.
    fn value_at(&self, at: usize) -> Option<&str> {
        match &self.items.get(at)?.atom {
            Atom::Value { dimension, .. } | Atom::Values { dimension, .. } => Some(dimension),
            _ => None,
        }
    }

    /// Returns the grain of a unit or grain of time.
    fn grain_at(&self, at: usize) -> Option<TimeGrain> {
        self.items.get(at)?.find(|meaning| match meaning {
            Meaning::Unit(unit) => Some(grain_of(*unit)),
            Meaning::Grain(grain) => Some(*grain),
            _ => None,
        })
    }

    fn unit_at(&self, at: usize) -> Option<CalendarUnit> {
        self.items.get(at)?.find(|meaning| match meaning {
            Meaning::Unit(unit) => Some(*unit),
            _ => None,
        })
    }

    /// Whether a part may stand between two parts that belong together.
    fn is_thin(&self, at: usize) -> bool {
        const THIN: [Meaning; 18] = [
            Meaning::Filler,
            Meaning::Extent,
            Meaning::Wise,
            Meaning::In,
            Meaning::With,
            Meaning::From,
            Meaning::IsIt,
            Meaning::Which,
            Meaning::Only,
            Meaning::Sum,
            Meaning::List,
            Meaning::Show,
            Meaning::Standing,
            Meaning::Refer(Refer::It),
            Meaning::Refer(Refer::Them),
            Meaning::Refer(Refer::Their),
            Meaning::Refer(Refer::There),
            Meaning::Will,
        ];
        let is_negated = self.items.get(at).is_some_and(Item::is_negated);
        (!is_negated && THIN.iter().any(|meaning| self.means(at, meaning)))
            || (self.means(at, &Meaning::All) && !self.means(at, &Meaning::By))
            || (self.means(at, &Meaning::Per) && self.is_article(at))
    }

    /// Whether the part is a word that is "per" only before a unit.
    fn is_article(&self, at: usize) -> bool {
        let Some(item) = self.items.get(at) else { return false };
        let is_short =
            item.tokens.len() == 1 && self.scan.tokens[item.tokens.start].fold.len() == 1;
        is_short && self.unit_at(at + 1).is_none()
    }

    /// Returns the next part from a place on that is not a thin one.
    fn next(&self, from: usize) -> Option<usize> {
        (from..self.len()).find(|at| !self.is_thin(*at))
    }

    /// Returns the last part before a place that is not a thin one.
    fn previous(&self, before: usize) -> Option<usize> {
        (0..before).rev().find(|at| !self.is_thin(*at))
    }

    fn is_joiner(&self, at: usize) -> bool {
        self.means(at, &Meaning::And) || self.means(at, &Meaning::Or)
    }

    /// Whether the part at a place follows a word that groups.
    fn is_grouped(&self, at: usize) -> bool {
        if self.means(at + 1, &Meaning::Wise) {
            return true;
        }
        let Some(before) = self.previous(at) else { return false };
        let groups = |at| {
            (self.means(at, &Meaning::By) && !self.used[at])
                || (self.means(at, &Meaning::Per) && !self.is_article(at))
        };
        if groups(before) {
            return true;
        }
        // "by A and B"
        self.is_joiner(before)
            && self.previous(before).is_some_and(|at| {
                (self.dimension_at(at).is_some() || self.grain_at(at).is_some())
                    && self.is_grouped(at)
            })
    }

    fn calculation(&self, measure: &str) -> Option<&Calculation> {
        static ROWS: LazyLock<Calculation> =
            LazyLock::new(|| Calculation::Count("rows".to_owned()));
        let found = self.scan.source.definitions.measures.get(measure);
        found.map(|found| &found.calculation).or_else(|| (measure == "rows").then(|| &*ROWS))
    }

    /// Passes over a general word for an amount beside the amount that it means: "money spent", "sales
    /// amount".
    fn join_amounts(&mut self) {
        for at in 0..self.len() {
            let own = &self.items[at].amounts;
            let is_meant = |place: usize| {
                let other = &self.items[place];
                let named =
                    self.measure_at(place).is_some_and(|name| own.contains(&name.to_owned()));
                let is_first = other.amounts.len() == own.len() && place < at;
                named && place != at && (other.amounts.len() < own.len() || is_first)
            };
            if !own.is_empty() && (0..self.len()).any(is_meant) {
                self.items[at].atom = Atom::Words(vec![Meaning::Filler]);
                self.items[at].amounts = Vec::new();
            }
        }
    }

    /// Passes over the name of rows or things before a measure of them: "order amount".
    fn skip_compounds(&mut self) {
        for at in 1..self.len() {
            let of = |place: usize| self.measure_at(place).and_then(|name| self.calculation(name));
            let is_count = |found: &Calculation| {
                matches!(found, Calculation::Count(_) | Calculation::Distinct(_))
            };
            let is_compound = of(at - 1).is_some_and(is_count)
                && of(at).is_some_and(|found| !is_count(found))
                && self.items[at - 1].tokens.end == self.items[at].tokens.start;
            if is_compound {
                self.items[at - 1].atom = Atom::Words(vec![Meaning::Show]);
                // "The largest order amount" is that of one order.
                if let Some(before) = at.checked_sub(2)
                    && let Some(rank) = self.items[before].find(|meaning| match meaning {
                        Meaning::Rank(rank) => Some(*rank),
                        _ => None,
                    })
                    && let Atom::Words(meanings) = &mut self.items[before].atom
                {
                    meanings.push(Meaning::Extreme(rank));
                }
            }
        }
    }

    fn is_percent(&self, measure: &str) -> bool {
        let found = self.scan.source.definitions.measures.get(measure);
        found.is_some_and(|found| found.unit == Some(Unit::Percent))
    }

    /// Whether values of several rows add up to a figure of all of them.
    fn adds_up(&self, measure: &str) -> bool {
        matches!(
            self.calculation(measure),
            None | Some(
                Calculation::Sum(_)
                    | Calculation::Count(_)
                    | Calculation::Plus(_)
                    | Calculation::Minus(_)
                    | Calculation::Of(_)
            )
        )
    }

    /// Returns the place of the first measure.
    fn first_measure(&self) -> Option<usize> {
        (0..self.len()).find(|at| self.measure_at(*at).is_some())
    }

    fn add_group(&mut self, at: usize, group: Group) {
        if !self.by.iter().any(|(_, own)| own.by == group.by) {
            self.by.push((at, group));
        }
    }

    /// Whether the result has a group of time.
    fn has_time(&self) -> bool {
        let is_time = |(_, group): &(usize, Group)| {
            matches!(group.by, contract::metric_query::GroupBy::Time(_))
        };
        self.by.iter().any(is_time)
    }

    /// Returns the place of a change of one measure by another one: "does A increase B".
    fn effect(&self) -> Option<usize> {
        (1..self.len()).find(|at| {
            let before = self.measure_at(at - 1);
            let after = self.next(at + 1).and_then(|next| self.measure_at(next));
            let is_moved = self.means(*at, &Meaning::Rise) || self.means(*at, &Meaning::Fall);
            is_moved && before.is_some() && after.is_some() && before != after
        })
    }

    /// Whether a question begins with its verb and the figure: "ökade kostnaden".
    fn asks_whether_it_moved(&self) -> bool {
        let is_moved = self.means(0, &Meaning::Rise) || self.means(0, &Meaning::Fall);
        let begins = self.items.first().is_some_and(|item| item.tokens == (0..1));
        is_moved && begins && self.measure_at(1).is_some()
    }

    /// Reads words about the sentence and the form of the answer.
    fn read_forms(&mut self) {
        for at in 0..self.len() {
            let view = self.items[at].find(|meaning| match meaning {
                Meaning::View(view) => Some(*view),
                _ => None,
            });
            if let Some(view) = view {
                self.take(at);
                let is_better = self.view.is_none() || self.view == Some(View::Table);
                if is_better {
                    self.view = Some(view);
                }
            }
            if matches!(self.items[at].atom, Atom::Source) {
                self.take(at);
            }
        }
        // A follow-up has the parts of the earlier question before its own ones.
        let first = self.items.iter().position(|item| !item.tokens.is_empty()).unwrap_or(0);
        if self.has(&Meaning::Which) {
            self.form = Form::Which;
        } else if self.means(first, &Meaning::IsIt) || self.asks_whether_it_moved() {
            self.form = Form::YesNo;
        }
    }
}

/// Returns the grain that groups by a unit.
pub(crate) fn grain_of(unit: CalendarUnit) -> TimeGrain {
    match unit {
        CalendarUnit::Day => TimeGrain::Day,
        CalendarUnit::Week => TimeGrain::Week,
        CalendarUnit::Month => TimeGrain::Month,
        CalendarUnit::Quarter => TimeGrain::Quarter,
        CalendarUnit::Year => TimeGrain::Year,
    }
}
