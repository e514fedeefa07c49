//! Figures that a test computed by itself, and their comparison with an answer.

use std::collections::BTreeMap;

use serde_json::Value;

/// Figures are compared in units of 0.000000001, the ninth decimal place of ratios.
const NANO: i128 = 1_000_000_000;

pub(super) type Figure = Option<i128>;

/// The figures of an answer: the columns that name a row, the columns with figures, and the rows.
pub(super) struct Figures {
    keys: Vec<&'static str>,
    values: Vec<&'static str>,
    rows: Vec<(Vec<String>, Vec<Figure>)>,
    is_ordered: bool,
}

/// A whole number.
pub(super) fn whole(number: i128) -> Figure {
    Some(number * NANO)
}

/// An amount in cents.
pub(super) fn cents(amount: i128) -> Figure {
    Some(amount * NANO / 100)
}

/// A quotient, rounded half away from zero.
pub(super) fn ratio(number: i128, by: i128) -> Figure {
    let (scaled, by) = if by < 0 { (-number * NANO, -by) } else { (number * NANO, by) };
    let half = if scaled < 0 { -by } else { by };
    (by != 0).then(|| (2 * scaled + half) / (2 * by))
}

/// Adds up what the rows of each group have.
pub(super) fn sums<'r, T, K: Ord>(
    rows: impl IntoIterator<Item = &'r T>,
    key: impl Fn(&T) -> K,
    value: impl Fn(&T) -> i128,
) -> BTreeMap<K, i128>
where
    T: 'r,
{
    let mut sums = BTreeMap::new();
    for row in rows {
        *sums.entry(key(row)).or_default() += value(row);
    }
    sums
}

impl Figures {
    pub(super) fn new(
        keys: &[&'static str],
        values: &[&'static str],
        rows: impl IntoIterator<Item = (Vec<String>, Vec<Figure>)>,
    ) -> Self {
        let rows = rows.into_iter().collect();
        Self { keys: keys.to_vec(), values: values.to_vec(), rows, is_ordered: false }
    }

    /// Figures in one row.
    pub(super) fn single(values: &[&'static str], row: Vec<Figure>) -> Self {
        Self::new(&[], values, [(Vec::new(), row)])
    }

    /// One figure for each value of a dimension.
    pub(super) fn by<K: ToString>(
        key: &'static str,
        value: &'static str,
        rows: impl IntoIterator<Item = (K, Figure)>,
    ) -> Self {
        let rows = rows.into_iter().map(|(name, figure)| (vec![name.to_string()], vec![figure]));
        Self::new(&[key], &[value], rows)
    }

    /// The rows of the answer have this order.
    pub(super) fn ordered(mut self) -> Self {
        self.is_ordered = true;
        self
    }

    /// Panics unless the answer has these rows, and no others.
    pub(super) fn check(&self, words: &str, answer: &Value) {
        let columns = answer["columns"].as_array().unwrap_or_else(|| panic!("{words}: {answer}"));
        let place = |name: &str| {
            let found = columns.iter().position(|column| column["name"] == name);
            found.unwrap_or_else(|| panic!("{words}: no column {name} in {columns:?}"))
        };
        let keys: Vec<usize> = self.keys.iter().map(|name| place(name)).collect();
        let values: Vec<usize> = self.values.iter().map(|name| place(name)).collect();
        let rows = answer["rows"].as_array().unwrap();
        let read = |row: &Value| -> (Vec<String>, Vec<Figure>) {
            let names = keys.iter().map(|at| name_of(&row[*at])).collect();
            (names, values.iter().map(|at| figure_of(&row[*at])).collect())
        };
        let mut found: Vec<_> = rows.iter().map(read).collect();
        let mut expected = self.rows.clone();
        if !self.is_ordered {
            found.sort();
            expected.sort();
        }
        assert!(!expected.is_empty(), "{words}: the test computed nothing");
        assert_eq!(found, expected, "{words}");
    }
}

fn name_of(cell: &Value) -> String {
    match cell {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn figure_of(cell: &Value) -> Figure {
    match cell {
        Value::Null => None,
        Value::String(text) => Some(nano_of(text)),
        number => Some(nano_of(&number.to_string())),
    }
}

/// Reads a decimal number exactly.
fn nano_of(text: &str) -> i128 {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: i128 = format!("{before}{after}").parse().unwrap();
    let places = i32::try_from(after.len()).unwrap() - exponent.parse::<i32>().unwrap();
    match u32::try_from(9 - places) {
        Ok(more) => digits * 10_i128.pow(more),
        Err(_) => {
            let less = 10_i128.pow(u32::try_from(places - 9).unwrap());
            assert_eq!(digits % less, 0, "{text} has more than nine decimal places");
            digits / less
        }
    }
}

#[test]
fn numbers_are_read_exactly_and_quotients_rounded_half_away_from_zero() {
    for (text, nano) in
        [("210", 210 * NANO), ("-0.5", -NANO / 2), ("1.5e-7", 150), ("0.000000001", 1)]
    {
        assert_eq!(nano_of(text), nano);
    }
    assert_eq!(ratio(1, 3), Some(333_333_333));
    assert_eq!(ratio(-1, 3), Some(-333_333_333));
    assert_eq!(ratio(2, 3), Some(666_666_667));
    assert_eq!((ratio(1, 2 * NANO), ratio(-1, 2 * NANO), ratio(1, 0)), (Some(1), Some(-1), None));
}
