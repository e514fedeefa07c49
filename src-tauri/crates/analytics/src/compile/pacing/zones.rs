//! The day of a moment in another time zone.

use chrono::{NaiveDate, TimeZone};
use chrono_tz::Tz;
use contract::{metric_query::AsOf, text};

use crate::Problem;

/// Returns the day in a zone at a moment of another zone.
pub(in crate::compile) fn today_in(zone: &str, as_of: &AsOf) -> Result<NaiveDate, Problem> {
    let (own, other) = (parse(&as_of.zone)?, parse(zone)?);
    // An hour that the clock skips or repeats belongs to the same day.
    let moment = own.from_local_datetime(&as_of.moment).earliest();
    Ok(moment.map_or(as_of.moment.date(), |moment| moment.with_timezone(&other).date_naive()))
}

fn parse(zone: &str) -> Result<Tz, Problem> {
    zone.parse().map_err(|_| Problem::new(text!("There is no time zone {zone}.", zone)))
}

/// Fails if there is no such time zone.
pub(crate) fn check_zone(zone: &str) -> Result<(), Problem> {
    parse(zone).map(|_| ())
}
