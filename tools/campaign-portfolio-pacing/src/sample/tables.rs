//! Writes the sample as tables that become sources. Hours are added up to days of their account.

use std::io;

use chrono::{DateTime, Timelike, Utc};
use chrono_tz::Tz;
use contract::pack_code::{CreateFile, SampleData, TableSet};

use super::{SEED, Sample, SampleRow, generate};
use crate::{
    tables::{Days, Of, Table, delivery_file, plan_file},
    time::{self, LocalNow},
};

/// The name of the sample.
const NAME: &str = "pacing";

/// The sample, for a person who adds it as sources.
pub struct PacingSample;

impl SampleData for PacingSample {
    fn name(&self) -> &'static str {
        NAME
    }

    fn write_tables(
        &self,
        now: DateTime<Utc>,
        create: &mut CreateFile<'_>,
    ) -> io::Result<TableSet> {
        let sample = generate(SEED);
        let zone = |zone: &str| zone.parse().unwrap_or(Tz::UTC);
        let clocks: Vec<LocalNow> =
            sample.accounts.iter().map(|one| LocalNow::new(zone(one.zone), now)).collect();
        write_plan(&sample, &clocks, create)?;
        write_delivery(&sample, &clocks, create)?;
        let zones = sample.accounts.iter().map(|one| (one.name.to_owned(), one.zone.to_owned()));
        Ok(TableSet { files: vec![plan_file(), delivery_file()], zones: zones.collect() })
    }
}

fn write_plan(sample: &Sample, clocks: &[LocalNow], create: &mut CreateFile<'_>) -> io::Result<()> {
    let mut table = Table::of_plan(create)?;
    for (at, campaign) in sample.campaigns.iter().enumerate() {
        let day = |offset| time::add_days(clocks[campaign.account].today, offset);
        let flight = (day(campaign.flight.0), day(campaign.flight.1));
        table.plan(of_campaign(sample, at), campaign.budget, flight)?;
    }
    table.finish()
}

fn write_delivery(
    sample: &Sample,
    clocks: &[LocalNow],
    create: &mut CreateFile<'_>,
) -> io::Result<()> {
    let mut table = Table::of_delivery(create)?;
    // The rows of a line item follow each other.
    for rows in sample.rows.chunk_by(|one, other| one.line_item == other.line_item) {
        let Some(item) = rows.first().map(|row| &sample.line_items[row.line_item]) else {
            continue;
        };
        let now = &clocks[sample.campaigns[item.campaign].account];
        let mut days = Days::default();
        rows.iter().for_each(|row| add_row(&mut days, row, now));
        for (day, amounts) in days.take() {
            table.deliver(
                of_campaign(sample, item.campaign),
                (&item.id, &item.name),
                day,
                amounts,
            )?;
        }
    }
    table.finish()
}

/// Adds the part of a row that has accrued by now.
fn add_row(days: &mut Days, row: &SampleRow, now: &LocalNow) {
    let amounts = (row.spend, row.impressions);
    let Some(hour) = row.hour else {
        let so_far = if row.day == 0 { now.so_far(amounts.0, amounts.1) } else { amounts };
        return days.add_day(time::add_days(now.today, row.day), so_far);
    };
    let is_today = row.day == 0;
    if is_today && hour > now.instant.hour() {
        return;
    }
    let is_present = is_today && hour == now.instant.hour();
    let so_far = if is_present { now.hour_so_far(amounts.0, amounts.1) } else { amounts };
    let utc_day = time::add_days(now.instant.date_naive(), row.day);
    days.add_hour(time::local_day(now.zone, utc_day, hour), so_far);
}

fn of_campaign(sample: &Sample, at: usize) -> Of<'_> {
    let campaign = &sample.campaigns[at];
    let account = &sample.accounts[campaign.account];
    Of {
        account_id: account.id,
        account: account.name,
        zone: account.zone,
        currency: account.currency,
        advertiser: campaign.advertiser,
        campaign_id: &campaign.id,
        campaign: &campaign.name,
    }
}
