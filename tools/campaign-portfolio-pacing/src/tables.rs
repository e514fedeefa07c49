//! Writes rows of this pack as the two tables that become sources: what was delivered, in a row for
//! each line item and day of its account, and what is planned, in a row for each campaign. It must not
//! know where the rows come from.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    io::{self, BufWriter, Write},
};

use chrono::NaiveDate;
use contract::{
    pack_code::{CreateFile, TableFile},
    sources::{ColumnChoice, ColumnKind, ImportDecisions, NumberSign},
};

/// The number of micro-units in a unit of money.
pub(crate) const MICROS: i64 = 1_000_000;

/// The file with what was delivered.
pub(crate) const DELIVERY: &str = "delivery.csv";
/// The file with what is planned.
pub(crate) const PLAN: &str = "campaigns.csv";
/// The columns of what was delivered that sums are compared by.
pub(crate) const ACCOUNT_ID: &str = "Account ID";
pub(crate) const DAY: &str = "Day";
pub(crate) const SPEND: &str = "Spend";
pub(crate) const IMPRESSIONS: &str = "Impressions";

const DELIVERY_HEADER: &str = "Account ID,Account,Currency,Advertiser,Campaign ID,Campaign,Line item ID,Line item,Day,Spend,Impressions";
const PLAN_HEADER: &str =
    "Account ID,Account,Time zone,Currency,Advertiser,Campaign ID,Campaign,Budget,Start,End";

/// The columns whose digits are names.
const IDS: [&str; 3] = [ACCOUNT_ID, "Campaign ID", "Line item ID"];
/// The answers to questions about the rows: each is a row, and none is a total or a copy.
const ANSWERS: [(&str, &str); 7] = [
    ("blank_days", "store"),
    ("blank_labels", "store"),
    ("duplicate_rows", "keep"),
    ("file_total", "store"),
    ("split_numbers", "keep"),
    ("total_rows", "keep"),
    ("unnamed_rows", "keep"),
];

/// A campaign with its account.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Of<'a> {
    pub(crate) account_id: &'a str,
    pub(crate) account: &'a str,
    pub(crate) zone: &'a str,
    pub(crate) currency: &'a str,
    pub(crate) advertiser: &'a str,
    pub(crate) campaign_id: &'a str,
    pub(crate) campaign: &'a str,
}

/// A file that rows are written into.
pub(crate) struct Table(BufWriter<Box<dyn Write>>);

impl Table {
    /// Begins the table of what was delivered.
    pub(crate) fn of_delivery(create: &mut CreateFile<'_>) -> io::Result<Self> {
        Self::begin(DELIVERY, DELIVERY_HEADER, create)
    }

    /// Begins the table of what is planned.
    pub(crate) fn of_plan(create: &mut CreateFile<'_>) -> io::Result<Self> {
        Self::begin(PLAN, PLAN_HEADER, create)
    }

    fn begin(name: &str, header: &str, create: &mut CreateFile<'_>) -> io::Result<Self> {
        let mut file = BufWriter::new(create(name)?);
        writeln!(file, "{header}")?;
        Ok(Self(file))
    }

    /// Writes what a line item delivered on a day. The spend is in micro-units.
    pub(crate) fn deliver(
        &mut self,
        of: Of<'_>,
        (id, name): (&str, &str),
        day: NaiveDate,
        (spend, impressions): (i64, i64),
    ) -> io::Result<()> {
        writeln!(
            self.0,
            "{},{},{},{},{},{},{},{},{day},{},{impressions}",
            cell(of.account_id),
            cell(of.account),
            cell(of.currency),
            cell(of.advertiser),
            cell(of.campaign_id),
            cell(of.campaign),
            cell(id),
            cell(name),
            amount(spend.into()),
        )
    }

    /// Writes the budget of a campaign, in micro-units, with its first and last day.
    pub(crate) fn plan(
        &mut self,
        of: Of<'_>,
        budget: i64,
        (first, last): (NaiveDate, NaiveDate),
    ) -> io::Result<()> {
        writeln!(
            self.0,
            "{},{},{},{},{},{},{},{},{first},{last}",
            cell(of.account_id),
            cell(of.account),
            cell(of.zone),
            cell(of.currency),
            cell(of.advertiser),
            cell(of.campaign_id),
            cell(of.campaign),
            amount(budget.into()),
        )
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Returns the file of what was delivered, as an import reads it.
pub(crate) fn delivery_file() -> TableFile {
    file(DELIVERY, "delivery", &IDS)
}

/// Returns the file of what is planned, as an import reads it.
pub(crate) fn plan_file() -> TableFile {
    file(PLAN, "campaigns", &IDS[..2])
}

fn file(name: &str, source: &str, ids: &[&str]) -> TableFile {
    // Digits would lose the zeros before them.
    let text = ColumnChoice { kind: Some(ColumnKind::Text), ..ColumnChoice::default() };
    let decisions = ImportDecisions {
        decimal: Some(NumberSign::Point),
        columns: ids.iter().map(|id| ((*id).to_owned(), text.clone())).collect(),
        answers: ANSWERS
            .iter()
            .map(|(id, answer)| ((*id).to_owned(), (*answer).to_owned()))
            .collect(),
        ..ImportDecisions::default()
    };
    TableFile { name: name.to_owned(), source: source.into(), decisions }
}

/// Returns micro-units as an exact amount with at least two decimals.
pub(crate) fn amount(micros: i128) -> String {
    let (size, unit) = (micros.unsigned_abs(), u128::from(MICROS.unsigned_abs()));
    let sign = if micros < 0 { "-" } else { "" };
    let decimals = format!("{:06}", size % unit);
    let decimals = decimals.trim_end_matches('0');
    format!("{sign}{}.{decimals:0<2}", size / unit)
}

/// Writes a text cell as it is. These files are read by the app, not by a spreadsheet, so that the
/// names must not change.
fn cell(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) || text.trim() != text {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}

/// The delivery of a line item on each day. A row of a whole day counts more than hours of that day.
#[derive(Debug, Default)]
pub(crate) struct Days(BTreeMap<NaiveDate, Cell>);

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    whole: Option<(i64, i64)>,
    hours: Option<(i64, i64)>,
}

impl Days {
    /// Adds the spend and impressions of a whole day.
    pub(crate) fn add_day(&mut self, day: NaiveDate, amounts: (i64, i64)) {
        self.0.entry(day).or_default().whole = Some(amounts);
    }

    /// Adds the spend and impressions of an hour.
    pub(crate) fn add_hour(&mut self, day: NaiveDate, (spend, impressions): (i64, i64)) {
        let sum = self.0.entry(day).or_default().hours.get_or_insert((0, 0));
        *sum = (sum.0.saturating_add(spend), sum.1.saturating_add(impressions));
    }

    /// Takes the days out, in their order.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = (NaiveDate, (i64, i64))> + use<> {
        let days = std::mem::take(&mut self.0);
        days.into_iter().filter_map(|(day, cell)| Some((day, cell.whole.or(cell.hours)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact_and_have_at_least_two_decimals() {
        for (micros, text) in [
            (12_340_000, "12.34"),
            (5, "0.000005"),
            (-1_500_000, "-1.50"),
            (48_000_000_000, "48000.00"),
            (0, "0.00"),
        ] {
            assert_eq!(amount(micros), text);
        }
    }

    #[test]
    fn names_are_written_as_they_are() {
        assert_eq!(cell("-20 % sale"), "-20 % sale");
        assert_eq!(cell("A, \"B\""), "\"A, \"\"B\"\"\"");
    }

    #[test]
    fn a_row_of_a_whole_day_counts_more_than_its_hours() {
        let day = |day| NaiveDate::from_ymd_opt(2026, 11, day).unwrap();
        let mut days = Days::default();
        days.add_hour(day(2), (1, 1));
        days.add_hour(day(2), (2, 2));
        days.add_hour(day(1), (4, 4));
        days.add_day(day(1), (9, 9));
        let taken: Vec<_> = days.take().collect();
        assert_eq!(taken, [(day(1), (9, 9)), (day(2), (3, 3))]);
        assert_eq!(days.take().count(), 0);
    }
}
