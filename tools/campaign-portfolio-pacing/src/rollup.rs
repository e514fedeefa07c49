//! The six roll-ups: rows summed by line item, campaign and portfolio, per day and in total.

use std::collections::BTreeMap;

use chrono::NaiveDate;

use crate::{data::Row, money::Ratio, time::add_days};

/// Spend and impressions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) spend: i64,
    pub(crate) impressions: i64,
}

impl Sum {
    pub(crate) fn add(&mut self, spend: i64, impressions: i64) {
        self.spend = self.spend.saturating_add(spend);
        self.impressions = self.impressions.saturating_add(impressions);
    }

    fn add_row(&mut self, row: &Row) {
        self.add(row.spend, row.impressions);
    }

    /// Returns the cost per thousand impressions. None without impressions.
    pub(crate) fn cpm(self) -> Option<Ratio> {
        (self.impressions > 0)
            .then(|| Ratio::new(i128::from(self.spend) * 1_000, i128::from(self.impressions)))
    }
}

/// One day of a line item, a campaign or the portfolio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Daily {
    /// The index of the line item or campaign; 0 for the portfolio.
    pub(crate) of: usize,
    pub(crate) day: NaiveDate,
    pub(crate) sum: Sum,
    /// The spend divided by the spend of the previous calendar day. None if that day had no spend.
    pub(crate) ratio: Option<f64>,
    /// The number of campaigns that delivered on the day, for the portfolio only.
    pub(crate) campaigns: usize,
}

/// All six roll-ups.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rollups {
    pub(crate) line_items_daily: Vec<Daily>,
    pub(crate) line_items_total: Vec<Sum>,
    pub(crate) campaigns_daily: Vec<Daily>,
    pub(crate) campaigns_total: Vec<Sum>,
    /// The days of the portfolio, newest first.
    pub(crate) portfolio_daily: Vec<Daily>,
    pub(crate) portfolio_total: Sum,
}

impl Rollups {
    /// Returns the spend of each day of the portfolio.
    pub(crate) fn days_of_portfolio(&self) -> Vec<(NaiveDate, i64)> {
        self.portfolio_daily.iter().map(|d| (d.day, d.sum.spend)).collect()
    }

    /// Returns the spend of each day of each campaign.
    pub(crate) fn days_of_campaigns(&self, campaigns: usize) -> Vec<Vec<(NaiveDate, i64)>> {
        group_spend_by_line_item(&self.campaigns_daily, campaigns)
    }

    /// Returns the spend of each day of each line item.
    pub(crate) fn days_of_line_items(&self) -> Vec<Vec<(NaiveDate, i64)>> {
        group_spend_by_line_item(&self.line_items_daily, self.line_items_total.len())
    }
}

fn group_spend_by_line_item(rows: &[Daily], count: usize) -> Vec<Vec<(NaiveDate, i64)>> {
    let mut days = vec![Vec::new(); count];
    for row in rows {
        if let Some(days) = days.get_mut(row.of) {
            days.push((row.day, row.sum.spend));
        }
    }
    days
}

/// Sums the rows, which come by line item and day. `campaign_of` contains the campaign of each line
/// item, in rising order.
pub(crate) fn rollups(rows: &[Row], campaign_of: &[usize], campaigns: usize) -> Rollups {
    let mut all = Rollups {
        line_items_total: vec![Sum::default(); campaign_of.len()],
        campaigns_total: vec![Sum::default(); campaigns],
        ..Rollups::default()
    };
    let mut portfolio: BTreeMap<NaiveDate, (Sum, usize)> = BTreeMap::new();
    for of_campaign in rows.chunk_by(|a, b| campaign_of[a.line_item] == campaign_of[b.line_item]) {
        let mut days: BTreeMap<NaiveDate, Sum> = BTreeMap::new();
        for row in of_campaign {
            days.entry(row.day).or_default().add_row(row);
            all.line_items_total[row.line_item].add_row(row);
        }
        for of_item in of_campaign.chunk_by(|a, b| a.line_item == b.line_item) {
            let sum = |row: &Row| {
                let mut sum = Sum::default();
                sum.add_row(row);
                (row.day, sum)
            };
            all.line_items_daily.extend(dailies(of_item[0].line_item, of_item.iter().map(sum)));
        }
        let campaign = campaign_of[of_campaign[0].line_item];
        all.campaigns_daily.extend(dailies(campaign, days.iter().map(|(day, sum)| (*day, *sum))));
        for (day, sum) in days {
            all.campaigns_total[campaign].add(sum.spend, sum.impressions);
            all.portfolio_total.add(sum.spend, sum.impressions);
            let (total, count) = portfolio.entry(day).or_default();
            total.add(sum.spend, sum.impressions);
            *count += 1;
        }
    }
    all.portfolio_daily =
        dailies(0, portfolio.iter().map(|(day, (sum, _))| (*day, *sum))).collect();
    for (daily, (_, count)) in all.portfolio_daily.iter_mut().zip(portfolio.values()) {
        daily.campaigns = *count;
    }
    // The last line item or campaign comes first, with its newest day first.
    for days in [&mut all.line_items_daily, &mut all.campaigns_daily, &mut all.portfolio_daily] {
        days.reverse();
    }
    all
}

/// Adds to each day the ratio to the calendar day before. The days come in ascending order.
fn dailies(of: usize, days: impl Iterator<Item = (NaiveDate, Sum)>) -> impl Iterator<Item = Daily> {
    let mut before: Option<(NaiveDate, i64)> = None;
    days.map(move |(day, sum)| {
        let ratio = before
            .filter(|(last, spend)| *spend != 0 && add_days(*last, 1) == day)
            .map(|(_, spend)| Ratio::new(i128::from(sum.spend), i128::from(spend)).round_to(2));
        before = Some((day, sum.spend));
        Daily { of, day, sum, ratio, campaigns: 0 }
    })
}
