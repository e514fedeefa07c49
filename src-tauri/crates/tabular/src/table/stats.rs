//! Statistics over all cells of a column: formats, currencies, sums and days. This module must not
//! know other columns, and makes no decisions.

use contract::sources::NumberSign;

use super::{
    cells::{
        currency::Currency,
        day::DayCell,
        number::{Evidence, Number, parse_number},
        order::DayOrder,
        value,
    },
    column::{CellFault, DaySet, Sum, Value},
    shared_ids::SharedId,
    short_years::{ShortYears, YearPlace},
};

/// The maximum number of samples of a column.
const SAMPLES: usize = 5;
/// The maximum number of currencies that are counted in a column. Further currencies are ignored.
const CURRENCIES: usize = 200;

/// Statistics of a column over all stored rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stats {
    pub(crate) empty: u64,
    pub(crate) filled: u64,
    /// Whether the first row has no value.
    pub(crate) starts_empty: bool,
    pub(crate) samples: Vec<String>,
    /// The first value, which all cells have if none differs.
    pub(crate) constant: Option<Vec<u8>>,
    /// Whether a value is another one than the first. Their samples can be equal: they are cut.
    pub(crate) differs: bool,
    pub(crate) is_varied: bool,
    /// The number of texts that are plain numbers.
    pub(crate) numeric: u64,
    pub(crate) numbers: NumberStats,
    pub(crate) days: DayStats,
    pub(crate) ids: IdStats,
    /// The cells that could not be read: the fault, the number of cells, and the first line and
    /// text.
    pub(crate) faults: Vec<(CellFault, u64, u64, String)>,
}

/// How the whole numbers of a column follow each other.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sequence {
    pub(crate) count: u64,
    pub(crate) least: i128,
    last: i128,
    /// Whether a number is not greater than the one before, or has decimals.
    is_broken: bool,
    /// Whether a number is not greater by one than the one before.
    is_sparse: bool,
    /// Whether the last two digits of a number are no month.
    has_no_month: bool,
}

impl Sequence {
    #[inline]
    fn see(&mut self, number: &Number) {
        let value = number.mantissa;
        if self.count > 0 {
            self.is_broken |= value <= self.last;
            self.is_sparse |= value != self.last + 1;
            self.least = self.least.min(value);
        } else {
            self.least = value;
        }
        self.is_broken |= number.scale > 0;
        // Most columns show it in their first numbers, so that few are divided.
        self.has_no_month =
            self.has_no_month || number.scale > 0 || !(1..=12).contains(&(value % 100));
        self.last = value;
        self.count += 1;
    }

    /// Whether the numbers only rise.
    pub(crate) fn rises(&self) -> bool {
        !self.is_broken
    }

    /// Whether the last two digits of all numbers are months.
    pub(crate) fn are_months(&self) -> bool {
        !self.has_no_month
    }

    /// Whether the numbers rise by one.
    pub(crate) fn counts_rows(&self) -> bool {
        !self.is_broken && !self.is_sparse
    }
}

/// A currency that numbers of a column show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SeenCurrency {
    pub(crate) currency: Currency,
    /// The first line.
    pub(crate) line: u64,
}

/// Statistics of the numbers in a column.
#[derive(Clone, Debug, Default)]
pub(crate) struct NumberStats {
    pub(crate) count: u64,
    pub(crate) points: u64,
    pub(crate) commas: u64,
    pub(crate) open_points: u64,
    pub(crate) open_commas: u64,
    /// The line and text of the first ambiguous number.
    pub(crate) open: Option<(u64, String)>,
    pub(crate) percents: u64,
    pub(crate) exponents: u64,
    /// The line and text of the first number with an exponent.
    pub(crate) exponent: Option<(u64, String)>,
    pub(crate) rounded: u64,
    /// The count of numbers without a currency that are not zero.
    pub(crate) bare: u64,
    pub(crate) currencies: Vec<SeenCurrency>,
    pub(crate) scale: u8,
    /// The scales that were seen, as bits.
    pub(crate) scales: u32,
    /// Whether a number has decimals that are not zero.
    pub(crate) has_fraction: bool,
    /// Whether a number is written without decimals.
    pub(crate) has_whole: bool,
    /// The number of numbers without decimals that are not zero, and of numbers with decimals.
    pub(crate) whole: u64,
    pub(crate) with_places: u64,
    /// Whether the last decimal of a number is zero, so that decimals are not cut off.
    pub(crate) is_padded: bool,
    pub(crate) is_negative: bool,
    /// The largest absolute mantissa.
    pub(crate) largest: u128,
    pub(crate) row: Sequence,
    /// Numbers that are written like phone numbers, with a plus in front.
    pub(crate) phones: u64,
    pub(crate) sums: Vec<(Option<Currency>, Sum)>,
    last_sum: usize,
}

/// Statistics of the days in a column.
#[derive(Clone, Debug, Default)]
pub(crate) struct DayStats {
    pub(crate) count: u64,
    pub(crate) set: DaySet,
    pub(crate) day_first: u64,
    pub(crate) month_first: u64,
    /// The years of two digits.
    pub(crate) years: ShortYears,
    /// The line and text of the first ambiguous day.
    pub(crate) open: Option<(u64, String)>,
    pub(crate) open_count: u64,
    pub(crate) has_time: bool,
    pub(crate) offsets: Vec<i32>,
    pub(crate) without_offset: bool,
}

impl Stats {
    /// Adds a cell of a stored row to the statistics.
    #[inline]
    pub(crate) fn see(
        &mut self,
        cell: &[u8],
        value: &Value,
        line: u64,
        currency: Option<Currency>,
    ) {
        match value {
            Value::Empty => {
                self.starts_empty |= self.filled == 0;
                self.empty += 1;
                return;
            }
            Value::Number(number) => self.numbers.see(number, cell, line, currency),
            Value::Moment(day, moment) => {
                self.days.see(day, cell, line);
                self.days.set.insert(moment.date());
            }
            Value::Text => self.numeric += u64::from(is_plain_number(cell)),
            Value::Flag(_) => {}
        }
        self.filled += 1;
        if !self.is_varied {
            self.compare(cell);
        }
    }

    #[cold]
    fn compare(&mut self, cell: &[u8]) {
        match &self.constant {
            None => self.constant = Some(cell.to_vec()),
            Some(first) if first == cell => return,
            Some(_) => self.differs = true,
        }
        let sample = value::shorten(cell);
        if !self.samples.contains(&sample) {
            self.samples.push(sample);
        }
        // With a full list of samples, the column is known to vary, so that no further cell is
        // compared.
        self.is_varied = self.samples.len() >= SAMPLES;
    }

    /// Returns the text of all cells, if all cells are equal.
    pub(crate) fn constant(&self) -> Option<&[u8]> {
        let is_one = self.samples.len() == 1 && !self.differs && self.empty == 0;
        if is_one { self.constant.as_deref() } else { None }
    }

    /// Adds an identifier to the statistics.
    pub(crate) fn see_id(&mut self, cell: &[u8], line: u64) {
        self.ids.see(cell, line);
    }

    /// Adds a cell that cannot be read to the statistics.
    pub(crate) fn see_fault(&mut self, fault: CellFault, line: u64, cell: &[u8]) {
        match self.faults.iter_mut().find(|(known, ..)| *known == fault) {
            Some((_, count, ..)) => *count += 1,
            None => self.faults.push((fault, 1, line, value::shorten(cell))),
        }
    }

    /// Returns the number of cells with one of these faults.
    pub(crate) fn faults_of(&self, faults: &[CellFault]) -> u64 {
        let of = self.faults.iter().filter(|(fault, ..)| faults.contains(fault));
        of.map(|(_, count, ..)| count).sum()
    }
}

impl NumberStats {
    #[inline]
    fn see(&mut self, number: &Number, cell: &[u8], line: u64, currency: Option<Currency>) {
        self.count += 1;
        match number.evidence {
            Evidence::None => {}
            Evidence::Sign(NumberSign::Point) => self.points += 1,
            Evidence::Sign(NumberSign::Comma) => self.commas += 1,
            Evidence::OpenPoint => self.see_open(true, cell, line),
            Evidence::OpenComma => self.see_open(false, cell, line),
        }
        self.largest = self.largest.max(number.mantissa.unsigned_abs());
        self.scales |= 1 << number.scale;
        if number.scale == 0 {
            self.has_whole = true;
            self.whole += u64::from(number.mantissa != 0);
        } else {
            self.with_places += 1;
            self.is_padded = self.is_padded
                || i64::try_from(number.mantissa).is_ok_and(|mantissa| mantissa % 10 == 0);
            self.scale = self.scale.max(number.scale);
            self.has_fraction = self.has_fraction || has_fraction(number);
        }
        self.row.see(number);
        self.phones += u64::from(cell.len() > 8 && cell[0] == b'+');
        self.is_negative |= number.mantissa < 0;
        if number.is_percent || number.has_exponent || number.is_rounded {
            self.percents += u64::from(number.is_percent);
            self.see_exponent(number, cell, line);
            self.rounded += u64::from(number.is_rounded);
        }
        match number.currency {
            Some(found) => self.see_currency(found, line),
            None => self.bare += u64::from(number.mantissa != 0),
        }
        self.add(number, currency);
    }

    #[cold]
    fn see_open(&mut self, is_point: bool, cell: &[u8], line: u64) {
        if is_point {
            self.open_points += 1;
        } else {
            self.open_commas += 1;
        }
        if self.open.is_none() {
            self.open = Some((line, value::shorten(cell)));
        }
    }

    fn see_exponent(&mut self, number: &Number, cell: &[u8], line: u64) {
        self.exponents += u64::from(number.has_exponent);
        if number.has_exponent && self.exponent.is_none() {
            self.exponent = Some((line, value::shorten(cell)));
        }
    }

    fn see_currency(&mut self, found: Currency, line: u64) {
        let is_known = self.currencies.iter().any(|seen| seen.currency == found);
        if !is_known && self.currencies.len() < CURRENCIES {
            self.currencies.push(SeenCurrency { currency: found, line });
        }
    }

    #[inline]
    fn add(&mut self, number: &Number, currency: Option<Currency>) {
        if self.sums.get(self.last_sum).is_none_or(|(known, _)| *known != currency) {
            let at = self.sums.iter().position(|(known, _)| *known == currency);
            self.last_sum = at.unwrap_or_else(|| {
                self.sums.push((currency, Sum::default()));
                self.sums.len() - 1
            });
        }
        self.sums[self.last_sum].1.add(number.mantissa, number.scale);
    }

    /// Whether all decimals are zero and some numbers have none, so that the column is whole.
    pub(crate) fn is_whole(&self) -> bool {
        self.scale == 0 || (self.has_whole && !self.has_fraction)
    }

    /// Returns the decimal sign that the numbers show. Returns None if they show no sign or both
    /// signs.
    pub(crate) fn shown_sign(&self) -> Option<NumberSign> {
        match (self.points > 0, self.commas > 0) {
            (true, false) => Some(NumberSign::Point),
            (false, true) => Some(NumberSign::Comma),
            _ => None,
        }
    }

    pub(crate) fn has_open(&self) -> bool {
        self.open_points + self.open_commas > 0
    }
}

/// Whether a text has only digits, and a point between them.
#[inline]
fn is_plain_number(cell: &[u8]) -> bool {
    cell.first().is_some_and(u8::is_ascii_digit)
        && cell.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
}

/// Whether a number has decimals that are not zero. Most numbers fit into 64 bits, for which the
/// division is many times faster.
#[inline]
fn has_fraction(number: &Number) -> bool {
    match (i64::try_from(number.mantissa), 10_i64.checked_pow(u32::from(number.scale))) {
        (Ok(mantissa), Some(power)) => mantissa % power != 0,
        _ => {
            let power = 10_i128.checked_pow(u32::from(number.scale));
            power.is_some_and(|power| number.mantissa % power != 0)
        }
    }
}

impl DayStats {
    #[inline]
    fn see(&mut self, day: &DayCell, cell: &[u8], line: u64) {
        self.count += 1;
        self.see_order(day);
        if day.is_open() {
            self.open_count += 1;
            if self.open.is_none() {
                self.open = Some((line, value::shorten(cell)));
            }
        }
        self.has_time |= day.has_time();
        match day.offset {
            Some(offset) if !self.offsets.contains(&offset) && self.offsets.len() < 32 => {
                self.offsets.push(offset);
            }
            Some(_) => {}
            None => self.without_offset = true,
        }
    }

    /// Counts the order that a day shows.
    #[inline]
    pub(crate) fn see_order(&mut self, day: &DayCell) {
        self.years.see(&day.written);
        match day.shown_order() {
            Some(DayOrder::DayMonthYear) => self.day_first += 1,
            Some(DayOrder::MonthDayYear) => self.month_first += 1,
            Some(DayOrder::YearMonthDay) | None => {}
        }
    }

    /// Returns the order that most days show.
    pub(crate) fn shown_order(&self) -> Option<DayOrder> {
        if self.years.place()? == YearPlace::First {
            return Some(DayOrder::YearMonthDay);
        }
        match (self.day_first + self.years.day_first(), self.month_first) {
            (0, 0) => None,
            (day, month) if day >= month => Some(DayOrder::DayMonthYear),
            _ => Some(DayOrder::MonthDayYear),
        }
    }

    /// Whether the days can be in this order.
    pub(crate) fn allows(&self, order: DayOrder) -> bool {
        match order {
            DayOrder::DayMonthYear => true,
            DayOrder::MonthDayYear => !self.years.are_open() || self.years.day_first() == 0,
            DayOrder::YearMonthDay => self.years.are_open(),
        }
    }

    /// Returns the number of days that show another order than this one.
    pub(crate) fn against(&self, order: DayOrder) -> u64 {
        match order {
            DayOrder::DayMonthYear => self.month_first,
            DayOrder::MonthDayYear => self.day_first + self.years.day_first(),
            DayOrder::YearMonthDay => self.day_first + self.month_first + self.years.closed(),
        }
    }
}

/// Statistics of the identifiers in a column.
#[derive(Clone, Debug, Default)]
pub(crate) struct IdStats {
    /// The number of identifiers that a spreadsheet wrote with an exponent, such as 1.20236E+17.
    pub(crate) exponents: u64,
    /// The number of identifiers with more digits than a spreadsheet keeps.
    pub(crate) long: u64,
    /// The number of these long identifiers that end in zeros, like rounded numbers.
    pub(crate) ending_in_zeros: u64,
    /// The line and text of the first identifier that looks rounded.
    pub(crate) first: Option<(u64, String)>,
    /// An identifier that has two names on one day.
    pub(crate) shared: Option<SharedId>,
}

impl IdStats {
    /// Whether a spreadsheet rounded the identifiers, so that different identifiers became equal.
    pub(crate) fn are_rounded(&self) -> bool {
        self.exponents > 0 || (self.long > 1 && self.ending_in_zeros == self.long)
    }

    /// Whether one identifier stands for several things, so that the column is no key.
    pub(crate) fn are_ambiguous(&self) -> bool {
        self.are_rounded() || self.shared.is_some()
    }

    fn see(&mut self, cell: &[u8], line: u64) {
        let is_digits = cell.iter().all(u8::is_ascii_digit);
        let mut is_rounded = false;
        if is_digits && cell.len() > 15 {
            self.long += 1;
            is_rounded = cell[15..].iter().all(|byte| *byte == b'0');
            self.ending_in_zeros += u64::from(is_rounded);
        } else if !is_digits
            && cell.iter().any(|byte| matches!(byte, b'E' | b'e'))
            && parse_number(cell, NumberSign::Point).is_ok_and(|number| number.has_exponent)
        {
            self.exponents += 1;
            is_rounded = true;
        }
        if is_rounded && self.first.is_none() {
            self.first = Some((line, value::shorten(cell)));
        }
    }
}
