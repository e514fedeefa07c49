//! The chart that fits a result.

use std::collections::BTreeSet;

use contract::{
    metric_query::DataResult,
    result::{ChartKind, ColumnRole},
};

/// With so few times, columns say more than a line.
const FEW_TIMES: usize = 7;

/// Returns the chart that fits a result: lines or columns over time, bars over a dimension. None if a
/// table or a single figure says more.
pub fn choose_chart(result: &DataResult) -> Option<ChartKind> {
    let count = |role| result.columns.iter().filter(|column| column.role == role).count();
    let (times, dimensions) = (count(ColumnRole::Time), count(ColumnRole::Dimension));
    if count(ColumnRole::Measure) == 0 || result.rows.len() < 2 {
        return None;
    }
    match (times, dimensions) {
        (1, 0 | 1) if count_times(result) > FEW_TIMES => Some(ChartKind::Lines),
        (1, 0 | 1) => Some(ChartKind::Columns),
        (0, 1) => Some(ChartKind::Bars),
        _ => None,
    }
}

/// Returns the number of different times.
fn count_times(result: &DataResult) -> usize {
    let time = result.columns.iter().position(|column| column.role == ColumnRole::Time);
    let times = result.rows.iter().filter_map(|row| row.get(time?)).map(ToString::to_string);
    times.collect::<BTreeSet<String>>().len()
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
            rows: (0..rows).map(|row| vec![json!(row); roles.len()]).collect(),
            ..DataResult::default()
        }
    }

    #[test]
    fn the_chart_follows_from_the_roles_of_the_columns() {
        use ColumnRole::{Dimension, Measure, Time};
        assert_eq!(choose_chart(&result(&[Time, Measure], 30)), Some(ChartKind::Lines));
        assert_eq!(choose_chart(&result(&[Time, Dimension, Measure], 8)), Some(ChartKind::Lines));
        assert_eq!(choose_chart(&result(&[Time, Measure], 7)), Some(ChartKind::Columns));
        assert_eq!(choose_chart(&result(&[Dimension, Measure, Measure], 5)), Some(ChartKind::Bars));
        assert_eq!(choose_chart(&result(&[Dimension, Measure], 400)), Some(ChartKind::Bars));
        assert_eq!(choose_chart(&result(&[Measure], 1)), None);
        assert_eq!(choose_chart(&result(&[Dimension, Dimension, Measure], 9)), None);
    }
}
