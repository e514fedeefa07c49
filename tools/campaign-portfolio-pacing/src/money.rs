//! Money in whole micro-units (a millionth of the currency's unit), and exact fractions of it.
//! Values are rounded here only (half away from zero), and only for display.

/// Micro-units per unit of a currency.
pub const MICROS: i64 = 1_000_000;

/// Returns `num / den` rounded half away from zero; 0 if `den` is 0.
pub(crate) fn round_div(num: i128, den: i128) -> i128 {
    if den == 0 {
        return 0;
    }
    let (num, den) = if den < 0 { (-num, -den) } else { (num, den) };
    let half = if num < 0 { -den } else { den };
    (2 * num + half) / (2 * den)
}

/// An exact fraction with a positive denominator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ratio {
    pub(crate) num: i128,
    pub(crate) den: i128,
}

impl Ratio {
    /// Returns `num / den`, or 0 if `den` is 0.
    pub(crate) fn new(num: i128, den: i128) -> Self {
        match den {
            0 => Self { num: 0, den: 1 },
            d if d < 0 => Self { num: -num, den: -d },
            d => Self { num, den: d },
        }
    }

    /// Returns the nearest fraction in parts of a micro-unit. Sums and products of such fractions
    /// stay small.
    pub(crate) fn in_parts(self) -> Self {
        Self { num: round_div(self.num * PARTS, self.den), den: PARTS }
    }

    /// Returns the nearest number with this many decimals.
    pub(crate) fn round_to(self, decimals: u32) -> f64 {
        let scale = 10_i128.pow(decimals);
        decimal(round_div(self.num * scale, self.den), scale)
    }

    /// Converts an amount in micro-units to units with two decimals.
    pub(crate) fn money(self) -> f64 {
        decimal(round_div(self.num, self.den * CENT), 100)
    }
}

/// The parts of a micro-unit in which sums of fractions are counted.
pub(crate) const PARTS: i128 = 1_000_000;

/// Micro-units of a hundredth of a unit.
const CENT: i128 = 10_000;

/// Converts an amount in micro-units to units with two decimals.
pub(crate) fn money(micros: i64) -> f64 {
    decimal(round_div(i128::from(micros), CENT), 100)
}

/// Returns an amount as text with a point and two decimals.
pub(crate) fn money_text(micros: i64) -> String {
    let cents = round_div(i128::from(micros), CENT);
    let sign = if cents < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", cents.abs() / 100, cents.abs() % 100)
}

/// Returns a share as a fraction with four decimals; 0 if the whole is 0.
pub(crate) fn share(part: i64, whole: i64) -> f64 {
    Ratio::new(i128::from(part), i128::from(whole)).round_to(4)
}

// Divides two whole numbers. A double holds every whole number up to 2^53, and division is
// correctly rounded, so the shortest text of the result is the intended decimal.
#[expect(clippy::cast_precision_loss, reason = "figures stay far below 2^53 hundredths")]
fn decimal(scaled: i128, scale: i128) -> f64 {
    scaled as f64 / scale as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_rounded_away_from_zero() {
        for (num, den, rounded) in
            [(5, 2, 3), (-5, 2, -3), (7, 3, 2), (-7, 3, -2), (0, 7, 0), (1, 0, 0), (4, -8, -1)]
        {
            assert_eq!(round_div(num, den), rounded, "{num}/{den}");
        }
        assert_eq!(money(1_005_000).to_string(), "1.01");
        assert_eq!(money(-1_005_000).to_string(), "-1.01");
        assert_eq!(money_text(-5_000), "-0.01");
        assert_eq!(money_text(1_923_750_000), "1923.75");
        assert_eq!(Ratio::new(1, 3).round_to(4).to_string(), "0.3333");
    }
}
