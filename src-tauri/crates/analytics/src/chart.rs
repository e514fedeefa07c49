//! The chart that fits a result.

use contract::{
    metric_query::DataResult,
    result::{ChartKind, ColumnRole},
};

/// The most columns of a chart that can be told apart.
const MAX_GROUPS: usize = 40;

/// Returns the chart that fits a result: lines over time, columns over a dimension. None if a table
/// or a single figure says more.
pub fn choose_chart(result: &DataResult) -> Option<ChartKind> {
    let count = |role| result.columns.iter().filter(|column| column.role == role).count();
    let (times, dimensions) = (count(ColumnRole::Time), count(ColumnRole::Dimension));
    if count(ColumnRole::Measure) == 0 || result.rows.len() < 2 {
        return None;
    }
    match (times, dimensions) {
        (1, 0 | 1) if result.rows.len() > 2 => Some(ChartKind::Lines),
        (1, 0) | (0, 1) if result.rows.len() <= MAX_GROUPS => Some(ChartKind::Columns),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use contract::{
        metric_query::{DataColumn, DataType},
        result::ValueFormat,
    };
    use serde_json::json;

    use super::*;

    fn result(roles: &[ColumnRole], rows: usize) -> DataResult {
        let column =
            |role: &ColumnRole| DataColumn::new("x", DataType::Text, *role, ValueFormat::Text);
        DataResult {
            columns: roles.iter().map(column).collect(),
            rows: vec![vec![json!(1); roles.len()]; rows],
            ..DataResult::default()
        }
    }

    #[test]
    fn the_chart_follows_from_the_roles_of_the_columns() {
        use ColumnRole::{Dimension, Measure, Time};
        assert_eq!(choose_chart(&result(&[Time, Measure], 30)), Some(ChartKind::Lines));
        assert_eq!(choose_chart(&result(&[Time, Measure], 2)), Some(ChartKind::Columns));
        assert_eq!(
            choose_chart(&result(&[Dimension, Measure, Measure], 5)),
            Some(ChartKind::Columns)
        );
        assert_eq!(choose_chart(&result(&[Dimension, Measure], 400)), None);
        assert_eq!(choose_chart(&result(&[Measure], 1)), None);
        assert_eq!(choose_chart(&result(&[Dimension, Dimension, Measure], 9)), None);
    }
}
