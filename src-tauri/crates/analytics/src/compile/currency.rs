//! Which currencies the amounts of a query have. Amounts of several currencies are never added: the
//! currency becomes a dimension of the result.

use std::collections::BTreeMap;

use contract::{
    definitions::{Calculation, CurrencyOf},
    metric_query::{Condition, MeasureUse, MetricQuery, Scalar, Test},
    text,
};

use crate::{
    Catalog, Problem,
    resolve::{owner, parts_of},
};

/// The currencies of the amounts of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Currencies {
    /// Where each source has its currency.
    pub of_source: BTreeMap<usize, CurrencyOf>,
    /// Whether the currency is a dimension of the result.
    pub is_split: bool,
}

/// The name of the dimension of currencies.
pub(crate) const CURRENCY: &str = "currency";

impl Currencies {
    /// Finds the currencies of some measures.
    pub fn find(
        query: &MetricQuery,
        catalog: &Catalog,
        primary: usize,
        measures: &[MeasureUse],
    ) -> Result<Self, Problem> {
        let mut found = Self::default();
        for measure in measures {
            let list = currencies_of(measure, catalog, primary)?;
            if query.in_currency.is_some() {
                found.of_source.extend(list);
            } else {
                found.add(list, query, catalog)?;
            }
        }
        if query.in_currency.is_some() {
            return Ok(found);
        }
        let is_column = |of: &CurrencyOf| matches!(of, CurrencyOf::Column { .. });
        found.is_split = found.of_source.values().any(is_column);
        Ok(found)
    }

    fn add(
        &mut self,
        list: Vec<(usize, CurrencyOf)>,
        query: &MetricQuery,
        catalog: &Catalog,
    ) -> Result<(), Problem> {
        let mut fixed: Vec<String> = Vec::new();
        for (source, currency) in list {
            let currency = simplify(currency, source, query, catalog);
            if let CurrencyOf::Constant(code) = &currency
                && !fixed.contains(code)
            {
                fixed.push(code.clone());
            }
            match self.of_source.insert(source, currency.clone()) {
                Some(other) if other != currency => {
                    return Err(Problem::new(text!(
                        "The amounts of this query have their currencies in different places, so they cannot stand side by side."
                    ))
                    .hint(text!("Ask for each measure apart, or convert them with \"in_currency\".")));
                }
                Some(_) | None => {}
            }
        }
        if fixed.len() > 1 {
            return Err(Problem::new(text!(
                "Amounts in {currencies} cannot be computed with each other.",
                currencies = fixed.join(", ")
            ))
            .hint(text!("Convert them with \"in_currency\".")));
        }
        Ok(())
    }

    /// Returns the currency if all amounts of a source have the same one.
    pub fn constant(&self, source: usize) -> Option<&str> {
        match self.of_source.get(&source)? {
            CurrencyOf::Constant(code) => Some(code),
            CurrencyOf::Column { .. } => None,
        }
    }
}

/// Returns the currencies of the amounts that a measure is made of, each with its source.
pub(crate) fn currencies_of(
    measure: &MeasureUse,
    catalog: &Catalog,
    primary: usize,
) -> Result<Vec<(usize, CurrencyOf)>, Problem> {
    let mut list = Vec::new();
    let named = measure.measure.clone().map(Calculation::Of);
    if let Some(calculation) = named.or_else(|| measure.calculation.clone()) {
        collect(&calculation, None, catalog, primary, 0, &mut list)?;
    }
    Ok(list)
}

/// Returns the constant if a column has only one value, or if the query asks for one only.
fn simplify(
    currency: CurrencyOf,
    source: usize,
    query: &MetricQuery,
    catalog: &Catalog,
) -> CurrencyOf {
    let CurrencyOf::Column { column } = &currency else { return currency };
    let model = &catalog.sources[source];
    let constant = model.find_column(column).and_then(|column| column.constant.clone());
    let asked = || {
        query.conditions.iter().find_map(|condition| match condition {
            Condition::Is { name, test: Test::OneOf(values) } => {
                let dimension = model.dimension(name).ok()?;
                let is_currency = matches!(
                    &dimension.kind,
                    contract::definitions::DimensionKind::Column(of) if of == column
                );
                match values.as_slice() {
                    [Scalar::Text(code)] if is_currency => Some(code.clone()),
                    _ => None,
                }
            }
            _ => None,
        })
    };
    constant.or_else(asked).map_or(currency, CurrencyOf::Constant)
}

fn collect(
    calculation: &Calculation,
    own: Option<&CurrencyOf>,
    catalog: &Catalog,
    source: usize,
    depth: usize,
    found: &mut Vec<(usize, CurrencyOf)>,
) -> Result<(), Problem> {
    let parts = parts_of(calculation);
    if parts.is_empty() && !matches!(calculation, Calculation::Count(_) | Calculation::Distinct(_))
    {
        let of_column = || catalog.sources[source].currency_of(calculation);
        found.extend(own.cloned().or_else(of_column).map(|currency| (source, currency)));
    }
    if depth > 16 {
        return Err(Problem::new(text!("A measure of the query is defined by itself.")));
    }
    for name in parts {
        let (model, own_name) = owner(name, &catalog.sources[source], catalog)?;
        let measure = model.measure(own_name)?;
        let place = catalog.place(model.name())?;
        let currency = measure.currency.as_ref().or(own);
        collect(&measure.calculation, currency, catalog, place, depth + 1, found)?;
    }
    Ok(())
}
