//! Amounts of rows in the reference, converted to another currency if a query asks for it.

use contract::definitions::CurrencyOf;

use super::{Cell, Number, figures::Scope, rows::day_of, world::World};

impl World<'_> {
    /// Returns the number of a row, converted if the query asks for it.
    pub(super) fn amount(&self, scope: &Scope<'_>, row: usize, column: &str) -> Option<Number> {
        let number = self.cell(scope.source, row, column).number()?;
        let (Some(target), Some(currency)) = (&scope.plan.query.in_currency, &scope.currency)
        else {
            return Some(number);
        };
        let own = match currency {
            CurrencyOf::Column { column } => self.cell(scope.source, row, column),
            CurrencyOf::Constant(code) => Cell::Text(code.clone()),
        };
        if own == Cell::Text(target.clone()) {
            return Some(number);
        }
        if own == Cell::Empty {
            return None;
        }
        let rates = self.catalog.sources[scope.source].definitions.rates.as_ref()?;
        let place = self.catalog.place(&rates.source).ok()?;
        let day = day_of(&self.time(scope.source, row))?;
        let rows = 0..self.tables[place].rows.len();
        rows.filter(|row| {
            self.cell(place, *row, &rates.from) == own
                && self.cell(place, *row, &rates.to) == Cell::Text(target.clone())
        })
        .filter_map(|row| {
            let from = day_of(&self.cell(place, row, &rates.day))?;
            Some((from, self.cell(place, row, &rates.rate).number()?))
                .filter(|(from, _)| *from <= day)
        })
        .max()
        .map(|(_, rate)| number.times(rate))
    }
}
