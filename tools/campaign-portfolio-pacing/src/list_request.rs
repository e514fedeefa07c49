//! The part of a question that is about a list: the rows to keep, their order, and the page. Parses
//! arguments; knows no data.

use chrono::NaiveDate;

use crate::arg_reader::Reader;

/// The highest limit of a list that can be requested.
const MAX_LIMIT: i64 = 500;
/// The highest percentage that bounds a list.
const MAX_PERCENT: i64 = 100_000;

/// The rows that a list shows, and their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListRequest {
    pub(crate) status: Option<StatusFilter>,
    /// Rows with this status are left out.
    pub(crate) exclude: Option<StatusFilter>,
    /// Spend in percent of the planned spend, in hundredths.
    pub(crate) pace: Bounds<i64>,
    /// Spend in percent of the budget, in hundredths.
    pub(crate) used: Bounds<i64>,
    /// The last day of the flight.
    pub(crate) ends: Bounds<NaiveDate>,
    /// The first day of the flight.
    pub(crate) starts: Bounds<NaiveDate>,
    pub(crate) order: Option<Order>,
    /// Whether the order is turned around.
    pub(crate) is_reversed: bool,
    pub(crate) limit: Option<usize>,
    pub(crate) offset: usize,
}

/// The lowest and the highest value that is kept, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds<T> {
    pub(crate) least: Option<T>,
    pub(crate) most: Option<T>,
}

impl<T> Default for Bounds<T> {
    fn default() -> Self {
        Self { least: None, most: None }
    }
}

impl<T: PartialOrd + Copy> Bounds<T> {
    /// Whether there is a lower or an upper bound.
    pub(crate) fn is_set(&self) -> bool {
        self.least.is_some() || self.most.is_some()
    }

    /// Whether a value lies within the bounds. Only without bounds may the value be missing.
    pub(crate) fn holds(&self, value: Option<T>) -> bool {
        match value {
            None => !self.is_set(),
            Some(value) => {
                self.least.is_none_or(|least| value >= least)
                    && self.most.is_none_or(|most| value <= most)
            }
        }
    }
}

/// The rows that a list keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatusFilter {
    /// Status slightly behind or worse.
    Behind,
    Ahead,
    OnTrack,
    /// Status behind or ahead.
    OffTrack,
    /// Spend over the budget, or projected to be.
    Overspending,
    /// The flight has not begun.
    NotStarted,
    /// The flight is over.
    Ended,
    /// The flight has begun and is not over.
    Live,
    /// No spend in the period.
    NoSpend,
    /// The budget is used up before the last day of the period.
    RunsOut,
    /// The remaining budget can hardly be spent in time.
    AtRisk,
}

/// The order of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Worst,
    Best,
    /// The largest difference from the plan first, above or below.
    Furthest,
    Spend,
    Budget,
    Remaining,
    /// The earliest end first.
    Ends,
    Name,
}

const STATUSES: [(&str, StatusFilter); 11] = [
    ("behind", StatusFilter::Behind),
    ("ahead", StatusFilter::Ahead),
    ("on_track", StatusFilter::OnTrack),
    ("off_track", StatusFilter::OffTrack),
    ("overspending", StatusFilter::Overspending),
    ("not_started", StatusFilter::NotStarted),
    ("ended", StatusFilter::Ended),
    ("live", StatusFilter::Live),
    ("no_spend", StatusFilter::NoSpend),
    ("runs_out", StatusFilter::RunsOut),
    ("at_risk", StatusFilter::AtRisk),
];
const ORDERS: [(&str, Order); 8] = [
    ("worst", Order::Worst),
    ("best", Order::Best),
    ("furthest", Order::Furthest),
    ("spend", Order::Spend),
    ("budget", Order::Budget),
    ("remaining", Order::Remaining),
    ("ends", Order::Ends),
    ("name", Order::Name),
];

impl ListRequest {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Self {
        Self {
            status: reader.choice("status", &STATUSES),
            exclude: reader.choice("exclude", &STATUSES),
            pace: percents(reader, ("pace_min", "pace_max")),
            used: percents(reader, ("used_min", "used_max")),
            ends: days(reader, ("ends_from", "ends_until")),
            starts: days(reader, ("starts_from", "starts_until")),
            order: reader.choice("order", &ORDERS),
            is_reversed: reader.switch("reverse"),
            limit: reader.count("limit", (1, MAX_LIMIT)),
            offset: reader.count("offset", (0, 1_000_000)).unwrap_or(0),
        }
    }

    /// Whether the list is about whole flights, so that these are the days of a question without
    /// dates.
    pub(crate) fn is_about_flights(&self) -> bool {
        let by_flight = [StatusFilter::NotStarted, StatusFilter::Ended, StatusFilter::RunsOut];
        self.status.is_some_and(|status| by_flight.contains(&status))
            || self.used.is_set()
            || self.ends.is_set()
            || self.starts.is_set()
    }

    /// Whether rows may be left out because of their properties.
    pub(crate) fn has_filter(&self) -> bool {
        self.status.is_some()
            || self.exclude.is_some()
            || self.pace.is_set()
            || self.used.is_set()
            || self.ends.is_set()
            || self.starts.is_set()
    }
}

fn percents(reader: &mut Reader<'_>, (least, most): (&'static str, &'static str)) -> Bounds<i64> {
    /// Hundredths of a percent.
    const PERCENT: i64 = 100;
    let mut read = |name| reader.number(name, PERCENT, (0, MAX_PERCENT), true);
    let bounds = Bounds { least: read(least), most: read(most) };
    if bounds.least.zip(bounds.most).is_some_and(|(least, most)| least > most) {
        reader.fault(least, "it is above the upper bound");
    }
    bounds
}

fn days(reader: &mut Reader<'_>, (first, last): (&'static str, &'static str)) -> Bounds<NaiveDate> {
    let bounds = Bounds { least: reader.date(first), most: reader.date(last) };
    if bounds.least.zip(bounds.most).is_some_and(|(first, last)| first > last) {
        reader.fault(first, "it is after the last day");
    }
    bounds
}
