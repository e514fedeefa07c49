//! The lists of campaigns and line items in a result: their figures, the rows that are shown, and
//! the counts of those that are not.

use contract::text;
use serde_json::{Map, Value, json};

use super::{Assumptions, projection_percent, required_rate};
use crate::{
    analyze::Analysis,
    args::ListRequest,
    data::LineItem,
    list::{self, Key, Listed, has_variance},
    money::{Ratio, money, round_div, share},
    names::without_common_prefix,
    pace::Thresholds,
    rollup::Sum,
    standing::{Basis, Standing},
};

/// The most rows of a list that was not limited by the question.
const MAX_ROWS: usize = 50;
/// The most rows of the list that the question is not about.
pub(super) const FEW: usize = 20;

/// Numbers of rows that a result does not show, with their sums.
#[derive(Default)]
pub(super) struct Omitted {
    pub(super) rows: Map<String, Value>,
    pub(super) totals: Map<String, Value>,
}

impl Omitted {
    /// Counts the rows that delivered and are not shown.
    pub(super) fn add_total(&mut self, name: &str, sums: &[Sum]) {
        let sums: Vec<&Sum> = sums.iter().filter(|sum| **sum != Sum::default()).collect();
        if sums.is_empty() {
            return;
        }
        let mut total = Sum::default();
        sums.iter().for_each(|sum| total.add(sum.spend, sum.impressions));
        self.rows.insert(name.to_owned(), Value::from(sums.len()));
        self.totals.insert(
            name.to_owned(),
            json!({"rows": sums.len(), "spend": money(total.spend), "impressions": total.impressions}),
        );
    }
}

/// A list of a result.
pub(super) struct List {
    pub(super) rows: Value,
    /// How many there are, fit and are shown, and how many have each status.
    pub(super) numbers: Value,
    shown: usize,
    is_cut: bool,
}

/// Records that a list is cut.
pub(super) fn note_cut(list: &List, assumptions: &mut Assumptions) {
    if list.is_cut {
        let shown = list.shown;
        let text = text!(
            "The list shows {count} rows; the totals count all of them. Ask for more with limit and offset.",
            count = shown
        );
        assumptions.add("lists_cut", shown, text);
    }
}

/// Returns the campaigns with their figures.
pub(super) fn campaigns(
    a: &Analysis,
    request: &ListRequest,
    bytes: usize,
    omitted: &mut Omitted,
) -> List {
    let names =
        without_common_prefix(&a.campaigns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>());
    let keys: Vec<Key> =
        a.campaigns.iter().zip(&a.standings).map(|(c, s)| Key::of(&c.name, s)).collect();
    let row = |at: usize| {
        let (campaign, standing) = (&a.campaigns[at], &a.standings[at]);
        let mut row = figures(standing);
        row.extend([
            ("campaign_id".to_owned(), Value::from(campaign.id.clone())),
            ("campaign_name".to_owned(), Value::from(campaign.name.clone())),
            ("display_name".to_owned(), Value::from(names[at].clone())),
            ("advertiser".to_owned(), Value::from(campaign.advertiser.clone())),
            ("budget".to_owned(), json!(standing.budget.map(money))),
            ("flight_start".to_owned(), json!(campaign.flight.map(|f| f.0))),
            ("flight_end".to_owned(), json!(campaign.flight.map(|f| f.1))),
        ]);
        Value::Object(row)
    };
    let sums: Vec<Sum> = a.standings.iter().map(|s| s.sum).collect();
    fit(&keys, request, bytes, &row, ("campaigns_total", &sums), omitted)
}

/// Returns the line items with their figures. The plan of each is an equal part of its campaign's
/// budget.
pub(super) fn line_items(
    a: &Analysis,
    request: &ListRequest,
    limits: &Thresholds,
    bytes: usize,
    omitted: &mut Omitted,
) -> List {
    let items = &a.delivery.line_items;
    let names = without_common_prefix(&items.iter().map(|l| l.name.as_str()).collect::<Vec<_>>());
    let mut counts = vec![0_i128; a.campaigns.len()];
    items.iter().for_each(|item| counts[item.campaign] += 1);
    let days = a.rollups.days_of_line_items();
    let basis = Basis { now: &a.now, last: a.last, limits };
    let standings: Vec<Standing> = items
        .iter()
        .enumerate()
        .map(|(at, item)| {
            let campaign = &a.standings[item.campaign];
            let budget = campaign.budget.and_then(|budget| {
                i64::try_from(round_div(i128::from(budget), counts[item.campaign])).ok()
            });
            let sum = a.rollups.line_items_total[at];
            Standing::new(campaign.span, budget, sum, &days[at], basis)
        })
        .collect();
    let key = |(item, standing): (&LineItem, &Standing)| Key {
        share: list::share(standing.sum.spend, a.standings[item.campaign].budget),
        ..Key::of(&item.name, standing)
    };
    let keys: Vec<Key> = items.iter().zip(&standings).map(key).collect();
    let row = |at: usize| {
        let (item, standing) = (&items[at], &standings[at]);
        let campaign = &a.campaigns[item.campaign];
        let whole = a.standings[item.campaign].budget.unwrap_or(0);
        let mut row = figures(standing);
        row.extend([
            ("campaign_id".to_owned(), Value::from(campaign.id.clone())),
            ("campaign_name".to_owned(), Value::from(campaign.name.clone())),
            ("line_item_id".to_owned(), Value::from(item.id.clone())),
            ("line_item_name".to_owned(), Value::from(item.name.clone())),
            ("display_name".to_owned(), Value::from(names[at].clone())),
            ("planned_budget".to_owned(), json!(standing.budget.map(money))),
            ("share".to_owned(), json!(share(standing.sum.spend, whole))),
        ]);
        Value::Object(row)
    };
    fit(&keys, request, bytes, &row, ("line_items_total", &a.rollups.line_items_total), omitted)
}

/// Returns the figures of a campaign, line item or account in its own days.
pub(crate) fn figures(standing: &Standing) -> Map<String, Value> {
    let (pace, budget) = (&standing.pace, standing.budget);
    let planned = |value: f64| budget.map(|_| value);
    let is_judged = has_variance(standing.status());
    let members = json!({
        "spend": money(standing.sum.spend),
        "impressions": standing.sum.impressions,
        "share": share(standing.sum.spend, budget.unwrap_or(0)),
        "pacing_status": standing.status().code(),
        "pacing_status_label": standing.status().label(),
        "planned_to_date": planned(pace.due.money()),
        "variance": planned(pace.variance.money()),
        "variance_percentage": planned(pace.variance_percent.round_to(2)).filter(|_| is_judged),
        "remaining": budget.map(|b| money(b - standing.sum.spend)),
        "required_daily_rate": required_rate(budget.and(pace.required)),
        "actual_daily_rate": pace.actual.money(),
        "projected_spend": pace.projection.money(),
        "projected_percentage": projection_percent(budget.filter(|b| *b > 0), pace),
        "at_stake": standing.at_stake().map(Ratio::money),
        "runs_out_on": standing.runs_out_on,
        "days_left": pace.left.round_to(2),
    });
    if let Value::Object(members) = members { members } else { Map::new() }
}

/// Returns the numbers of a list.
fn list_counts(listed: &Listed, shown: usize, offset: usize) -> Value {
    json!({
        "total": listed.total,
        "matching": listed.matching,
        "shown": shown,
        "offset": offset,
        "counts": listed.counts,
    })
}

/// Returns the rows that were asked for. Without a limit in the question, as many as fit.
fn fit(
    keys: &[Key],
    request: &ListRequest,
    bytes: usize,
    row: &dyn Fn(usize) -> Value,
    (name, sums): (&str, &[Sum]),
    omitted: &mut Omitted,
) -> List {
    let listed = list::list(keys, request, MAX_ROWS);
    let mut rows = Vec::new();
    let mut left = bytes;
    for at in &listed.rows {
        let row = row(*at);
        let length = row.to_string().len() + 1;
        if request.limit.is_none() && length > left && !rows.is_empty() {
            break;
        }
        left = left.saturating_sub(length);
        rows.push(row);
    }
    let shown = rows.len();
    let is_cut = request.offset + shown < listed.matching;
    if shown < keys.len() {
        let mut is_shown = vec![false; keys.len()];
        listed.rows.iter().take(shown).for_each(|at| is_shown[*at] = true);
        let hidden: Vec<Sum> =
            sums.iter().zip(is_shown).filter(|(_, shown)| !shown).map(|(sum, _)| *sum).collect();
        omitted.add_total(name, &hidden);
    }
    let numbers = list_counts(&listed, shown, request.offset);
    List { rows: Value::Array(rows), numbers, shown, is_cut }
}
