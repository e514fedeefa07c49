//! Ranges of equal width between two values. Bounds are whole numbers of a unit (the last decimal
//! place, a day, a second), so that each value is in exactly one range; only those of floats are
//! floats. The last range ends at the greatest value, so that it may be shorter. It must not know
//! tables.

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveDateTime};
use contract::sources::{ColumnKind, ValueRange};

use super::{Engine, Profiled};
use crate::cells::write_moment;

/// The most ranges that have one unit each, such as the days of a month.
const MOST_SINGLE: u128 = 31;
/// The most ranges with more units.
const MOST: u128 = 15;
/// The fewest ranges of values with more units than `MOST_SINGLE`.
const FEWEST: u128 = 8;
/// The most decimal places of a number. DuckDB's decimals have as many digits.
const MOST_PLACES: usize = 38;
/// Years outside of these are not written with four digits.
const YEARS: std::ops::RangeInclusive<i32> = 0..=9999;

/// The ranges of a column's values.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Bounds {
    /// The first unit of each range, and the last unit of the last range.
    Units { unit: Unit, starts: Vec<i128>, last: i128 },
    /// The start of each range, and the greatest value.
    Floats { starts: Vec<f64>, last: f64 },
}

/// The unit that a bound counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Places of a decimal number.
    Places(usize),
    Day,
    Second,
}

impl Bounds {
    /// Returns the ranges between the least and the greatest value. None: the values have no ranges,
    /// or no bounds can be computed.
    pub(super) fn between(
        column: &Profiled,
        least: Option<&str>,
        greatest: Option<&str>,
    ) -> Option<Self> {
        let (least, greatest) = (least?, greatest?);
        match column.column.kind {
            ColumnKind::Text | ColumnKind::Flag => None,
            ColumnKind::Whole | ColumnKind::Decimal if column.is_float => {
                Self::of_floats(least.parse().ok()?, greatest.parse().ok()?)
            }
            ColumnKind::Whole | ColumnKind::Decimal => {
                let (least, greatest) = (read_decimal(least)?, read_decimal(greatest)?);
                let scale = least.1.max(greatest.1);
                Self::of_units(Unit::Places(scale), raise(least, scale)?, raise(greatest, scale)?)
            }
            ColumnKind::Day => {
                let day = |text: &str| -> Option<i128> {
                    let day: NaiveDate = text.parse().ok()?;
                    YEARS.contains(&day.year()).then(|| i128::from(day.to_epoch_days()))
                };
                Self::of_units(Unit::Day, day(least)?, day(greatest)?)
            }
            ColumnKind::Moment => {
                let second = |text: &str| -> Option<i128> {
                    let moment = read_moment(text)?;
                    YEARS.contains(&moment.year()).then(|| moment.and_utc().timestamp().into())
                };
                Self::of_units(Unit::Second, second(least)?, second(greatest)?)
            }
        }
    }

    fn of_units(unit: Unit, least: i128, greatest: i128) -> Option<Self> {
        let size = greatest.checked_sub(least).filter(|size| *size >= 0)?.unsigned_abs() + 1;
        let width = width_of(size);
        let start =
            |at: u128| i128::try_from(width * at).ok().and_then(|before| least.checked_add(before));
        let starts: Option<Vec<i128>> = (0..size.div_ceil(width)).map(start).collect();
        Some(Self::Units { unit, starts: starts?, last: greatest })
    }

    fn of_floats(least: f64, greatest: f64) -> Option<Self> {
        if !least.is_finite() || !greatest.is_finite() || least > greatest {
            return None;
        }
        let start = |at: u8| {
            let part = f64::from(at) / 15.0;
            // The width of both together could be infinite.
            if at == 0 { least } else { least * (1.0 - part) + greatest * part }
        };
        let mut starts: Vec<f64> = (0..15).map(start).collect();
        starts.retain(|start| (least..=greatest).contains(start));
        starts.dedup();
        // Rounding may not turn the order of two starts.
        starts.is_sorted().then_some(Self::Floats { starts, last: greatest })
    }

    /// Returns the start of each range as a literal.
    pub(super) fn starts(&self, engine: Engine) -> Vec<String> {
        match self {
            Self::Floats { starts, .. } => starts
                .iter()
                .map(|start| format!("CAST('{start:e}' AS double precision)"))
                .collect(),
            Self::Units { unit, starts, .. } => {
                let kind = match (unit, engine) {
                    (Unit::Places(scale), Engine::DuckDb) => format!("DECIMAL(38, {scale})"),
                    (Unit::Places(_), Engine::Postgres) => "numeric".to_owned(),
                    (Unit::Day, _) => "DATE".to_owned(),
                    (Unit::Second, _) => "TIMESTAMP".to_owned(),
                };
                let literal = |start: &i128| format!("CAST('{}' AS {kind})", unit.text(*start));
                starts.iter().map(literal).collect()
            }
        }
    }

    /// Returns the ranges with the number of their rows.
    pub(super) fn fill(&self, counts: &[u64]) -> Vec<ValueRange> {
        let texts: Vec<(String, String)> = match self {
            Self::Floats { starts, last } => {
                let ends = starts.iter().skip(1).chain([last]);
                let text = |float: &f64| float_digits(*float);
                starts.iter().zip(ends).map(|(from, to)| (text(from), text(to))).collect()
            }
            Self::Units { unit, starts, last } => {
                let ends = starts.iter().skip(1).map(|next| next - 1).chain([*last]);
                let bounds = starts.iter().zip(ends);
                bounds.map(|(from, to)| (unit.text(*from), unit.text(to))).collect()
            }
        };
        let ranges = texts.into_iter().zip(counts);
        ranges.map(|((from, to), rows)| ValueRange { from, to, rows: *rows }).collect()
    }
}

/// Returns the units of each range. All ranges have the same, because a range with one more would
/// have a higher bar for equal values.
fn width_of(size: u128) -> u128 {
    if size <= MOST_SINGLE {
        return 1;
    }
    // The last range ends at the greatest value. The width by which it lacks least is the best; a
    // twentieth is not seen.
    let lack = |width: &u128| (size.div_ceil(*width) * width - size) * 20 / width;
    let widths = (FEWEST..=MOST).rev().map(|count| size.div_ceil(count));
    widths.min_by_key(lack).unwrap_or(size)
}

impl Unit {
    fn text(self, value: i128) -> String {
        match self {
            Self::Places(scale) => {
                let digits = format!("{:0>width$}", value.unsigned_abs(), width = scale + 1);
                let (whole, places) = digits.split_at(digits.len() - scale);
                let sign = if value < 0 { "-" } else { "" };
                let point = if scale == 0 { "" } else { "." };
                format!("{sign}{whole}{point}{places}")
            }
            Self::Day => i32::try_from(value)
                .ok()
                .and_then(NaiveDate::from_epoch_days)
                .map_or_else(String::new, |day| day.to_string()),
            Self::Second => i64::try_from(value)
                .ok()
                .and_then(|seconds| DateTime::from_timestamp(seconds, 0))
                .map_or_else(String::new, |moment| write_moment(moment.naive_utc())),
        }
    }
}

/// Reads decimal digits as a whole number of units of 10^-scale. None: there are too many digits.
pub(super) fn read_decimal(text: &str) -> Option<(i128, usize)> {
    let (whole, places) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = places.bytes().all(|byte| byte.is_ascii_digit());
    if places.len() > MOST_PLACES || !is_digits {
        return None;
    }
    Some((format!("{whole}{places}").parse().ok()?, places.len()))
}

fn raise((units, scale): (i128, usize), to: usize) -> Option<i128> {
    let places = u32::try_from(to.checked_sub(scale)?).ok()?;
    units.checked_mul(10_i128.checked_pow(places)?)
}

/// Reads a moment as the engines write it.
pub(super) fn read_moment(text: &str) -> Option<NaiveDateTime> {
    NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f").ok()
}

/// Writes a computed float with the digits that do not depend on the order of additions. None: it is
/// not finite.
pub(super) fn float_text(value: f64) -> Option<String> {
    let rounded: f64 = format!("{value:.11e}").parse().ok()?;
    rounded.is_finite().then(|| float_digits(rounded))
}

/// Writes a float with the fewest digits that say it, and with an exponent if it is very large or
/// small.
fn float_digits(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if (1e-6..1e15).contains(&size) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

#[cfg(test)]
mod tests {
    use contract::sources::StoredColumn;

    use super::*;

    fn between(kind: ColumnKind, is_float: bool, least: &str, greatest: &str) -> Option<Bounds> {
        let column = StoredColumn { name: "a".to_owned(), kind, scale: 0, constant: None };
        let column = Profiled { column, is_float };
        Bounds::between(&column, Some(least), Some(greatest))
    }

    fn shown(bounds: &Bounds) -> Vec<String> {
        let ranges = bounds.fill(&[0; 31]);
        ranges.into_iter().map(|range| format!("{} to {}", range.from, range.to)).collect()
    }

    #[test]
    fn each_unit_is_in_one_range() {
        let few = between(ColumnKind::Whole, false, "-1", "2").unwrap();
        assert_eq!(shown(&few), ["-1 to -1", "0 to 0", "1 to 1", "2 to 2"]);
        let one = between(ColumnKind::Decimal, false, "5.00", "5.00").unwrap();
        assert_eq!(shown(&one), ["5.00 to 5.00"]);
        let many = between(ColumnKind::Decimal, false, "0.00", "1.49").unwrap();
        assert_eq!(shown(&many)[..2], ["0.00 to 0.09", "0.10 to 0.19"]);
        assert_eq!(shown(&many).last().unwrap(), "1.40 to 1.49");
        let days = between(ColumnKind::Day, false, "2026-02-27", "2026-03-02").unwrap();
        assert_eq!(shown(&days)[1..3], ["2026-02-28 to 2026-02-28", "2026-03-01 to 2026-03-01"]);
        let moments =
            between(ColumnKind::Moment, false, "2026-11-01 00:00:00", "2026-11-01 23:59:59.5");
        let moments = shown(&moments.unwrap());
        assert_eq!(moments[0], "2026-11-01T00:00:00 to 2026-11-01T01:35:59");
        assert_eq!(moments.len(), 15);
    }

    fn lengths(first: &str, last: &str) -> Vec<i64> {
        let bounds = between(ColumnKind::Day, false, first, last).unwrap();
        let day = |text: &str| text.parse::<NaiveDate>().unwrap();
        let ranges = bounds.fill(&[0; 31]);
        let length = |from: &str, to: &str| (day(to) - day(from)).num_days() + 1;
        ranges.iter().map(|range| length(&range.from, &range.to)).collect()
    }

    #[test]
    fn ranges_of_days_and_of_whole_numbers_have_the_same_length() {
        assert_eq!(lengths("2026-11-11", "2026-11-30"), [1; 20], "a range for each day");
        assert_eq!(lengths("2026-10-01", "2026-10-31"), [1; 31], "a range for each day of a month");
        assert_eq!(lengths("2026-09-01", "2026-10-30"), [4; 15]);
        let year = lengths("2026-01-01", "2026-12-31");
        let (last, others) = year.split_last().unwrap();
        assert!(others.iter().all(|length| length == &others[0]), "{year:?}");
        assert!(*last <= others[0] && *last * 10 >= others[0] * 9, "{year:?}");
        let clicks = between(ColumnKind::Whole, false, "0", "16").unwrap();
        assert_eq!(shown(&clicks).len(), 17);
        let hundred = between(ColumnKind::Whole, false, "1", "100").unwrap();
        assert_eq!(shown(&hundred)[..2], ["1 to 10", "11 to 20"]);
    }

    #[test]
    fn numbers_with_all_digits_of_a_decimal_have_ranges() {
        let nines = "9".repeat(38);
        let bounds = between(ColumnKind::Decimal, false, "0", &nines).unwrap();
        assert_eq!(shown(&bounds).last().unwrap().rsplit(" to ").next(), Some(nines.as_str()));
        let both = between(ColumnKind::Decimal, false, &format!("-{nines}"), &nines);
        assert_eq!(both, None, "their width has too many digits");
        assert_eq!(between(ColumnKind::Day, false, "infinity", "infinity"), None);
    }

    #[test]
    fn floats_of_any_size_have_ranges_in_order() {
        let wide = between(ColumnKind::Decimal, true, "-1e308", "1e308").unwrap();
        let ranges = wide.fill(&[1; 15]);
        assert_eq!((ranges.len(), ranges[0].from.as_str()), (15, "-1e308"));
        assert_eq!(ranges[14].to, "1e308");
        let one = between(ColumnKind::Decimal, true, "0.5", "0.5").unwrap();
        assert_eq!(shown(&one), ["0.5 to 0.5"]);
        assert_eq!(between(ColumnKind::Decimal, true, "NaN", "NaN"), None);
        assert_eq!(float_text(0.1 + 0.2), Some("0.3".to_owned()));
        assert_eq!(float_text(f64::INFINITY), None);
    }
}
