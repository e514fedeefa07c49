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
    fn add(&mut self, row: &Row) {
        self.spend = self.spend.saturating_add(row.spend);
        self.impressions = self.impressions.saturating_add(row.impressions);
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
        line_items.entry((row.line_item, row.day)).or_default().add(row);
        by_campaign.entry((campaign, row.day)).or_default().add(row);
        portfolio.entry((0, row.day)).or_default().add(row);
        active.entry(row.day).or_default().insert(campaign);
        all.line_items_total[row.line_item].add(row);
        all.campaigns_total[campaign].add(row);
        all.portfolio_total.add(row);
    }
    all.line_items_daily = dailies(&line_items);
    all.campaigns_daily = dailies(&by_campaign);
    all.portfolio_daily = dailies(&portfolio);
    for daily in &mut all.portfolio_daily {
        daily.campaigns = active.get(&daily.day).map_or(0, BTreeSet::len);
    }
    all
}

/// Returns the groups as rows in descending order of line item or campaign, newest day first.
fn dailies(groups: &BTreeMap<(usize, NaiveDate), Sum>) -> Vec<Daily> {
    let row = |(&(of, day), &sum): (&(usize, NaiveDate), &Sum)| {
        let before = groups.get(&(of, after(day, -1))).map(|s| s.spend).filter(|spend| *spend != 0);
        let ratio =
            before.map(|before| Ratio::new(i128::from(sum.spend), i128::from(before)).round_to(2));
        Daily { of, day, sum, ratio, campaigns: 0 }
    };
    groups.iter().rev().map(row).collect()
}
