//! Makes the values of a dimension columns of a result. A limit counts the rows that are left.

use contract::{
    metric_query::{DataColumn, DataResult, PivotedValue},
    result::{ColumnRole, ColumnUnit},
    text,
};
use serde_json::Value;

use crate::{
    Problem,
    units::{moved, place_of_unit},
};

/// The most columns of a result whose values became columns.
const MAX_COLUMNS: usize = 200;

/// Makes the values of a dimension columns, and cuts the rows at a limit.
pub(crate) fn pivot(
    result: DataResult,
    dimension: &str,
    limit: Option<u32>,
) -> Result<DataResult, Problem> {
    let layout = Layout::find(&result.columns, dimension)?;
    let values = layout.values(&result.rows);
    if values.len() * layout.measures.len() > MAX_COLUMNS {
        return Err(Problem::new(text!(
            "{dimension} has too many values to become columns.",
            dimension
        ))
        .hint(text!("Filter them, or ask for the first ones with \"top\".")));
    }
    let columns = layout.columns(&result.columns, &values, dimension);
    let mut rows = layout.spread(&result.rows, &values);
    let totals = layout.spread(&result.totals, &values);
    let count = |rows: usize| u64::try_from(rows).unwrap_or(u64::MAX);
    let all = count(rows.len());
    let mut notes = result.notes.clone();
    if let Some(limit) = limit.map(u64::from).filter(|limit| *limit < all) {
        rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        notes.push(text!("{shown} of {all} rows are listed.", shown = limit, all));
        if !totals.is_empty() {
            notes.push(text!("The totals are of all rows, not only of those listed."));
        }
    }
    Ok(DataResult { columns, rows, totals, row_count: all, notes, ..result })
}

/// A value that becomes a column, with the key if names are not unique.
type PivotValue = (Value, Option<Value>);

/// The places of the columns of a result.
struct Layout {
    /// The dimension whose values become columns, and its key.
    place: usize,
    key: Option<usize>,
    /// The other dimensions.
    others: Vec<usize>,
    measures: Vec<usize>,
}

impl Layout {
    fn find(columns: &[DataColumn], dimension: &str) -> Result<Self, Problem> {
        let place = columns.iter().position(|column| column.name == dimension);
        let place = place.ok_or_else(|| {
            Problem::new(text!(
                "\"pivot\": {dimension} must be one of the dimensions in \"by\".",
                dimension
            ))
        })?;
        let is_measure = |at: &usize| columns[*at].role == ColumnRole::Measure;
        let is_key = |at: &usize| {
            *at != place && !is_measure(at) && columns[*at].of.as_deref() == Some(dimension)
        };
        let key = (0..columns.len()).find(is_key);
        let (measures, others) = (0..columns.len()).partition(is_measure);
        let mut others: Vec<usize> = others;
        others.retain(|at| *at != place && Some(*at) != key);
        Ok(Self { place, key, others, measures })
    }

    fn value(&self, row: &[Value]) -> PivotValue {
        (row[self.place].clone(), self.key.map(|key| row[key].clone()))
    }

    /// Returns the values in the order of the rows.
    fn values(&self, rows: &[Vec<Value>]) -> Vec<PivotValue> {
        let mut values: Vec<PivotValue> = Vec::new();
        for row in rows {
            let value = self.value(row);
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }

    fn columns(
        &self,
        columns: &[DataColumn],
        values: &[PivotValue],
        dimension: &str,
    ) -> Vec<DataColumn> {
        let mut found: Vec<DataColumn> =
            self.others.iter().map(|at| moved(&columns[*at], &self.others)).collect();
        for value in values {
            for at in &self.measures {
                let measure = &columns[*at];
                let name = match self.measures.len() {
                    1 => name_of(value),
                    _ => format!("{}: {}", name_of(value), measure.name),
                };
                found.push(DataColumn {
                    unit: self.unit(measure, &value.0),
                    label: contract::manifest::Localised::new(),
                    name: unique(name, &found),
                    pivot: Some(PivotedValue {
                        dimension: dimension.to_owned(),
                        value: value.0.clone(),
                        measure: measure.name.clone(),
                    }),
                    ..measure.clone()
                });
            }
        }
        found
    }

    /// Returns the unit of a measure in the column of a value, which may be the currency itself.
    fn unit(&self, measure: &DataColumn, value: &Value) -> Option<ColumnUnit> {
        match place_of_unit(measure) {
            Some(place) if place == self.place => {
                value.as_str().map(|code| ColumnUnit::Fixed(code.to_owned()))
            }
            _ => moved(measure, &self.others).unit,
        }
    }

    fn spread(&self, list: &[Vec<Value>], values: &[PivotValue]) -> Vec<Vec<Value>> {
        let width = self.others.len() + values.len() * self.measures.len();
        let mut rows: Vec<Vec<Value>> = Vec::new();
        for row in list {
            let own = self.value(row);
            let Some(nth) = values.iter().position(|value| *value == own) else { continue };
            let key: Vec<Value> = self.others.iter().map(|at| row[*at].clone()).collect();
            let found = rows.iter().position(|known| known[..key.len()] == key[..]);
            let target = found.unwrap_or_else(|| {
                let mut fresh = key.clone();
                fresh.resize(width, Value::Null);
                rows.push(fresh);
                rows.len() - 1
            });
            let first = key.len() + nth * self.measures.len();
            for (at, measure) in self.measures.iter().enumerate() {
                rows[target][first + at] = row[*measure].clone();
            }
        }
        rows
    }
}

fn name_of((value, key): &PivotValue) -> String {
    let text = |value: &Value| match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match key {
        Some(key) => format!("{} [{}]", text(value), text(key)),
        None => text(value),
    }
}

/// Returns a name that no other column has.
fn unique(name: String, columns: &[DataColumn]) -> String {
    let is_taken = |name: &str| columns.iter().any(|column| column.name == name);
    if !is_taken(&name) {
        return name;
    }
    let numbered = (2..).map(|number: u32| format!("{name} ({number})"));
    numbered.into_iter().find(|name| !is_taken(name)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use contract::{
        metric_query::DataType,
        result::{UnitPlace, ValueFormat},
    };
    use serde_json::json;

    use super::*;

    fn result(names: &[&str], rows: Vec<Vec<Value>>) -> DataResult {
        let column = |name: &&str| {
            let is_measure = name.starts_with("m_");
            let role = if is_measure { ColumnRole::Measure } else { ColumnRole::Dimension };
            DataColumn::new(*name, DataType::Text, role, ValueFormat::Text)
        };
        let columns = names.iter().map(column).collect();
        DataResult { columns, rows, ..DataResult::default() }
    }

    fn names(result: &DataResult) -> Vec<&str> {
        result.columns.iter().map(|column| column.name.as_str()).collect()
    }

    #[test]
    fn a_limit_counts_rows_and_not_values_of_the_dimension() {
        let rows = vec![
            vec![json!("A"), json!("Mobile"), json!(1)],
            vec![json!("A"), json!("Desktop"), json!(2)],
            vec![json!("B"), json!("Mobile"), json!(3)],
        ];
        let found = pivot(result(&["campaign", "device", "m_clicks"], rows), "device", Some(1));
        let found = found.unwrap();
        assert_eq!(found.rows, [vec![json!("A"), json!(1), json!(2)]]);
        assert_eq!((found.row_count, found.notes.len()), (2, 1));
    }

    #[test]
    fn no_two_columns_have_the_same_name() {
        let rows = vec![
            vec![json!("A"), json!("campaign"), json!(1)],
            vec![json!("A"), Value::Null, json!(2)],
            vec![json!("A"), json!("-"), json!(3)],
        ];
        let found = pivot(result(&["campaign", "device", "m_clicks"], rows), "device", None);
        assert_eq!(names(&found.unwrap()), ["campaign", "campaign (2)", "-", "- (2)"]);
    }

    #[test]
    fn amounts_keep_their_currency_if_it_becomes_a_column() {
        let mut before = result(
            &["campaign", "currency", "m_spend"],
            vec![
                vec![json!("A"), json!("EUR"), json!(1)],
                vec![json!("A"), json!("USD"), json!(2)],
            ],
        );
        before.columns[2].unit = Some(ColumnUnit::Within(UnitPlace { at: "/1".to_owned() }));
        let units: Vec<_> = pivot(before.clone(), "currency", None)
            .unwrap()
            .columns
            .into_iter()
            .filter_map(|column| column.unit)
            .collect();
        let fixed = |code: &str| ColumnUnit::Fixed(code.to_owned());
        assert_eq!(units, [fixed("EUR"), fixed("USD")]);
        let by_campaign = pivot(before, "campaign", None).unwrap();
        let place = ColumnUnit::Within(UnitPlace { at: "/0".to_owned() });
        assert_eq!(by_campaign.columns[1].unit, Some(place));
    }

    #[test]
    fn things_of_one_name_are_columns_of_their_own() {
        let rows = vec![
            vec![json!("Mobile"), json!("A"), json!("1"), json!(1)],
            vec![json!("Mobile"), json!("A"), json!("2"), json!(2)],
        ];
        let mut before = result(&["device", "campaign", "id", "m_clicks"], rows);
        before.columns[2].of = Some("campaign".to_owned());
        let found = pivot(before, "campaign", None).unwrap();
        assert_eq!(names(&found), ["device", "A [1]", "A [2]"]);
        assert_eq!(found.rows, [vec![json!("Mobile"), json!(1), json!(2)]]);
    }
}
