//! Reads the rows of an inspected file in a second pass, as typed cells.

use std::fs::File;

use chrono::{NaiveDate, NaiveDateTime, TimeDelta, TimeZone as _};
use contract::sources::ColumnKind;

use super::{
    added::Added,
    cells::value,
    column::{Value, rescale},
    control::{Progress, TableControl},
    fault::TableError,
    inspect::Inspected,
    records::{Record, Records},
    rows::{Outcome, RowReader},
};

/// Records between two reports of progress.
const STEP: u64 = 16_384;

/// The value of a cell, by the type of its column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// No value.
    Empty,
    /// Text.
    Text(&'a str),
    /// A whole number.
    Whole(i64),
    /// A decimal number at the scale of its column.
    Decimal(i128),
    /// A day.
    Day(NaiveDate),
    /// A point in time.
    Moment(NaiveDateTime),
    /// Yes or no.
    Flag(bool),
}

impl Inspected {
    /// Reads all rows that are stored, and gives the cells of each to `sink`, in the order of the
    /// columns of the report. Refuses if a question is open. Rows that were rejected are not given.
    pub fn read(
        &self,
        file: &File,
        on_progress: &mut dyn FnMut(Progress),
        stop: &dyn Fn() -> bool,
        sink: &mut dyn FnMut(&[Cell<'_>]) -> Result<(), TableError>,
    ) -> Result<u64, TableError> {
        if !self.report().questions.is_empty() {
            return Err(TableError::Undecided);
        }
        let total_bytes = file.metadata()?.len();
        let mut control = TableControl { on_progress, stop, total_bytes };
        let mut records = self.source.open(file)?;
        for _ in 0..self.plan.header.records {
            records.next()?;
        }
        let stored = self.read_rows(&mut *records, &mut control, sink)?;
        if stored == self.report().stored { Ok(stored) } else { Err(TableError::Changed) }
    }

    fn read_rows(
        &self,
        records: &mut dyn Records,
        control: &mut TableControl<'_>,
        sink: &mut dyn FnMut(&[Cell<'_>]) -> Result<(), TableError>,
    ) -> Result<u64, TableError> {
        let mut reader = RowReader::new(&self.plan);
        let (mut count, mut stored) = (0_u64, 0);
        let width = self.plan.columns.len() + self.added.len();
        loop {
            if count.is_multiple_of(STEP) {
                control.report(count, records.bytes())?;
            }
            let Some(record) = records.next()? else { break };
            count += 1;
            if reader.read(&record) != Outcome::Stored {
                continue;
            }
            stored += 1;
            // Cells borrow the text of their record, so that each row has its own list. Lists of up
            // to 32 cells need no allocation.
            let mut few = [Cell::Empty; 32];
            let mut many;
            let cells: &mut [Cell<'_>] = if width <= few.len() {
                &mut few[..width]
            } else {
                many = vec![Cell::Empty; width];
                &mut many
            };
            self.fill(&record, &reader, cells)?;
            sink(cells)?;
        }
        control.report(count, records.bytes())?;
        Ok(stored)
    }

    #[inline]
    fn fill<'a>(
        &'a self,
        record: &Record<'a>,
        reader: &'a RowReader<'_>,
        cells: &mut [Cell<'a>],
    ) -> Result<(), TableError> {
        let values = &reader.values;
        for (at, decided) in self.decided.iter().enumerate() {
            cells[at] = match values[at] {
                Value::Empty => Cell::Empty,
                Value::Text => Cell::Text(value::text(reader.cell(record, at))),
                Value::Flag(flag) => Cell::Flag(flag),
                Value::Moment(day, moment) => match decided.kind {
                    ColumnKind::Day => Cell::Day(moment.date()),
                    _ => Cell::Moment(self.localize(moment, day.offset)),
                },
                Value::Number(number) => {
                    let scale = if decided.kind == ColumnKind::Decimal { decided.scale } else { 0 };
                    let mantissa = at_scale(number.mantissa, number.scale, scale);
                    let mantissa = mantissa.ok_or(TableError::Changed)?;
                    match decided.kind {
                        ColumnKind::Whole => {
                            Cell::Whole(i64::try_from(mantissa).map_err(|_| TableError::Changed)?)
                        }
                        _ => Cell::Decimal(mantissa),
                    }
                }
            };
        }
        for (slot, at) in self.plan.currencies.iter().enumerate() {
            // Texts such as "euro" and signs become codes, so that equal currencies are equal.
            if let Some(currency) = reader.currency[slot] {
                cells[*at] = Cell::Text(self.stated.meant(currency).code());
            } else if let (Cell::Empty, Some(only)) = (cells[*at], self.only_currencies[slot]) {
                cells[*at] = Cell::Text(only);
            }
        }
        for (cell, added) in cells[self.decided.len()..].iter_mut().zip(&self.added) {
            *cell = match added {
                Added::Text(text) => Cell::Text(text),
                Added::Currency(columns) => self.currency_of(columns, values),
            };
        }
        Ok(())
    }

    /// Returns the currency that amounts of a row show.
    fn currency_of<'a>(&'a self, columns: &[usize], values: &[Value]) -> Cell<'a> {
        let found = columns.iter().find_map(|at| match values[*at] {
            Value::Number(number) => number.currency,
            _ => None,
        });
        match found {
            Some(currency) => Cell::Text(self.stated.meant(currency).code()),
            None => Cell::Empty,
        }
    }

    /// Moves a moment with an offset to the zone of the source, or to UTC.
    fn localize(&self, moment: NaiveDateTime, offset: Option<i32>) -> NaiveDateTime {
        let Some(minutes) = offset else { return moment };
        let utc = moment - TimeDelta::minutes(i64::from(minutes));
        match self.zone {
            Some(zone) => zone.from_utc_datetime(&utc).naive_local(),
            None => utc,
        }
    }
}

#[inline]
fn at_scale(mantissa: i128, from: u8, to: u8) -> Option<i128> {
    if from == to {
        return Some(mantissa);
    }
    if from < to {
        return rescale(mantissa, from, to);
    }
    // Whole numbers can be written with zeros as decimals.
    let power = 10_i128.checked_pow(u32::from(from - to))?;
    (mantissa % power == 0).then(|| mantissa / power)
}
