//! Assumptions in words: another budget, another rate, an amount that moves from one thing to another one.

use contract::metric_query::{Condition, GroupBy, MetricQuery, Scalar, Test, WhatIf, WhatIfChange};
use serde_json::Number;

use super::Saying;
use crate::{
    compose::{Assumable, about_things, measure_assumed},
    numbers::as_number,
};

impl Saying<'_> {
    /// Returns a query with an assumption in words.
    pub(super) fn assuming(&self, query: &MetricQuery) -> Option<String> {
        let plain = MetricQuery { what_if: Vec::new(), ..query.clone() };
        let (plain, assumed) = match query.what_if.as_slice() {
            [one] => {
                let mut own = [one.clone()];
                about_things(self.source, &query.conditions, &mut own);
                (own == [one.clone()]).then_some(())?;
                (plain, self.changed(one)?)
            }
            [from, to] => self.moved(plain, from, to)?,
            _ => return None,
        };
        let (said, assuming) = (self.say(&plain)?, self.word("assuming")?);
        // The source is said last, where its name is nothing else.
        let name = self.source.name().as_str().replace('_', " ");
        let source = format!(" {} {name}", self.word("source")?);
        let rest = said.strip_suffix(&source)?;
        Some(format!("{rest} {assuming} {assumed}{source}"))
    }

    /// Returns "budget 20 % more".
    fn changed(&self, one: &WhatIf) -> Option<String> {
        let (kind, change) = match (&one.budget, &one.rate) {
            (Some(change), None) => (Assumable::Budget, change),
            (None, Some(change)) => (Assumable::Rate, change),
            (Some(_), Some(_)) | (None, None) => return None,
        };
        let mut object = self.name(&measure_assumed(self.source, kind)?);
        if kind == Assumable::Rate {
            object = format!("{object} {} {}", self.word("per")?, self.word("day")?);
        }
        let (amount, sign) = match change {
            WhatIfChange::To(amount) => return Some(format!("{object} {amount}")),
            WhatIfChange::By(amount) => (amount, ""),
            WhatIfChange::Percent(amount) => (amount, " %"),
        };
        let side = self.word(if is_less(amount) { "less" } else { "more" })?;
        Some(format!("{object} {}{sign} {side}", size(amount)?))
    }

    /// Returns "1000 moved from A to B", and the rest of the query.
    fn moved(
        &self,
        plain: MetricQuery,
        from: &WhatIf,
        to: &WhatIf,
    ) -> Option<(MetricQuery, String)> {
        let (Some(WhatIfChange::By(less)), Some(WhatIfChange::By(more))) =
            (&from.budget, &to.budget)
        else {
            return None;
        };
        let is_move = is_less(less) && size(less) == Some(more.clone());
        let ((name, first), (other, second)) = (thing(from)?, thing(to)?);
        let [group] = plain.by.as_slice() else { return None };
        let is_by = name == other && group.by == GroupBy::Dimension(name.clone());
        let both = Condition::Is {
            name: name.clone(),
            test: Test::OneOf(vec![first.clone(), second.clone()]),
        };
        let is_asked = plain.conditions.contains(&both);
        (is_move && is_by && is_asked).then_some(())?;
        let (first, second) = (self.values(&[first])?, self.values(&[second])?);
        let words = (self.word("moved")?, self.word("range_from")?, self.word("range_to")?);
        let said = format!("{more} {} {} {first} {} {second}", words.0, words.1, words.2);
        let conditions = plain.conditions.iter().filter(|one| **one != both).cloned().collect();
        Some((MetricQuery { by: Vec::new(), conditions, ..plain }, said))
    }
}

/// Returns the thing that an assumption is about.
fn thing(one: &WhatIf) -> Option<(String, Scalar)> {
    let [Condition::Is { name, test: Test::OneOf(values) }] = one.conditions.as_slice() else {
        return None;
    };
    let [value] = values.as_slice() else { return None };
    one.rate.is_none().then(|| (name.clone(), value.clone()))
}

fn is_less(amount: &Number) -> bool {
    amount.as_f64().is_some_and(|amount| amount < 0.0)
}

fn size(amount: &Number) -> Option<Number> {
    as_number(amount.as_f64()?.abs())
}
