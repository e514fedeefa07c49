//! Parses the cells of a row. Every invalid cell is reported as its own error.

use chrono::NaiveDate;
use contract::ImportProblem;

use tabular::{NumberFormat, StringRecord, parse_amount, parse_count, shorten_cell};

use super::{
    Errors,
    columns::{Column, Header},
};
use crate::time;

/// The highest number of characters of a cell.
const MAX_TEXT: u32 = 300;

/// A row whose cells are parsed one by one.
pub(crate) struct Cells<'a> {
    pub(crate) record: &'a StringRecord,
    pub(crate) header: &'a Header,
    pub(crate) numbers: NumberFormat,
    pub(crate) file: &'a str,
    pub(crate) line: u64,
    pub(crate) errors: &'a mut Errors,
}

/// The columns that delivery rows and campaign rows share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CampaignColumns<'a> {
    pub(crate) account: &'a str,
    pub(crate) account_name: &'a str,
    pub(crate) zone: &'a str,
    pub(crate) currency: &'a str,
    pub(crate) advertiser: &'a str,
    pub(crate) campaign: &'a str,
    pub(crate) campaign_name: &'a str,
}

/// A delivery row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeliveryRow<'a> {
    pub(crate) columns: CampaignColumns<'a>,
    pub(crate) line_item: &'a str,
    pub(crate) line_item_name: &'a str,
    pub(crate) day: i64,
    /// The hour in UTC; -1 for the whole day.
    pub(crate) hour: i64,
    pub(crate) spend: i64,
    pub(crate) impressions: i64,
}

/// A row of a campaign file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CampaignRow<'a> {
    pub(crate) columns: CampaignColumns<'a>,
    pub(crate) budget: Option<i64>,
    pub(crate) flight: Option<(i64, i64)>,
}

impl<'a> Cells<'a> {
    fn error(&mut self, column: Column, problem: ImportProblem) {
        self.errors.add(self.file, self.line, column.name(), problem);
    }

    /// Returns the text of a cell, or an empty text if the file has no such column.
    fn text(&mut self, column: Column) -> Option<&'a str> {
        let Some(text) = self.header.place(column).and_then(|at| self.record.get(at)) else {
            return Some("");
        };
        let text = text.trim();
        if text.len() > MAX_TEXT as usize {
            self.error(column, ImportProblem::TooLong { limit: MAX_TEXT });
            return None;
        }
        Some(text)
    }

    /// Returns the text of a cell that must not be empty.
    fn id(&mut self, column: Column) -> Option<&'a str> {
        let text = self.text(column)?;
        if text.is_empty() {
            self.error(column, ImportProblem::Empty);
            return None;
        }
        Some(text)
    }

    fn day(&mut self, column: Column) -> Option<Option<i64>> {
        let text = self.text(column)?;
        if text.is_empty() {
            return Some(None);
        }
        match day(text) {
            Some(day) => Some(Some(time::day_to_number(day))),
            None => {
                self.error(column, ImportProblem::NotADay { text: shorten_cell(text) });
                None
            }
        }
    }

    fn number(
        &mut self,
        column: Column,
        read: impl FnOnce(&str) -> Result<i64, ImportProblem>,
    ) -> Option<i64> {
        let text = self.text(column)?;
        match read(text) {
            Ok(number) => Some(number),
            Err(problem) => {
                self.error(column, problem);
                None
            }
        }
    }

    fn campaign_columns(&mut self) -> Option<CampaignColumns<'a>> {
        let (account, account_name) = (self.id(Column::AccountId), self.text(Column::AccountName));
        let (advertiser, campaign) = (self.text(Column::Advertiser), self.id(Column::CampaignId));
        let (campaign_name, zone, currency) =
            (self.text(Column::CampaignName), self.zone(), self.currency());
        Some(CampaignColumns {
            account: account?,
            account_name: account_name?,
            zone: zone?,
            currency: currency?,
            advertiser: advertiser?,
            campaign: campaign?,
            campaign_name: campaign_name?,
        })
    }

    fn zone(&mut self) -> Option<&'a str> {
        let text = self.text(Column::TimeZone)?;
        if !text.is_empty() && text.parse::<chrono_tz::Tz>().is_err() {
            self.error(Column::TimeZone, ImportProblem::NotAZone { text: shorten_cell(text) });
            return None;
        }
        Some(text)
    }

    fn currency(&mut self) -> Option<&'a str> {
        let text = self.text(Column::Currency)?;
        let is_code = text.len() == 3 && text.bytes().all(|b| b.is_ascii_uppercase());
        if !text.is_empty() && !is_code {
            self.error(Column::Currency, ImportProblem::NotACurrency { text: shorten_cell(text) });
            return None;
        }
        Some(text)
    }

    /// Parses a delivery row. Returns None if a cell is invalid.
    pub(crate) fn delivery(&mut self) -> Option<DeliveryRow<'a>> {
        let numbers = self.numbers;
        let columns = self.campaign_columns();
        let (line_item, line_item_name) =
            (self.id(Column::LineItemId), self.text(Column::LineItemName));
        let day = self.day(Column::Date);
        if matches!(day, Some(None)) {
            self.error(Column::Date, ImportProblem::Empty);
        }
        let hour = self.hour();
        let spend = self.number(Column::Spend, |text| parse_amount(text, numbers));
        let impressions = self.number(Column::Impressions, parse_count);
        Some(DeliveryRow {
            columns: columns?,
            line_item: line_item?,
            line_item_name: line_item_name?,
            day: day??,
            hour: hour?,
            spend: spend?,
            impressions: impressions?,
        })
    }

    fn hour(&mut self) -> Option<i64> {
        let text = self.text(Column::Hour)?;
        if text.is_empty() {
            return Some(-1);
        }
        match text.parse::<i64>() {
            Ok(hour) if (0..24).contains(&hour) => Some(hour),
            _ => {
                self.error(Column::Hour, ImportProblem::NotAnHour { text: shorten_cell(text) });
                None
            }
        }
    }

    /// Parses a campaign row. Returns None if a cell is invalid.
    pub(crate) fn campaign(&mut self) -> Option<CampaignRow<'a>> {
        let numbers = self.numbers;
        let columns = self.campaign_columns();
        let budget = match self.text(Column::Budget) {
            Some("") => Some(None),
            Some(_) => self.number(Column::Budget, |text| parse_amount(text, numbers)).map(Some),
            None => None,
        };
        let (start, end) = (self.day(Column::FlightStart), self.day(Column::FlightEnd));
        let flight = match (start, end) {
            (Some(None), Some(None)) => Some(None),
            (Some(Some(start)), Some(Some(end))) if start <= end => Some(Some((start, end))),
            (Some(Some(_)), Some(Some(_))) => {
                self.error(Column::FlightEnd, ImportProblem::FlightReversed);
                None
            }
            (Some(_), Some(_)) => {
                self.error(Column::FlightStart, ImportProblem::FlightHalf);
                None
            }
            _ => None,
        };
        Some(CampaignRow { columns: columns?, budget: budget?, flight: flight? })
    }
}

/// Parses a day as `2026-11-30`, `2026/11/30` or `20261130`, optionally followed by the time of
/// midnight.
fn day(text: &str) -> Option<NaiveDate> {
    let date = text
        .strip_suffix("T00:00:00Z")
        .or_else(|| text.strip_suffix("T00:00:00"))
        .or_else(|| text.strip_suffix(" 00:00:00"))
        .unwrap_or(text);
    let format = match date.len() {
        8 => "%Y%m%d",
        10 if date.contains('/') => "%Y/%m/%d",
        10 => "%Y-%m-%d",
        _ => return None,
    };
    NaiveDate::parse_from_str(date, format).ok()
}
