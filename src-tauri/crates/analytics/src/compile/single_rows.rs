//! Rows without adding anything up.

use contract::{
    definitions::{Calculation, Measure},
    metric_query::{DataColumn, DataType, GroupBy, MeasureUse, MetricQuery},
    result::ColumnRole,
    sources::ColumnKind,
    text,
};

use super::{
    Compiled, CompiledColumn, Ctes, Purpose, Value,
    conditions::join_conditions,
    groups::{check_names, name_of_group},
    pace_scope::PaceScope,
    result_columns::{data_type, format_of_kind},
    row_scope::RowScope,
    steps,
};
use crate::{Catalog, Dialect, Problem, resolve::bounds_of};

/// Compiles a query for single rows.
pub(super) fn compile_rows(
    query: &MetricQuery,
    catalog: &Catalog,
    dialect: Dialect,
) -> Result<Compiled, Problem> {
    refuse_figures(query)?;
    super::totals::check_totals(query)?;
    let source = &catalog.sources[crate::resolve::primary(query, catalog)?];
    let days = bounds_of(query.period.as_ref());
    let (mut ctes, mut joins) = (Ctes::of_days(days), Vec::new());
    ctes.pacing = PaceScope::of_query(query, source, days)?;
    let mut scope =
        RowScope { dialect, catalog, source, primary: source, ctes: &mut ctes, joins: &mut joins };
    let mut select = Vec::new();
    let mut columns = Vec::new();
    for (name, value, role) in row_values(query, &mut scope)? {
        select.push(format!("{} AS {}", value.sql, dialect.identifier(&name)?));
        columns.push(CompiledColumn {
            column: DataColumn {
                of: Some(name.clone()),
                ..DataColumn::new(name, data_type(value.kind), role, format_of_kind(value.kind))
            },
            purpose: Purpose::Shown,
            scale: value.scale,
        });
    }
    check_names(columns.iter().map(|column| column.column.name.as_str()))?;
    let mut conditions = Vec::new();
    conditions.extend(scope.in_period(days)?);
    for condition in &query.conditions {
        conditions.push(scope.condition(condition)?);
    }
    let table = scope.rows()?;
    let from: Vec<String> = [table].into_iter().chain(joins).collect();
    let filter = join_conditions(conditions).map_or_else(String::new, |c| format!("\nWHERE {c}"));
    let rows = ctes.push(
        "_figures",
        format!("SELECT {}\nFROM {}{filter}", select.join(", "), from.join("\n")),
    );
    let (asked, _) = steps::write_order(query, &columns, source, dialect)?;
    // All columns decide the order, because rows have no dimension that tells them apart.
    let mut order = asked;
    for (at, column) in columns.iter().enumerate() {
        let name = dialect.identifier(&columns[at].column.name)?;
        let collation = if column.column.kind == DataType::Text { dialect.binary() } else { "" };
        if !order.iter().any(|known| {
            known.starts_with(&format!("{name} "))
                || known.starts_with(&format!("{name}{collation} "))
        }) {
            order.push(format!("{name}{collation} NULLS LAST"));
        }
    }
    let mut names: Vec<String> = columns
        .iter()
        .map(|column| dialect.identifier(&column.column.name))
        .collect::<Result<_, _>>()?;
    if query.limit.is_some() {
        names.push("count(*) OVER () AS _all".to_owned());
        columns.push(steps::hidden_column("_all", Purpose::AllRows));
    }
    let limit = query.limit.map_or_else(String::new, |limit| format!("\nLIMIT {limit}"));
    let select =
        format!("SELECT {}\nFROM {rows}\nORDER BY {}{limit}", names.join(", "), order.join(", "));
    Ok(Compiled { sql: ctes.write(&select), columns, notes: Vec::new(), limit: None, pivot: None })
}

fn refuse_figures(query: &MetricQuery) -> Result<(), Problem> {
    let is_decorated = |used: &MeasureUse| {
        !used.share_of.is_empty() || used.running || used.rolling.is_some() || used.per.is_some()
    };
    let given = [
        ("compare", query.compare.is_some()),
        ("top", query.top.is_some()),
        ("pivot", query.pivot.is_some()),
        ("then", query.then.is_some()),
        ("fill", query.fill),
        ("in_currency", query.in_currency.is_some()),
        ("share_of, running, rolling, per", query.measures.iter().any(is_decorated)),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((member, _)) => Err(Problem::new(text!(
            "Single rows have no {member}. Leave out \"rows\" to add them up.",
            member
        ))),
        None => Ok(()),
    }
}

type RowValue = (String, Value, ColumnRole);

fn row_values(query: &MetricQuery, scope: &mut RowScope<'_>) -> Result<Vec<RowValue>, Problem> {
    let role = |kind: ColumnKind| match kind {
        ColumnKind::Day | ColumnKind::Moment => ColumnRole::Time,
        ColumnKind::Text | ColumnKind::Whole | ColumnKind::Decimal | ColumnKind::Flag => {
            ColumnRole::Dimension
        }
    };
    let mut values = Vec::new();
    for (at, group) in query.by.iter().enumerate() {
        let value = match &group.by {
            GroupBy::Dimension(name) => {
                let dimension = scope.source.dimension(name)?;
                scope.dimension_value(&dimension)?
            }
            GroupBy::Time(grain) => scope.time_value(*grain, None)?,
            GroupBy::Define(kind) => {
                scope.dimension_value(&contract::definitions::Dimension::of_kind(kind.clone()))?
            }
        };
        values.push((name_of_group(query, at), value.clone(), role(value.kind)));
    }
    for used in &query.measures {
        let name = crate::figure_names::name_of_measure(used);
        let measure = match (&used.measure, &used.calculation) {
            (Some(measure), _) => scope.source.measure(measure)?,
            (None, Some(own)) => Measure::of(own.clone()),
            (None, None) => continue,
        };
        let Calculation::Sum(column) = &measure.calculation else {
            return Err(Problem::new(text!(
                "{name} is not the sum of a column, so single rows do not have it.",
                name
            )));
        };
        let value = scope.number(column)?;
        let counted = [used.conditions.as_slice(), &measure.conditions].concat();
        // Rows that do not count have no value.
        let sql = match scope.conditions(&counted)? {
            Some(condition) => format!("CASE WHEN {condition} THEN {} END", value.sql),
            None => value.sql.clone(),
        };
        values.push((name, Value { sql, ..value }, ColumnRole::Measure));
    }
    let names: Vec<String> = if query.columns.is_empty() && values.is_empty() {
        scope.source.columns.iter().map(|column| column.name.clone()).collect()
    } else {
        query.columns.clone()
    };
    for name in names {
        let value = scope.column(&name)?;
        let measured = scope.source.is_measured(&name);
        let own = if measured { ColumnRole::Measure } else { role(value.kind) };
        values.push((name, value, own));
    }
    Ok(values)
}
