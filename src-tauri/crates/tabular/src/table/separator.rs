//! Finds the sign between cells, and that between lines, at the start of a text.

use std::io::Read;

use contract::sources::NumberSign;

use super::{
    cells::{day::parse_day, number::parse_number},
    fault::TableError,
    period_headings,
    records::{Record, Records as _},
    split::{Signs, Splitter},
};

/// Bytes that are looked at.
const START: u64 = 256 << 10;
/// Records that are looked at.
const RECORDS: usize = 300;
const SEPARATORS: [u8; 5] = [b',', b';', b'\t', b'|', b'^'];

/// Finds the signs of a text.
pub(crate) fn find(text: impl Read) -> Result<Signs, TableError> {
    let mut start = Vec::new();
    text.take(START).read_to_end(&mut start)?;
    let newline = match (memchr::memchr(b'\n', &start), memchr::memchr(b'\r', &start)) {
        (None, Some(_)) => b'\r',
        _ => b'\n',
    };
    let signs = |separator| Signs { separator, newline, plain_quotes: false };
    // Spreadsheets say the separator in a line of its own.
    if let [b's', b'e', b'p', b'=', separator, b'\r' | b'\n', ..] = start.as_slice() {
        return Ok(signs(*separator));
    }
    // The last line may be cut.
    if start.len() as u64 == START
        && let Some(end) = memchr::memrchr(newline, &start)
    {
        start.truncate(end);
    }
    let best =
        SEPARATORS.into_iter().rev().max_by_key(|separator| score(&start, signs(*separator)));
    Ok(signs(best.unwrap_or(b',')))
}

/// Returns whether the first record of the most common width has headings, the separators in all
/// records of that width, and the width. Numbers and titles have commas, too, but seldom below
/// headings, and seldom as many as a table has separators.
fn score(start: &[u8], signs: Signs) -> (bool, usize, usize) {
    let mut splitter = Splitter::new(start, signs);
    let mut widths: Vec<(usize, usize, bool)> = Vec::new();
    for _ in 0..RECORDS {
        let Ok(Some(record)) = splitter.next() else { break };
        let width = record.len();
        if record.fault.is_some() || width < 2 {
            continue;
        }
        match widths.iter_mut().find(|(known, ..)| *known == width) {
            Some((_, count, _)) => *count += 1,
            None => {
                let heads = has_no_values(&record) || period_headings::can_be_periods(&record);
                widths.push((width, 1, heads));
            }
        }
    }
    let best = widths
        .into_iter()
        .map(|(width, count, heads)| (heads && count > 1, count * (width - 1), width));
    best.max().unwrap_or((false, 0, 0))
}

/// Whether no cell is a number or a day.
fn has_no_values(record: &Record<'_>) -> bool {
    record
        .cells()
        .all(|cell| parse_number(cell, NumberSign::Point).is_err() && parse_day(cell).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_separator_is_the_sign_that_gives_equal_lines() {
        for (text, separator) in [
            ("Day,Cost\n2026-11-01,5\n", b','),
            ("Day;Cost\n2026-11-01;1,5\n2026-11-02;2,5\n", b';'),
            (
                "Day;Campaign;Cost;Impr.\n2026-11-01;Oak;R$ 1.234,50;100\n2026-11-02;Oak;R$ 50,25;100\n",
                b';',
            ),
            ("Day\tCost\n2026-11-01\t1,234.50\n2026-11-02\t1,000.00\n", b'\t'),
            ("a|b|c\n1,5|2|3\n", b'|'),
            ("sep=;\na;b\n1;2\n", b';'),
            ("Title, with comma\nDay;Cost\n1;2\n3;4\n", b';'),
            ("Day,Name\n2026-11-01,\"a;b;c\"\n", b','),
            (
                "Report, of\nStart: 1, 2\nEnd: 3, 4\nDay\tName\tCost\n1\tOak\t1,5\n2\tOak\t1,6\n",
                b'\t',
            ),
            ("Day;Cost\n2026-11-01;1,234,567\n2026-11-02;2,345,678\n", b';'),
            ("Day;Name;Cost\n2026-11-01;Oak; Elm;9,50\n2026-11-02;Oak;10,50\n", b';'),
            ("Konto;2025;2026\nOak;1000,50;1200\nElm;10,25;20\n", b';'),
            ("one\ntwo\n", b','),
        ] {
            assert_eq!(find(text.as_bytes()).unwrap().separator, separator, "{text}");
        }
        assert_eq!(find(&b"a,b\r1,2\r"[..]).unwrap().newline, b'\r');
    }
}
