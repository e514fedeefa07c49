//! The figures of each advertiser, summed over its campaigns: budget, spend and pace. No data
//! access.

use std::collections::BTreeMap;

use crate::{
    analyze::Analysis,
    budget, flights,
    pace::{Facts, Sums, Thresholds, pace},
    rollup::Sum,
    standing::Standing,
};

/// An advertiser with the summed figures of its campaigns.
pub(crate) struct Advertiser {
    pub(crate) name: String,
    pub(crate) campaigns: usize,
    pub(crate) standing: Standing,
}

/// Returns the advertisers of an analysis, by name.
pub(crate) fn advertisers_of_analysis(a: &Analysis, limits: &Thresholds) -> Vec<Advertiser> {
    let mut groups: BTreeMap<&str, Vec<Standing>> = BTreeMap::new();
    for (campaign, standing) in a.campaigns.iter().zip(&a.standings) {
        groups.entry(&campaign.advertiser).or_default().push(*standing);
    }
    groups
        .into_iter()
        .filter(|(name, _)| !name.is_empty())
        .map(|(name, parts)| Advertiser {
            name: name.to_owned(),
            campaigns: parts.len(),
            standing: sum(&parts, a, limits),
        })
        .collect()
}

/// Adds up campaigns. The plan and the projection are the sums of the campaigns' own.
fn sum(parts: &[Standing], a: &Analysis, limits: &Thresholds) -> Standing {
    let span = flights::hull(parts.iter().map(|s| s.span)).unwrap_or(a.window);
    let budget = budget::own(parts);
    let mut sum = Sum::default();
    parts.iter().for_each(|s| sum.add(s.sum.spend, s.sum.impressions));
    let sums = Sums {
        due: flights::sum(parts.iter().map(|s| s.pace.due)),
        projection: flights::sum(parts.iter().map(|s| s.pace.projection)),
    };
    let facts = Facts {
        spend: sum.spend,
        budget: budget.unwrap_or(0),
        window: span,
        sums: Some(sums),
        last: a.last.filter(|day| *day >= span.start),
    };
    // The day on which the budget runs out is unknown, because it does not follow from those of the
    // campaigns.
    Standing { span, budget, sum, pace: pace(&facts, &a.now, limits), runs_out_on: None }
}
