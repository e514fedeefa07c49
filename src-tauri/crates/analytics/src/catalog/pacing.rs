//! The columns of a source that is computed from delivery and plan.

use contract::{
    SourceName,
    definitions::{Definitions, PACING_COLUMNS, Pacing, PacingName},
    sources::ColumnKind,
    text,
};

use super::{Catalog, SourceModel};
use crate::{Problem, TableColumn, dialect::RATIO_SCALE};

impl SourceModel {
    /// Creates the model of a source that is computed from others of a catalog.
    pub fn computed(definitions: Definitions, catalog: &Catalog) -> Result<Self, Problem> {
        let columns = pacing_columns(&definitions, catalog)?;
        Ok(Self::new(definitions, columns))
    }

    /// Returns the sources that the rows are computed from. Empty: they are those of a table.
    pub fn computed_from(&self) -> Vec<&SourceName> {
        let pacing = self.definitions.pacing.iter();
        pacing.flat_map(|one| [&one.delivery.source, &one.plan.source]).collect()
    }
}

impl Catalog {
    /// Creates the catalog of some sources. The columns of computed ones follow from the others. Without
    /// these, they stay as they are, and a query says what is missing.
    pub fn of(sources: Vec<SourceModel>) -> Self {
        let mut catalog = Self { sources };
        for at in 0..catalog.sources.len() {
            let definitions = &catalog.sources[at].definitions;
            if definitions.pacing.is_some()
                && let Ok(columns) = pacing_columns(definitions, &catalog)
            {
                catalog.sources[at].columns = columns;
            }
        }
        catalog
    }
}

/// Returns the verdict that takes the place of one when the period of the budget is over. Others stay.
pub fn verdict_at_end(verdict: &str) -> &str {
    match verdict {
        "behind" | "slightly_behind" => "under_delivered",
        "ahead" | "slightly_ahead" => "over_delivered",
        "on_track" => "delivered",
        other => other,
    }
}

/// Returns the columns of a computed source.
pub fn pacing_columns(
    definitions: &Definitions,
    catalog: &Catalog,
) -> Result<Vec<TableColumn>, Problem> {
    let pacing = pacing_of(definitions)?;
    let delivery = &catalog.sources[catalog.place(&pacing.delivery.source)?];
    let plan = &catalog.sources[catalog.place(&pacing.plan.source)?];
    let spend = delivery.column(&pacing.delivery.spend)?;
    let mut columns = Vec::new();
    for name in &pacing.by {
        let constant = constant_of(name, delivery, plan);
        columns.push(TableColumn { constant, ..column(&name.name, ColumnKind::Text, 0) });
    }
    columns.extend(PACING_COLUMNS.into_iter().map(|name| {
        let (kind, scale) = match name {
            "day" | "run_out_day" => (ColumnKind::Day, 0),
            "status" => (ColumnKind::Text, 0),
            "at_risk" | "runs_out_early" | "no_delivery" | "late_data" => (ColumnKind::Flag, 0),
            "impressions" | "days_left" | "days_early" => (ColumnKind::Whole, 0),
            "thousand_impressions" => (ColumnKind::Decimal, 3),
            "spend" => (ColumnKind::Decimal, spend.scale),
            _ => (ColumnKind::Decimal, RATIO_SCALE),
        };
        column(name, kind, scale)
    }));
    Ok(columns)
}

/// Returns how the rows of a source are computed.
pub(crate) fn pacing_of(definitions: &Definitions) -> Result<&Pacing, Problem> {
    definitions.pacing.as_ref().ok_or_else(|| {
        Problem::new(text!(
            "{source} is not computed from other sources.",
            source = &definitions.source
        ))
    })
}

/// Returns the value that all rows of both sources have, such as the currency.
pub(crate) fn constant_of(
    name: &PacingName,
    delivery: &SourceModel,
    plan: &SourceModel,
) -> Option<String> {
    let constant = |source: &SourceModel, written: &Option<String>| {
        let dimension = source.dimension(written.as_ref()?).ok()?;
        match dimension.kind {
            contract::definitions::DimensionKind::Column(column) => {
                source.find_column(&column)?.constant.clone()
            }
            _ => None,
        }
    };
    let (own, planned) = (constant(delivery, &name.delivery), constant(plan, &name.plan));
    match (&name.delivery, &name.plan) {
        (Some(_), Some(_)) => own.filter(|own| planned.as_ref() == Some(own)),
        (Some(_), None) => own,
        (None, _) => planned,
    }
}

fn column(name: &str, kind: ColumnKind, scale: u8) -> TableColumn {
    TableColumn { name: name.to_owned(), kind, scale, constant: None, is_float: false }
}
