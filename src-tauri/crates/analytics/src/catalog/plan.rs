//! The columns of a plan: amounts of days in place of those of its rows.

use contract::{
    definitions::{Definitions, PLAN_DAY, Spread},
    sources::ColumnKind,
};

use crate::{TableColumn, dialect::RATIO_SCALE};

/// Returns the columns as queries see them. A part of an amount has the decimal places of a ratio.
pub(super) fn columns_of(
    definitions: &Definitions,
    mut columns: Vec<TableColumn>,
) -> Vec<TableColumn> {
    match &definitions.spread {
        None => {}
        Some(Spread::Days(days)) => {
            let is_part = |column: &&mut TableColumn| days.total.contains(&column.name);
            for column in columns.iter_mut().filter(is_part) {
                *column = part_of_amount(&column.name);
            }
        }
        Some(Spread::Months(months)) => {
            columns.push(part_of_amount(&months.name));
            columns.push(TableColumn {
                kind: ColumnKind::Day,
                scale: 0,
                ..part_of_amount(PLAN_DAY)
            });
        }
    }
    columns
}

fn part_of_amount(name: &str) -> TableColumn {
    TableColumn {
        name: name.to_owned(),
        kind: ColumnKind::Decimal,
        scale: RATIO_SCALE,
        constant: None,
        is_float: false,
    }
}
