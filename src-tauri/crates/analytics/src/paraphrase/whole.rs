//! Members about the whole result in words: order, limit, form, a second step, currency and source.

use contract::{
    Param, Text,
    metric_query::{
        MetricQuery, Order, PartKind, QueryPart, SecondStep, Top, WhatIf, WhatIfChange,
    },
    text,
};

use super::{Words, as_is, list, part};

impl Words<'_> {
    /// Returns the parts about the whole result.
    pub fn whole(&self, query: &MetricQuery) -> Vec<QueryPart> {
        let mut parts = Vec::new();
        if let Some(top) = &query.top {
            parts.push(part(PartKind::Limit, "/top", self.top(top)));
        }
        for (at, order) in query.order.iter().enumerate() {
            parts.push(part(PartKind::Order, format!("/order/{at}"), self.order(order)));
        }
        match query.limit {
            Some(1) => parts.push(part(PartKind::Limit, "/limit", text!("first row only"))),
            Some(count) => {
                parts.push(part(PartKind::Limit, "/limit", text!("first {count} rows", count)));
            }
            None => {}
        }
        if let Some(pivot) = &query.pivot {
            let words = text!("a column for each {name}", name = self.result_column(pivot));
            parts.push(part(PartKind::Option, "/pivot", words));
        }
        if query.fill {
            parts.push(part(PartKind::Option, "/fill", text!("with times without rows")));
        }
        if query.totals {
            parts.push(part(PartKind::Option, "/totals", text!("with totals")));
        }
        if let Some(then) = &query.then {
            parts.push(part(PartKind::Option, "/then", self.then(then)));
        }
        if let Some(currency) = &query.in_currency {
            let words = text!("in {currency}", currency = as_is(currency));
            parts.push(part(PartKind::Currency, "/in_currency", words));
        }
        for (at, one) in query.what_if.iter().enumerate() {
            let words = self.what_if(one);
            parts.push(part(PartKind::Option, format!("/what_if/{at}"), words));
        }
        let source = as_is(self.source.name().as_str());
        parts.push(part(PartKind::Source, "/source", text!("from {source}", source)));
        parts
    }

    fn what_if(&self, one: &WhatIf) -> Text {
        let changes = [(&one.budget, text!("total budget")), (&one.rate, text!("spend per day"))];
        let changes =
            changes.into_iter().filter_map(|(change, name)| Some((change.as_ref()?, name)));
        let changes = list(changes.map(|(change, name)| {
            Param::Text(match change {
                WhatIfChange::To(number) => {
                    text!("{name} {amount}", name, amount = number.to_string())
                }
                WhatIfChange::By(number) => {
                    text!("{name} {amount} more", name, amount = number.to_string())
                }
                WhatIfChange::Percent(number) => {
                    text!("{name} {amount} % more", name, amount = number.to_string())
                }
            })
        }));
        if one.conditions.is_empty() {
            return text!("if {changes}", changes);
        }
        let things = self.conditions(&one.conditions);
        text!("if {changes} for {things}", changes, things)
    }

    fn order(&self, order: &Order) -> Text {
        let name = self.result_column(&order.by);
        if order.descending {
            text!("sorted by {name}, descending", name)
        } else {
            text!("sorted by {name}", name)
        }
    }

    fn top(&self, top: &Top) -> Text {
        let count = top.n;
        let mut words =
            if top.lowest { text!("lowest {count}", count) } else { text!("top {count}", count) };
        if let Some(of) = &top.of {
            words = text!("{top} of {name}", top = words, name = self.result_column(of));
        }
        if let Some(by) = &top.by {
            words = text!("{top} by {name}", top = words, name = self.result_column(by));
        }
        if !top.per.is_empty() {
            let names = list(top.per.iter().map(|name| self.result_column(name)));
            words = text!("{top} for each {names}", top = words, names);
        }
        if top.others {
            words = text!("{top}, others together", top = words);
        }
        words
    }

    fn then(&self, then: &SecondStep) -> Text {
        let figures = list(then.measures.iter().map(|step| Param::Text(self.step(step))));
        if then.by.is_empty() {
            return text!("then {figures}", figures);
        }
        let names = list(then.by.iter().map(|name| self.result_column(name)));
        text!("then {figures} by {names}", figures, names)
    }
}
