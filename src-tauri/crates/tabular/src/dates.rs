//! Parses days in the formats of exports, as tables are read. Whether 1/11/2026 is in January or
//! November, and 26-11-01 in 2026 or 2001, is decided from the other cells of the column.

use chrono::NaiveDate;
use contract::data::DateOrder;

use crate::table::{DayCell, DayOrder, DayStats, parse_day};

/// How the dates of a column are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DateFormat {
    /// None if the column does not show it.
    pub order: Option<DateOrder>,
    /// Whether the column has a date that needs the order.
    pub needs_order: bool,
    conflicts: bool,
    /// Whether dates of the column can begin with the year of two digits.
    may_begin: bool,
}

/// The dates of a column that were seen.
#[derive(Debug, Default)]
pub(crate) struct SeenDates {
    days: DayStats,
    needs_order: bool,
}

impl SeenDates {
    /// Learns from a cell.
    pub(crate) fn observe(&mut self, cell: &str) {
        if let Some(day) = day_of(cell) {
            self.days.see_order(&day);
            self.needs_order |= day.is_open();
        }
    }

    /// Returns the format that the cells show together.
    pub(crate) fn format(&self) -> DateFormat {
        let shown = self.days.shown_order();
        DateFormat {
            order: shown.map(DateOrder::from),
            needs_order: self.needs_order,
            conflicts: shown.is_some_and(|order| self.days.against(order) > 0),
            may_begin: self.days.allows(DayOrder::YearMonthDay)
                || shown == Some(DayOrder::YearMonthDay),
        }
    }
}

impl DateFormat {
    /// Returns a format with an order that someone has decided.
    pub fn with_order(order: DateOrder) -> Self {
        Self { order: Some(order), may_begin: order == DateOrder::YearFirst, ..Self::default() }
    }

    /// Whether a cell of the column can be read in two ways.
    pub fn is_ambiguous(&self) -> bool {
        self.needs_order && self.order.is_none()
    }

    /// Whether the dates of the column can have this order.
    pub fn allows(&self, order: DateOrder) -> bool {
        order != DateOrder::YearFirst || self.may_begin
    }

    /// Whether the cells of the column contradict each other.
    pub fn has_conflict(&self) -> bool {
        self.conflicts
    }

    /// Parses a day. Returns None if the cell is not a day, or if its order is unknown.
    pub fn parse(&self, cell: &str) -> Option<NaiveDate> {
        let day = day_of(cell)?;
        match self.order.map(DayOrder::from).or_else(|| day.shown_order()) {
            Some(order) => day.day(order),
            None if day.is_open() => None,
            None => day.day(DayOrder::DayMonthYear),
        }
    }
}

/// Whether a cell is written as a day.
pub(crate) fn is_day(cell: &str) -> bool {
    day_of(cell).is_some()
}

/// Parses a cell with a day and no time other than midnight.
fn day_of(cell: &str) -> Option<DayCell> {
    parse_day(cell.trim().as_bytes()).filter(|day| !day.has_time())
}
