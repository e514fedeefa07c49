//! Finds which part of days such as 26-11-01 is the year: the first or the last. One day does not
//! show it, so that all days of a column decide: a year is the same in many days. Must not know
//! other columns.

use super::cells::day::{Written, is_recent};

/// The least number of different days of a month from which on the year is found.
const FEW: u32 = 3;
/// A number of days of a month that months of different years do not have by chance.
const MANY: u32 = 13;

/// The place of a year of two digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum YearPlace {
    First,
    Last,
}

/// The days of a column whose years have two digits.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShortYears {
    /// For each number that comes first, the months beside it as bits.
    first: Vec<u16>,
    /// For each number that comes last, the months beside it as bits.
    last: Vec<u16>,
    /// The number of days that have the year first or last.
    open: u64,
    /// The number of days that can only have the year last.
    closed: u64,
    /// The number of open days that have the day first, if the year comes last.
    day_first: u64,
    /// Whether an open day has points between its numbers.
    has_points: bool,
}

/// How many numbers one place of the days has, and how many months beside them.
#[derive(Clone, Copy)]
struct Spread {
    numbers: u32,
    months: u32,
}

impl Spread {
    fn of(seen: &[u16]) -> Self {
        let numbers = seen.iter().map(|months| u32::from(*months != 0)).sum();
        Self { numbers, months: seen.iter().map(|months| months.count_ones()).sum() }
    }

    /// Whether the numbers are years, if those of the other place are days: there are more days
    /// than months, or few years.
    fn are_years(self, days: Self) -> bool {
        days.numbers >= FEW
            && (days.numbers > self.months
                || days.numbers >= MANY && days.numbers >= self.numbers * 3)
    }
}

impl ShortYears {
    /// Adds a day.
    #[inline]
    pub(crate) fn see(&mut self, written: &Written) {
        match *written {
            Written::Short(first, month, last) => {
                self.open += 1;
                self.day_first += u64::from(first > 12);
                mark(&mut self.first, first, month);
                mark(&mut self.last, last, month);
            }
            Written::Points(first, month, last) => {
                self.open += 1;
                self.day_first += 1;
                self.has_points = true;
                mark(&mut self.first, first, month);
                mark(&mut self.last, last, month);
            }
            Written::ShortLast(..) | Written::PointsLast(_) => self.closed += 1,
            Written::Sure(_) | Written::Open(..) | Written::Digits(_) => {}
        }
    }

    /// Whether a day has a year of two digits.
    pub(crate) fn has_any(&self) -> bool {
        self.open + self.closed > 0
    }

    /// Whether no day shows alone that its year comes last.
    pub(crate) fn are_open(&self) -> bool {
        self.open > 0 && self.closed == 0
    }

    /// Returns the number of days that can only have the year last.
    pub(crate) fn closed(&self) -> u64 {
        self.closed
    }

    /// Returns the number of open days that have the day first, if the year comes last.
    pub(crate) fn day_first(&self) -> u64 {
        self.day_first
    }

    /// Returns the place of the years. Returns None if the days do not show it.
    pub(crate) fn place(&self) -> Option<YearPlace> {
        if self.open == 0 {
            return Some(YearPlace::Last);
        }
        let (first, last) = (Spread::of(&self.first), Spread::of(&self.last));
        // Days with points begin with the day, if all last numbers can be years.
        let may_be_last = self.has_points && has_only_recent(&self.last);
        let is_first = first.are_years(last) && has_recent(&self.first) && !may_be_last;
        // A few days that are written wrong do not change the order of all others.
        if is_first && self.closed * 4 < self.open {
            Some(YearPlace::First)
        } else if self.closed > 0 || last.are_years(first) {
            Some(YearPlace::Last)
        } else {
            None
        }
    }
}

/// Whether one of the numbers can be the year of data.
fn has_recent(seen: &[u16]) -> bool {
    seen.iter().zip(0..).any(|(months, number)| *months != 0 && is_recent(number))
}

/// Whether each of the numbers can be the year of data.
fn has_only_recent(seen: &[u16]) -> bool {
    seen.iter().zip(0..).all(|(months, number)| *months == 0 || is_recent(number))
}

#[inline]
fn mark(seen: &mut Vec<u16>, number: u32, month: u32) {
    // Each number is below 100, and each month below 13.
    let at = number as usize;
    if seen.len() <= at {
        seen.resize(at + 1, 0);
    }
    seen[at] |= 1 << month;
}

#[cfg(test)]
mod tests {
    use super::super::cells::day::parse_day;
    use super::*;

    fn place(days: &[&str]) -> Option<YearPlace> {
        let mut years = ShortYears::default();
        for day in days {
            years.see(&parse_day(day.as_bytes()).unwrap().written);
        }
        years.place()
    }

    #[test]
    fn years_are_where_the_numbers_change_least() {
        let first = Some(YearPlace::First);
        let last = Some(YearPlace::Last);
        let cases: &[(&[&str], Option<YearPlace>)] = &[
            (&["26-11-01", "26-11-02", "26-11-03"], first),
            (&["01/11/26", "02/11/26", "13/11/26"], last),
            (&["26-10-30", "26-10-31", "26-11-01", "26-11-02"], first),
            (&["11/13/26"], last),
            (&["11/1/26", "1/11/26"], last),
            (&["01/11/45"], last),
            (&["13/02/30"], last),
            (&["26-11-01"], None),
            (&["26-11-01", "26-11-02"], None),
            (&["26-01-01", "26-02-01", "26-03-01", "26-04-01"], None),
            (&["05/01/23", "05/02/24", "05/03/25", "05/04/25"], None),
            (&["01/11/2026"], last),
            (&["31/12/23", "31/12/24", "31/12/25"], None),
            (&["26.11.01", "26.11.02", "26.11.13"], first),
            (&["01.11.26", "13.11.26"], last),
            (&["26.11.01"], None),
            (&["15.03.23", "15.03.24", "15.03.25"], None),
            (&["13.11.26", "14.11.26"], None),
            (&["31/03/22", "30/06/23", "30/09/24", "31/12/25", "31/03/26"], None),
        ];
        for (days, expected) in cases {
            assert_eq!(place(days), *expected, "{days:?}");
        }
    }

    #[test]
    fn years_of_a_long_time_are_found_by_their_small_number() {
        let mut days = Vec::new();
        for year in 22..=26 {
            for month in 1..=12 {
                for day in [1, 5, 9, 12, 13, 14, 15, 17, 18, 19, 20, 22, 24, 26, 28] {
                    days.push(format!("{year}-{month:02}-{day:02}"));
                }
            }
        }
        let days: Vec<&str> = days.iter().map(String::as_str).collect();
        assert_eq!(place(&days), Some(YearPlace::First));
    }

    #[test]
    fn a_few_wrong_days_do_not_move_the_year() {
        let days = ["26-11-01", "26-11-02", "26-11-03", "26-11-04", "26-11-05", "26-11-32"];
        assert_eq!(place(&days), Some(YearPlace::First));
    }
}
