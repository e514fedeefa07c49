//! The end of a statement: its order, and a second step over the rows of the first one.

use contract::{
    metric_query::{DataColumn, DataType, MetricQuery, SecondStep, StepCalculation},
    result::{ColumnRole, ColumnUnit, UnitPlace, ValueFormat},
    text,
};

use super::{CompiledColumn, Purpose};
use crate::{
    Dialect, Problem, SourceModel,
    dialect::{Exact, RATIO_SCALE},
    figure_names::name_of_measure,
    units::place_of_unit,
};

/// Returns a column that is not shown.
pub(super) fn hidden_column(name: &str, purpose: Purpose) -> CompiledColumn {
    CompiledColumn {
        column: DataColumn::new(name, DataType::Whole, ColumnRole::Measure, ValueFormat::Number),
        purpose,
        scale: 0,
    }
}

/// Writes the place of a value in the order of its dimension. None: its letters decide alone.
fn write_rank(
    column: &CompiledColumn,
    descending: bool,
    source: &SourceModel,
    dialect: Dialect,
) -> Result<Option<String>, Problem> {
    let is_text = column.column.role == ColumnRole::Dimension
        && column.column.kind == DataType::Text
        && column.purpose == Purpose::Shown;
    let name = column.column.of.as_ref().filter(|_| is_text);
    let dimension = name.and_then(|name| source.definitions.dimensions.get(name));
    let Some(dimension) = dimension.filter(|dimension| !dimension.order.is_empty()) else {
        return Ok(None);
    };
    let name = dialect.identifier(&column.column.name)?;
    let mut cases = format!("WHEN {name} IS NULL THEN NULL");
    for (place, value) in dimension.order.iter().enumerate() {
        cases.push_str(&format!(" WHEN {name} = {} THEN {place}", dialect.literal(value)?));
    }
    let (others, direction) = (dimension.order.len(), if descending { " DESC" } else { "" });
    Ok(Some(format!("CASE {cases} ELSE {others} END{direction} NULLS LAST")))
}

/// Returns the order that was asked for, and the whole order with all dimensions at its end.
pub(super) fn write_order(
    query: &MetricQuery,
    columns: &[CompiledColumn],
    source: &SourceModel,
    dialect: Dialect,
) -> Result<(Vec<String>, Vec<String>), Problem> {
    let mut asked = Vec::new();
    let mut used: Vec<&str> = Vec::new();
    let write = |column: &CompiledColumn, descending: bool| -> Result<String, Problem> {
        let name = dialect.identifier(&column.column.name)?;
        let collation = if column.column.kind == DataType::Text { dialect.binary() } else { "" };
        let direction = if descending { " DESC" } else { "" };
        Ok(format!("{name}{collation}{direction} NULLS LAST"))
    };
    // The row of all other groups comes last, within the groups of the ranking if nothing else is
    // asked.
    let has_own_order = !query.order.is_empty() || query.then.is_some();
    let per = query.top.iter().filter(|_| !has_own_order).flat_map(|top| &top.per);
    for name in per {
        if let Some(column) = columns.iter().find(|column| column.column.name == *name) {
            asked.push(write(column, false)?);
            used.push(&column.column.name);
        }
    }
    for column in columns.iter().filter(|column| column.purpose == Purpose::Rest) {
        asked.push(write(column, false)?);
        used.push(&column.column.name);
    }
    let mut orders: Vec<(String, bool)> =
        query.order.iter().map(|order| (order.by.clone(), order.descending)).collect();
    if orders.is_empty() {
        orders = order_of_top(query, columns);
    }
    for (by, descending) in orders {
        let column = columns.iter().find(|column| column.column.name == by).ok_or_else(|| {
            let names: Vec<&str> = columns
                .iter()
                .filter(|column| column.purpose == Purpose::Shown)
                .map(|column| column.column.name.as_str())
                .collect();
            Problem::new(text!(
                "The order names {by}, but the result has: {names}.",
                by,
                names = names.join(", ")
            ))
        })?;
        if !used.contains(&column.column.name.as_str()) {
            asked.extend(write_rank(column, descending, source, dialect)?);
            asked.push(write(column, descending)?);
            used.push(&column.column.name);
        }
    }
    let mut order = asked.clone();
    let dims = columns.iter().filter(|column| column.column.role != ColumnRole::Measure);
    for column in dims.filter(|column| !used.contains(&column.column.name.as_str())) {
        order.push(write(column, false)?);
    }
    Ok((asked, order))
}

/// Returns the order of the first groups by a measure, if the query asks for no other one.
fn order_of_top(query: &MetricQuery, columns: &[CompiledColumn]) -> Vec<(String, bool)> {
    let Some(top) = &query.top else { return Vec::new() };
    let has_time = columns.iter().any(|column| column.column.role == ColumnRole::Time);
    let measure = top.by.clone().or_else(|| query.measures.first().map(name_of_measure));
    let measure = measure.filter(|name| columns.iter().any(|column| column.column.name == *name));
    match measure {
        Some(measure) if !has_time && query.then.is_none() => {
            let per = top.per.iter().map(|per| (per.clone(), false));
            per.chain([(measure, !top.lowest)]).collect()
        }
        Some(_) | None => Vec::new(),
    }
}

/// The rows of a first step.
pub(super) struct FirstStep<'a> {
    /// The step, with the conditions on its rows.
    pub rows: &'a str,
    /// Its columns.
    pub columns: &'a [CompiledColumn],
    /// The column that has the currencies of amounts.
    pub currency: Option<String>,
}

impl FirstStep<'_> {
    /// Returns the columns by which a second step groups: those that it names with their keys, and the
    /// currency of amounts that it computes with.
    fn groups(&self, then: &SecondStep) -> Result<Vec<&CompiledColumn>, Problem> {
        let mut groups: Vec<&CompiledColumn> = Vec::new();
        for name in &then.by {
            groups.push(self.column(name)?);
            let is_key = |column: &&CompiledColumn| {
                column.purpose == Purpose::Key && column.column.of.as_ref() == Some(name)
            };
            groups.extend(self.columns.iter().find(is_key));
        }
        let computed = then.measures.iter().map(|measure| parts(&measure.calculation));
        let mut computed = computed.filter(|(function, _)| *function != "count");
        let is_amount = |name: &str| {
            self.column(name).is_ok_and(|column| place_of_unit(&column.column).is_some())
        };
        if let Some(currency) = &self.currency
            && computed.any(|(_, of)| is_amount(of))
            && !then.by.contains(currency)
        {
            groups.push(self.column(currency)?);
        }
        Ok(groups)
    }

    fn column(&self, name: &str) -> Result<&CompiledColumn, Problem> {
        self.columns.iter().find(|column| column.column.name == name).ok_or_else(|| {
            let shown = self.columns.iter().filter(|column| column.purpose == Purpose::Shown);
            let names: Vec<&str> = shown.map(|column| column.column.name.as_str()).collect();
            Problem::new(text!(
                "The second step names {name}, but the first one has: {names}.",
                name,
                names = names.join(", ")
            ))
        })
    }
}

/// Writes the second step. Returns its SELECT and its columns.
pub(super) fn write_second_step(
    then: &SecondStep,
    first: &FirstStep<'_>,
    dialect: Dialect,
) -> Result<(String, Vec<CompiledColumn>), Problem> {
    let (mut select, mut found) = (Vec::new(), Vec::new());
    for column in first.groups(then)? {
        select.push(dialect.identifier(&column.column.name)?);
        found.push(column.clone());
    }
    let count = select.len();
    let currency = found
        .iter()
        .position(|column: &CompiledColumn| first.currency.as_ref() == Some(&column.column.name));
    found.iter_mut().for_each(|column| move_unit(&mut column.column, currency));
    for measure in &then.measures {
        let (function, of) = parts(&measure.calculation);
        let name = measure.name.clone().unwrap_or_else(|| format!("{of}_{function}"));
        let is_rows = function == "count" && of == "rows";
        let column = if is_rows { None } else { Some(first.column(of)?) };
        let (sql, kind, scale) = aggregate(function, column, dialect)?;
        select.push(format!("{sql} AS {}", dialect.identifier(&name)?));
        let mut result = column.cloned().unwrap_or_else(|| hidden_column(&name, Purpose::Shown));
        result.purpose = Purpose::Shown;
        result.scale = scale;
        result.column.name = name;
        result.column.kind = kind;
        result.column.role = ColumnRole::Measure;
        move_unit(&mut result.column, currency);
        if function == "count" {
            result.column.unit = None;
            result.column.format = ValueFormat::Number;
        }
        found.push(result);
    }
    super::groups::check_names(found.iter().map(|column| column.column.name.as_str()))?;
    let group = super::parts::group_by(count);
    Ok((format!("SELECT {}\nFROM {}{group}", select.join(", "), first.rows), found))
}

/// Makes the unit of amounts point to the place of their currency.
fn move_unit(column: &mut DataColumn, currency: Option<usize>) {
    if place_of_unit(column).is_some() {
        let place = |at: usize| ColumnUnit::Within(UnitPlace { at: format!("/{at}") });
        column.unit = currency.map(place);
    }
}

fn parts(calculation: &StepCalculation) -> (&'static str, &str) {
    match calculation {
        StepCalculation::Sum(of) => ("sum", of),
        StepCalculation::Average(of) => ("average", of),
        StepCalculation::Least(of) => ("least", of),
        StepCalculation::Greatest(of) => ("greatest", of),
        StepCalculation::Median(of) => ("median", of),
        StepCalculation::Count(of) => ("count", of),
    }
}

fn aggregate(
    function: &str,
    column: Option<&CompiledColumn>,
    dialect: Dialect,
) -> Result<(String, DataType, u8), Problem> {
    let Some(column) = column else {
        return Ok((format!("CAST(count(*) AS {})", dialect.decimal(0)), DataType::Whole, 0));
    };
    let name = dialect.identifier(&column.column.name)?;
    let kind = column.column.kind;
    if function == "count" {
        return Ok((format!("CAST(count({name}) AS {})", dialect.decimal(0)), DataType::Whole, 0));
    }
    if !matches!(kind, DataType::Whole | DataType::Decimal) {
        return Err(Problem::new(text!(
            "{name} has no numbers, so the second step cannot compute with it.",
            name = column.column.name
        )));
    }
    let scale = if kind == DataType::Whole { 0 } else { column.scale };
    let number = format!("CAST({name} AS {})", exact_type(dialect, scale));
    let sum = Exact { sql: format!("CAST(sum({number}) AS {})", dialect.decimal(scale)), scale };
    let count = Exact { sql: format!("CAST(count({name}) AS {})", dialect.decimal(0)), scale: 0 };
    Ok(match function {
        "sum" => (sum.sql, kind, scale),
        "average" => (dialect.divide(&sum, &count).sql, DataType::Decimal, RATIO_SCALE),
        "least" => (format!("min({name})"), kind, scale),
        "greatest" => (format!("max({name})"), kind, scale),
        _ => (median(dialect, &number, scale)?, DataType::Decimal, scale + 1),
    })
}

fn exact_type(dialect: Dialect, scale: u8) -> String {
    match dialect {
        Dialect::DuckDb | Dialect::Standard => format!("DECIMAL(38, {scale})"),
        Dialect::Postgres => format!("NUMERIC(38, {scale})"),
    }
}

/// Writes the value in the middle of a group, or that between the two in the middle.
fn median(dialect: Dialect, number: &str, scale: u8) -> Result<String, Problem> {
    let filter = format!("{number} IS NOT NULL");
    let list = dialect.sorted_list(number, &filter)?;
    let count = format!("count(*) FILTER (WHERE {filter})");
    let low = dialect.whole_division(&format!("{count} + 1"), 2);
    let high = dialect.whole_division(&format!("{count} + 2"), 2);
    let half = match dialect {
        Dialect::DuckDb | Dialect::Standard => "CAST(0.5 AS DECIMAL(2, 1))",
        Dialect::Postgres => "0.5",
    };
    Ok(format!(
        "CAST(({list}[CAST({low} AS INTEGER)] + {list}[CAST({high} AS INTEGER)]) * {half} AS {})",
        dialect.decimal(scale + 1)
    ))
}
