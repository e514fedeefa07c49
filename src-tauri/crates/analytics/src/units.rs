//! Units of columns whose amounts have their currency in another column of the result.

use contract::{
    metric_query::DataColumn,
    result::{ColumnUnit, UnitPlace},
};

/// Returns a column whose unit points to the new place of its currency.
pub(crate) fn moved(column: &DataColumn, kept: &[usize]) -> DataColumn {
    let unit = match &column.unit {
        Some(ColumnUnit::Within(_)) => {
            let old = place_of_unit(column);
            let new = old.and_then(|old| kept.iter().position(|place| *place == old));
            new.map(|new| ColumnUnit::Within(UnitPlace { at: format!("/{new}") }))
        }
        other => other.clone(),
    };
    DataColumn { unit, ..column.clone() }
}

/// Returns the place of the column that has the currency of a column's amounts.
pub(crate) fn place_of_unit(column: &DataColumn) -> Option<usize> {
    match &column.unit {
        Some(ColumnUnit::Within(place)) => place.at.trim_start_matches('/').parse().ok(),
        Some(ColumnUnit::Fixed(_)) | None => None,
    }
}
