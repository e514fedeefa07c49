//! Maps the columns of a file, and detects the kind of file from its header.

use contract::ImportProblem;
use serde::Serialize;

/// The kinds of files, recognised by their header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// One row per line item and day or hour.
    Delivery,
    /// One row per campaign, with budget and flight.
    Campaigns,
}

/// The known columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    AccountId,
    AccountName,
    Advertiser,
    CampaignId,
    CampaignName,
    LineItemId,
    LineItemName,
    Date,
    Hour,
    Spend,
    Impressions,
    Budget,
    FlightStart,
    FlightEnd,
    TimeZone,
    Currency,
}

/// The names of each column. Messages show the first name.
const NAMES: [(Column, &[&str]); 16] = [
    (Column::AccountId, &["account_id"]),
    (Column::AccountName, &["account_name", "account"]),
    (Column::Advertiser, &["advertiser", "advertiser_name"]),
    (Column::CampaignId, &["campaign_id"]),
    (Column::CampaignName, &["campaign_name", "campaign"]),
    (Column::LineItemId, &["line_item_id"]),
    (Column::LineItemName, &["line_item_name", "line_item"]),
    (Column::Date, &["date", "day"]),
    (Column::Hour, &["hour"]),
    (Column::Spend, &["spend", "cost"]),
    (Column::Impressions, &["impressions"]),
    (Column::Budget, &["budget"]),
    (Column::FlightStart, &["flight_start"]),
    (Column::FlightEnd, &["flight_end"]),
    (Column::TimeZone, &["time_zone", "timezone"]),
    (Column::Currency, &["currency"]),
];

const DELIVERY: [Column; 9] = [
    Column::AccountId,
    Column::Advertiser,
    Column::CampaignId,
    Column::CampaignName,
    Column::LineItemId,
    Column::LineItemName,
    Column::Date,
    Column::Spend,
    Column::Impressions,
];

const CAMPAIGNS: [Column; 7] = [
    Column::AccountId,
    Column::Advertiser,
    Column::CampaignId,
    Column::CampaignName,
    Column::Budget,
    Column::FlightStart,
    Column::FlightEnd,
];

impl Column {
    /// Returns the column's name for messages.
    pub(crate) fn name(self) -> &'static str {
        NAMES
            .iter()
            .find(|(column, _)| *column == self)
            .and_then(|(_, names)| names.first())
            .copied()
            .unwrap_or_default()
    }
}

/// The positions of a file's columns.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub(crate) kind: FileKind,
    /// The number of columns.
    pub(crate) width: usize,
    places: Vec<(Column, usize)>,
    pub(crate) ignored: Vec<String>,
}

impl Header {
    /// Returns the position of a column, if the file has it.
    pub(crate) fn place(&self, column: Column) -> Option<usize> {
        self.places.iter().find(|(c, _)| *c == column).map(|(_, at)| *at)
    }

    /// Parses a header. The error lists the columns with problems.
    pub(crate) fn read(cells: &[String]) -> Result<Self, Vec<(String, ImportProblem)>> {
        let mut problems = Vec::new();
        let (mut places, mut ignored): (Vec<(Column, usize)>, Vec<String>) =
            (Vec::new(), Vec::new());
        for (at, cell) in cells.iter().enumerate() {
            let plain = plain(cell);
            match NAMES.iter().find(|(_, names)| names.contains(&plain.as_str())) {
                None => ignored.push(cell.trim().to_owned()),
                Some((column, _)) if places.iter().any(|(c, _)| c == column) => {
                    problems.push((column.name().to_owned(), ImportProblem::ColumnTwice));
                }
                Some((column, _)) => places.push((*column, at)),
            }
        }
        let has = |column: Column| places.iter().any(|(c, _)| *c == column);
        let (kind, needed) = if has(Column::Date) || has(Column::Spend) {
            (FileKind::Delivery, DELIVERY.as_slice())
        } else if has(Column::Budget) || has(Column::FlightStart) {
            (FileKind::Campaigns, CAMPAIGNS.as_slice())
        } else {
            return Err(vec![(String::new(), unknown(cells))]);
        };
        for column in needed.iter().filter(|c| !has(**c)) {
            problems.push((column.name().to_owned(), ImportProblem::ColumnMissing));
        }
        let used = |c: &Column| {
            needed.contains(c)
                || [Column::AccountName, Column::TimeZone, Column::Currency, Column::Hour]
                    .contains(c)
        };
        ignored.extend(places.iter().filter(|(c, _)| !used(c)).map(|(c, _)| c.name().to_owned()));
        if problems.is_empty() {
            Ok(Self { kind, width: cells.len(), places, ignored })
        } else {
            Err(problems)
        }
    }
}

/// Lists the headings of a file for a message.
pub(crate) fn list_columns(cells: &[String]) -> String {
    let names: Vec<&str> = cells.iter().map(|c| c.trim()).filter(|c| !c.is_empty()).collect();
    names.join(", ")
}

/// Normalises a heading: lower case, words joined by underscores.
fn plain(cell: &str) -> String {
    let words: Vec<String> = cell
        .split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.join("_")
}

/// Returns the error for a header that fits no kind of file. The error lists the columns of the
/// file.
pub(crate) fn unknown(cells: &[String]) -> ImportProblem {
    let list = |columns: &[Column]| columns.iter().map(|c| c.name()).collect::<Vec<_>>().join(", ");
    ImportProblem::UnknownHeader {
        found: list_columns(cells),
        delivery: list(&DELIVERY),
        campaigns: list(&CAMPAIGNS),
    }
}
