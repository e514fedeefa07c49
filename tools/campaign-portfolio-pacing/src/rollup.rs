//! The six roll-ups: rows summed by line item, campaign and portfolio, per day and in total.

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;

use crate::{data::Row, money::Ratio, time::after};

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

    /// Returns the cost of a thousand impressions. None without impressions.
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
    /// Spend divided by that of the calendar day before. None if that day has no spend.
    pub(crate) ratio: Option<f64>,
    /// Number of campaigns that delivered on the day (portfolio only).
    pub(crate) campaigns: usize,
}

/// All six roll-ups.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rollups {
    pub(crate) line_items_daily: Vec<Daily>,
    pub(crate) line_items_total: Vec<Sum>,
    pub(crate) campaigns_daily: Vec<Daily>,
    pub(crate) campaigns_total: Vec<Sum>,
    /// Newest day first.
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
        days_of(&self.campaigns_daily, campaigns)
    }

    /// Returns the spend of each day of each line item.
    pub(crate) fn days_of_line_items(&self) -> Vec<Vec<(NaiveDate, i64)>> {
        days_of(&self.line_items_daily, self.line_items_total.len())
    }
}

fn days_of(rows: &[Daily], count: usize) -> Vec<Vec<(NaiveDate, i64)>> {
    let mut days = vec![Vec::new(); count];
    for row in rows {
        if let Some(days) = days.get_mut(row.of) {
            days.push((row.day, row.sum.spend));
        }
    }
    days
}

/// Sums the rows. `campaign_of` contains the campaign of each line item.
pub(crate) fn rollups(rows: &[Row], campaign_of: &[usize], campaigns: usize) -> Rollups {
    let mut line_items: BTreeMap<(usize, NaiveDate), Sum> = BTreeMap::new();
    let mut by_campaign: BTreeMap<(usize, NaiveDate), Sum> = BTreeMap::new();
    let mut portfolio: BTreeMap<(usize, NaiveDate), Sum> = BTreeMap::new();
    let mut active: BTreeMap<NaiveDate, BTreeSet<usize>> = BTreeMap::new();
    let mut all = Rollups {
        line_items_total: vec![Sum::default(); campaign_of.len()],
        campaigns_total: vec![Sum::default(); campaigns],
        ..Rollups::default()
    };
    for row in rows {
        let campaign = campaign_of[row.line_item];
        line_items.entry((row.line_item, row.day)).or_default().add_row(row);
        by_campaign.entry((campaign, row.day)).or_default().add_row(row);
        portfolio.entry((0, row.day)).or_default().add_row(row);
        active.entry(row.day).or_default().insert(campaign);
        all.line_items_total[row.line_item].add_row(row);
        all.campaigns_total[campaign].add_row(row);
        all.portfolio_total.add_row(row);
    }
    all.line_items_daily = dailies(&line_items);
    all.campaigns_daily = dailies(&by_campaign);
    all.portfolio_daily = dailies(&portfolio);
    for daily in &mut all.portfolio_daily {
        daily.campaigns = active.get(&daily.day).map_or(0, BTreeSet::len);
    }
    all
}

/// Returns the groups as rows: last line item or campaign first, newest day first.
fn dailies(groups: &BTreeMap<(usize, NaiveDate), Sum>) -> Vec<Daily> {
    let row = |(&(of, day), &sum): (&(usize, NaiveDate), &Sum)| {
        let before = groups.get(&(of, after(day, -1))).map(|s| s.spend).filter(|spend| *spend != 0);
        let ratio =
            before.map(|before| Ratio::new(i128::from(sum.spend), i128::from(before)).round_to(2));
        Daily { of, day, sum, ratio, campaigns: 0 }
    };
    groups.iter().rev().map(row).collect()
}
