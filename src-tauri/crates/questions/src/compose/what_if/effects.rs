//! The figures of a computed source that an assumption changes, and the things that it is about. The names
//! of these figures are those of the contract of such sources.

use analytics::SourceModel;
use contract::{
    definitions::{Calculation, CurrencyOf, DimensionKind},
    metric_query::{Condition, MeasureUse, Scalar, Test, WhatIf, WhatIfChange},
};

use super::Assumable;
use crate::{compose::Composer, outcome::Assumed};

/// The figures that are shown if a text names none.
const EFFECTS: [&str; 4] = [BUDGET, "projection", "needed_per_day", "run_out_day"];
/// The figures that tell whether an amount is enough.
pub(super) const OUTLOOK: [&str; 2] = ["projection", BUDGET];
pub(super) const BUDGET: &str = "budget";
/// The figures that a rate is a rate of. The last is one of a day itself.
pub(super) const RATES: [&str; 2] = ["spend", "daily_rate"];

impl Composer<'_> {
    /// Returns the measure of a figure of a computed source.
    pub(in crate::compose) fn figure(&self, column: &str) -> Option<String> {
        figure_of(self.scan.source, column)
    }

    /// Whether a measure is one of some figures.
    pub(super) fn is_one_of(&self, measure: &str, columns: &[&str]) -> bool {
        columns.iter().any(|column| self.figure(column).as_deref() == Some(measure))
    }

    /// Returns the place of one of some figures.
    pub(in crate::compose) fn place_of(&self, columns: &[&str]) -> Option<usize> {
        (0..self.len())
            .find(|at| self.measure_at(*at).is_some_and(|name| self.is_one_of(name, columns)))
    }

    /// Whether a measure has amounts in several currencies.
    pub(super) fn has_currencies(&self, measure: &str) -> bool {
        self.currency_dimension(measure).is_some()
    }

    /// Returns the dimension with the currency of a measure.
    fn currency_dimension(&self, measure: &str) -> Option<String> {
        let definitions = &self.scan.source.definitions;
        let Some(CurrencyOf::Column { column }) = &definitions.measures.get(measure)?.currency
        else {
            return None;
        };
        let is_it = |(_, one): &(&String, &contract::definitions::Dimension)| {
            one.kind == DimensionKind::Column(column.clone())
        };
        definitions.dimensions.iter().find(is_it).map(|(name, _)| name.clone())
    }

    /// Asks only for what has the currency that stands beside an amount. It is never converted.
    pub(super) fn add_currency(&mut self, measure: &str, code: Option<&str>) {
        let (Some(name), Some(code)) = (self.currency_dimension(measure), code) else { return };
        let test = Test::OneOf(vec![Scalar::Text(code.to_owned())]);
        self.conditions.push((self.len(), Condition::Is { name, test }));
    }

    /// Adds an assumption. Without things of its own, it is about those of the question.
    pub(super) fn assume(
        &mut self,
        kind: Assumable,
        change: WhatIfChange,
        things: Option<Condition>,
    ) {
        let (budget, rate) = match kind {
            Assumable::Budget => (Some(change), None),
            Assumable::Rate => (None, Some(change)),
        };
        let conditions = things.into_iter().collect();
        self.query.what_if.push(WhatIf { conditions, budget, rate });
    }

    /// Gives an assumption the things of the question.
    pub(in crate::compose) fn finish_what_if(&mut self) {
        about_things(self.scan.source, &self.query.conditions, &mut self.query.what_if);
    }

    /// Shows what an assumption changes, if the text names no figure.
    pub(in crate::compose) fn show_effects(&mut self) {
        if self.query.what_if.is_empty() || !self.query.measures.is_empty() {
            return;
        }
        let figures = EFFECTS.iter().filter_map(|column| self.figure(column));
        self.query.measures = figures.map(MeasureUse::named).collect();
        let first = self.query.measures.first().and_then(|used| used.measure.clone());
        self.assumed.extend(first.map(Assumed::Measure));
    }
}

/// Returns the measure of a figure of a computed source.
fn figure_of(source: &SourceModel, column: &str) -> Option<String> {
    let calculations = [Calculation::Sum(column.to_owned()), Calculation::Least(column.to_owned())];
    let mut measures = source.definitions.measures.iter();
    measures.find(|(_, one)| calculations.contains(&one.calculation)).map(|(name, _)| name.clone())
}

/// Returns the measure of an amount that is assumed.
pub(crate) fn measure_assumed(source: &SourceModel, kind: Assumable) -> Option<String> {
    match kind {
        Assumable::Budget => figure_of(source, BUDGET),
        Assumable::Rate => figure_of(source, RATES[0]),
    }
}

/// Makes assumptions that are about the things of a question have its conditions on things.
pub(crate) fn about_things(source: &SourceModel, conditions: &[Condition], assumed: &mut [WhatIf]) {
    let [one] = assumed else { return };
    let Some(pacing) = &source.definitions.pacing else { return };
    let is_thing = |condition: &&Condition| {
        let Condition::Is { name, .. } = condition else { return false };
        let dimension = source.definitions.dimensions.get(name);
        let Some(DimensionKind::Column(column)) = dimension.map(|one| &one.kind) else {
            return false;
        };
        pacing.by.iter().any(|by| by.name == *column)
    };
    one.conditions = conditions.iter().filter(is_thing).cloned().collect();
}
