//! Recognises plans: tables with budgets, in rows with a first and a last day or in columns of months,
//! and nothing that was delivered.

use std::collections::BTreeMap;

use language::{
    headings::{Role, role_of_words},
    plans::{is_daily, is_first_day, is_last_day, is_planned, month_of},
};

use contract::{
    definitions::{
        Calculation, Definitions, Measure, PLAN_DAY, Spread, SpreadDays, SpreadMonths, TimeColumn,
    },
    sources::{ColumnKind, ColumnUse, FoundColumn},
};

use crate::catalog::column_of_measure;

/// Makes the amounts of a plan figures of days, if the columns are those of a plan.
pub(super) fn propose_plan(definitions: &mut Definitions, columns: &[FoundColumn]) {
    if !propose_days(definitions, columns) {
        propose_months(definitions, columns);
    }
}

fn propose_days(definitions: &mut Definitions, columns: &[FoundColumn]) -> bool {
    let day = |is_meant: fn(&str) -> bool| {
        let mut days = columns.iter().filter(|column| column.kind == ColumnKind::Day);
        days.find(|column| is_meant(&column.heading))
    };
    let (Some(first), Some(last)) = (day(is_first_day), day(is_last_day)) else { return false };
    let amounts: Vec<&FoundColumn> = columns.iter().filter(|column| is_amount(column)).collect();
    let is_other = |column: &&FoundColumn| column.usage == ColumnUse::Sum && !is_amount(column);
    if first.name == last.name || amounts.is_empty() || columns.iter().any(|c| is_other(&c)) {
        return false;
    }
    let names = |wanted: bool| {
        let found = amounts.iter().filter(|column| is_daily(&column.heading) == wanted);
        found.map(|column| column.name.clone()).collect::<Vec<String>>()
    };
    let spread = SpreadDays { until: last.name.clone(), total: names(false), daily: names(true) };
    for measure in definitions.measures.values_mut() {
        if let Calculation::Last(of) = &measure.calculation
            && (spread.total.contains(&of.column) || spread.daily.contains(&of.column))
        {
            measure.calculation = Calculation::Sum(of.column.clone());
        }
    }
    definitions.dimensions.retain(|_, dimension| {
        let column = |name: &str| *dimension == contract::definitions::Dimension::of_column(name);
        !column(&first.name) && !column(&last.name)
    });
    definitions.time = Some(TimeColumn::new(first.name.clone()));
    definitions.spread = Some(Spread::Days(spread));
    true
}

/// Whether a column has amounts that are planned.
fn is_amount(column: &FoundColumn) -> bool {
    is_number(column)
        && !matches!(column.usage, ColumnUse::Id | ColumnUse::Ratio | ColumnUse::Other)
        && (column.usage == ColumnUse::Last
            || role_of_words(&column.heading) == Some(Role::Budget)
            || is_planned(&column.heading))
}

fn is_number(column: &FoundColumn) -> bool {
    matches!(column.kind, ColumnKind::Whole | ColumnKind::Decimal)
}

fn propose_months(definitions: &mut Definitions, columns: &[FoundColumn]) {
    let mut months: BTreeMap<String, String> = BTreeMap::new();
    let mut others = columns.iter().filter(|column| is_number(column)).filter(|column| {
        let month = month_of(&column.heading);
        if let Some(month) = &month {
            months.insert(column.name.clone(), month.clone());
        }
        month.is_none() && column.usage == ColumnUse::Sum
    });
    let has_other = others.next().is_some();
    drop(others);
    let mut different: Vec<&String> = months.values().collect();
    different.sort_unstable();
    different.dedup();
    let has_time = definitions.time.is_some();
    let is_taken = |name: &str| columns.iter().any(|column| column.name.to_lowercase() == name);
    if has_other || has_time || months.len() < 2 || different.len() < months.len() {
        return;
    }
    if is_taken(PLAN_DAY) || is_taken(PLANNED_NAME) {
        return;
    }
    let is_month = |measure: &Measure| {
        column_of_measure(&measure.calculation).is_some_and(|column| months.contains_key(column))
    };
    // The unit is that of the columns.
    let mut planned = Measure::of(Calculation::Sum(PLANNED_NAME.to_owned()));
    if let Some(own) = definitions.measures.values().find(|measure| is_month(measure)) {
        planned = Measure { unit: own.unit.clone(), currency: own.currency.clone(), ..planned };
    }
    definitions.measures.retain(|_, measure| !is_month(measure));
    definitions.measures.insert(PLANNED_NAME.to_owned(), planned);
    definitions.time = Some(TimeColumn::new(PLAN_DAY));
    definitions.spread =
        Some(Spread::Months(SpreadMonths { months, name: PLANNED_NAME.to_owned() }));
}

/// The name of the amounts that stood in columns of months.
const PLANNED_NAME: &str = "planned";

#[cfg(test)]
mod tests {
    use contract::sources::TableReport;

    use super::*;
    use crate::definitions::{propose, propose::tests::column, write::write_definitions};

    fn proposed(columns: Vec<FoundColumn>) -> String {
        let report = TableReport { columns, ..TableReport::default() };
        write_definitions(&propose(&"plan".into(), &report)).unwrap()
    }

    #[test]
    fn budgets_with_a_first_and_a_last_day_are_divided_over_days() {
        use ColumnKind::{Day, Decimal, Text};
        insta::assert_snapshot!(proposed(vec![
            column("Campaign", Text, ColumnUse::Dimension),
            column("Budget", Decimal, ColumnUse::Last),
            column("Daily budget", Decimal, ColumnUse::Last),
            column("Start", Day, ColumnUse::Time),
            column("End", Day, ColumnUse::Dimension),
        ]));
    }

    #[test]
    fn columns_of_months_are_divided_over_days() {
        use ColumnKind::{Decimal, Text};
        insta::assert_snapshot!(proposed(vec![
            column("Kampanj", Text, ColumnUse::Dimension),
            column("Okt 2026", Decimal, ColumnUse::Sum),
            column("Nov 2026", Decimal, ColumnUse::Sum),
        ]));
    }

    #[test]
    fn delivery_of_periods_is_no_plan() {
        use ColumnKind::{Day, Decimal, Text};
        let written = proposed(vec![
            column("Campaign", Text, ColumnUse::Dimension),
            column("Reporting starts", Day, ColumnUse::Time),
            column("Reporting ends", Day, ColumnUse::Dimension),
            column("Amount spent", Decimal, ColumnUse::Sum),
            column("Budget", Decimal, ColumnUse::Last),
        ]);
        assert!(!written.contains("spread"), "{written}");
    }
}
