//! Reads the titles, which are the lines above the headings: the range of days, the account and the
//! currency.

use chrono::NaiveDate;
use contract::sources::DayRange;

use super::{
    cells::{
        currency::{Currency, find_in_heading},
        day::{DayCell, parse_day},
        order::DayOrder,
        value,
    },
    records::Kept,
    words,
};

/// The range of days, the account and the currency that the titles of a file state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Titles {
    pub(crate) range: Option<DayRange>,
    pub(crate) account: Option<String>,
    /// The currencies that titles state, with their lines.
    pub(crate) currencies: Vec<(Currency, u64)>,
    /// The first line that says that amounts are in thousands, millions or cents.
    pub(crate) scaled: Option<(u64, String)>,
    first: Option<DayCell>,
    last: Option<DayCell>,
    /// The first lines with text, and their number. `sample` is the first of these lines.
    pub(crate) lines: Vec<u64>,
    pub(crate) count: u64,
    pub(crate) sample: String,
}

/// Words before the range of days.
const RANGES: &[&str] = &[
    "date range",
    "period",
    "reporting period",
    "report period",
    "dates",
    "datumintervall",
    "zeitraum",
    "période",
    "periodo",
    "período",
    "date",
    "range",
    "time period",
    "datum",
];
/// Words before the name of the account.
const ACCOUNTS: &[&str] = &[
    "account",
    "account name",
    "konto",
    "kontonamn",
    "kontoname",
    "compte",
    "cuenta",
    "conta",
    "customer",
    "client",
    "kund",
    "kunde",
    "advertiser",
    "ad account",
];
impl Titles {
    /// Reads the records above the headings.
    pub(crate) fn read(records: &[Kept], order: Option<DayOrder>) -> Self {
        let mut titles = Self::default();
        for kept in records {
            let record = kept.record();
            let cells: Vec<&str> =
                record.cells().map(value::text).filter(|cell| !cell.is_empty()).collect();
            if cells.is_empty() {
                continue;
            }
            if titles.lines.is_empty() {
                titles.sample = record.sample();
            }
            titles.count += 1;
            if titles.scaled.is_none() && cells.iter().any(|cell| words::names_scale(cell)) {
                titles.scaled = Some((record.line, record.sample()));
            }
            if titles.lines.len() < 20 {
                titles.lines.push(record.line);
            }
            titles.read_line(&cells, record.line, order);
        }
        if let (None, Some(first), Some(last)) = (titles.range, titles.first, titles.last) {
            let order = order.or_else(|| first.shown_order()).or_else(|| last.shown_order());
            titles.range = sure(&first, order)
                .zip(sure(&last, order))
                .filter(|(first, last)| first <= last)
                .map(|(first, last)| DayRange { first, last });
        }
        titles
    }

    /// Returns the currency that the titles state first.
    pub(crate) fn currency(&self) -> Option<Currency> {
        self.currencies.first().map(|(currency, _)| *currency)
    }

    fn read_line(&mut self, cells: &[&str], line: u64, order: Option<DayOrder>) {
        // A title such as "Account: Acme" is one cell or two cells.
        let (name, rest) = match cells {
            [one] => one.split_once(':').unwrap_or(("", one)),
            [name, rest, ..] => (name.trim_end_matches(':'), *rest),
            [] => return,
        };
        let (plain, rest) = (words::plain(name), rest.trim());
        if ACCOUNTS.contains(&plain.as_str()) && !rest.is_empty() {
            self.account.get_or_insert_with(|| rest.chars().take(200).collect());
        } else if words::is_currency(name) {
            let stated = Currency::from_name(rest).or_else(|| find_in_heading(rest));
            self.currencies.extend(stated.map(|currency| (currency, line)));
        } else if let Some(currency) = currency_of_sentence(&cells.join(" ")) {
            self.currencies.push((currency, line));
        } else if words::is_start(&plain) && parse_day(rest.as_bytes()).is_some() {
            self.first = parse_day(rest.as_bytes());
        } else if words::is_end(&plain) && parse_day(rest.as_bytes()).is_some() {
            self.last = parse_day(rest.as_bytes());
        } else if self.range.is_none() {
            let whole = cells.join(" ");
            let text =
                if RANGES.contains(&plain.as_str()) && cells.len() == 1 { rest } else { &whole };
            self.range = find_range(text, order)
                .or_else(|| if cells.len() > 2 { pair(cells[1], cells[2], order) } else { None })
                .or_else(|| if cells.len() == 2 { pair(cells[0], cells[1], order) } else { None });
        }
    }
}

/// Returns the currency that a sentence such as "All amounts in SEK" states.
pub(crate) fn currency_of_sentence(text: &str) -> Option<Currency> {
    if words::is_about_amounts(text) { find_in_heading(text) } else { None }
}

/// Finds a range of two days in a text: `November 1, 2026 - November 30, 2026`.
pub(crate) fn find_range(text: &str, order: Option<DayOrder>) -> Option<DayRange> {
    let text = text.trim().trim_matches(|c| matches!(c, '"' | '(' | ')'));
    for between in [
        " - ", " – ", " — ", " to ", " bis ", " till ", " until ", " au ", " a ", " al ", "–", "—",
        "~", "..", "-",
    ] {
        for (at, _) in text.match_indices(between) {
            let (first, last) = (&text[..at], &text[at + between.len()..]);
            if let Some(range) = pair(first, last, order) {
                return Some(range);
            }
            // "Report from 1 Nov 2026 to 2 Nov 2026" has words before the first day.
            let words = first.char_indices().filter(|(_, c)| c.is_whitespace() || *c == ':');
            for (start, c) in words {
                if let Some(range) = pair(&first[start + c.len_utf8()..], last, order) {
                    return Some(range);
                }
            }
        }
    }
    None
}

fn pair(first: &str, last: &str, order: Option<DayOrder>) -> Option<DayRange> {
    let last = last.split_once(" (").map_or(last, |(day, _)| day);
    let day = |text: &str| parse_day(text.trim().trim_matches(['(', ')', ',']).as_bytes());
    let last_cell = day(last)?;
    // Ranges such as "Nov 1 - Nov 30, 2026" and "1 - 30 Nov 2026" state the year or month only
    // once.
    let first_cell = day(first).or_else(|| {
        let year = last.trim().rsplit(|c: char| !c.is_ascii_digit()).next()?;
        (year.len() == 4).then(|| day(&format!("{}, {year}", first.trim()))).flatten()
    })?;
    let (first, last) = (sure(&first_cell, order)?, sure(&last_cell, order)?);
    (first <= last).then_some(DayRange { first, last })
}

fn sure(cell: &DayCell, order: Option<DayOrder>) -> Option<NaiveDate> {
    match order.or_else(|| cell.shown_order()) {
        Some(order) => cell.day(order),
        None if cell.is_open() => None,
        None => cell.day(DayOrder::DayMonthYear),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_days_is_found_in_titles() {
        for text in [
            "November 1, 2026 - November 30, 2026",
            "2026-11-01 - 2026-11-30",
            "Nov 1 - Nov 30, 2026",
            "1 nov. 2026 – 30 nov. 2026",
            "1.11.2026-30.11.2026",
            "Report from 2026-11-01 to 2026-11-30",
            "2026-11-01–2026-11-30",
            "Report Date Range: 2026-11-01 - 2026-11-30 (UTC)",
        ] {
            let range = find_range(text, None)
                .map(|range| (range.first.to_string(), range.last.to_string()));
            assert_eq!(range, Some(("2026-11-01".to_owned(), "2026-11-30".to_owned())), "{text}");
        }
        for text in
            ["Campaign report", "2026-11-01", "1/2/2026 - 3/4/2026", "2026-11-30 - 2026-11-01"]
        {
            assert_eq!(find_range(text, None), None, "{text}");
        }
    }
}
