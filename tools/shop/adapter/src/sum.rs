//! Adds up amounts that shops write as text, digit by digit, without rounding. An amount that can
//! be read in two ways is not read. Must not know which amounts are added.

/// An amount with a fixed number of decimal places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exact {
    units: i128,
    places: u32,
}

/// The longest amount that is read, in digits. Sums and products of such amounts fit.
const DIGITS: usize = 15;

impl Exact {
    pub(crate) const ZERO: Self = Self { units: 0, places: 0 };

    /// Reads an amount with or without a currency, such as `1 299,00 kr` or `€1,299.00`.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let first = text.find(|c: char| c.is_ascii_digit())?;
        let last = text.rfind(|c: char| c.is_ascii_digit())?;
        let (before, number) = (text.get(..first)?, text.get(first..=last)?);
        if before.ends_with(['.', ',']) {
            return None;
        }
        let number = without_spaces(number)?;
        let (whole, fraction) = split_fraction(&number)?;
        let digits = format!("{whole}{fraction}");
        if digits.len() > DIGITS {
            return None;
        }
        let units: i128 = digits.parse().ok()?;
        let sign = if before.contains(['-', '\u{2212}']) { -1 } else { 1 };
        Some(Self { units: sign * units, places: u32::try_from(fraction.len()).ok()? })
    }

    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        let places = self.places.max(other.places);
        let units =
            self.with_places(places)?.units.checked_add(other.with_places(places)?.units)?;
        Some(Self { units, places })
    }

    pub(crate) fn times(self, other: Self) -> Option<Self> {
        let units = self.units.checked_mul(other.units)?;
        Some(Self { units, places: self.places.checked_add(other.places)? })
    }

    /// Returns the same amount with at least this number of places.
    fn with_places(self, places: u32) -> Option<Self> {
        let more = places.saturating_sub(self.places);
        let units = self.units.checked_mul(10_i128.checked_pow(more)?)?;
        Some(Self { units, places: self.places + more })
    }

    /// Writes the amount with at least as many places as another one has.
    pub(crate) fn written_like(self, other: Option<Self>) -> Option<String> {
        let Self { units, places } = self.with_places(other.map_or(0, |other| other.places))?;
        let sign = if units < 0 { "-" } else { "" };
        let scale = 10_u128.checked_pow(places)?;
        let (whole, fraction) = (units.unsigned_abs() / scale, units.unsigned_abs() % scale);
        Some(match usize::try_from(places).ok()? {
            0 => format!("{sign}{whole}"),
            places => format!("{sign}{whole}.{fraction:0places$}"),
        })
    }
}

/// Removes spaces and apostrophes between thousands. Returns None if they are elsewhere.
fn without_spaces(number: &str) -> Option<String> {
    let groups: Vec<&str> = number.split(|c: char| c.is_whitespace() || c == '\'').collect();
    let is_thousand = |group: &&str| group.bytes().take_while(u8::is_ascii_digit).count() == 3;
    groups.iter().skip(1).all(is_thousand).then(|| groups.concat())
}

/// Splits a number at its decimal separator. Returns None if a separator may be for decimals or for
/// thousands.
fn split_fraction(number: &str) -> Option<(String, &str)> {
    let separators: Vec<(usize, char)> =
        number.char_indices().filter(|(_, c)| !c.is_ascii_digit()).collect();
    if separators.iter().any(|(_, c)| !matches!(c, '.' | ',')) {
        return None;
    }
    let Some((at, last)) = separators.last().copied() else {
        return Some((number.to_owned(), ""));
    };
    let (whole, fraction) = (number.get(..at)?, number.get(at + 1..)?);
    let same = separators.iter().filter(|(_, c)| *c == last).count();
    let groups: Vec<&str> = whole.split(|c: char| !c.is_ascii_digit()).collect();
    let in_thousands = groups.iter().skip(1).all(|group| group.len() == 3);
    match (same, separators.len()) {
        // `1.299` can mean one thousand two hundred and ninety-nine, or a little more than one.
        (1, 1) if fraction.len() == 3 => None,
        (1, 1) => Some((whole.to_owned(), fraction)),
        (1, _) if in_thousands => Some((groups.concat(), fraction)),
        // A separator that occurs more than once separates thousands.
        (same, all) if same == all && in_thousands && fraction.len() == 3 => {
            Some((format!("{}{fraction}", groups.concat()), ""))
        }
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<String> {
        Exact::read(text)?.written_like(None)
    }

    #[test]
    fn amounts_in_common_notations_are_parsed_exactly() {
        for (text, amount) in [
            ("0", "0"),
            ("10", "10"),
            ("0.10", "0.10"),
            ("2598", "2598"),
            ("1 299,00 kr", "1299.00"),
            ("1\u{a0}299,50\u{a0}kr", "1299.50"),
            ("1.499,50 kr", "1499.50"),
            ("€1,299.00", "1299.00"),
            ("1,234,567.5", "1234567.5"),
            ("1.234.567", "1234567"),
            ("1'299.00 CHF", "1299.00"),
            ("SEK 10", "10"),
            ("10:-", "10"),
            ("-49,90", "-49.90"),
            ("\u{2212}5 kr", "-5"),
            ("19.9999", "19.9999"),
        ] {
            assert_eq!(read(text).as_deref(), Some(amount), "{text}");
        }
    }

    #[test]
    fn an_ambiguous_amount_is_not_parsed() {
        for text in [
            "",
            "kr",
            "1.299",
            "1,299",
            "1e5",
            "1.2.3",
            "1,23.456,7",
            ".5",
            "10 - 20",
            "1 10",
            "12,5 00",
            "1.23,456.7",
            "1234567890123456",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn sums_of_decimal_amounts_are_exact() {
        let of = |text| Exact::read(text).unwrap();
        let third = of("0.1").plus(of("0.2")).unwrap();
        assert_eq!(third.written_like(Some(of("1.00"))).unwrap(), "0.30");
        let many = (0..10).try_fold(Exact::ZERO, |sum, _| sum.plus(of("0.10"))).unwrap();
        assert_eq!(many.written_like(None).unwrap(), "1.00");
        assert_eq!(
            of("999999999999.99").plus(of("0.01")).unwrap().written_like(None).unwrap(),
            "1000000000000.00"
        );
        assert_eq!(of("-0.05").plus(of("0.02")).unwrap().written_like(None).unwrap(), "-0.03");
        assert_eq!(of("2.50").times(of("3")).unwrap().written_like(None).unwrap(), "7.50");
    }
}
