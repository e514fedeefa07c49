//! Reads the titles, which are the lines above the headings: the range of days, the account and the
//! currency.

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
    /// The range whose days can mean several, if the file states no other.
    open_range: Option<WrittenRange>,
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

/// How many times longer than another one a range cannot be: a day that is taken for a year makes
/// days of years.
const LONGER: i64 = 10;

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
            titles.note_range(WrittenRange { first, last }, order);
        }
        titles
    }

    /// Decides a range whose days can mean several by the days of the rows, which it has to include,
    /// and by their order.
    pub(crate) fn resolve_range(&mut self, rows: Option<DayRange>, order: Option<DayOrder>) {
        let Some(open) = self.open_range.filter(|_| self.range.is_none()) else { return };
        let has =
            |range: &DayRange, rows: DayRange| range.first <= rows.first && rows.last <= range.last;
        let mut readings = open.readings();
        // A day that is taken for a year makes a range of years, which has any rows.
        let least = readings.iter().map(length_of).min().unwrap_or(0);
        readings.retain(|range| length_of(range) <= (least * LONGER).max(366));
        readings.retain(|range| rows.is_none_or(|rows| has(range, rows)));
        if let Some(least) = readings.iter().map(length_of).min() {
            readings.retain(|range| length_of(range) <= least * LONGER);
        }
        let in_order = order.and_then(|order| open.in_order(order));
        self.range = match readings[..] {
            [only] => Some(only),
            _ => in_order.filter(|range| readings.contains(range)),
        };
    }

    /// Keeps the range that is stated first.
    fn note_range(&mut self, range: WrittenRange, order: Option<DayOrder>) {
        self.range = order.and_then(|order| range.in_order(order));
        if self.range.is_none() {
            match range.readings()[..] {
                [only] => self.range = Some(only),
                _ => {
                    self.open_range.get_or_insert(range);
                }
            }
        }
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
            let range = find_range(text)
                .or_else(|| if cells.len() > 2 { pair(cells[1], cells[2]) } else { None })
                .or_else(|| if cells.len() == 2 { pair(cells[0], cells[1]) } else { None });
            if let Some(range) = range {
                self.note_range(range, order);
            }
        }
    }
}

/// The first and the last day of a range, as they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WrittenRange {
    first: DayCell,
    last: DayCell,
}

impl WrittenRange {
    /// Returns the range if its days have this order. None if they cannot have it.
    fn in_order(self, order: DayOrder) -> Option<DayRange> {
        let (first, last) = (self.first.day(order)?, self.last.day(order)?);
        (first <= last).then_some(DayRange { first, last })
    }

    /// Returns all ranges that can be meant.
    fn readings(self) -> Vec<DayRange> {
        let mut found = Vec::new();
        for range in DayOrder::ALL.into_iter().filter_map(|order| self.in_order(order)) {
            if !found.contains(&range) {
                found.push(range);
            }
        }
        found
    }
}

/// Returns the number of days of a range.
fn length_of(range: &DayRange) -> i64 {
    (range.last - range.first).num_days() + 1
}

/// Returns the currency that a sentence such as "All amounts in SEK" states.
pub(crate) fn currency_of_sentence(text: &str) -> Option<Currency> {
    if words::is_about_amounts(text) { find_in_heading(text) } else { None }
}

/// Finds a range of two days in a text: `November 1, 2026 - November 30, 2026`.
fn find_range(text: &str) -> Option<WrittenRange> {
    let text = text.trim().trim_matches(|c| matches!(c, '"' | '(' | ')'));
    for between in [
        " - ", " – ", " — ", " to ", " bis ", " till ", " until ", " au ", " a ", " al ", "–", "—",
        "~", "..", "-",
    ] {
        for (at, _) in text.match_indices(between) {
            let (first, last) = (&text[..at], &text[at + between.len()..]);
            if let Some(range) = pair(first, last) {
                return Some(range);
            }
            // "Report from 1 Nov 2026 to 2 Nov 2026" has words before the first day.
            let words = first.char_indices().filter(|(_, c)| c.is_whitespace() || *c == ':');
            for (start, c) in words {
                if let Some(range) = pair(&first[start + c.len_utf8()..], last) {
                    return Some(range);
                }
            }
        }
    }
    None
}

/// Returns the range of two days. None if the texts are no days, or their order is wrong.
fn pair(first: &str, last: &str) -> Option<WrittenRange> {
    let last = last.split_once(" (").map_or(last, |(day, _)| day);
    let day = |text: &str| parse_day(text.trim().trim_matches(['(', ')', ',']).as_bytes());
    let last_cell = day(last)?;
    // Ranges such as "Nov 1 - Nov 30, 2026" and "1 - 30 Nov 2026" state the year or month only
    // once.
    let first_cell = day(first).or_else(|| {
        let year = last.trim().rsplit(|c: char| !c.is_ascii_digit()).next()?;
        (year.len() == 4).then(|| day(&format!("{}, {year}", first.trim()))).flatten()
    })?;
    let range = WrittenRange { first: first_cell, last: last_cell };
    (!range.readings().is_empty()).then_some(range)
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
            "1/11/2026 - 30/11/2026",
        ] {
            let readings = find_range(text).map(WrittenRange::readings).unwrap_or_default();
            assert_eq!(readings, [days("2026-11-01", "2026-11-30")], "{text}");
        }
        for text in ["Campaign report", "2026-11-01", "2026-11-30 - 2026-11-01"] {
            assert_eq!(find_range(text), None, "{text}");
        }
    }

    #[test]
    fn the_rows_decide_a_range_whose_days_can_mean_several() {
        let november = days("2026-11-13", "2026-11-30");
        let resolved = |text: &str, rows: DayRange, order: Option<DayOrder>| {
            let mut titles = Titles::default();
            titles.note_range(find_range(text).unwrap(), None);
            assert_eq!(titles.range, None, "{text}");
            titles.resolve_range(Some(rows), order);
            titles.range
        };
        let rows = days("2026-11-14", "2026-11-29");
        assert_eq!(resolved("13/11/26 - 30/11/26", rows, None), Some(november));
        assert_eq!(resolved("26-11-13 - 26-11-30", rows, None), Some(november));
        let to_29 = days("2026-11-13", "2026-11-29");
        assert_eq!(resolved("13.11.26 - 29.11.26", rows, None), Some(to_29));
        let spring = days("2026-02-10", "2026-03-01");
        assert_eq!(
            resolved("1/2/2026 - 3/4/2026", spring, None),
            None,
            "both orders have the rows"
        );
        let day_first = Some(DayOrder::DayMonthYear);
        let range = days("2026-02-01", "2026-04-03");
        assert_eq!(resolved("1/2/2026 - 3/4/2026", spring, day_first), Some(range));
        let later = days("2026-05-01", "2026-05-02");
        assert_eq!(resolved("1/2/2026 - 3/4/2026", later, day_first), None);
    }

    fn days(first: &str, last: &str) -> DayRange {
        DayRange { first: first.parse().unwrap(), last: last.parse().unwrap() }
    }
}
