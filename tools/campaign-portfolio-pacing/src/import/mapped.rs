//! Reads the rows of an export whose columns are mapped to fields. Only day, campaign and spend are
//! required: without a line item a row belongs to its campaign as a whole.

use contract::ImportProblem;
use tabular::{
    FieldSource, Formats, Mapping, StringRecord, parse_amount, parse_count, shorten_cell,
};

use super::cells::{CampaignColumns, DeliveryRow};
use crate::time;

/// The account of rows that name no account.
const NO_ACCOUNT: (&str, &str) = ("imported", "Imported data");

/// The source of each field of a row.
pub(super) struct Fields<'m> {
    account: FieldSource<'m>,
    account_name: FieldSource<'m>,
    zone: FieldSource<'m>,
    currency: FieldSource<'m>,
    advertiser: FieldSource<'m>,
    campaign: FieldSource<'m>,
    campaign_name: FieldSource<'m>,
    line_item: FieldSource<'m>,
    line_item_name: FieldSource<'m>,
    day: FieldSource<'m>,
    last_day: FieldSource<'m>,
    hour: FieldSource<'m>,
    spend: FieldSource<'m>,
    impressions: FieldSource<'m>,
}

/// Returns the source of `first` if `first` has a column, else that of `second` if `second` has
/// one. Without columns, a constant for `first` precedes a constant for `second`.
fn either<'m>(mapping: &'m Mapping, first: &str, second: &str) -> FieldSource<'m> {
    if !mapping.columns.contains_key(first)
        && (mapping.columns.contains_key(second) || !mapping.constants.contains_key(first))
    {
        return mapping.source(second);
    }
    mapping.source(first)
}

impl<'m> Fields<'m> {
    pub(super) fn new(mapping: &'m Mapping) -> Self {
        Self {
            account: either(mapping, "account_id", "account"),
            account_name: either(mapping, "account", "account_id"),
            zone: mapping.source("time_zone"),
            currency: mapping.source("currency"),
            advertiser: mapping.source("advertiser"),
            campaign: either(mapping, "campaign_id", "campaign"),
            campaign_name: either(mapping, "campaign", "campaign_id"),
            line_item: either(mapping, "line_item_id", "line_item"),
            line_item_name: either(mapping, "line_item", "line_item_id"),
            day: mapping.source("day"),
            last_day: mapping.source("last_day"),
            hour: mapping.source("hour"),
            spend: mapping.source("spend"),
            impressions: mapping.source("impressions"),
        }
    }
}

/// Parses rows. Keeps the last parsed day, because the next row usually has the same day.
pub(super) struct RowReader<'m> {
    fields: &'m Fields<'m>,
    formats: Formats,
    /// Platforms leave the spend of a day without delivery empty.
    blank_is_zero: bool,
    last_text: String,
    last_day: i64,
}

/// A function that reports the column and the problem of a cell.
type Report<'r> = &'r mut dyn FnMut(&str, ImportProblem);

impl<'m> RowReader<'m> {
    pub(super) fn new(fields: &'m Fields<'m>, formats: Formats, blank_is_zero: bool) -> Self {
        Self { fields, formats, blank_is_zero, last_text: String::new(), last_day: 0 }
    }

    pub(super) fn read<'a>(
        &mut self,
        record: &'a StringRecord,
        report: Report<'_>,
    ) -> Option<DeliveryRow<'a>>
    where
        Self: 'a,
    {
        let fields = self.fields;
        let columns = campaign_columns(fields, record, report);
        let day = self.day(record, report);
        let hour = hour(fields.hour.text(record), report);
        let spend = match fields.spend.text(record) {
            "" if self.blank_is_zero => Some(0),
            text => ok_or_report(parse_amount(text, self.formats.amounts), "spend", report),
        };
        let impressions = match fields.impressions.text(record) {
            "" => Some(0),
            text => ok_or_report(parse_count(text), "impressions", report),
        };
        let columns = columns?;
        let name = first_nonempty(fields.line_item_name.text(record), columns.campaign_name);
        Some(DeliveryRow {
            columns,
            line_item: first_nonempty(fields.line_item.text(record), columns.campaign),
            line_item_name: name,
            day: day?,
            hour: hour?,
            spend: spend?,
            impressions: impressions?,
        })
    }

    fn day(&mut self, record: &StringRecord, report: Report<'_>) -> Option<i64> {
        let text = self.fields.day.text(record);
        let until = self.fields.last_day.text(record);
        if text.is_empty() {
            report("day", ImportProblem::Empty);
            return None;
        }
        if text != self.last_text {
            let Some(day) = self.formats.days.parse(text) else {
                report("day", ImportProblem::NotADay { text: shorten_cell(text) });
                return None;
            };
            self.last_day = time::day_to_number(day);
            text.clone_into(&mut self.last_text);
        }
        if !until.is_empty() && until != text {
            // A row for several days cannot be assigned to one day.
            report("day", ImportProblem::NotADay { text: format!("{text} – {until}") });
            return None;
        }
        Some(self.last_day)
    }
}

fn first_nonempty<'t>(text: &'t str, other: &'t str) -> &'t str {
    if text.is_empty() { other } else { text }
}

fn ok_or_report(read: Result<i64, ImportProblem>, column: &str, report: Report<'_>) -> Option<i64> {
    read.map_err(|problem| report(column, problem)).ok()
}

fn hour(text: &str, report: Report<'_>) -> Option<i64> {
    if text.is_empty() {
        return Some(-1);
    }
    let hour = text.parse().ok().filter(|hour| (0..24).contains(hour));
    if hour.is_none() {
        report("hour", ImportProblem::NotAnHour { text: shorten_cell(text) });
    }
    hour
}

/// Returns the account and campaign of a row.
fn campaign_columns<'a>(
    fields: &'a Fields<'_>,
    record: &'a StringRecord,
    report: Report<'_>,
) -> Option<CampaignColumns<'a>> {
    let campaign = fields.campaign.text(record);
    if campaign.is_empty() {
        report("campaign", ImportProblem::Empty);
        return None;
    }
    let currency = fields.currency.text(record);
    let is_code = currency.len() == 3 && currency.bytes().all(|b| b.is_ascii_uppercase());
    if !currency.is_empty() && !is_code {
        report("currency", ImportProblem::NotACurrency { text: shorten_cell(currency) });
        return None;
    }
    let zone = fields.zone.text(record);
    if !zone.is_empty() && zone.parse::<chrono_tz::Tz>().is_err() {
        report("time_zone", ImportProblem::NotAZone { text: shorten_cell(zone) });
        return None;
    }
    Some(CampaignColumns {
        account: first_nonempty(fields.account.text(record), NO_ACCOUNT.0),
        account_name: first_nonempty(fields.account_name.text(record), NO_ACCOUNT.1),
        zone,
        currency,
        advertiser: fields.advertiser.text(record),
        campaign,
        campaign_name: first_nonempty(fields.campaign_name.text(record), campaign),
    })
}
