//! Writes the sample as the two files of an import, with calendar days, as if a feed had delivered
//! them at a given time.

use std::fmt::Write;

use chrono::{DateTime, Timelike, Utc};
use chrono_tz::Tz;

use super::Sample;
use crate::{
    csv_text::text_cell,
    money::money_text,
    time::{self, LocalNow},
};

/// The text of the two files.
#[derive(Clone, Debug)]
pub struct SampleCsv {
    pub campaigns: String,
    pub delivery: String,
}

/// Writes the sample as of this time.
pub fn as_csv(sample: &Sample, now: DateTime<Utc>) -> SampleCsv {
    let clocks: Vec<LocalNow> = sample
        .accounts
        .iter()
        .map(|a| LocalNow::new(a.zone.parse().unwrap_or(Tz::UTC), now))
        .collect();
    SampleCsv { campaigns: campaigns(sample, &clocks), delivery: delivery(sample, &clocks) }
}

fn campaigns(sample: &Sample, clocks: &[LocalNow]) -> String {
    let mut text = String::from(
        "account_id,account_name,time_zone,currency,advertiser,campaign_id,campaign_name,budget,flight_start,flight_end\n",
    );
    for campaign in &sample.campaigns {
        let account = &sample.accounts[campaign.account];
        let day = |offset| time::add_days(clocks[campaign.account].today, offset);
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{}",
            text_cell(account.id),
            text_cell(account.name),
            account.zone,
            account.currency,
            text_cell(campaign.advertiser),
            text_cell(&campaign.id),
            text_cell(&campaign.name),
            money_text(campaign.budget),
            day(campaign.flight.0),
            day(campaign.flight.1),
        );
    }
    text
}

fn delivery(sample: &Sample, clocks: &[LocalNow]) -> String {
    let mut text = String::from(
        "account_id,account_name,advertiser,campaign_id,campaign_name,line_item_id,line_item_name,date,hour,spend,impressions\n",
    );
    for row in &sample.rows {
        let item = &sample.line_items[row.line_item];
        let campaign = &sample.campaigns[item.campaign];
        let (account, now) = (&sample.accounts[campaign.account], &clocks[campaign.account]);
        let (mut spend, mut impressions, mut hour) = (row.spend, row.impressions, String::new());
        let date = match row.hour {
            None => time::add_days(now.today, row.day),
            Some(utc_hour) => {
                if row.day == 0 && utc_hour > now.instant.hour() {
                    continue;
                }
                if row.day == 0 && utc_hour == now.instant.hour() {
                    (spend, impressions) = now.hour_so_far(spend, impressions);
                }
                hour = utc_hour.to_string();
                time::add_days(now.instant.date_naive(), row.day)
            }
        };
        if row.hour.is_none() && row.day == 0 {
            (spend, impressions) = now.so_far(spend, impressions);
        }
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{date},{hour},{},{impressions}",
            text_cell(account.id),
            text_cell(account.name),
            text_cell(campaign.advertiser),
            text_cell(&campaign.id),
            text_cell(&campaign.name),
            text_cell(&item.id),
            text_cell(&item.name),
            money_text(spend),
        );
    }
    text
}
