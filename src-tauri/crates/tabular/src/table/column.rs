//! One column: how its cells are read, and what was seen in them. Must not know other columns.

use chrono::{Datelike as _, NaiveDate, NaiveDateTime};
use contract::sources::{ColumnChoice, ColumnUse, DayRange, NumberSign};

use super::cells::{
    counted::Counting,
    currency::{self, Currency},
    day::{DayCell, Written, parse_day},
    number::{Evidence, Number, NumberFault, parse_number},
    order::DayOrder,
    value::{self, Tag},
};
use super::words;

/// How the cells of a column are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Not known yet, because all cells so far are empty.
    Open,
    Text,
    Number {
        /// The sign before decimals in numbers that can mean two values.
        sign: NumberSign,
        /// Whether cells have percent signs.
        is_percent: bool,
    },
    Day {
        /// The order of days that can mean two.
        order: DayOrder,
    },
    Flag,
}

/// The plan for a column.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) heading: String,
    pub(crate) name: String,
    pub(crate) choice: ColumnChoice,
    pub(crate) reading: Reading,
    /// Whether a person decided the kind, so that cells never change it.
    pub(crate) is_fixed: bool,
    /// Whether eight digits are days.
    pub(crate) digits_are_days: bool,
    /// The use of numbers that the heading says.
    pub(crate) hint: Option<ColumnUse>,
    /// The currency that the heading states.
    pub(crate) currency: Option<Currency>,
    /// Whether amounts of money are expected.
    pub(crate) is_money: bool,
    /// Which of the currency columns has the currency of the amounts.
    pub(crate) currency_slot: Option<usize>,
    /// Whether a person said that the signs in the cells count, and nothing else.
    pub(crate) uses_signs: bool,
    /// Whether the first cells are all currencies.
    pub(crate) has_codes: bool,
    /// The unit that the numbers count, if they are days or moments.
    pub(crate) counting: Option<Counting>,
    /// Whether an amount without the sign of a currency is refused, because others have different
    /// ones.
    pub(crate) needs_sign: bool,
    /// The line and the cell for which a column that was taken for one of numbers or days has texts.
    pub(crate) spoiled: Option<(u64, String)>,
}

/// The value of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    Empty,
    Text,
    Number(Number),
    Moment(DayCell, NaiveDateTime),
    Flag(bool),
}

/// Why a cell cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum CellFault {
    NotANumber,
    TooLarge,
    NotADay,
    NotAFlag,
    Error,
    NoValue,
    /// A percent sign is missing, or is there in a column without.
    Percent,
    /// The text says a bound, such as `< 10%`.
    Bound,
    /// A number with zeros in front, which is an identifier.
    LeadingZero,
}

impl Column {
    /// Whether the numbers can be amounts although no heading says so. A person who says that the
    /// numbers add up does not say that they are counts.
    pub(crate) fn may_have_amounts(&self) -> bool {
        matches!(self.choice.usage, None | Some(ColumnUse::Sum | ColumnUse::Last))
            && words::use_of_numbers(&self.heading).is_none()
    }

    /// Reads a cell.
    #[inline]
    pub(crate) fn read(
        &self,
        cell: &[u8],
        tag: Tag,
        memory: &mut DayMemory,
    ) -> Result<Value, CellFault> {
        if cell.is_empty() && tag != Tag::NoValue {
            return Ok(Value::Empty);
        }
        match self.reading {
            Reading::Text | Reading::Open => match tag {
                Tag::NoValue => Err(CellFault::NoValue),
                Tag::Error => Err(CellFault::Error),
                _ => Ok(Value::Text),
            },
            Reading::Number { sign, is_percent } => self.read_number(cell, tag, sign, is_percent),
            Reading::Day { order } => self.read_day(cell, tag, order, memory),
            Reading::Flag => read_flag(cell, tag),
        }
    }

    #[inline]
    fn read_number(
        &self,
        cell: &[u8],
        tag: Tag,
        sign: NumberSign,
        is_percent: bool,
    ) -> Result<Value, CellFault> {
        let sign = if tag == Tag::Number { NumberSign::Point } else { sign };
        match parse_number(cell, sign) {
            Ok(mut number) => {
                if tag == Tag::Number {
                    // A workbook stores all digits, also with an exponent.
                    (number.evidence, number.has_exponent) = (Evidence::None, false);
                } else if number.is_percent != is_percent && number.mantissa != 0 {
                    return Err(CellFault::Percent);
                } else if has_leading_zero(cell) && self.hint != Some(ColumnUse::Sum) {
                    return Err(CellFault::LeadingZero);
                }
                Ok(Value::Number(number))
            }
            Err(fault) => self.fault_of_number(cell, tag, fault),
        }
    }

    #[cold]
    fn fault_of_number(
        &self,
        cell: &[u8],
        tag: Tag,
        fault: NumberFault,
    ) -> Result<Value, CellFault> {
        match tag {
            Tag::NoValue => return Err(CellFault::NoValue),
            Tag::Error => return self.fault_of_error(),
            _ => {}
        }
        if value::is_blank(cell) || currency::is_dash(cell) {
            return Ok(Value::Empty);
        }
        if value::is_error(cell) {
            return self.fault_of_error();
        }
        Err(match fault {
            NumberFault::TooLarge => CellFault::TooLarge,
            NumberFault::NotANumber if matches!(cell.first(), Some(b'<' | b'>')) => {
                CellFault::Bound
            }
            NumberFault::NotANumber => CellFault::NotANumber,
        })
    }

    /// A ratio without a value, such as the cost per click without clicks, is no error of the row.
    fn fault_of_error(&self) -> Result<Value, CellFault> {
        if self.hint == Some(ColumnUse::Ratio) { Ok(Value::Empty) } else { Err(CellFault::Error) }
    }

    #[inline]
    fn read_day(
        &self,
        cell: &[u8],
        tag: Tag,
        order: DayOrder,
        memory: &mut DayMemory,
    ) -> Result<Value, CellFault> {
        if let Some(counting) = self.counting
            && let Some((found, moment)) = counting.read(cell)
        {
            return Ok(Value::Moment(found, moment));
        }
        let found = memory.parse(cell);
        let found = found
            .filter(|found| self.digits_are_days || !matches!(found.written, Written::Digits(_)));
        if let Some(found) = found
            && let Some(moment) = found.moment(order)
        {
            return Ok(Value::Moment(found, moment));
        }
        match tag {
            Tag::NoValue => Err(CellFault::NoValue),
            Tag::Error => Err(CellFault::Error),
            _ if value::is_blank(cell) => Ok(Value::Empty),
            _ if value::is_error(cell) => Err(CellFault::Error),
            _ => Err(CellFault::NotADay),
        }
    }
}

fn read_flag(cell: &[u8], tag: Tag) -> Result<Value, CellFault> {
    match flag_of(cell) {
        Some(flag) => Ok(Value::Flag(flag)),
        None if tag == Tag::NoValue => Err(CellFault::NoValue),
        None if value::is_blank(cell) => Ok(Value::Empty),
        None => Err(CellFault::NotAFlag),
    }
}

/// Returns the meaning of a word for yes or no.
pub(crate) fn flag_of(cell: &[u8]) -> Option<bool> {
    if cell.len() > 5 {
        return None;
    }
    let is = |words: [&str; 2]| words.iter().any(|word| cell.eq_ignore_ascii_case(word.as_bytes()));
    if is(["true", "yes"]) {
        Some(true)
    } else if is(["false", "no"]) {
        Some(false)
    } else {
        None
    }
}

fn has_leading_zero(cell: &[u8]) -> bool {
    matches!(cell, [b'0', b'0'..=b'9', ..])
}

/// The days of cells that were parsed lately: most files repeat their days.
pub(crate) struct DayMemory {
    entries: Vec<([u8; KEY], u8, Option<DayCell>)>,
}

const KEY: usize = 23;
const ENTRIES: usize = 512;

impl DayMemory {
    pub(crate) fn new() -> Self {
        Self { entries: vec![([0; KEY], u8::MAX, None); ENTRIES] }
    }

    #[inline]
    fn parse(&mut self, cell: &[u8]) -> Option<DayCell> {
        if cell.len() > KEY {
            return parse_day(cell);
        }
        let mut hash = cell.len() as u64;
        for byte in cell {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
        }
        let entry = &mut self.entries[(hash ^ (hash >> 32)) as usize % ENTRIES];
        if usize::from(entry.1) != cell.len() || entry.0[..cell.len()] != *cell {
            entry.0[..cell.len()].copy_from_slice(cell);
            entry.1 = u8::try_from(cell.len()).unwrap_or(u8::MAX);
            entry.2 = parse_day(cell);
        }
        entry.2
    }
}

/// An exact sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) value: i128,
    pub(crate) scale: u8,
    /// Whether it exceeds what can be held.
    pub(crate) is_over: bool,
}

impl Sum {
    #[inline]
    pub(crate) fn add(&mut self, mantissa: i128, scale: u8) {
        if scale == self.scale
            && let Some(sum) = self.value.checked_add(mantissa)
        {
            self.value = sum;
        } else {
            self.add_scaled(mantissa, scale);
        }
    }

    #[cold]
    fn add_scaled(&mut self, mantissa: i128, scale: u8) {
        let to = scale.max(self.scale);
        let both = rescale(self.value, self.scale, to)
            .zip(rescale(mantissa, scale, to))
            .and_then(|(sum, more)| sum.checked_add(more));
        match both {
            Some(sum) => (self.value, self.scale) = (sum, to),
            None => self.is_over = true,
        }
    }

    /// Returns the value at this scale, which is not smaller than its own.
    pub(crate) fn at_scale(&self, scale: u8) -> Option<i128> {
        if self.is_over { None } else { rescale(self.value, self.scale, scale) }
    }

    /// Returns the digits, with this number of decimal places at least.
    pub(crate) fn to_text(self, scale: u8) -> String {
        let scale = scale.max(self.scale);
        self.at_scale(scale).map_or_else(String::new, |value| decimal_text(value, scale))
    }
}

/// Returns a mantissa at a larger scale.
pub(crate) fn rescale(mantissa: i128, from: u8, to: u8) -> Option<i128> {
    mantissa.checked_mul(10_i128.checked_pow(u32::from(to.checked_sub(from)?))?)
}

/// Returns the digits of a decimal number.
pub(crate) fn decimal_text(mantissa: i128, scale: u8) -> String {
    let digits = mantissa.unsigned_abs().to_string();
    let sign = if mantissa < 0 { "-" } else { "" };
    let places = usize::from(scale);
    if places == 0 {
        return format!("{sign}{digits}");
    }
    let padded = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = padded.split_at(padded.len() - places);
    format!("{sign}{whole}.{fraction}")
}

/// The days that were seen, as bits from the first day that can be read.
#[derive(Clone, Debug, Default)]
pub(crate) struct DaySet {
    bits: Vec<u64>,
}

const FIRST_DAY: i32 = 693_000;

impl DaySet {
    #[inline]
    pub(crate) fn insert(&mut self, day: NaiveDate) {
        let at = usize::try_from(day.num_days_from_ce() - FIRST_DAY).unwrap_or(0);
        if at / 64 >= self.bits.len() {
            self.bits.resize(at / 64 + 1, 0);
        }
        self.bits[at / 64] |= 1 << (at % 64);
    }

    /// Returns the days in their order.
    pub(crate) fn days(&self) -> impl Iterator<Item = NaiveDate> {
        self.bits.iter().enumerate().flat_map(|(at, bits)| {
            (0..64).filter(move |bit| bits >> bit & 1 == 1).filter_map(move |bit| {
                let day = i32::try_from(at * 64 + bit).ok()? + FIRST_DAY;
                NaiveDate::from_num_days_from_ce_opt(day)
            })
        })
    }

    /// Returns the days from the first to the last. None if there are none.
    pub(crate) fn range(&self) -> Option<DayRange> {
        let first = self.days().next()?;
        Some(DayRange { first, last: self.days().last()? })
    }

    pub(crate) fn count(&self) -> u64 {
        self.bits.iter().map(|bits| u64::from(bits.count_ones())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_exact_at_any_scale() {
        let mut sum = Sum::default();
        for (mantissa, scale) in [(10_000, 2), (5, 1), (-20, 0), (1, 3)] {
            sum.add(mantissa, scale);
        }
        assert_eq!(sum.to_text(2), "80.501");
        assert_eq!(Sum { value: -5, scale: 2, is_over: false }.to_text(2), "-0.05");
    }

    #[test]
    fn days_are_counted_once() {
        let mut set = DaySet::default();
        let day = |day| NaiveDate::from_ymd_opt(2026, 11, day).unwrap();
        for at in [1, 3, 1] {
            set.insert(day(at));
        }
        assert_eq!(set.count(), 2);
        assert_eq!(set.days().collect::<Vec<_>>(), [day(1), day(3)]);
    }
}
