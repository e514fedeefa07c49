//! The roles of the columns of stored rows, as the definitions say: only numbers that a measure
//! computes with are figures.

use contract::{
    definitions::{CurrencyOf, Definitions, DimensionKind, Measure, Unit},
    metric_query::{DataColumn, DataType},
    result::{ColumnRole, ColumnUnit, UnitPlace, ValueFormat},
};

use crate::catalog::column_of_measure;

/// Gives the columns of stored rows the roles, units and names of the definitions.
pub fn describe_rows(definitions: &Definitions, columns: &mut [DataColumn]) {
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    for column in columns {
        let measure = definitions
            .measures
            .iter()
            .find(|(_, measure)| column_of_measure(&measure.calculation) == Some(&column.name));
        if let Some((name, measure)) = measure.filter(|_| is_number(column.kind)) {
            column.role = ColumnRole::Measure;
            column.of = Some(name.clone());
            column.label = measure.title.clone();
            (column.format, column.unit) = unit_of(measure, &names);
            continue;
        }
        let time = definitions.time.as_ref();
        let is_time = time.is_some_and(|time| time.column == column.name);
        column.role = if is_time { ColumnRole::Time } else { ColumnRole::Dimension };
        let own = definitions.dimensions.iter().find(|(_, dimension)| {
            matches!(&dimension.kind, DimensionKind::Column(own) if *own == column.name)
        });
        column.of = own.map(|(name, _)| name.clone());
    }
}

fn is_number(kind: DataType) -> bool {
    matches!(kind, DataType::Whole | DataType::Decimal | DataType::Float)
}

/// Returns how the values of a measure's column are written. An amount without a currency is a number.
fn unit_of(measure: &Measure, names: &[String]) -> (ValueFormat, Option<ColumnUnit>) {
    let place = |column: &String| {
        let at = names.iter().position(|name| name == column)?;
        Some(ColumnUnit::Within(UnitPlace { at: format!("/{at}") }))
    };
    match (&measure.unit, &measure.currency) {
        (Some(Unit::Money), Some(CurrencyOf::Constant(code))) => {
            (ValueFormat::Money, Some(ColumnUnit::Fixed(code.clone())))
        }
        (Some(Unit::Money), Some(CurrencyOf::Column { column })) => match place(column) {
            Some(unit) => (ValueFormat::Money, Some(unit)),
            None => (ValueFormat::Number, None),
        },
        (Some(Unit::Percent), _) => (ValueFormat::Percent, None),
        (Some(Unit::Named(name)), _) => {
            (ValueFormat::Number, Some(ColumnUnit::Fixed(name.clone())))
        }
        (Some(Unit::Money) | None, _) => (ValueFormat::Number, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_definitions;

    #[test]
    fn only_numbers_that_a_measure_computes_with_are_figures() {
        let yaml = "source: a\ntime: {column: Day}\ndimensions:\n  hour: {column: Hour}\nmeasures:\n  spend: {sum: Cost, unit: money, currency: {column: Currency}}\n  budget: {last: {column: Budget, per: [Hour]}}\n";
        let column = |name: &str, kind| {
            DataColumn::new(name, kind, ColumnRole::Measure, ValueFormat::Number)
        };
        use DataType::{Day, Decimal, Text, Whole};
        let mut columns = [
            column("Day", Day),
            column("Hour", Whole),
            column("Currency", Text),
            column("Cost", Decimal),
            column("CTR", Decimal),
            column("Budget", Decimal),
            column("End", Day),
        ];
        describe_rows(&parse_definitions(yaml).unwrap(), &mut columns);
        use ColumnRole::{Dimension, Measure, Time};
        let roles = columns.each_ref().map(|column| column.role);
        assert_eq!(roles, [Time, Dimension, Dimension, Measure, Dimension, Measure, Dimension]);
        let currency = ColumnUnit::Within(UnitPlace { at: "/2".to_owned() });
        assert_eq!((columns[3].format, &columns[3].unit), (ValueFormat::Money, &Some(currency)));
        assert_eq!(columns[3].of.as_deref(), Some("spend"));
    }
}
