//! The text of a cell, and the texts that stand for a missing value.

/// The form in which a file stores a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tag {
    /// Plain text.
    #[default]
    Plain,
    /// Text in quotes whose inner quotes are doubled.
    Doubled,
    /// A number that a workbook stores, with a point before decimals.
    Number,
    /// A day or moment that a workbook stores, in the form of ISO 8601.
    Moment,
    /// An error that a formula returned, such as `#DIV/0!`.
    Error,
    /// A formula whose value is not stored.
    NoValue,
}

/// Whether a cell in a column of numbers or days stands for a missing value.
pub(crate) fn is_blank(cell: &[u8]) -> bool {
    if cell.len() > 6 {
        return false;
    }
    matches!(
        cell,
        b"" | b"-"
            | b"--"
            | b"---"
            | b"n/a"
            | b"N/A"
            | b"NA"
            | b"null"
            | b"NULL"
            | b"None"
            | b"none"
            | b"nan"
            | b"NaN"
            | b"(null)"
            | b"\\N"
            | b"nil"
            | b"."
            | b"?"
    ) || cell == "–".as_bytes()
        || cell == "—".as_bytes()
}

/// Whether a cell is the error text of a spreadsheet.
pub(crate) fn is_error(cell: &[u8]) -> bool {
    cell.first() == Some(&b'#')
        && [
            &b"#N/A"[..],
            b"#REF!",
            b"#DIV/0!",
            b"#VALUE!",
            b"#NAME?",
            b"#NUM!",
            b"#NULL!",
            b"#ERROR!",
            b"#SPILL!",
            b"#CALC!",
            b"#WERT!",
            b"#BEZUG!",
            b"#NV",
            b"#REFERENS!",
            b"#SAKNAS!",
            b"#VALEUR!",
            b"#####",
        ]
        .iter()
        .any(|error| cell.starts_with(error))
}

/// Returns a cell without white space at its ends. No-break spaces count as white space.
#[inline]
pub(crate) fn trim(mut cell: &[u8]) -> &[u8] {
    if let (Some(first), Some(last)) = (cell.first(), cell.last())
        && *first > b' '
        && *last > b' '
        && *first < 0xC2
        && *last < 0x80
    {
        return cell;
    }
    loop {
        let shorter = match cell {
            [0..=b' ', rest @ ..] | [rest @ .., 0..=b' '] => rest,
            [0xC2, 0xA0, rest @ ..] | [rest @ .., 0xC2, 0xA0] => rest,
            [0xE2, 0x80, 0xAF, rest @ ..] | [rest @ .., 0xE2, 0x80, 0xAF] => rest,
            [0xEF, 0xBB, 0xBF, rest @ ..] => rest,
            _ => return cell,
        };
        cell = shorter;
    }
}

/// Returns the text of a cell. Records contain valid UTF-8 only.
#[inline]
pub(crate) fn text(cell: &[u8]) -> &str {
    std::str::from_utf8(cell).unwrap_or_default()
}

/// Returns the beginning of a cell for a message.
pub(crate) fn shorten(cell: &[u8]) -> String {
    let text = String::from_utf8_lossy(cell);
    let text = text.trim();
    let mut short: String =
        text.chars().take(60).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().count() > 60 {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_at_the_ends_is_no_part_of_a_cell() {
        for (cell, trimmed) in [
            (" a b ", "a b"),
            ("\u{a0}a\u{202f}", "a"),
            ("é", "é"),
            ("à", "à"),
            ("", ""),
            (" ", ""),
        ] {
            assert_eq!(text(trim(cell.as_bytes())), trimmed);
        }
    }
}
