//! Finds the line with the headings, and makes names of columns from it.

use std::collections::HashSet;

use contract::sources::NumberSign;

use super::{
    cells::{day::parse_day, number::parse_number, value::Tag},
    fault::TableError,
    period_headings,
    records::{Kept, Record},
};

/// Records at the start of a table among which the headings are searched for.
pub(crate) const HEAD: usize = 400;

/// The headings of a table.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    /// The number of records up to and including the headings.
    pub(crate) records: usize,
    pub(crate) line: u64,
    /// The headings as they are written.
    pub(crate) headings: Vec<String>,
    /// The names: headings that are unique and not empty.
    pub(crate) names: Vec<String>,
    /// Whether the line was chosen although it looks like a row.
    pub(crate) is_doubtful: bool,
    /// Whether numbers are headings, because they are years or months that follow each other.
    pub(crate) has_periods: bool,
}

impl Header {
    /// Whether a record repeats the headings. It can end before columns without a heading.
    pub(crate) fn is_repeated_by(&self, record: &Record<'_>) -> bool {
        self.headings.iter().enumerate().all(|(at, heading)| record.text(at) == heading)
    }
}

/// Finds the headings in the first records of a table.
pub(crate) fn find(head: &[Kept], decided: Option<u64>) -> Result<Header, TableError> {
    if let Some(line) = decided {
        let at = head.iter().position(|kept| kept.line == line);
        return Ok(make(head, at.ok_or(TableError::NoLine(line))?, false));
    }
    let width = common_width(head);
    let is_wide = |record: &Record<'_>| record.len() == width || record.filled_len() == width;
    let is_like = |(at, kept): &(usize, &Kept)| {
        kept.fault.is_none()
            && (is_like_headings(&kept.record()) || period_headings::are_periods(head, *at))
    };
    let like: Vec<(usize, usize, bool)> = head
        .iter()
        .enumerate()
        .filter(is_like)
        .map(|(at, kept)| (at, count_filled(&kept.record()), is_wide(&kept.record())))
        .collect();
    let find_among = |wide: bool| {
        let among = || like.iter().filter(|(_, filled, is_wide)| *is_wide == wide && *filled > 0);
        let most = among().map(|(_, filled, _)| *filled).max()?;
        among().find(|(_, filled, _)| *filled * 5 >= most * 4).map(|(at, filled, _)| (*at, *filled))
    };
    if let Some((at, _)) = find_among(true) {
        return Ok(make(head, at, false));
    }
    // All rows can have more cells than headings: then each of them is rejected, and not the headings.
    if let Some((at, _)) = find_among(false).filter(|(_, filled)| *filled > 1) {
        return Ok(make(head, at, false));
    }
    let first = head.iter().position(|kept| kept.fault.is_none() && is_wide(&kept.record()));
    first.map(|at| make(head, at, true)).ok_or(TableError::NoTable)
}

fn count_filled(record: &Record<'_>) -> usize {
    (0..record.len()).filter(|at| record.has_value(*at)).count()
}

/// Returns the number of cells that most records have.
fn common_width(head: &[Kept]) -> usize {
    let mut counts: Vec<(usize, usize)> = Vec::new();
    for kept in head {
        let record = kept.record();
        let width = record.len();
        if record.filled_len() == 0 {
            continue;
        }
        match counts.iter_mut().find(|(known, _)| *known == width) {
            Some((_, count)) => *count += 1,
            None => counts.push((width, 1)),
        }
    }
    // A width of one is that of titles and notes, unless nothing else is there.
    counts.iter().max_by_key(|(width, count)| (*width > 1, *count, *width)).map_or(0, |(w, _)| *w)
}

/// Whether a record can be one of headings: texts, no numbers, and not a row with days.
fn is_like_headings(record: &Record<'_>) -> bool {
    let (mut days, mut texts) = (0, 0);
    for at in 0..record.len() {
        let cell = record.cell(at);
        match record.tag(at) {
            Tag::Number | Tag::Error | Tag::NoValue => return false,
            Tag::Moment => days += 1,
            _ if cell.is_empty() => {}
            _ if parse_day(cell).is_some() => days += 1,
            _ if parse_number(cell, NumberSign::Point).is_ok() => return false,
            _ => texts += 1,
        }
    }
    // Days can be headings of a plan with a column for each day.
    texts > 0 && (days == 0 || days >= 3) && record.has_value(0) | (record.len() > 2)
}

fn make(head: &[Kept], at: usize, is_doubtful: bool) -> Header {
    let record = head[at].record();
    let headings: Vec<String> = (0..record.len()).map(|at| record.text(at).to_owned()).collect();
    let names = make_names(&headings);
    let has_periods = period_headings::are_periods(head, at);
    Header { records: at + 1, line: record.line, headings, names, is_doubtful, has_periods }
}

/// Makes names of headings: unique without regard to case, and not empty.
pub(crate) fn make_names(headings: &[String]) -> Vec<String> {
    let mut used: HashSet<String> = HashSet::new();
    let mut names = Vec::new();
    for (at, heading) in headings.iter().enumerate() {
        let words: Vec<&str> = heading
            .split(|c: char| c.is_whitespace() || c.is_control())
            .filter(|word| !word.is_empty())
            .collect();
        let base: String = words.join(" ").chars().take(100).collect();
        let base = if base.is_empty() { format!("column_{}", at + 1) } else { base };
        let mut name = base.clone();
        let mut number = 2;
        while !used.insert(name.to_lowercase()) {
            name = format!("{base} {number}");
            number += 1;
        }
        names.push(name);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            records::Records as _,
            split::{Signs, Splitter},
        },
        *,
    };

    fn header(text: &str) -> (u64, bool, Vec<String>) {
        let signs = Signs { separator: b',', newline: b'\n', plain_quotes: false };
        let mut splitter = Splitter::new(text.as_bytes(), signs);
        let mut head = Vec::new();
        while let Some(record) = splitter.next().unwrap() {
            head.push(Kept::new(&record));
        }
        let header = find(&head, None).unwrap();
        (header.line, header.is_doubtful, header.names)
    }

    #[test]
    fn headings_are_found_below_titles() {
        for (text, line) in [
            ("Day,Campaign,Cost\n2026-11-01,Oak,5\n", 1),
            ("Report\n\"Nov 1, 2026 - Nov 2, 2026\"\nDay,Campaign,Cost\n2026-11-01,Oak,5\n", 3),
            ("Client:,Acme,,\nDay,Campaign,Cost,Impr.\n2026-11-01,Oak,5,1\n", 2),
            ("Name,City\nOak,Bern\nElm,Rome\n", 1),
            (",,Oct,,Nov,\nCampaign,Owner,Cost,Clicks,Cost,Clicks\nOak,A,1,2,3,4\n", 2),
            ("Campaign,Jan 2026,Feb 2026\nOak,5,6\n", 1),
            ("Campaign,2026-11-01,2026-11-02,2026-11-03\nOak,5,6,7\n", 1),
            ("Konto,2025,2026\nOak,5,6\n", 1),
            ("Plan\nName,2026,2025,2024\nOak,5,6,2000\nElm,7,8,9\n", 2),
            (",2025,2026\nOak,5,6\n", 1),
            ("Name,202511,202512,202601\nOak,5,6,7\n", 1),
            ("Account,1,2,3\nOak,5,6,7\n", 1),
            ("Year,2025,2026\nCampaign,Cost,Clicks\nOak,5,6\n", 2),
        ] {
            let found = header(text);
            assert_eq!((found.0, found.1), (line, false), "{text}");
        }
        assert!(header("2026-11-01,Oak,5\n2026-11-02,Oak,6\n").1, "rows alone have no headings");
        for text in [
            "Oak,2025,2026\nElm,2024,2026\n",
            "Oak,1,2,3\nElm,5,6,7\n",
            "Oak,2025,2027\nElm,5,6\n",
            "2025,2026\n5,6\n",
        ] {
            assert!(header(text).1, "{text}");
        }
    }

    #[test]
    fn names_are_unique_and_not_empty() {
        let headings = ["Cost", "", "cost", "Cost"].map(str::to_owned);
        assert_eq!(make_names(&headings), ["Cost", "column_2", "cost 2", "Cost 3"]);
    }
}
