//! Checks definitions against the columns of their table.

use contract::{
    definitions::{
        Calculation, Covers, CurrencyOf, Definitions, Dimension, DimensionKind, PACING_COLUMNS,
        PLAN_DAY, Pacing, Spread, TimeColumn, ZONE_BY_ACCOUNT,
    },
    metric_query::{Condition, Test},
    sources::ColumnKind,
    text,
};

use crate::{
    Problem, SourceModel, TableColumn,
    catalog::{ROWS, unknown},
    resolve::parts_of,
};

/// Returns all faults of definitions. An empty list means that they can be used.
pub fn validate_definitions(definitions: &Definitions, columns: &[TableColumn]) -> Vec<Problem> {
    let model = SourceModel::new(definitions.clone(), columns.to_vec());
    let mut faults = Vec::new();
    let mut check = |place: &str, result: Result<(), Problem>| {
        if let Err(problem) = result {
            let fault = problem.message;
            faults.push(Problem {
                message: text!("{place}: {fault}", place = place.to_owned(), fault),
                hint: problem.hint,
                line: None,
            });
        }
    };
    if let Some(time) = &definitions.time {
        check("time", time_column(&model, &time.column));
        check("time", zone_of_accounts(&model, time));
        if let Some(Covers::Until(column)) = &time.covers {
            check("time", time_column(&model, column));
        }
    }
    if let Some(spread) = &definitions.spread {
        check("spread", plan(definitions, spread, columns));
    }
    if let Some(computed) = &definitions.pacing {
        check("pacing", pacing(definitions, computed));
    }
    for (name, dimension) in &definitions.dimensions {
        check(name, name_is_possible(name));
        check(name, dimension_columns(&model, &dimension.kind));
        check(name, dimension.key.iter().try_for_each(|key| model.column(key).map(|_| ())));
    }
    for (name, measure) in &definitions.measures {
        check(name, name_is_possible(name));
        check(name, calculation(&model, &measure.calculation));
        check(name, circle(definitions, name));
        check(name, conditions(&model, &measure.conditions));
        if let Some(CurrencyOf::Column { column }) = &measure.currency {
            check(name, model.column(column).map(|_| ()));
        }
    }
    for (name, join) in &definitions.joins {
        check(name, join.on.keys().try_for_each(|own| model.column(own).map(|_| ())));
    }
    for name in &definitions.rows.one_per {
        let is_known = model.find_dimension(name).is_some();
        check("rows", if is_known { Ok(()) } else { Err(model.unknown_dimension(name)) });
    }
    faults
}

/// Names that begin with an underscore are those of a statement's steps.
fn name_is_possible(name: &str) -> Result<(), Problem> {
    if name.is_empty() || name.starts_with('_') || name.contains('.') || name.contains('\0') {
        return Err(Problem::new(text!(
            "A name must not begin with _ and must not contain a point."
        )));
    }
    Ok(())
}

fn time_column(model: &SourceModel, name: &str) -> Result<(), Problem> {
    match model.column(name)?.kind {
        ColumnKind::Day | ColumnKind::Moment => Ok(()),
        ColumnKind::Text | ColumnKind::Whole | ColumnKind::Decimal | ColumnKind::Flag => {
            Err(Problem::new(text!("{name} has no days.", name)))
        }
    }
}

/// Days are those of their account. Moments would have to be moved, and the zones of accounts are not
/// known.
fn zone_of_accounts(model: &SourceModel, time: &TimeColumn) -> Result<(), Problem> {
    let is_moment = |column: &TableColumn| column.kind == ColumnKind::Moment;
    if time.zone.as_deref() == Some(ZONE_BY_ACCOUNT)
        && model.find_column(&time.column).is_some_and(is_moment)
    {
        return Err(Problem::new(text!(
            "\"zone: by account\" is for days. {column} has moments, and the zones of the accounts are not known.",
            column = &time.column
        ))
        .hint(text!("Import each account as a source of its own, with its zone.")));
    }
    Ok(())
}

fn number(model: &SourceModel, name: &str) -> Result<(), Problem> {
    match model.column(name)?.kind {
        ColumnKind::Whole | ColumnKind::Decimal => Ok(()),
        ColumnKind::Text | ColumnKind::Day | ColumnKind::Moment | ColumnKind::Flag => {
            Err(Problem::new(text!("{name} has no numbers.", name)))
        }
    }
}

/// Checks how a plan is divided over days, against the columns of its table.
fn plan(
    definitions: &Definitions,
    spread: &Spread,
    columns: &[TableColumn],
) -> Result<(), Problem> {
    let table = Definitions { spread: None, ..definitions.clone() };
    let model = SourceModel::new(table, columns.to_vec());
    let time = definitions.time.as_ref().map(|time| time.column.as_str());
    match spread {
        Spread::Days(days) => {
            let first = time.ok_or_else(|| {
                Problem::new(text!("The first day of a row is the column of \"time\"."))
            })?;
            for column in [first, &days.until] {
                if model.column(column)?.kind != ColumnKind::Day {
                    return Err(Problem::new(text!("{name} has no days.", name = column)));
                }
            }
            days.total.iter().chain(&days.daily).try_for_each(|column| number(&model, column))
        }
        Spread::Months(months) => {
            for (column, month) in &months.months {
                number(&model, column)?;
                crate::resolve::read_month(month)?;
            }
            if time != Some(PLAN_DAY) {
                return Err(Problem::new(text!(
                    "The column of \"time\" must be {name} if amounts stand in columns of months.",
                    name = PLAN_DAY
                )));
            }
            let new = [months.name.as_str(), PLAN_DAY];
            match new.iter().find(|name| model.find_column(name).is_some()) {
                Some(taken) => Err(Problem::new(text!(
                    "The table has a column {name} already. Choose another name.",
                    name = *taken
                ))),
                None => Ok(()),
            }
        }
    }
}

/// Checks how rows are computed from delivery and plan. The two sources are checked when a query uses
/// them.
fn pacing(definitions: &Definitions, pacing: &Pacing) -> Result<(), Problem> {
    for (at, by) in pacing.by.iter().enumerate() {
        name_is_possible(&by.name)?;
        let is_twice = pacing.by[..at].iter().any(|other| other.name == by.name);
        if is_twice || PACING_COLUMNS.contains(&by.name.as_str()) {
            return Err(Problem::new(text!(
                "The table has a column {name} already. Choose another name.",
                name = &by.name
            )));
        }
    }
    if !pacing.by.iter().any(crate::compile::pacing::is_key) {
        return Err(Problem::new(text!(
            "No name of {source} has both a delivery and a plan, so no plan belongs to a delivery.",
            source = &definitions.source
        )));
    }
    // Rows are computed for each question, so there is no table in which names could be looked up.
    let is_plain = |dimension: &Dimension| {
        dimension.key.is_none()
            && !matches!(dimension.kind, DimensionKind::First(_) | DimensionKind::Lookup(_))
    };
    if let Some((name, _)) = definitions.dimensions.iter().find(|(_, one)| !is_plain(one)) {
        return Err(Problem::new(text!(
            "{name} cannot have a key here. Give it to the source of the delivery.",
            name
        )));
    }
    let zones = pacing.zones.values();
    zones.map(String::as_str).try_for_each(crate::compile::pacing::check_zone)?;
    let other = [&pacing.delivery.source, &pacing.plan.source];
    if other.contains(&&definitions.source) || other[0] == other[1] || definitions.spread.is_some()
    {
        return Err(Problem::new(text!("Delivery and plan must be two other sources.")));
    }
    Ok(())
}

fn dimension_columns(model: &SourceModel, kind: &DimensionKind) -> Result<(), Problem> {
    match kind {
        DimensionKind::Column(column) => model.column(column).map(|_| ()),
        DimensionKind::When(condition) => conditions(model, std::slice::from_ref(condition)),
        DimensionKind::Groups(groups) => model.column(&groups.of).map(|_| ()),
        DimensionKind::Split(split) => model.column(&split.of).map(|_| ()),
        DimensionKind::Bins(bins) => number(model, &bins.of),
        DimensionKind::First(first) => {
            model.column(&first.of)?;
            model.column(&first.per).map(|_| ())
        }
        // The other source is checked when a query uses the dimension.
        DimensionKind::Lookup(lookup) => {
            let joins = &model.definitions.joins;
            if joins.contains_key(lookup.source.as_str()) {
                return Ok(());
            }
            Err(Problem::new(text!(
                "There is no join with {source}. Add one to \"joins\".",
                source = &lookup.source
            )))
        }
    }
}

fn conditions(model: &SourceModel, list: &[Condition]) -> Result<(), Problem> {
    for condition in list {
        match condition {
            Condition::And(parts) | Condition::Or(parts) => conditions(model, parts)?,
            Condition::Not(part) => conditions(model, std::slice::from_ref(part))?,
            Condition::Is { name, test } => {
                model.dimension(name)?;
                if matches!(test, Test::In(_) | Test::NotIn(_)) {
                    return Err(Problem::new(text!("A definition cannot contain another query.")));
                }
            }
        }
    }
    Ok(())
}

fn calculation(model: &SourceModel, calculation: &Calculation) -> Result<(), Problem> {
    match calculation {
        Calculation::Sum(column)
        | Calculation::Average(column)
        | Calculation::Median(column)
        | Calculation::Single(column) => number(model, column),
        Calculation::Percentile(percentile) => number(model, &percentile.column),
        Calculation::Weighted(weighted) => {
            number(model, &weighted.column)?;
            number(model, &weighted.by)
        }
        Calculation::Last(last) => {
            number(model, &last.column)?;
            model.time_column()?;
            last.per.iter().try_for_each(|key| model.dimension(key).map(|_| ()))
        }
        Calculation::Count(column) if column == ROWS => Ok(()),
        Calculation::Count(column) | Calculation::Least(column) | Calculation::Greatest(column) => {
            model.column(column).map(|_| ())
        }
        Calculation::Distinct(name) => model.dimension(name).map(|_| ()),
        Calculation::Ratio(_)
        | Calculation::Plus(_)
        | Calculation::Minus(_)
        | Calculation::Of(_) => parts_of(calculation).into_iter().try_for_each(|name| {
            // A measure of another source is checked when a query uses it.
            if name.contains('.') || model.find_measure(name) == Some(name) {
                return Ok(());
            }
            let names: Vec<&str> = model.definitions.measures.keys().map(String::as_str).collect();
            Err(Problem::new(unknown(name, &names)))
        }),
    }
}

/// Fails if a measure is made of itself.
fn circle(definitions: &Definitions, name: &str) -> Result<(), Problem> {
    let mut seen: Vec<&str> = Vec::new();
    let mut next = vec![name];
    while let Some(current) = next.pop() {
        let Some(measure) = definitions.measures.get(current) else { continue };
        for part in parts_of(&measure.calculation) {
            if part == name {
                return Err(Problem::new(text!(
                    "The measure {name} is defined by itself.",
                    name = name.to_owned()
                )));
            }
            if !seen.contains(&part) {
                seen.push(part);
                next.push(part);
            }
        }
    }
    Ok(())
}
