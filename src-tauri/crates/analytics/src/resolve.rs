//! Makes a metric query absolute: names as the definitions have them, the source, periods as days,
//! the distance of a comparison. The resolved form is recorded, hashed and run again.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use contract::{
    Text,
    definitions::{Calculation, DefinitionState},
    metric_query::{
        AsOf, Compare, Condition, Explain, Group, GroupBy, MeasureUse, MetricQuery, Order, Period,
        Scalar, Test, WhatIf,
    },
    text,
};

use crate::{Catalog, Problem, SourceModel, definitions::hash_of, figure_names::names_of_figures};

mod notes;
mod periods;
mod used;

use notes::collect_notes;
use periods::{resolve_compare, resolve_period};
use used::used_definitions;

pub(crate) use periods::{
    DayBounds, bounds_of, first_of_windows, parts as parts_of_span, read_month,
};
pub use used::joined_sources;
pub use used::parts_of;
pub(crate) use used::{lookups_of, owner};

/// A metric query in its absolute form, with what it uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The query. Resolving it again changes nothing.
    pub query: MetricQuery,
    /// The SHA-256 of its canonical JSON.
    pub hash: String,
    /// The SHA-256 of each definition that is used, by `SOURCE.NAME`.
    pub definitions: BTreeMap<String, String>,
    /// Whether these are approved.
    pub state: DefinitionState,
    /// Notes for a person, to read before the figures.
    pub notes: Vec<Text>,
}

/// Resolves a metric query at a moment.
pub fn resolve(query: &MetricQuery, catalog: &Catalog, as_of: &AsOf) -> Result<Resolved, Problem> {
    let as_of = query.as_of.clone().unwrap_or_else(|| as_of.clone());
    let mut resolved = resolve_names(query, catalog, &as_of)?;
    resolved.as_of = Some(as_of);
    let definitions = used_definitions(&resolved, catalog)?;
    let state = state_of(&resolved, catalog, &definitions);
    let notes = collect_notes(&resolved, catalog)?;
    let hash = hash_of(&resolved)?;
    Ok(Resolved { query: resolved, hash, definitions, state, notes })
}

fn state_of(
    query: &MetricQuery,
    catalog: &Catalog,
    definitions: &BTreeMap<String, String>,
) -> DefinitionState {
    let is_own = query.measures.iter().any(|used| used.calculation.is_some())
        || query.by.iter().any(|group| matches!(group.by, GroupBy::Define(_)));
    let approved =
        |hash: &String| catalog.sources.iter().any(|source| source.approved.contains(hash));
    match (is_own, definitions.values().all(approved)) {
        (true, _) => DefinitionState::WrittenByModel,
        (false, true) => DefinitionState::Approved,
        (false, false) => DefinitionState::Proposed,
    }
}

/// Returns the place of the source that a query begins with.
pub(crate) fn primary(query: &MetricQuery, catalog: &Catalog) -> Result<usize, Problem> {
    match &query.source {
        Some(name) => catalog.place(name),
        None => Err(Problem::new(text!("The query does not say its source."))),
    }
}

/// Finds the source of a query that does not name it.
pub(crate) fn find_source(query: &MetricQuery, catalog: &Catalog) -> Result<usize, Problem> {
    if query.source.is_some() {
        return primary(query, catalog);
    }
    if catalog.sources.len() == 1 {
        return Ok(0);
    }
    let explained = query.explain.iter().map(|explain| explain.measure.as_str());
    let measures = query.measures.iter().filter_map(|used| used.measure.as_deref());
    let name = measures.chain(explained).find(|name| *name != crate::catalog::ROWS);
    let has = |source: &SourceModel| match name {
        Some(name) => match name.split_once('.') {
            Some((own, _)) if own == source.name().as_str() => true,
            _ => source.find_measure(name).is_some(),
        },
        None => false,
    };
    let found: Vec<usize> =
        (0..catalog.sources.len()).filter(|at| has(&catalog.sources[*at])).collect();
    // A table comes before a source that is computed from it.
    let is_table = |at: &usize| catalog.sources[*at].definitions.pacing.is_none();
    let tables: Vec<usize> = found.iter().copied().filter(is_table).collect();
    let first = if tables.is_empty() { &found } else { &tables };
    if let [one] = first.as_slice() {
        return Ok(*one);
    }
    if let Some(name) = name.filter(|_| found.is_empty()) {
        return Err(nowhere(name, catalog));
    }
    let is_one = |at: &usize| found.is_empty() || found.contains(at);
    let names: Vec<&str> = (0..catalog.sources.len())
        .filter(is_one)
        .map(|at| catalog.sources[at].name().as_str())
        .collect();
    Err(Problem::new(text!(
        "Name the source with \"source\". There are: {names}.",
        names = names.join(", ")
    )))
}

/// Returns the problem of a measure that no source has, with the measures that are like it.
fn nowhere(name: &str, catalog: &Catalog) -> Problem {
    let all: Vec<String> = catalog
        .sources
        .iter()
        .flat_map(|source| {
            let measures = source.definitions.measures.keys();
            measures.map(move |measure| format!("{}.{measure}", source.name()))
        })
        .collect();
    let own: Vec<&str> =
        all.iter().map(|full| full.split_once('.').map_or(full.as_str(), |(_, own)| own)).collect();
    let near = contract::members::nearest(name, &own);
    let fitting: Vec<&str> = all
        .iter()
        .zip(&own)
        .filter(|(_, own)| near.is_none_or(|near| near == **own))
        .map(|(full, _)| full.as_str())
        .collect();
    Problem::new(text!(
        "No source has the measure {name}. There are: {names}.",
        name,
        names = fitting.join(", ")
    ))
    .hint(text!("Name the source with \"source\"."))
}

/// Makes the names, the periods and the comparison of a query absolute, without checks of what it
/// computes.
pub(crate) fn resolve_names(
    query: &MetricQuery,
    catalog: &Catalog,
    as_of: &AsOf,
) -> Result<MetricQuery, Problem> {
    let place = find_source(query, catalog)?;
    let source = &catalog.sources[place];
    let is_named = query.source.is_some();
    let figures = names_of_figures(query);
    let names = Names { catalog, source, as_of, is_named, figures };
    let measures: Vec<MeasureUse> =
        query.measures.iter().map(|used| names.measure_use(used)).collect::<Result<_, _>>()?;
    let today = as_of.moment.date();
    let period = match &query.period {
        Some(period) => resolve_period(period, source.calendar(), today)?,
        None => None,
    };
    let compare = match &query.compare {
        Some(compare) => Some(resolve_compare(
            compare,
            period.as_ref(),
            is_under_way(query.period.as_ref(), period.as_ref(), today),
            source.calendar(),
            today,
        )?),
        None => None,
    };
    Ok(MetricQuery {
        source: Some(source.name().clone()),
        by: query.by.iter().map(|group| names.group(group)).collect::<Result<_, _>>()?,
        conditions: names.conditions(&query.conditions)?,
        period,
        compare: compare.map(|compare| names.compare(compare)).transpose()?,
        order: query.order.iter().map(|order| names.order(order)).collect(),
        limit: query.limit,
        top: query.top.clone().map(|mut top| {
            top.of = top.of.map(|of| names.shown(&of));
            top.per = top.per.iter().map(|per| names.shown(per)).collect();
            top.by = top.by.map(|by| names.shown(&by));
            top
        }),
        totals: query.totals,
        rows: query.rows,
        columns: query.columns.clone(),
        pivot: query.pivot.as_deref().map(|pivot| names.shown(pivot)),
        fill: query.fill,
        then: query.then.clone(),
        explain: query.explain.as_ref().map(|explain| names.explain(explain)).transpose()?,
        in_currency: query.in_currency.clone(),
        what_if: names.what_if(&query.what_if)?,
        as_of: Some(as_of.clone()),
        measures,
    })
}

/// Whether the period of a query contains today. A resolved query has the distance already.
fn is_under_way(written: Option<&Period>, period: Option<&Period>, today: NaiveDate) -> bool {
    let is_calendar = !matches!(written, Some(Period::Range { .. }) | None);
    let last = period.and_then(|period| bounds_of(Some(period)).last);
    is_calendar && last.is_some_and(|last| last >= today)
}

/// Fails if a name is like those of the steps of a statement.
fn check_name(name: Option<&str>) -> Result<(), Problem> {
    match name {
        Some(name) if name.starts_with('_') => {
            Err(Problem::new(text!("The name {name} must not begin with _.", name)))
        }
        Some(_) | None => Ok(()),
    }
}

/// Finds the names of a query in the definitions of its source.
struct Names<'a> {
    catalog: &'a Catalog,
    source: &'a SourceModel,
    as_of: &'a AsOf,
    /// Whether the query names its source. Measures of others then need their source's name.
    is_named: bool,
    /// The names of the figures of the result.
    figures: Vec<String>,
}

impl Names<'_> {
    fn measure_use(&self, used: &MeasureUse) -> Result<MeasureUse, Problem> {
        check_name(used.name.as_deref())?;
        let measure = used.measure.as_deref().map(|name| self.measure(name)).transpose()?;
        let calculation = used.calculation.as_ref().map(|own| self.calculation(own)).transpose()?;
        let share_of = used.share_of.iter().map(|name| self.shown(name)).collect();
        Ok(MeasureUse {
            measure,
            calculation,
            name: used.name.clone(),
            conditions: self.conditions(&used.conditions)?,
            share_of,
            running: used.running,
            rolling: used.rolling,
            per: used.per,
        })
    }

    /// Returns the name of a measure, with its source if that is another one.
    fn measure(&self, written: &str) -> Result<String, Problem> {
        if let Some(found) = self.source.find_measure(written) {
            return Ok(found.to_owned());
        }
        if let Some((source, name)) = written.split_once('.')
            && let Ok(place) = self.catalog.place(&source.into())
        {
            let other = &self.catalog.sources[place];
            let found = other.find_measure(name).ok_or_else(|| other.unknown_measure(name))?;
            let is_own = other.name() == self.source.name();
            return Ok(if is_own { found.to_owned() } else { format!("{source}.{found}") });
        }
        let others = self.catalog.sources.iter().filter(|other| other.name() != self.source.name());
        let found: Vec<String> = others
            .filter_map(|other| Some(format!("{}.{}", other.name(), other.find_measure(written)?)))
            .collect();
        match found.as_slice() {
            [] => Err(self.source.unknown_measure(written)),
            names if self.is_named => Err(Problem::new(text!(
                "{source} has no measure {written}. Another source has it: {names}.",
                source = self.source.name(),
                written,
                names = names.join(", ")
            ))
            .hint(text!(
                "Write it with the name of its source, or name that source in \"source\"."
            ))),
            [one] => Ok(one.clone()),
            several => Err(Problem::new(text!(
                "Several sources have the measure {written}. Write one of: {names}.",
                written,
                names = several.join(", ")
            ))),
        }
    }

    /// Returns the name of a dimension, of a column, or of a dimension of a joined source.
    fn dimension(&self, written: &str) -> Result<String, Problem> {
        if let Some(found) = self.source.find_dimension(written) {
            return Ok(found.to_owned());
        }
        if let Some((source, name)) = self.source.split_lookup(written) {
            let place = self.catalog.place(&source.into())?;
            let other = &self.catalog.sources[place];
            let found = other.find_dimension(name).ok_or_else(|| other.unknown_dimension(name))?;
            return Ok(format!("{source}.{found}"));
        }
        let joined = self.source.definitions.joins.keys().filter_map(|source| {
            let place = self.catalog.place(&source.as_str().into()).ok()?;
            let other = &self.catalog.sources[place];
            let found = other.find_dimension(written)?;
            other.definitions.dimensions.contains_key(found).then(|| format!("{source}.{found}"))
        });
        let joined: Vec<String> = joined.collect();
        if joined.is_empty() {
            return Err(self.source.unknown_dimension(written));
        }
        Err(Problem::new(text!(
            "{source} has no dimension {written}, but a source that it is joined with has it. Write {names}.",
            source = self.source.name(),
            written,
            names = joined.join(", ")
        )))
    }

    fn calculation(&self, own: &Calculation) -> Result<Calculation, Problem> {
        Ok(match own {
            Calculation::Ratio([a, b]) => Calculation::Ratio([self.measure(a)?, self.measure(b)?]),
            Calculation::Minus([a, b]) => Calculation::Minus([self.measure(a)?, self.measure(b)?]),
            Calculation::Of(name) => Calculation::Of(self.measure(name)?),
            Calculation::Plus(names) => Calculation::Plus(
                names.iter().map(|name| self.measure(name)).collect::<Result<_, _>>()?,
            ),
            Calculation::Distinct(name) => Calculation::Distinct(self.dimension(name)?),
            other => other.clone(),
        })
    }

    fn group(&self, group: &Group) -> Result<Group, Problem> {
        check_name(group.name.as_deref())?;
        let by = match &group.by {
            GroupBy::Dimension(name) => GroupBy::Dimension(self.dimension(name)?),
            other => other.clone(),
        };
        Ok(Group { by, name: group.name.clone() })
    }

    /// Returns the name of a measure, a dimension or a column of the result as the result has it.
    fn shown(&self, written: &str) -> String {
        if self.source.definitions.measures.contains_key(written) {
            return written.to_owned();
        }
        match self.dimension(written) {
            Ok(found) => found,
            Err(_) => self.source.find_measure(written).unwrap_or(written).to_owned(),
        }
    }

    /// Returns what a condition refers to: a figure of the result, a measure, or a dimension.
    fn condition_name(&self, written: &str) -> Result<String, Problem> {
        let shown = self.shown(written);
        let is_known = self.figures.contains(&shown)
            || self.source.find_measure(&shown).is_some()
            || self.source.dimension(&shown).is_ok();
        if is_known {
            return Ok(shown);
        }
        // A dimension of a joined source says how it is written.
        let is_joined = |source: &&String| {
            let place = self.catalog.place(&source.as_str().into());
            place.is_ok_and(|place| self.catalog.sources[place].find_dimension(written).is_some())
        };
        if self.source.definitions.joins.keys().any(|source| is_joined(&source)) {
            return self.dimension(written);
        }
        Err(self.source.unknown_in_condition(written, &self.figures))
    }

    /// Returns a comparison with the dimension as the definitions have it.
    fn compare(&self, compare: Compare) -> Result<Compare, Problem> {
        let values = compare.values.iter();
        let values: BTreeMap<String, Vec<Scalar>> = values
            .map(|(name, values)| Ok((self.dimension(name)?, values.clone())))
            .collect::<Result<_, Problem>>()?;
        Ok(Compare { values, ..compare })
    }

    fn order(&self, order: &Order) -> Order {
        Order { by: self.shown(&order.by), descending: order.descending }
    }

    fn explain(&self, explain: &Explain) -> Result<Explain, Problem> {
        Ok(Explain {
            measure: self.measure(&explain.measure)?,
            by: explain.by.iter().map(|name| self.dimension(name)).collect::<Result<_, _>>()?,
        })
    }

    fn what_if(&self, assumed: &[WhatIf]) -> Result<Vec<WhatIf>, Problem> {
        if !assumed.is_empty() && self.source.definitions.pacing.is_none() {
            return Err(Problem::new(text!(
                "{source} has no budgets and days to come, so nothing can be assumed about them.",
                source = self.source.name()
            )));
        }
        let resolved = assumed
            .iter()
            .map(|one| Ok(WhatIf { conditions: self.conditions(&one.conditions)?, ..one.clone() }));
        resolved.collect()
    }

    fn conditions(&self, conditions: &[Condition]) -> Result<Vec<Condition>, Problem> {
        conditions.iter().map(|condition| self.condition(condition)).collect()
    }

    fn condition(&self, condition: &Condition) -> Result<Condition, Problem> {
        Ok(match condition {
            Condition::And(parts) => Condition::And(self.conditions(parts)?),
            Condition::Or(parts) => Condition::Or(self.conditions(parts)?),
            Condition::Not(part) => Condition::Not(Box::new(self.condition(part)?)),
            Condition::Is { name, test } => {
                let test = match test {
                    Test::In(query) => Test::In(Box::new(self.inner(query)?)),
                    Test::NotIn(query) => Test::NotIn(Box::new(self.inner(query)?)),
                    other => other.clone(),
                };
                Condition::Is { name: self.condition_name(name)?, test }
            }
        })
    }

    fn inner(&self, query: &MetricQuery) -> Result<MetricQuery, Problem> {
        let mut query = query.clone();
        if query.source.is_none() {
            query.source = Some(self.source.name().clone());
        }
        resolve_names(&query, self.catalog, self.as_of)
    }
}
