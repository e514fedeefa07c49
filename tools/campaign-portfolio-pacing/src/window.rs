//! The days of a question: the given days, or else the current month, or else the flights if this
//! month has neither a flight nor delivery. No data access.

use chrono::{Datelike, Days, Months, NaiveDate};
use contract::text;

use crate::{
    args::MAX_DAYS,
    data::Campaign,
    flights::{hull, overlap},
    pace::Window,
    report::Assumptions,
    time::{add_days, count_days},
};

/// The number of days of a window if only one end is given.
const DEFAULT_DAYS: i64 = 30;

/// Returns the window if at least one end is given, and records an assumed end.
pub(crate) fn given(
    start: Option<NaiveDate>,
    end: Option<NaiveDate>,
    assumptions: &mut Assumptions,
) -> Option<Window> {
    match (start, end) {
        (Some(start), Some(end)) => Some(Window { start, end }),
        (Some(start), None) => {
            let end = add_days(start, DEFAULT_DAYS - 1);
            assumptions.add(
                "end_derived",
                end.to_string(),
                text!(
                    "No end was given: {days} days from the start, to {end}.",
                    days = DEFAULT_DAYS,
                    end
                ),
            );
            Some(Window { start, end })
        }
        (None, Some(end)) => {
            let start = add_days(end, 1 - DEFAULT_DAYS);
            assumptions.add(
                "start_derived",
                start.to_string(),
                text!(
                    "No start was given: {days} days up to the end, from {start}.",
                    days = DEFAULT_DAYS,
                    start
                ),
            );
            Some(Window { start, end })
        }
        (None, None) => None,
    }
}

/// Returns the default date window, used when the caller gives no dates. `delivered` is the most
/// recent day on which the campaigns delivered.
pub(crate) fn default(
    campaigns: &[Campaign],
    delivered: Option<NaiveDate>,
    today: NaiveDate,
    assumptions: &mut Assumptions,
) -> Window {
    let month = month_of(today);
    let is_in_flight = || campaigns.iter().filter_map(|c| c.flight).any(|f| overlap(f, month) > 0);
    if delivered.is_some_and(|day| month.contains(day)) || (delivered.is_none() && is_in_flight()) {
        add_month(month, assumptions);
        return month;
    }
    if is_in_flight() {
        return newest_month(delivered.unwrap_or(today), assumptions);
    }
    if let Some(flights) = newest_flights(campaigns, today) {
        let Window { start, end } = flights;
        let text = text!(
            "No dates were given and this month has no flight: the days of the flights, {start} to {end}.",
            start,
            end
        );
        assumptions.add("window_flights", format!("{start}/{end}"), text);
        return flights;
    }
    match delivered {
        Some(day) => newest_month(day, assumptions),
        None => {
            add_month(month, assumptions);
            month
        }
    }
}

/// Returns the last seven days, today included, and records them.
pub(crate) fn last_week(today: NaiveDate, assumptions: &mut Assumptions) -> Window {
    let window = Window { start: add_days(today, -6), end: today };
    let Window { start, end } = window;
    let text = text!("No dates were given: the last 7 days, {start} to {end}.", start, end);
    assumptions.add("window_week", format!("{start}/{end}"), text);
    window
}

/// Returns the window of all these flights, cut to the newest 366 days, and records it. `first` is
/// the first day with data. None without flights.
pub(crate) fn whole_flights(
    campaigns: &[Campaign],
    first: Option<NaiveDate>,
    assumptions: &mut Assumptions,
) -> Option<Window> {
    let flights = campaigns
        .iter()
        .filter_map(|c| c.flight)
        .filter(|(start, end)| start <= end)
        .map(|(start, end)| Window { start, end });
    let whole = hull(flights)?;
    let Window { start, end } = shorten(whole);
    let text = text!("The whole flights count, {start} to {end}.", start, end);
    assumptions.add("window_flights", format!("{start}/{end}"), text);
    if let Some(first) = first.filter(|first| *first > whole.start || start > whole.start) {
        let day = first.max(start);
        let text = text!(
            "Some of these flights began before {day}: what was spent before is not counted.",
            day
        );
        assumptions.add("flights_cut", day.to_string(), text);
    }
    Some(Window { start, end })
}

/// Returns the flight of the only campaign, and records it, if the data covers the flight. `first`
/// is the first day with data.
pub(crate) fn flight_of(
    campaigns: &[Campaign],
    first: Option<NaiveDate>,
    assumptions: &mut Assumptions,
) -> Option<Window> {
    let [Campaign { flight: Some((start, end)), .. }] = campaigns else { return None };
    let flight = Window { start: *start, end: *end };
    let is_covered = first.is_none_or(|first| first <= flight.start);
    if !is_covered || !(1..=MAX_DAYS).contains(&flight.days()) {
        return None;
    }
    let Window { start, end } = flight;
    let text =
        text!("No dates were given: the flight of the campaign, {start} to {end}.", start, end);
    assumptions.add("window_flights", format!("{start}/{end}"), text);
    Some(flight)
}

fn add_month(Window { start, end }: Window, assumptions: &mut Assumptions) {
    let text = text!("No dates were given: the current month, {start} to {end}.", start, end);
    assumptions.add("window_month", format!("{start}/{end}"), text);
}

/// Returns the month of the newest delivery, and records that the current month has none.
pub(crate) fn newest_month(day: NaiveDate, assumptions: &mut Assumptions) -> Window {
    let month = month_of(day);
    let Window { start, end } = month;
    let text = text!(
        "No dates were given and this month has no data yet: the newest month with data, {start} to {end}.",
        start,
        end
    );
    assumptions.add("window_month", format!("{start}/{end}"), text);
    month
}

/// Returns the current month, and records it.
pub(crate) fn current_month(today: NaiveDate, assumptions: &mut Assumptions) -> Window {
    let month = month_of(today);
    add_month(month, assumptions);
    month
}

/// Returns the calendar month of a day.
pub(crate) fn month_of(day: NaiveDate) -> Window {
    let start = day.with_day(1).unwrap_or(day);
    let next = start.checked_add_months(Months::new(1));
    let end = next.and_then(|next| next.checked_sub_days(Days::new(1)));
    Window { start, end: end.unwrap_or(day) }
}

/// Returns the days of the newest flight that has begun and of the flights that overlap it, or else
/// those of the first future flight. The window is cut to the newest 366 days.
fn newest_flights(campaigns: &[Campaign], today: NaiveDate) -> Option<Window> {
    let flights: Vec<Window> = campaigns
        .iter()
        .filter_map(|c| c.flight)
        .filter(|(start, end)| start <= end)
        .map(|(start, end)| Window { start, end })
        .collect();
    let begun: Vec<Window> = flights.iter().copied().filter(|f| f.start <= today).collect();
    let Some(newest) = begun.iter().copied().max_by_key(|f| (f.end, f.start)) else {
        return flights.into_iter().min_by_key(|f| (f.start, f.end)).map(shorten);
    };
    let together = begun.into_iter().filter(|f| overlap((f.start, f.end), newest) > 0);
    hull(together).map(shorten)
}

fn shorten(window: Window) -> Window {
    let surplus = count_days(window.start, window.end) - MAX_DAYS;
    Window { start: add_days(window.start, surplus.max(0)), ..window }
}
