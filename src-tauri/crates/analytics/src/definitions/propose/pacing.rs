//! Proposes a source that is computed from a delivery and a plan: which columns of the two have which
//! role. The names, titles and synonyms of its figures are data, in `pacing.json`.

use std::collections::BTreeMap;

use contract::{
    SourceName,
    definitions::{
        Calculation, CurrencyOf, Definitions, Dimension, DimensionKind, Measure, Pacing,
        PacingDelivery, PacingLimits, PacingName, PacingPlan, Spread, Synonyms, TimeColumn, Unit,
        read_dimension, read_measure,
    },
    manifest::Localised,
    members::Place,
};
use serde::Deserialize;
use serde_json::Value;

use crate::SourceModel;

/// The names, titles and synonyms of all computed sources.
const TEMPLATE: &str = include_str!("pacing.json");
/// The name of the column with the currencies.
const CURRENCY: &str = "currency";

#[derive(Deserialize)]
struct Template {
    /// The names of things, from the largest to the smallest.
    order: Vec<String>,
    /// The one whose data arrive apart.
    feed: String,
    dimensions: BTreeMap<String, Value>,
    /// Names that several values of a dimension share.
    shared: Vec<Shared>,
    measures: BTreeMap<String, Value>,
    /// How many things there are, by their names.
    counts: BTreeMap<String, Count>,
    /// Other names of things.
    names: BTreeMap<String, Synonyms>,
}

#[derive(Deserialize)]
struct Shared {
    dimension: String,
    values: Vec<String>,
    names: Synonyms,
}

#[derive(Deserialize)]
struct Count {
    measure: String,
    title: Localised<String>,
    synonyms: Synonyms,
}

/// Proposes the definitions of a source with a name that is computed from a delivery and a plan. None if
/// the two are not such, or have nothing in common.
pub fn propose_pacing(
    name: &SourceName,
    delivery: &SourceModel,
    plan: &SourceModel,
) -> Option<Definitions> {
    let template: Template = serde_json::from_str(TEMPLATE).ok()?;
    let (delivered, spend) = delivery_of(delivery)?;
    let (planned, budget) = plan_of(plan)?;
    let currency = currency_of(&spend, &budget)?;
    let mut by = Vec::new();
    if let Some(CurrencyOf::Column { column }) = &spend.currency {
        let plan = match &budget.currency {
            Some(CurrencyOf::Column { column }) => Some(column.clone()),
            Some(CurrencyOf::Constant(_)) | None => None,
        };
        by.push(PacingName { name: CURRENCY.to_owned(), delivery: Some(column.clone()), plan });
    }
    by.extend(names(&template, delivery, plan));
    let is_level =
        |by: &&PacingName| by.name != CURRENCY && by.delivery.is_some() && by.plan.is_some();
    let level = by.iter().rev().find(is_level)?.name.clone();
    let feed = by.iter().find(|by| by.name == template.feed && by.delivery.is_some());
    let pacing = Pacing {
        delivery: delivered,
        plan: planned,
        feed: feed.map(|by| by.name.clone()),
        level,
        zones: BTreeMap::new(),
        limits: PacingLimits::default(),
        by,
    };
    let mut definitions = Definitions::new(name.clone());
    let calendar = delivery.definitions.time.clone()?;
    definitions.time = Some(TimeColumn { column: "day".to_owned(), covers: None, ..calendar });
    add_names(&mut definitions, &template, &pacing)?;
    add_figures(&mut definitions, &template, &pacing, currency.as_ref())?;
    definitions.pacing = Some(pacing);
    Some(definitions)
}

/// Returns what a source delivers, if it has a row for each day and money that was spent.
fn delivery_of(source: &SourceModel) -> Option<(PacingDelivery, Measure)> {
    let definitions = &source.definitions;
    let time = definitions.time.as_ref()?;
    if definitions.spread.is_some() || definitions.pacing.is_some() || time.covers.is_some() {
        return None;
    }
    let sum = |measure: &Measure| match &measure.calculation {
        Calculation::Sum(column) => Some(column.clone()),
        _ => None,
    };
    let is_money = |measure: &&Measure| measure.unit == Some(Unit::Money) && sum(measure).is_some();
    let spend = match definitions.measures.get("spend").filter(is_money) {
        Some(spend) => spend,
        None => definitions.measures.values().find(is_money)?,
    };
    let impressions = definitions.measures.get("impressions").and_then(sum);
    let delivery =
        PacingDelivery { source: source.name().clone(), spend: sum(spend)?, impressions };
    Some((delivery, spend.clone()))
}

/// Returns what a source plans, if it divides amounts over days.
fn plan_of(source: &SourceModel) -> Option<(PacingPlan, Measure)> {
    let columns: Vec<&String> = match source.definitions.spread.as_ref()? {
        Spread::Days(days) => days.total.iter().chain(&days.daily).collect(),
        Spread::Months(months) => vec![&months.name],
    };
    let column = (*columns.first()?).clone();
    let sum = Calculation::Sum(column.clone());
    let mut measures = source.definitions.measures.values();
    let measure = measures.find(|measure| measure.calculation == sum).cloned();
    let plan = PacingPlan { source: source.name().clone(), budget: column };
    Some((plan, measure.unwrap_or_else(|| Measure::of(sum))))
}

/// Returns where the currency of all amounts is. The outer None: plan and delivery have different ones.
fn currency_of(spend: &Measure, budget: &Measure) -> Option<Option<CurrencyOf>> {
    match (&spend.currency, &budget.currency) {
        (Some(CurrencyOf::Constant(own)), Some(CurrencyOf::Constant(other))) if own != other => {
            None
        }
        (Some(CurrencyOf::Column { .. }), _) => {
            Some(Some(CurrencyOf::Column { column: CURRENCY.to_owned() }))
        }
        (Some(CurrencyOf::Constant(code)), _) => Some(Some(CurrencyOf::Constant(code.clone()))),
        (None, Some(CurrencyOf::Constant(code))) => Some(Some(CurrencyOf::Constant(code.clone()))),
        (None, Some(CurrencyOf::Column { .. }) | None) => Some(None),
    }
}

/// Returns the things of both sources. Ids that both have decide what belongs together, not names.
fn names(template: &Template, delivery: &SourceModel, plan: &SourceModel) -> Vec<PacingName> {
    let mut found: Vec<PacingName> = Vec::new();
    for name in &template.order {
        let other = template.names.get(name).into_iter().flat_map(|names| names.values().flatten());
        let written: Vec<&str> =
            std::iter::once(name.as_str()).chain(other.map(String::as_str)).collect();
        let taken = |other: &Option<String>, source: &SourceModel, found: &str| {
            let known = other.as_ref().and_then(|other| column_of(source, other));
            known.is_some() && known == column_of(source, found)
        };
        // A column has one meaning: that of the larger thing.
        let of = |source: &SourceModel, side: fn(&PacingName) -> &Option<String>| {
            let mut known = written.iter().filter_map(|one| source.find_dimension(one));
            let is_free = |one: &&str| !found.iter().any(|other| taken(side(other), source, one));
            known.find(is_free).map(str::to_owned)
        };
        let (own, planned) = (of(delivery, |by| &by.delivery), of(plan, |by| &by.plan));
        let key = |source: &SourceModel, dimension: &Option<String>| {
            let known = source.definitions.dimensions.get(dimension.as_ref()?)?;
            known.key.clone()
        };
        let id = key(delivery, &own).filter(|id| {
            key(plan, &planned).as_ref() == Some(id) || plan.find_column(id).is_some()
        });
        match id {
            Some(id) => {
                let is_name = own.is_some() || planned.is_some();
                found.push(PacingName {
                    name: format!("{name}_id"),
                    delivery: Some(id.clone()),
                    plan: Some(id),
                });
                // The name of an id is that of the delivery.
                found.extend(is_name.then(|| PacingName {
                    name: name.clone(),
                    delivery: own,
                    plan: None,
                }));
            }
            None if own.is_some() || planned.is_some() => {
                found.push(PacingName { name: name.clone(), delivery: own, plan: planned });
            }
            None => {}
        }
    }
    found
}

/// Returns the column that a dimension has its values from.
fn column_of(source: &SourceModel, name: &str) -> Option<String> {
    match source.dimension(name).ok()?.kind {
        DimensionKind::Column(column) => Some(column),
        _ => None,
    }
}

fn add_names(definitions: &mut Definitions, template: &Template, pacing: &Pacing) -> Option<()> {
    for by in &pacing.by {
        let mut dimension = Dimension::of_column(by.name.clone());
        dimension.synonyms = template.names.get(&by.name).cloned().unwrap_or_default();
        definitions.dimensions.insert(by.name.clone(), dimension);
        if let Some(count) = template.counts.get(&by.name) {
            let mut measure = Measure::of(Calculation::Distinct(by.name.clone()));
            measure.title.clone_from(&count.title);
            measure.synonyms.clone_from(&count.synonyms);
            definitions.measures.insert(count.measure.clone(), measure);
        }
    }
    for (name, written) in &template.dimensions {
        let mut dimension = read_dimension(written, &Place::default()).ok()?;
        for shared in template.shared.iter().filter(|shared| shared.dimension == *name) {
            add_shared(&mut dimension, shared);
        }
        definitions.dimensions.insert(name.clone(), dimension);
    }
    Some(())
}

/// Adds names that several values share behind those that only one of them has: the first one is shown.
fn add_shared(dimension: &mut Dimension, shared: &Shared) {
    for value in &shared.values {
        let own = dimension.values.entry(value.clone()).or_default();
        for (language, names) in &shared.names {
            own.entry(language.clone()).or_default().extend(names.iter().cloned());
        }
    }
}

fn add_figures(
    definitions: &mut Definitions,
    template: &Template,
    pacing: &Pacing,
    currency: Option<&CurrencyOf>,
) -> Option<()> {
    for (name, written) in &template.measures {
        let is_missing = matches!(name.as_str(), "impressions" | "thousand_impressions" | "cpm");
        if is_missing && pacing.delivery.impressions.is_none() {
            continue;
        }
        let mut measure = read_measure(written, &Place::default()).ok()?;
        if measure.unit == Some(Unit::Money) {
            measure.currency = currency.cloned();
        }
        definitions.measures.insert(name.clone(), measure);
    }
    Some(())
}
