//! Explanations of a change: for each value of some dimensions, how different the measure would be now
//! if the rows with this value had stayed as they were before. For sums this is their own change.

use contract::{
    metric_query::{DataColumn, DataType, Explain, Group, MeasureUse, MetricQuery},
    result::{ColumnRole, ValueFormat},
    text,
};

use super::{
    Compiled, CompiledColumn, Purpose,
    builder::{Builder, new_builder},
    formulas::Formula,
    steps,
    top::is_about_figures,
};
use crate::{Catalog, Dialect, Problem, SourceModel, dialect::Exact};

/// Compiles a query for what explains a change.
pub(super) fn compile_explain(
    explain: &Explain,
    query: &MetricQuery,
    catalog: &Catalog,
    dialect: Dialect,
) -> Result<Compiled, Problem> {
    if query.compare.is_none() {
        return Err(Problem::new(text!(
            "What explains a change needs \"compare\", such as \"previous\"."
        )));
    }
    super::totals::check_totals(query)?;
    let source = &catalog.sources[crate::resolve::primary(query, catalog)?];
    refuse_rest(query, source)?;
    let mut ctes = super::Ctes::default();
    let mut notes = Vec::new();
    let mut found: Option<Vec<CompiledColumn>> = None;
    let mut selects = Vec::new();
    for dimension in &explain.by {
        let inner = MetricQuery {
            measures: vec![MeasureUse::named(explain.measure.clone())],
            by: vec![Group::dimension(dimension.clone())],
            explain: None,
            order: Vec::new(),
            limit: None,
            ..query.clone()
        };
        let mut builder = new_builder(&inner, catalog, dialect)?;
        let (sql, columns) = builder.write_contributions(dimension)?;
        notes.append(&mut builder.notes);
        let name = ctes.push(&format!("_by{}", selects.len() + 1), sql);
        selects.push(format!("SELECT * FROM {name}"));
        found.get_or_insert(columns);
    }
    notes.dedup();
    let mut columns =
        found.ok_or_else(|| Problem::new(text!("\"explain\" needs a dimension in \"by\".")))?;
    let all = ctes.push("_figures", selects.join("\nUNION ALL\n"));
    let mut select: Vec<String> = columns
        .iter()
        .map(|column| dialect.identifier(&column.column.name))
        .collect::<Result<_, _>>()?;
    if query.limit.is_some() {
        select.push("count(*) OVER () AS _all".to_owned());
        columns.push(steps::hidden_column("_all", Purpose::AllRows));
    }
    for (name, sql, purpose) in counts_of(explain, query, catalog, dialect)? {
        select.push(format!("({sql}) AS {name}"));
        columns.push(steps::hidden_column(&name, purpose));
    }
    let binary = dialect.binary();
    let currency = if columns.iter().any(|column| column.column.name == "currency") {
        format!("\"currency\"{binary} NULLS LAST, ")
    } else {
        String::new()
    };
    let order = format!(
        "abs(\"contribution\") DESC NULLS LAST, \"dimension\"{binary}, {currency}\"value\"{binary} NULLS LAST, \"before\" NULLS LAST, \"now\" NULLS LAST"
    );
    let limit = query.limit.map_or_else(String::new, |limit| format!("\nLIMIT {limit}"));
    let select = format!("SELECT {}\nFROM {all}\nORDER BY {order}{limit}", select.join(", "));
    Ok(Compiled { sql: ctes.write(&select), columns, notes, limit: None, pivot: None })
}

/// Fails if a query has what an explanation does not have.
fn refuse_rest(query: &MetricQuery, source: &SourceModel) -> Result<(), Problem> {
    let given = [
        ("measures", !query.measures.is_empty()),
        ("by", !query.by.is_empty()),
        ("order", !query.order.is_empty()),
        ("top", query.top.is_some()),
        ("pivot", query.pivot.is_some()),
        ("fill", query.fill),
        ("then", query.then.is_some()),
        ("rows", query.rows),
    ];
    if let Some((member, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Problem::new(text!(
            "An explanation has no {member}. Leave it out, or ask without \"explain\".",
            member
        )));
    }
    if query.conditions.iter().any(|condition| is_about_figures(condition, query, source)) {
        return Err(Problem::new(text!(
            "The conditions of an explanation concern rows, not figures."
        )));
    }
    Ok(())
}

/// Returns the counts that notes of an explanation need, each with its name.
fn counts_of(
    explain: &Explain,
    query: &MetricQuery,
    catalog: &Catalog,
    dialect: Dialect,
) -> Result<Vec<(String, String, Purpose)>, Problem> {
    let inner = MetricQuery {
        measures: vec![MeasureUse::named(explain.measure.clone())],
        by: explain.by.iter().map(|name| Group::dimension(name.clone())).collect(),
        explain: None,
        order: Vec::new(),
        limit: None,
        ..query.clone()
    };
    let mut builder = new_builder(&inner, catalog, dialect)?;
    builder.is_outer = true;
    builder.plan()?;
    builder.add_counts()?;
    let counts = std::mem::take(&mut builder.counts).into_iter();
    Ok(counts.map(|count| (count.name, builder.ctes.write(&count.sql), count.purpose)).collect())
}

impl Builder<'_> {
    /// Writes the contributions of the values of one dimension.
    fn write_contributions(
        &mut self,
        dimension: &str,
    ) -> Result<(String, Vec<CompiledColumn>), Problem> {
        let figures = self.plan()?;
        let (now, before) = match figures.as_slice() {
            [now, before, ..] => (now.clone(), before.clone()),
            _ => return Err(Problem::new(text!("\"explain\" needs a measure with a comparison."))),
        };
        let name = now.name.clone();
        let currency = self.currency_place().map(|place| self.dims[place].alias.clone());
        let window =
            currency.as_ref().map_or_else(String::new, |alias| format!("PARTITION BY {alias}"));
        let total_now = self.windowed(&now.formula, &window, &name, false)?;
        let total_before = self.windowed(&before.formula, &window, &name, false)?;
        let without = self.with_former_values(&now.formula, &before.formula, &window, &name)?;
        let boxed = [total_now, without, total_before].map(Box::new);
        let [total_now, without, total_before] = boxed;
        let contribution = Formula::Difference(total_now.clone(), without.clone());
        let share = if total_now.is_quotient() {
            Formula::PartOfChange { now: total_now, without, before: total_before }
        } else {
            let change = Formula::Difference(total_now, total_before);
            Formula::divide(contribution.clone(), change)
        };
        let step = self.write_explained_parts()?;
        let base = |number: usize| self.number_value(number, &name);
        let shown = &self.dims[0];
        let value = format!("CAST({} AS VARCHAR)", shown.alias);
        let dimension = self.dialect.literal(dimension)?;
        let mut select =
            vec![format!("{dimension} AS \"dimension\""), format!("{value} AS \"value\"")];
        if let Some(alias) = &currency {
            select.push(format!("{alias} AS \"currency\""));
        }
        let contribution = contribution.write(self.dialect, &base)?;
        let share = share.write(self.dialect, &base)?;
        let before_value = before.formula.write(self.dialect, &base)?;
        let now_value = now.formula.write(self.dialect, &base)?;
        select.push(format!("{} AS \"before\"", before_value.sql));
        select.push(format!("{} AS \"now\"", now_value.sql));
        select.push(format!("{} AS \"contribution\"", contribution.sql));
        select.push(format!("{} AS \"share_of_change\"", share.sql));
        let sql = self.ctes.write(&format!("SELECT {}\nFROM {step}", select.join(", ")));
        let figure = self.columns_of(&now);
        Ok((sql, explained_columns(&figure, currency.is_some(), contribution.scale)))
    }

    /// Returns the formula over all rows, in which those of a group are replaced by the former ones.
    fn with_former_values(
        &mut self,
        now: &Formula,
        before: &Formula,
        window: &str,
        name: &str,
    ) -> Result<Formula, Problem> {
        let pair = |a: &Formula, b: &Formula| (a.clone(), b.clone());
        Ok(match (now, before) {
            (Formula::Base(own), Formula::Base(former)) => {
                let Formula::Sql(total) = self.windowed(now, window, name, false)? else {
                    return Err(Problem::new(text!("{name} does not add up over groups.", name)));
                };
                Formula::Sql(Exact {
                    sql: format!(
                        "(coalesce({}, 0) - coalesce(_b{}, 0) + coalesce(_b{}, 0))",
                        total.sql,
                        own + 1,
                        former + 1
                    ),
                    scale: total.scale,
                })
            }
            (Formula::Divide(a, b), Formula::Divide(c, d)) => {
                let ((a, c), (b, d)) = (pair(a, c), pair(b, d));
                Formula::divide(
                    self.with_former_values(&a, &c, window, name)?,
                    self.with_former_values(&b, &d, window, name)?,
                )
            }
            (Formula::Minus(a, b), Formula::Minus(c, d)) => {
                let ((a, c), (b, d)) = (pair(a, c), pair(b, d));
                Formula::Minus(
                    Box::new(self.with_former_values(&a, &c, window, name)?),
                    Box::new(self.with_former_values(&b, &d, window, name)?),
                )
            }
            (Formula::Plus(a), Formula::Plus(b)) => Formula::Plus(
                a.iter()
                    .zip(b)
                    .map(|(a, b)| self.with_former_values(a, b, window, name))
                    .collect::<Result<_, _>>()?,
            ),
            (_, _) => {
                return Err(Problem::new(text!(
                    "A change of {name} cannot be explained by groups, because it does not add up.",
                    name
                )));
            }
        })
    }

    fn write_explained_parts(&mut self) -> Result<String, Problem> {
        let step = self.write_parts()?;
        let step = self.write_names(&step)?;
        let windows = self.windows.iter().enumerate();
        let windows: Vec<String> =
            windows.map(|(at, sql)| format!("{sql} AS _w{}", at + 1)).collect();
        let sql = format!("SELECT *, {}\nFROM {step}", windows.join(", "));
        Ok(self.ctes.push("_windows", sql))
    }

    fn columns_of(&self, figure: &super::figures::Figure) -> DataColumn {
        DataColumn {
            unit: self.explained_unit(&figure.unit),
            label: figure.label.clone(),
            of: figure.of.clone(),
            ..DataColumn::new(&figure.name, figure.kind, ColumnRole::Measure, figure.format)
        }
    }

    fn explained_unit(
        &self,
        unit: &super::figures::FigureUnit,
    ) -> Option<contract::result::ColumnUnit> {
        let found = self.unit(unit)?;
        Some(match found {
            // The currency is the third column of an explanation.
            contract::result::ColumnUnit::Within(_) => {
                contract::result::ColumnUnit::Within(contract::result::UnitPlace {
                    at: "/2".to_owned(),
                })
            }
            fixed => fixed,
        })
    }
}

fn explained_columns(figure: &DataColumn, has_currency: bool, scale: u8) -> Vec<CompiledColumn> {
    let text = |name: &str| CompiledColumn {
        column: DataColumn::new(name, DataType::Text, ColumnRole::Dimension, ValueFormat::Text),
        purpose: Purpose::Shown,
        scale: 0,
    };
    let measure = |name: &str| CompiledColumn {
        column: DataColumn { name: name.to_owned(), ..figure.clone() },
        purpose: Purpose::Shown,
        scale,
    };
    let mut columns = vec![text("dimension"), text("value")];
    if has_currency {
        columns.push(text("currency"));
    }
    columns.extend(["before", "now", "contribution"].map(measure));
    let mut share = measure("share_of_change");
    share.column.kind = DataType::Decimal;
    share.column.format = ValueFormat::Percent;
    share.column.unit = None;
    columns.push(share);
    columns
}
