//! Finds neighbours in lines with commas that can be one number: `1,234.50` becomes the cells `1` and
//! `234.50`. Two cells can also be two numbers, which is decided elsewhere.

use super::{
    cells::{number::parse_number, value},
    column::{Column, Reading, Value},
    lines::Lines,
    records::Record,
};

/// The longest part of a number.
const MAX_PART: usize = 24;

/// The number that two neighbours can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `1,234`
    Thousands,
    /// `1,234.50`
    ThousandsWithPlaces,
    /// `12,50`, with this number of decimals.
    Places(u8),
}

/// The forms in which neighbours are counted: five shapes, each with and without an odd right part,
/// and in lines with more cells than headings or not.
pub(crate) const FORMS: usize = 20;
const DECIMALS: [u8; 3] = [1, 2, 3];

/// Two neighbours that can be one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) shape: Shape,
    /// Whether the right part is no number of its own: it begins with a zero, or is greater than it
    /// can be.
    pub(crate) is_odd: bool,
    /// Whether the line has more cells than there are headings.
    pub(crate) is_long: bool,
}

impl Pair {
    fn form(self) -> usize {
        let shape = match self.shape {
            Shape::Thousands => 0,
            Shape::ThousandsWithPlaces => 1,
            Shape::Places(places) => 1 + usize::from(places.clamp(1, 3)),
        };
        shape * 4 + usize::from(self.is_odd) * 2 + usize::from(self.is_long)
    }

    pub(crate) fn of_form(form: usize) -> Self {
        let shape = match form / 4 {
            0 => Shape::Thousands,
            1 => Shape::ThousandsWithPlaces,
            other => Shape::Places(DECIMALS.get(other - 2).copied().unwrap_or(3)),
        };
        Self { shape, is_odd: form & 2 > 0, is_long: form & 1 > 0 }
    }
}

/// The neighbours of all rows that can be one number, by the column of the left one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Neighbours {
    pub(crate) lines: Vec<[Lines; FORMS]>,
    /// For each column, whether rejected lines with too many cells have such thousands and such
    /// decimals in it.
    pub(crate) rejected: Vec<(bool, bool)>,
    /// Rows with more cells than there are headings.
    pub(crate) long_rows: u64,
}

impl Neighbours {
    /// Adds the neighbours of a row.
    #[inline]
    pub(crate) fn see(&mut self, record: &Record<'_>, values: &[Value], falling: Option<usize>) {
        let width = values.len();
        let is_long = record.len() > width;
        self.long_rows += u64::from(is_long);
        for at in 0..record.len().min(width).saturating_sub(1) {
            if let Some((left, right)) = neighbours(record, at)
                && let Some(mut pair) = pair_of(left, right)
            {
                pair.is_long = is_long;
                pair.is_odd |= falling == Some(at) && is_greater(values[at + 1], values[at]);
                if self.lines.is_empty() {
                    self.lines.resize_with(width, Default::default);
                }
                self.lines[at][pair.form()].add(record.line, || sample(left, right));
            }
        }
    }

    /// Adds the neighbours of a line that has too many cells, up to the first cell that does not fit
    /// its column: behind a text with a comma, all cells are in wrong columns.
    pub(crate) fn see_rejected(&mut self, record: &Record<'_>, columns: &[Column]) {
        self.rejected.resize(columns.len(), (false, false));
        let fits = |at: &usize| {
            let is_number = matches!(columns[*at].reading, Reading::Number { .. });
            let cell = record.cell(*at);
            !is_number || value::is_blank(cell) || is_any_number(cell)
        };
        let pairs = (0..columns.len()).take_while(fits).filter_map(|at| {
            let (left, right) = neighbours(record, at)?;
            Some((at, pair_of(left, right)?.shape))
        });
        let pairs: Vec<(usize, Shape)> = pairs.collect();
        // Beside `1,234.50`, other neighbours are numbers of their own.
        let has_thousands = pairs.iter().any(|(_, shape)| !matches!(shape, Shape::Places(_)));
        for (at, shape) in pairs {
            match shape {
                Shape::Places(_) if has_thousands => {}
                Shape::Places(_) => self.rejected[at].1 = true,
                _ => self.rejected[at].0 = true,
            }
        }
    }

    pub(crate) fn count(&self, at: usize, is_wanted: impl Fn(Pair) -> bool) -> u64 {
        let forms = self.lines[at].iter().enumerate();
        forms
            .filter(|(form, _)| is_wanted(Pair::of_form(*form)))
            .map(|(_, lines)| lines.count)
            .sum()
    }
}

/// Whether a whole number is greater than another one.
fn is_greater(one: Value, other: Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one.scale == other.scale && one.mantissa > other.mantissa
        }
        _ => false,
    }
}

/// Returns two cells without quotes that only the separator divides.
#[inline]
fn neighbours<'a>(record: &Record<'a>, at: usize) -> Option<(&'a [u8], &'a [u8])> {
    let (left, right) = (*record.spans.get(at)?, *record.spans.get(at + 1)?);
    let is_plain =
        right.start == left.end + 1 && record.bytes.get(left.end as usize) == Some(&b',');
    is_plain.then(|| {
        let cell = |start: u32, end: u32| &record.bytes[start as usize..end as usize];
        (cell(left.start, left.end), cell(right.start, right.end))
    })
}

/// Returns what two cells can be together.
#[inline]
fn pair_of(left: &[u8], right: &[u8]) -> Option<Pair> {
    if !left.last()?.is_ascii_digit() || !right.first()?.is_ascii_digit() {
        return None;
    }
    if left.len() > MAX_PART || right.len() > MAX_PART {
        return None;
    }
    let digits = right.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = &right[digits..];
    let has_places = rest.first() == Some(&b'.');
    let run = left.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (before, last) = left.split_at(left.len() - run);
    let is_whole = !before.iter().any(u8::is_ascii_digit);
    let shape = if is_whole && run <= 3 && last[0] != b'0' && digits == 3 {
        if has_places { Shape::ThousandsWithPlaces } else { Shape::Thousands }
    } else if !has_places && (is_whole || before.last() == Some(&b'.') && run == 3) {
        Shape::Places(u8::try_from(digits).unwrap_or(u8::MAX))
    } else {
        return None;
    };
    if !before.is_empty() && !is_any_number(left) || !rest.is_empty() && !is_any_number(right) {
        return None;
    }
    Some(Pair { shape, is_odd: digits > 1 && right[0] == b'0', is_long: false })
}

fn is_any_number(cell: &[u8]) -> bool {
    parse_number(cell, contract::sources::NumberSign::Point).is_ok()
}

fn sample(left: &[u8], right: &[u8]) -> String {
    format!("{},{}", value::shorten(left), value::shorten(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_can_be_the_parts_of_one_number() {
        for (left, right, shape) in [
            ("1", "234.50", Some(Shape::ThousandsWithPlaces)),
            ("$1", "234.50", Some(Shape::ThousandsWithPlaces)),
            ("-12", "345", Some(Shape::Thousands)),
            ("1", "234.50 SEK", Some(Shape::ThousandsWithPlaces)),
            ("1", "234%", Some(Shape::Thousands)),
            ("12", "50", Some(Shape::Places(2))),
            ("1.234", "50", Some(Shape::Places(2))),
            ("1234", "567", Some(Shape::Places(3))),
            ("0", "234", Some(Shape::Places(3))),
            ("1234", "567.5", None),
            ("12.5", "50", None),
            ("Oak", "50", None),
            ("1", "Oak", None),
            ("1", "23x", None),
            ("2026-11-01", "234.50", None),
            ("1", "", None),
        ] {
            let found = pair_of(left.as_bytes(), right.as_bytes()).map(|pair| pair.shape);
            assert_eq!(found, shape, "{left},{right}");
        }
    }

    #[test]
    fn each_form_leads_back_to_its_pair() {
        for form in 0..FORMS {
            assert_eq!(Pair::of_form(form).form(), form);
        }
    }
}
