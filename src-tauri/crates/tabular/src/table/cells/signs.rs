//! Finds out what the signs between digits mean: decimals, or groups of thousands. A number such as
//! 1,234 can mean both. Must not know the values of numbers.

use contract::sources::NumberSign;

/// The evidence about the decimal sign in a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// No evidence.
    None,
    /// The number has decimals after this sign, or groups of thousands by the other sign.
    Sign(NumberSign),
    /// The number has one point with three digits after it, so that the number is ambiguous.
    OpenPoint,
    /// The number has one comma with three digits after it, so that the number is ambiguous.
    OpenComma,
}

/// The meaning of the signs in a number.
pub(super) struct Shape {
    /// The number of decimal places.
    pub(super) places: usize,
    pub(super) evidence: Evidence,
    pub(super) has_groups: bool,
}

/// Returns what the signs between the digits of a number mean. `sign` is before decimals where the
/// number leaves it open. None if the signs are those of no number.
pub(super) fn find_shape(text: &[u8], sign: NumberSign) -> Option<Shape> {
    let count = |wanted: u8| text.iter().filter(|byte| **byte == wanted).count();
    let (points, commas) = (count(b'.'), count(b','));
    let (spaces, quotes) = (count(b' '), count(b'\''));
    let last_of = |wanted: u8| text.iter().rposition(|byte| *byte == wanted);
    let (decimal, open) = match (points, commas) {
        (0, 0) => (None, false),
        (_, 0) | (0, _) => {
            let own = if points > 0 { b'.' } else { b',' };
            let at = last_of(own)?;
            if points + commas > 1 {
                (None, false)
            } else {
                let before = &text[..at];
                let is_open = spaces + quotes == 0
                    && text.len() - at - 1 == 3
                    && (1..=3).contains(&before.len())
                    && before[0] != b'0';
                let reads = own == sign_byte(sign);
                (if is_open && !reads { None } else { Some(at) }, is_open)
            }
        }
        _ => {
            let at = last_of(b'.')?.max(last_of(b',')?);
            if count(text[at]) != 1 {
                return None;
            }
            (Some(at), false)
        }
    };
    let evidence = match (points, commas, decimal) {
        (0, 0, _) => Evidence::None,
        (_, 0, _) if open => Evidence::OpenPoint,
        (0, _, _) if open => Evidence::OpenComma,
        (_, _, Some(at)) if text[at] == b'.' => Evidence::Sign(NumberSign::Point),
        (_, _, Some(_)) => Evidence::Sign(NumberSign::Comma),
        // A sign that occurs several times separates thousands, so that the other sign is the
        // decimal sign.
        (0, _, None) => Evidence::Sign(NumberSign::Point),
        (_, _, None) => Evidence::Sign(NumberSign::Comma),
    };
    let whole = &text[..decimal.unwrap_or(text.len())];
    let places = decimal.map_or(0, |at| text.len() - at - 1);
    if !text[text.len() - places..].iter().all(u8::is_ascii_digit) {
        return None;
    }
    let has_groups = whole.iter().any(|byte| !byte.is_ascii_digit());
    (is_grouped(whole)).then_some(Shape { places, evidence, has_groups })
}

fn sign_byte(sign: NumberSign) -> u8 {
    match sign {
        NumberSign::Point => b'.',
        NumberSign::Comma => b',',
    }
}

/// Whether digits have no signs between them, or are in groups by one kind of sign: groups of three
/// digits, or groups as in India (1,23,45,678).
fn is_grouped(whole: &[u8]) -> bool {
    let mut kinds = whole.iter().filter(|byte| !byte.is_ascii_digit());
    let Some(kind) = kinds.next() else { return true };
    if kinds.any(|other| other != kind) {
        return false;
    }
    let (mut threes, mut twos, mut groups, mut first, mut last) = (true, true, 0, 0, 0);
    for (at, group) in whole.split(|byte| byte == kind).enumerate() {
        if at == 0 {
            first = group.len();
        } else {
            if at > 1 {
                threes &= last == 3;
                twos &= last == 2;
            }
            last = group.len();
        }
        groups = at;
    }
    groups > 0
        && last == 3
        && ((threes && (1..=3).contains(&first))
            || (twos && (1..=2).contains(&first) && *kind == b','))
}
