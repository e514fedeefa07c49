//! The columns of a result, and conditions on their values.

use contract::{
    definitions::Unmatched,
    metric_query::{ComparedFigure, Condition, DataColumn, DataType},
    result::{ColumnRole, ColumnUnit, UnitPlace, ValueFormat},
    sources::ColumnKind,
    text,
};

use super::{
    CompiledColumn, Value,
    builder::Builder,
    conditions::{join_conditions, simple_test},
    figures::{Figure, FigureUnit},
    model::DimFrom,
    top::is_about_figures,
};
use crate::Problem;

impl Builder<'_> {
    /// Returns the columns of the result.
    pub fn columns(
        &self,
        figures: &[Figure],
        scales: &[u8],
    ) -> Result<Vec<CompiledColumn>, Problem> {
        let mut columns = Vec::new();
        for dim in &self.dims {
            let of = match dim.from {
                DimFrom::Key(group) => Some(super::groups::name_of_group(self.query, group)),
                DimFrom::Group(_) | DimFrom::Currency | DimFrom::Rest => dim.of.clone(),
            };
            columns.push(CompiledColumn {
                column: DataColumn {
                    label: dim.label.clone(),
                    of,
                    ..DataColumn::new(
                        &dim.name,
                        data_type(dim.kind),
                        dim.role,
                        format_of_kind(dim.kind),
                    )
                },
                purpose: dim.purpose.clone(),
                scale: dim.scale,
            });
        }
        for (figure, scale) in figures.iter().zip(scales) {
            columns.push(CompiledColumn {
                column: DataColumn {
                    unit: self.unit(&figure.unit),
                    label: figure.label.clone(),
                    of: figure.of.clone(),
                    adds_up: self.adds_up(figure),
                    better: figure.better.filter(|_| is_change(figure)),
                    compared: figure.compared,
                    ..DataColumn::new(&figure.name, figure.kind, ColumnRole::Measure, figure.format)
                },
                purpose: figure.purpose.clone(),
                scale: *scale,
            });
        }
        Ok(columns)
    }

    /// Whether the values of the rows add up. Last values of several times do not: they are those of
    /// the same things.
    fn adds_up(&self, figure: &Figure) -> bool {
        let formula = &figure.formula;
        let is_apart = |name: &str| self.query.pivot.as_deref() == Some(name);
        let is_over_time =
            self.dims.iter().any(|dim| dim.role == ColumnRole::Time && !is_apart(&dim.name));
        let is_within_time = is_over_time && formula.adds_up_within_time(&self.bases);
        formula.adds_up(&self.bases) && !is_within_time
    }

    pub fn unit(&self, unit: &FigureUnit) -> Option<ColumnUnit> {
        match unit {
            FigureUnit::None => None,
            FigureUnit::Named(name) => Some(ColumnUnit::Fixed(name.clone())),
            FigureUnit::Currency(source) => {
                if let Some(target) = &self.query.in_currency {
                    return Some(ColumnUnit::Fixed(target.clone()));
                }
                if let Some(code) = self.currencies.constant(*source) {
                    return Some(ColumnUnit::Fixed(code.to_owned()));
                }
                let place = self.currency_place()?;
                Some(ColumnUnit::Within(UnitPlace { at: format!("/{place}") }))
            }
        }
    }

    /// Returns the conditions on figures.
    pub fn figure_conditions(&mut self, figures: &[Figure]) -> Result<Vec<String>, Problem> {
        let query = self.query;
        let mut conditions = Vec::new();
        for condition in &query.conditions {
            if is_about_figures(condition, query, self.source()) {
                conditions.push(self.figure_condition(condition, figures)?);
            }
        }
        Ok(conditions)
    }

    fn figure_condition(
        &self,
        condition: &Condition,
        figures: &[Figure],
    ) -> Result<String, Problem> {
        let all = |parts: &[Condition]| -> Result<Vec<String>, Problem> {
            parts.iter().map(|part| self.figure_condition(part, figures)).collect()
        };
        Ok(match condition {
            Condition::And(parts) => {
                join_conditions(all(parts)?).unwrap_or_else(|| "TRUE".to_owned())
            }
            Condition::Or(parts) => {
                let parts = all(parts)?;
                if parts.is_empty() {
                    "FALSE".to_owned()
                } else {
                    format!("({})", parts.join(" OR "))
                }
            }
            Condition::Not(part) => {
                format!("NOT coalesce({}, FALSE)", self.figure_condition(part, figures)?)
            }
            Condition::Is { name, test } => {
                let value = self.shown_value(name, figures)?;
                simple_test(self.dialect, &value, test, name)?
            }
        })
    }

    fn shown_value(&self, name: &str, figures: &[Figure]) -> Result<Value, Problem> {
        let sql = self.dialect.identifier(name)?;
        if let Some(figure) = figures.iter().find(|figure| figure.name == name) {
            let kind = match figure.kind {
                DataType::Day => ColumnKind::Day,
                DataType::Moment => ColumnKind::Moment,
                DataType::Whole => ColumnKind::Whole,
                DataType::Decimal | DataType::Float => ColumnKind::Decimal,
                DataType::Text => ColumnKind::Text,
                DataType::Flag => ColumnKind::Flag,
            };
            return Ok(Value { sql, kind, scale: 0 });
        }
        let dim = self.dims.iter().find(|dim| dim.name == name).ok_or_else(|| {
            Problem::new(text!(
                "A condition that has a measure beside {name} needs {name} in \"by\".",
                name
            ))
        })?;
        Ok(Value { sql, kind: dim.kind, scale: dim.scale })
    }

    /// Returns the conditions that rows have a partner in sources whose join says so.
    pub fn matched_conditions(&self) -> Result<Vec<String>, Problem> {
        let mut conditions = Vec::new();
        for source in self.sources.iter().skip(1) {
            let name = self.catalog.sources[*source].name();
            let join = self.source().definitions.joins.get(name.as_str());
            if join.is_some_and(|join| join.unmatched == Unmatched::LeaveOut) {
                for one in [self.source().name(), name] {
                    let column = self.dialect.identifier(&format!("_rows_{one}"))?;
                    conditions.push(format!("{column} > 0"));
                }
            }
        }
        Ok(conditions)
    }
}

/// Whether the values are changes, of which some are good.
fn is_change(figure: &Figure) -> bool {
    matches!(figure.compared, Some(ComparedFigure::Change | ComparedFigure::Growth))
}

/// Returns the type of a result's column.
pub(crate) fn data_type(kind: ColumnKind) -> DataType {
    match kind {
        ColumnKind::Text => DataType::Text,
        ColumnKind::Whole => DataType::Whole,
        ColumnKind::Decimal => DataType::Decimal,
        ColumnKind::Day => DataType::Day,
        ColumnKind::Moment => DataType::Moment,
        ColumnKind::Flag => DataType::Flag,
    }
}

/// Returns how values of a type are written.
pub(crate) fn format_of_kind(kind: ColumnKind) -> ValueFormat {
    match kind {
        ColumnKind::Text => ValueFormat::Text,
        ColumnKind::Whole | ColumnKind::Decimal => ValueFormat::Number,
        ColumnKind::Day => ValueFormat::Day,
        ColumnKind::Moment => ValueFormat::Moment,
        ColumnKind::Flag => ValueFormat::Flag,
    }
}
