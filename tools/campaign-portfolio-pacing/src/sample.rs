//! The fictional sample: accounts, campaigns and delivery from a seeded generator, the same on
//! every computer. Days are relative to today (0), so that the sample stays current. Every name is
//! invented.

mod portfolio;
mod rng;
mod tables;

pub use tables::PacingSample;

use portfolio::{ACCOUNTS, ADVERTISERS, AccountPlan, CAMPAIGNS, CampaignPlan, FORMATS};
use rng::Rng;

use crate::tables::MICROS;

/// The seed of the shipped sample.
const SEED: u64 = 0x5EED_CA3E;
/// The number of days of history, including today.
const DAYS: i64 = 180;
/// The number of days with hourly rows, for accounts that have them.
const HOURLY_DAYS: i64 = 14;

/// The sample as data.
#[derive(Clone, Debug, Default)]
struct Sample {
    accounts: Vec<SampleAccount>,
    campaigns: Vec<SampleCampaign>,
    line_items: Vec<SampleLineItem>,
    rows: Vec<SampleRow>,
}

/// An account of the sample.
#[derive(Clone, Debug)]
struct SampleAccount {
    id: &'static str,
    name: &'static str,
    zone: &'static str,
    currency: &'static str,
}

/// A campaign of the sample; `account` is an index into the list of accounts.
#[derive(Clone, Debug)]
struct SampleCampaign {
    account: usize,
    id: String,
    name: String,
    advertiser: &'static str,
    /// The budget in micro-units.
    budget: i64,
    /// The first and last day, relative to today.
    flight: (i64, i64),
}

/// A line item of the sample; `campaign` is an index into the list of campaigns.
#[derive(Clone, Debug)]
struct SampleLineItem {
    campaign: usize,
    id: String,
    name: String,
}

/// Delivery of one line item. `day` is relative to today: the account's day for a row of a whole
/// day, the UTC day for an hourly row. The row of today covers the whole day, but only the elapsed
/// part is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SampleRow {
    line_item: usize,
    day: i64,
    hour: Option<u32>,
    spend: i64,
    impressions: i64,
}

/// Generates the sample.
fn generate(seed: u64) -> Sample {
    let mut rng = Rng::new(seed);
    let mut sample = Sample::default();
    for plan in &ACCOUNTS {
        sample.accounts.push(SampleAccount {
            id: plan.id,
            name: plan.name,
            zone: plan.zone,
            currency: plan.currency,
        });
    }
    for (index, plan) in CAMPAIGNS.iter().enumerate() {
        campaign(&mut sample, &mut rng, index, plan);
    }
    sample
}

fn campaign(sample: &mut Sample, rng: &mut Rng, index: usize, plan: &CampaignPlan) {
    let (advertiser, account) = ADVERTISERS[plan.advertiser];
    let id = format!("c{:03}", index + 101);
    sample.campaigns.push(SampleCampaign {
        account,
        id: id.clone(),
        name: format!("{advertiser} - {}", plan.name),
        advertiser,
        budget: plan.budget * MICROS,
        flight: plan.flight,
    });
    let days = plan.flight.1 - plan.flight.0 + 1;
    // The daily spend in hundredths at an even pace, multiplied by the campaign's own pace.
    let daily = plan.budget * 100 / days * plan.pace / 100;
    let weights: Vec<i64> = (0..plan.line_items).map(|_| rng.between(60, 140)).collect();
    let total: i64 = weights.iter().sum();
    for (number, weight) in weights.iter().enumerate() {
        let (format, cpm) = FORMATS[(index + number) % FORMATS.len()];
        let line_item = sample.line_items.len();
        let name = format!("{advertiser} - {} - {format}", plan.name);
        sample.line_items.push(SampleLineItem {
            campaign: index,
            id: format!("{id}-{}", number + 1),
            name,
        });
        delivery(
            sample,
            rng,
            &ACCOUNTS[account],
            plan,
            &Item { line_item, daily: daily * weight / total, cpm },
        );
    }
}

/// A line item's spend on an average day, and its price.
struct Item {
    line_item: usize,
    /// The spend on an average day, in hundredths.
    daily: i64,
    /// The price in hundredths per thousand impressions.
    cpm: i64,
}

fn delivery(
    sample: &mut Sample,
    rng: &mut Rng,
    account: &AccountPlan,
    plan: &CampaignPlan,
    item: &Item,
) {
    let (first, last) = (plan.flight.0.max(1 - DAYS), plan.flight.1.min(0));
    let hourly_from = if account.hourly { 1 - HOURLY_DAYS } else { 1 };
    for day in first..=last {
        // The spend follows a weekly wave with some noise. The plan can change the pace of the last
        // ten days.
        let wave =
            [104, 108, 106, 101, 97, 90, 94][usize::try_from(day.rem_euclid(7)).unwrap_or(0)];
        let recent = if day > -10 { plan.recent } else { 100 };
        let cents = item.daily * wave / 100 * rng.between(88, 112) / 100 * recent / 100;
        if cents <= 0 || rng.between(0, 999) < 4 {
            continue;
        }
        if day < hourly_from {
            row(sample, item, day, None, cents);
        } else {
            hours(sample, rng, item, day, cents);
        }
    }
}

fn hours(sample: &mut Sample, rng: &mut Rng, item: &Item, day: i64, cents: i64) {
    // The first hourly day starts one day earlier in UTC, so that the account's day is complete in
    // every time zone ahead of UTC.
    let days = if day == 1 - HOURLY_DAYS { [day - 1, day] } else { [day, day] };
    for (index, utc_day) in days.into_iter().enumerate() {
        if index == 1 && days[0] == days[1] {
            break;
        }
        for hour in 0..24_u32 {
            row(sample, item, utc_day, Some(hour), cents / 24 * rng.between(70, 130) / 100);
        }
    }
}

fn row(sample: &mut Sample, item: &Item, day: i64, hour: Option<u32>, cents: i64) {
    if cents > 0 {
        let row = SampleRow {
            line_item: item.line_item,
            day,
            hour,
            spend: cents * 10_000,
            impressions: cents * 1_000 / item.cpm,
        };
        sample.rows.push(row);
    }
}
