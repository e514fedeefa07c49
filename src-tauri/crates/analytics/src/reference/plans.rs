//! Plans of the reference: each row becomes one row for each of its days.

use chrono::NaiveDate;
use contract::definitions::{Spread, SpreadDays, SpreadMonths};

use super::{Cell, Number, Table};
use crate::{
    SourceModel,
    calendar::{days_later, last_of_month},
    resolve::read_month,
};

/// Returns the rows of a source as queries see them.
pub(super) fn rows_of(source: &SourceModel, table: &Table) -> Table {
    let rows = match &source.definitions.spread {
        None => return table.clone(),
        Some(Spread::Days(days)) => {
            table.rows.iter().flat_map(|row| days_of(source, days, row)).collect()
        }
        Some(Spread::Months(months)) => {
            table.rows.iter().flat_map(|row| days_of_months(source, months, row)).collect()
        }
    };
    Table { rows }
}

fn place(source: &SourceModel, name: &str) -> usize {
    source.columns.iter().position(|column| column.name == name).unwrap_or(0)
}

fn days_of(source: &SourceModel, days: &SpreadDays, row: &[Cell]) -> Vec<Vec<Cell>> {
    let time = source.definitions.time.as_ref().map_or("", |time| time.column.as_str());
    let (first, last) = (place(source, time), place(source, &days.until));
    let Cell::Day(from) = row[first] else { return vec![row.to_vec()] };
    let until = match row[last] {
        Cell::Day(until) if until > from => until,
        _ => from,
    };
    let count = (until - from).num_days() + 1;
    let whole = row;
    let of_day = |number: i64| {
        let mut row = whole.to_vec();
        row[first] = Cell::Day(days_later(from, number - 1));
        for name in &days.total {
            let at = place(source, name);
            row[at] = part(&whole[at], number, count);
        }
        row
    };
    (1..=count).map(of_day).collect()
}

fn days_of_months(source: &SourceModel, months: &SpreadMonths, row: &[Cell]) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for (column, month) in &months.months {
        let amount = &row[place(source, column)];
        if *amount == Cell::Empty {
            continue;
        }
        let first = read_month(month).unwrap_or(NaiveDate::MIN);
        let count = (last_of_month(first) - first).num_days() + 1;
        for number in 1..=count {
            let mut day = row.to_vec();
            day.push(part(amount, number, count));
            day.push(Cell::Day(days_later(first, number - 1)));
            rows.push(day);
        }
    }
    rows
}

/// Returns the part of an amount that belongs to a day: what all days until it have, without what all
/// days before it have.
fn part(amount: &Cell, number: i64, count: i64) -> Cell {
    let Cell::Number(amount) = amount else { return Cell::Empty };
    let until = |days: i64| amount.times(Number::whole(days)).over(Number::whole(count));
    match (until(number), until(number - 1)) {
        (Some(today), Some(before)) => Cell::Number(today.minus(before)),
        (_, _) => Cell::Empty,
    }
}
