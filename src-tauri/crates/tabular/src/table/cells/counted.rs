//! Days and moments that are written as one number: the days of a spreadsheet since 1900, or the time
//! since 1970 in seconds and smaller units. Must not know columns.

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveDateTime, TimeDelta};

use super::{
    day::{DayCell, Written, parse_day},
    value,
};

/// The unit that a number counts, and from when on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counting {
    /// Days of a spreadsheet: 46327 is 1 November 2026.
    SheetDays,
    /// Days that databases count from noon on: 2461345.5 is 1 November 2026.
    JulianDays,
    /// No count, but the digits of a day: 20261101.
    Digits,
    Seconds,
    Milliseconds,
    Microseconds,
    Nanoseconds,
}

const SINCE_1970: [Counting; 4] =
    [Counting::Seconds, Counting::Milliseconds, Counting::Microseconds, Counting::Nanoseconds];

impl Counting {
    /// Returns what a number counts since 1970, if it is a moment between 2001 and 2038.
    pub(crate) fn since_1970(cell: &[u8]) -> Option<Self> {
        SINCE_1970.into_iter().find(|counting| counting.moment(cell).is_some())
    }

    /// Returns what a range of whole numbers counts since 1970.
    pub(crate) fn of_range(least: i128, most: i128) -> Option<Self> {
        let of = |number: i128| Self::since_1970(number.to_string().as_bytes());
        of(least).filter(|counting| of(most) == Some(*counting))
    }

    /// Returns the number of units of a second.
    pub(crate) fn per_second(self) -> i64 {
        match self {
            Self::SheetDays | Self::JulianDays | Self::Digits | Self::Seconds => 1,
            Self::Milliseconds => 1_000,
            Self::Microseconds => 1_000_000,
            Self::Nanoseconds => 1_000_000_000,
        }
    }

    /// Reads a cell. Returns None if it is no such number.
    #[inline]
    pub(crate) fn read(self, cell: &[u8]) -> Option<(DayCell, NaiveDateTime)> {
        let moment = self.moment(cell)?;
        let offset = self.is_since_1970().then_some(0);
        let time = Some(moment.time());
        Some((DayCell { written: Written::Sure(moment.date()), time, offset }, moment))
    }

    /// Whether the numbers are moments since 1970, which are in UTC.
    pub(crate) fn is_since_1970(self) -> bool {
        SINCE_1970.contains(&self)
    }

    fn moment(self, cell: &[u8]) -> Option<NaiveDateTime> {
        if cell.len() > 24 || !cell.first()?.is_ascii_digit() {
            return None;
        }
        let (whole, places) = value::text(cell).split_once('.').unwrap_or((value::text(cell), ""));
        if !whole.bytes().chain(places.bytes()).all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let number: i64 = whole.parse().ok()?;
        let part = match places {
            "" => 0,
            places => format!("{places:0<9.9}").parse().ok()?,
        };
        match self {
            Self::SheetDays => return sheet_moment(number, part).filter(|_| whole.len() == 5),
            Self::JulianDays => return julian_moment(number, part),
            Self::Digits => return day_of_digits(cell),
            _ => {}
        }
        let units = self.per_second();
        let seconds = number / units;
        // Ten digits of seconds are the years from 2001 on.
        if !(1_000_000_000..=2_147_483_647).contains(&seconds) {
            return None;
        }
        let nanoseconds = if self == Self::Seconds { part } else { 0 };
        let nanoseconds = nanoseconds + number % units * (1_000_000_000 / units);
        let moment = DateTime::from_timestamp(seconds, u32::try_from(nanoseconds).ok()?)?;
        Some(moment.naive_utc())
    }
}

/// Returns a moment between 1982 and 2091 of days that begin at noon.
fn julian_moment(days: i64, part: i64) -> Option<NaiveDateTime> {
    let half = 500_000_000;
    let (days, part) = if part < half { (days - 1, part + half) } else { (days, part - half) };
    // The first day of spreadsheets is this one.
    sheet_moment(days - 2_415_018, part)
}

/// Returns the day of eight digits, from 1990 to 2099.
fn day_of_digits(cell: &[u8]) -> Option<NaiveDateTime> {
    let Written::Digits(day) = parse_day(cell)?.written else { return None };
    let moment = day.and_time(chrono::NaiveTime::MIN);
    (1990..2100).contains(&day.year()).then_some(moment)
}

/// Returns a moment between 1982 and 2091.
fn sheet_moment(days: i64, part: i64) -> Option<NaiveDateTime> {
    if !(30_000..70_000).contains(&days) {
        return None;
    }
    let first = NaiveDate::from_ymd_opt(1899, 12, 30)?;
    let day = first.checked_add_signed(TimeDelta::days(days))?;
    // Spreadsheets keep parts of a day to about a millisecond, and show seconds.
    let seconds = (i128::from(part) * 86_400 + 500_000_000) / 1_000_000_000;
    day.and_time(chrono::NaiveTime::MIN)
        .checked_add_signed(TimeDelta::seconds(i64::try_from(seconds).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_moments_in_their_unit() {
        for (cell, counting, moment) in [
            ("1793534400", Some(Counting::Seconds), "2026-11-01 12:00:00"),
            ("1793534400.25", Some(Counting::Seconds), "2026-11-01 12:00:00.250"),
            ("1793534400123", Some(Counting::Milliseconds), "2026-11-01 12:00:00.123"),
            ("1793534400123456", Some(Counting::Microseconds), "2026-11-01 12:00:00.123456"),
            ("1793534400000000000", Some(Counting::Nanoseconds), "2026-11-01 12:00:00"),
            ("999999999", None, ""),
            ("2200000000", None, ""),
            ("20261101", None, ""),
            ("1,793,534,400", None, ""),
            ("", None, ""),
        ] {
            let found = Counting::since_1970(cell.as_bytes());
            assert_eq!(found, counting, "{cell}");
            let read = found.and_then(|found| found.read(cell.as_bytes()));
            let shown = read.map(|(_, moment)| moment.to_string()).unwrap_or_default();
            assert_eq!(shown, moment, "{cell}");
        }
        let read =
            |cell: &str| Counting::SheetDays.read(cell.as_bytes()).map(|(_, at)| at.to_string());
        assert_eq!(read("46327").as_deref(), Some("2026-11-01 00:00:00"));
        assert_eq!(read("46327.5").as_deref(), Some("2026-11-01 12:00:00"));
        assert_eq!(read("463270"), None);
        let read =
            |cell: &str| Counting::JulianDays.read(cell.as_bytes()).map(|(_, at)| at.to_string());
        assert_eq!(read("2461345.5").as_deref(), Some("2026-11-01 00:00:00"));
        assert_eq!(read("2461346").as_deref(), Some("2026-11-01 12:00:00"));
        assert_eq!(read("2461346.25").as_deref(), Some("2026-11-01 18:00:00"));
        let range = Counting::of_range(1_793_534_400, 1_793_534_500);
        assert_eq!(range, Some(Counting::Seconds));
        assert_eq!(Counting::of_range(5, 1_793_534_500), None);
    }
}
