//! Says a metric query in words that the reader reads as the same query. It says what the reader can
//! read, and nothing of a query beyond that.

use std::collections::BTreeMap;

use analytics::SourceModel;
use contract::{
    definitions::Calculation,
    metric_query::{
        Condition, Group, GroupBy, MeasureUse, MetricQuery, Scalar, StepCalculation, Test,
    },
};

use crate::numbers::as_number;

mod times;

/// The words of a language for a query over a source.
pub(crate) struct Saying<'a> {
    /// The words.
    pub words: &'a BTreeMap<String, String>,
    /// The source.
    pub source: &'a SourceModel,
}

impl Saying<'_> {
    fn word(&self, key: &str) -> Option<&str> {
        self.words.get(key).map(String::as_str)
    }

    /// Returns a query in words. None if it has a member that questions cannot ask for.
    pub fn say(&self, query: &MetricQuery) -> Option<String> {
        if is_beyond(query) {
            return None;
        }
        let mut parts = vec![self.figures(query)?];
        if query.explain.is_none() {
            parts.extend(self.groups(query)?);
        }
        for condition in &query.conditions {
            parts.push(self.condition(condition)?);
        }
        if let Some(period) = &query.period {
            parts.push(self.period(period)?);
        }
        if let Some(compare) = &query.compare {
            parts.push(self.compare(compare)?);
        }
        parts.extend(self.order(query)?);
        let source = self.source.name().as_str().replace('_', " ");
        parts.push(format!("{} {source}", self.word("source")?));
        Some(parts.join(" "))
    }

    /// Returns the figures, with the groups that are counted or averaged over.
    fn figures(&self, query: &MetricQuery) -> Option<String> {
        if let Some(explain) = &query.explain {
            let names: Vec<String> = explain.by.iter().map(|name| plain(name)).collect();
            let by = self.list(&names)?;
            let measure = plain(&explain.measure);
            return Some(format!("{} {measure} {} {by}", self.word("explain")?, self.word("by")?));
        }
        if let Some(then) = &query.then {
            let [step] = then.measures.as_slice() else { return None };
            let [group] = query.by.as_slice() else { return None };
            let name = self.group(group)?;
            return match &step.calculation {
                StepCalculation::Count(_) => {
                    let is_name = matches!(group.by, GroupBy::Dimension(_));
                    let count = format!("{} {name}", self.word("how_many")?);
                    (is_name && query.measures.len() == 1).then_some(count)
                }
                StepCalculation::Average(_) => {
                    let figure = self.figure(query.measures.first()?)?;
                    let words = (self.word("average")?, self.word("per")?);
                    Some(format!("{} {figure} {} {name}", words.0, words.1))
                }
                _ => None,
            };
        }
        let figures: Option<Vec<String>> =
            query.measures.iter().map(|used| self.figure(used)).collect();
        self.list(&figures?)
    }

    fn figure(&self, used: &MeasureUse) -> Option<String> {
        if !used.conditions.is_empty() {
            return None;
        }
        if let Some(calculation) = &used.calculation {
            return self.calculation(calculation);
        }
        let name = plain(used.measure.as_deref()?);
        if !used.share_of.is_empty() {
            let share = format!("{} {name}", self.word("share")?);
            return match used.share_of.as_slice() {
                [all] if all == "total" => Some(share),
                [parent] => Some(format!("{share} {} {}", self.word("within")?, plain(parent))),
                _ => None,
            };
        }
        if used.running {
            return Some(format!("{} {name}", self.word("running")?));
        }
        if let Some(span) = used.rolling {
            return Some(format!("{} {} {name}", self.word("rolling")?, self.span(span)?));
        }
        match used.per {
            Some(unit) => {
                let words = (self.word("average")?, self.word("per")?, self.unit(unit)?);
                Some(format!("{} {name} {} {}", words.0, words.1, words.2))
            }
            None => Some(name),
        }
    }

    fn calculation(&self, calculation: &Calculation) -> Option<String> {
        match calculation {
            Calculation::Ratio([a, b]) => {
                Some(format!("{} {} {}", plain(a), self.word("per")?, plain(b)))
            }
            Calculation::Distinct(name) => {
                let words = (self.word("how_many")?, self.word("different")?);
                Some(format!("{} {} {}", words.0, words.1, plain(name)))
            }
            Calculation::Average(column) | Calculation::Median(column) => {
                let measures = &self.source.definitions.measures;
                let is_own = |found: &Calculation| match found {
                    Calculation::Sum(own) | Calculation::Average(own) => own == column,
                    _ => false,
                };
                let (name, _) = measures.iter().find(|(_, m)| is_own(&m.calculation))?;
                let is_average = matches!(calculation, Calculation::Average(_));
                let word = self.word(if is_average { "average" } else { "median" })?;
                Some(format!("{word} {}", plain(name)))
            }
            _ => None,
        }
    }

    fn groups(&self, query: &MetricQuery) -> Option<Option<String>> {
        let is_within = |group: &&Group| {
            let parents = query.measures.iter().flat_map(|used| &used.share_of);
            let names: Vec<&String> = parents.collect();
            !matches!(&group.by, GroupBy::Dimension(name) if names.contains(&name))
        };
        if query.then.is_some() {
            return Some(None);
        }
        if let Some(top) = &query.top {
            let of = top.of.as_deref()?;
            let per = top.per.iter().map(|name| self.name_or_grain(name));
            let per = self.list(&per.collect::<Option<Vec<_>>>()?)?;
            let rank = self.word(if top.lowest { "bottom" } else { "top" })?;
            let by = plain(top.by.as_deref()?);
            let words = (self.word("per")?, self.word("by")?);
            let of = plain(of);
            return Some(Some(format!("{rank} {} {of} {} {per} {} {by}", top.n, words.0, words.1)));
        }
        let names: Option<Vec<String>> =
            query.by.iter().filter(is_within).map(|group| self.group(group)).collect();
        let names = names?;
        if names.is_empty() {
            return Some(None);
        }
        Some(Some(format!("{} {}", self.word("by")?, self.list(&names)?)))
    }

    fn name_or_grain(&self, name: &str) -> Option<String> {
        let is_own = self.source.definitions.dimensions.contains_key(name);
        if is_own { Some(plain(name)) } else { self.word(name).map(str::to_owned) }
    }

    fn group(&self, group: &Group) -> Option<String> {
        match &group.by {
            GroupBy::Dimension(name) => Some(plain(name)),
            GroupBy::Time(grain) => {
                let key = serde_json::to_value(grain).ok()?;
                self.word(key.as_str()?).map(str::to_owned)
            }
            GroupBy::Define(_) => None,
        }
    }

    fn condition(&self, condition: &Condition) -> Option<String> {
        let Condition::Is { name, test } = condition else { return None };
        match test {
            Test::OneOf(values) => Some(format!("{} {}", self.word("in")?, self.values(values)?)),
            Test::NoneOf(values) => Some(format!("{} {}", self.word("not")?, self.values(values)?)),
            Test::Bounds(bounds) => {
                let sides = [
                    ("above", &bounds.above),
                    ("from", &bounds.from),
                    ("below", &bounds.below),
                    ("to", &bounds.to),
                ];
                let mut given =
                    sides.into_iter().filter_map(|(key, side)| Some((key, side.as_ref()?)));
                let ((key, Scalar::Number(number)), None) = (given.next()?, given.next()) else {
                    return None;
                };
                let words = (self.word("with")?, self.word(key)?);
                let Some(own) = name.strip_suffix("_growth") else {
                    return Some(format!("{} {} {} {number}", words.0, plain(name), words.1));
                };
                let percent = as_number(100.0 * number.as_f64()?)?;
                let growth = self.word("growth")?;
                Some(format!("{} {} {growth} {} {percent} %", words.0, plain(own), words.1))
            }
            _ => None,
        }
    }

    pub(super) fn values(&self, values: &[Scalar]) -> Option<String> {
        let text = |value: &Scalar| match value {
            Scalar::Text(text) => Some(format!("\"{text}\"")),
            _ => None,
        };
        self.list(&values.iter().map(text).collect::<Option<Vec<_>>>()?)
    }

    fn order(&self, query: &MetricQuery) -> Option<Option<String>> {
        let Some(order) = query.order.first() else { return Some(None) };
        let ending = |key: &str| order.by.strip_suffix(key).filter(|_| query.compare.is_some());
        let by = match (ending("_change"), ending("_growth")) {
            (Some(name), _) => format!("{} {}", plain(name), self.word("change")?),
            (_, Some(name)) => format!("{} {}", plain(name), self.word("growth")?),
            (None, None) => plain(&order.by),
        };
        Some(Some(match query.limit {
            Some(limit) => {
                let rank = self.word(if order.descending { "top" } else { "bottom" })?;
                format!("{rank} {limit} {} {by}", self.word("by")?)
            }
            None => {
                let direction = if order.descending { "descending" } else { "ascending" };
                format!("{} {by} {}", self.word("sorted")?, self.word(direction)?)
            }
        }))
    }

    /// Returns a list with "and" between its parts.
    fn list(&self, parts: &[String]) -> Option<String> {
        (!parts.is_empty()).then_some(())?;
        Some(parts.join(&format!(" {} ", self.word("and")?)))
    }
}

/// Whether a query has a member that questions do not ask for.
fn is_beyond(query: &MetricQuery) -> bool {
    query.rows
        || query.fill
        || query.totals
        || query.pivot.is_some()
        || query.in_currency.is_some()
        || query.order.len() > 1
        || (query.limit.is_some() && query.order.is_empty())
        || (query.top.as_ref().is_some_and(|top| top.others || top.per.is_empty()))
        || (query.measures.is_empty() && query.explain.is_none())
}

/// Returns a name as people write it.
fn plain(name: &str) -> String {
    name.replace('_', " ")
}
