//! The unit that the number format of a workbook shows beside a number: a currency, or percent. The
//! stored number has neither.

use super::currency::Currency;

/// The unit that a number format shows beside a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Currency(Currency),
    Percent,
}

/// The countries, by their numbers in formats, in which a shared sign means one currency.
const COUNTRIES: &[(u32, &str)] = &[
    (0x409, "USD"),
    (0x1009, "CAD"),
    (0xC0C, "CAD"),
    (0xC09, "AUD"),
    (0x1409, "NZD"),
    (0x80A, "MXN"),
    (0x2C0A, "ARS"),
    (0x340A, "CLP"),
    (0x240A, "COP"),
    (0xC04, "HKD"),
    (0x1004, "SGD"),
    (0x4809, "SGD"),
    (0x404, "TWD"),
    (0x41D, "SEK"),
    (0x81D, "SEK"),
    (0x414, "NOK"),
    (0x814, "NOK"),
    (0x406, "DKK"),
    (0x40F, "ISK"),
    (0x411, "JPY"),
    (0x804, "CNY"),
];

impl Unit {
    /// Returns the unit of a format that spreadsheets know by its number.
    pub(crate) fn of_number(format: u32) -> Option<Self> {
        match format {
            5..=8 | 42 | 44 => Currency::from_sign("$").map(Self::Currency),
            9 | 10 => Some(Self::Percent),
            _ => None,
        }
    }

    /// Returns the unit of a format such as `#,##0.00 "kr"`, `[$SEK] 0.00` or `0.0%`.
    pub(crate) fn of_format(format: &str) -> Option<Self> {
        let mut literals = vec![String::new()];
        let mut signs = format.chars();
        let mut country = None;
        while let Some(sign) = signs.next() {
            match sign {
                ';' => break,
                '%' => return Some(Self::Percent),
                '"' => push(&mut literals, signs.by_ref().take_while(|c| *c != '"')),
                '\\' => push(&mut literals, signs.next().into_iter()),
                '_' | '*' => {
                    signs.next();
                    literals.push(String::new());
                }
                '[' => {
                    let inside: String = signs.by_ref().take_while(|c| *c != ']').collect();
                    if let Some(symbol) = inside.strip_prefix('$') {
                        let (text, number) = symbol.rsplit_once('-').unwrap_or((symbol, ""));
                        country = u32::from_str_radix(number, 16).ok().or(country);
                        literals.push(text.to_owned());
                        literals.push(String::new());
                    }
                }
                sign if is_number_sign(sign) => literals.push(String::new()),
                sign => push(&mut literals, std::iter::once(sign)),
            }
        }
        let found = literals.iter().find_map(|text| Currency::from_sign(text))?;
        let of_country = COUNTRIES.iter().find(|(number, _)| Some(*number) == country);
        let of_country = of_country.and_then(|(_, code)| Currency::from_code(code));
        let sure = of_country.filter(|sure| found.can_stand_for(*sure));
        Some(Self::Currency(sure.unwrap_or(found)))
    }

    /// Writes the unit behind a number.
    pub(crate) fn push(self, text: &mut Vec<u8>) {
        match self {
            Self::Currency(currency) => {
                text.push(b' ');
                text.extend_from_slice(currency.sign().as_bytes());
            }
            Self::Percent => text.push(b'%'),
        }
    }
}

fn push(literals: &mut [String], signs: impl Iterator<Item = char>) {
    if let Some(last) = literals.last_mut() {
        last.extend(signs);
    }
}

/// Whether a sign stands for digits, and for parts of days.
fn is_number_sign(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || matches!(sign, '#' | '?' | '.' | ',' | '/' | '@' | '+' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_format_shows_a_currency_or_percent() {
        for (format, unit) in [
            ("#,##0.00\\ \"kr\"", Some("kr")),
            ("[$SEK] #,##0.00", Some("SEK")),
            ("#,##0.00\\ [$€-407]", Some("EUR")),
            ("\"$\"#,##0.00_);[Red]\\(\"$\"#,##0.00\\)", Some("USD")),
            ("[$$-409]#,##0.00", Some("USD")),
            ("[$$-1009]#,##0.00", Some("CAD")),
            ("#,##0.00\\ [$kr-41D]", Some("SEK")),
            ("_(\"$\"* #,##0.00_)", Some("USD")),
            ("_-* #,##0.00\\ \"€\"_-", Some("EUR")),
            ("£#,##0", Some("GBP")),
            ("\\R\\$\\ #,##0.00", Some("BRL")),
            ("0.00%", Some("%")),
            ("0.00", None),
            ("General", None),
            ("yyyy\\-mm\\-dd", None),
            ("[Red]0.00", None),
            ("0\" km\"", None),
            ("[$-409]d\\ mmm", None),
            ("@", None),
            ("", None),
        ] {
            let found = Unit::of_format(format).map(|unit| match unit {
                Unit::Currency(currency) => currency.code(),
                Unit::Percent => "%",
            });
            assert_eq!(found, unit, "{format}");
        }
        assert_eq!(Unit::of_number(10), Some(Unit::Percent));
        assert_eq!(Unit::of_number(4), None);
    }
}
