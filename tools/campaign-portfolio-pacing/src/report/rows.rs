//! The lists of campaigns and line items in a result: their figures, the rows that are shown, and
//! the counts of all other rows.

use contract::text;
use serde_json::{Map, Value, json};

use super::{Assumptions, projection_percent, required_rate};
use crate::{
    advertisers,
    analyze::Analysis,
    args::{Detail, ListRequest},
    data::{Campaign, LineItem},
    list::{self, Key, Listed, has_variance},
    money::{Ratio, money, round_div, share},
    names::without_common_prefix,
    pace::Thresholds,
    rollup::Sum,
    standing::{Basis, Standing},
};

/// The most rows of a list, unless the question sets a limit.
const MAX_ROWS: usize = 50;
/// The most rows of a list that the question is not about.
pub(super) const FEW: usize = 20;

/// The counts of rows that a result does not show, with their sums.
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
    /// The counts of all rows, of the matching and of the shown rows, and of the rows with each
    /// status.
    pub(super) numbers: Value,
    shown: usize,
    is_cut: bool,
}

/// Records as an assumption that a list is cut.
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

/// The rows that a list may show, with the properties by which they are filtered and ordered.
pub(crate) struct Entries<'a> {
    pub(crate) keys: Vec<Key>,
    /// Returns the row with this index.
    pub(crate) row: Box<dyn Fn(usize) -> Value + 'a>,
    sums: Vec<Sum>,
}

impl<'a> Entries<'a> {
    /// Returns the rows of this kind.
    pub(crate) fn of(a: &'a Analysis, detail: Detail, limits: &Thresholds) -> Self {
        match detail {
            Detail::Campaigns => Self::campaigns(a),
            Detail::LineItems => Self::line_items(a, limits),
            Detail::Advertisers => Self::advertisers(a, limits),
        }
    }

    fn campaigns(a: &'a Analysis) -> Self {
        let names =
            without_common_prefix(&a.campaigns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>());
        let key =
            |(c, s): (&Campaign, &Standing)| Key::of(&c.name, s).in_flight(c.flight, a.now.today);
        let row = move |at: usize| {
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
        Self {
            keys: a.campaigns.iter().zip(&a.standings).map(key).collect(),
            row: Box::new(row),
            sums: a.standings.iter().map(|s| s.sum).collect(),
        }
    }

    /// Returns the line items. The plan of each is an equal part of its campaign's budget.
    fn line_items(a: &'a Analysis, limits: &Thresholds) -> Self {
        let items = &a.delivery.line_items;
        let names =
            without_common_prefix(&items.iter().map(|l| l.name.as_str()).collect::<Vec<_>>());
        let standings = line_item_standings(a, limits);
        let key = |(item, standing): (&LineItem, &Standing)| Key {
            share: list::share(standing.sum.spend, a.standings[item.campaign].budget),
            ..Key::of(&item.name, standing)
                .in_flight(a.campaigns[item.campaign].flight, a.now.today)
        };
        let keys = items.iter().zip(&standings).map(key).collect();
        let row = move |at: usize| {
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
        Self { keys, row: Box::new(row), sums: a.rollups.line_items_total.clone() }
    }

    fn advertisers(a: &'a Analysis, limits: &Thresholds) -> Self {
        let all = advertisers::advertisers_of_analysis(a, limits);
        let keys = all.iter().map(|one| Key::of(&one.name, &one.standing)).collect();
        let sums = all.iter().map(|one| one.standing.sum).collect();
        let row = move |at: usize| {
            let one = &all[at];
            let mut row = figures(&one.standing);
            row.extend([
                ("advertiser".to_owned(), Value::from(one.name.clone())),
                ("campaigns".to_owned(), Value::from(one.campaigns)),
                ("budget".to_owned(), json!(one.standing.budget.map(money))),
            ]);
            Value::Object(row)
        };
        Self { keys, row: Box::new(row), sums }
    }
}

fn line_item_standings(a: &Analysis, limits: &Thresholds) -> Vec<Standing> {
    let items = &a.delivery.line_items;
    let mut counts = vec![0_i128; a.campaigns.len()];
    items.iter().for_each(|item| counts[item.campaign] += 1);
    let days = a.rollups.days_of_line_items();
    let basis = Basis { now: &a.now, last: a.last, limits };
    let of = |(at, item): (usize, &LineItem)| {
        let campaign = &a.standings[item.campaign];
        let budget = campaign.budget.and_then(|budget| {
            i64::try_from(round_div(i128::from(budget), counts[item.campaign])).ok()
        });
        Standing::new(campaign.span, budget, a.rollups.line_items_total[at], &days[at], basis)
    };
    items.iter().enumerate().map(of).collect()
}

/// Returns the campaigns with their figures.
pub(super) fn campaigns(
    a: &Analysis,
    request: &ListRequest,
    bytes: usize,
    omitted: &mut Omitted,
) -> List {
    let entries = Entries::campaigns(a);
    fit(&entries, request, bytes, "campaigns_total", omitted)
}

/// Returns the line items with their figures.
pub(super) fn line_items(
    a: &Analysis,
    request: &ListRequest,
    limits: &Thresholds,
    bytes: usize,
    omitted: &mut Omitted,
) -> List {
    let entries = Entries::line_items(a, limits);
    fit(&entries, request, bytes, "line_items_total", omitted)
}

/// Returns the advertisers with the summed figures of their campaigns.
pub(super) fn advertisers(
    a: &Analysis,
    request: &ListRequest,
    limits: &Thresholds,
    bytes: usize,
) -> List {
    let entries = Entries::advertisers(a, limits);
    fit(&entries, request, bytes, "advertisers", &mut Omitted::default())
}

/// Returns the figures of a campaign, line item or account within its own days.
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

/// Returns the counts of a list.
fn list_counts(listed: &Listed, shown: usize, offset: usize) -> Value {
    json!({
        "total": listed.total,
        "matching": listed.matching,
        "shown": shown,
        "offset": offset,
        "counts": listed.counts,
    })
}

/// Returns the requested rows, with their counts.
pub(crate) fn shown_rows(
    keys: &[Key],
    row: &dyn Fn(usize) -> Value,
    request: &ListRequest,
    bytes: usize,
) -> (Vec<(usize, Value)>, Value) {
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
        rows.push((*at, row));
    }
    let numbers = list_counts(&listed, rows.len(), request.offset);
    (rows, numbers)
}

/// Returns the requested rows. If the question has no limit, returns as many as fit.
fn fit(
    entries: &Entries<'_>,
    request: &ListRequest,
    bytes: usize,
    name: &str,
    omitted: &mut Omitted,
) -> List {
    let (rows, numbers) = shown_rows(&entries.keys, &entries.row, request, bytes);
    let shown = rows.len();
    let matching = numbers["matching"].as_u64().and_then(|n| usize::try_from(n).ok());
    let is_cut = matching.is_some_and(|matching| request.offset + shown < matching);
    if shown < entries.keys.len() {
        let mut is_shown = vec![false; entries.keys.len()];
        rows.iter().for_each(|(at, _)| is_shown[*at] = true);
        let hidden: Vec<Sum> = entries
            .sums
            .iter()
            .zip(is_shown)
            .filter(|(_, shown)| !shown)
            .map(|(sum, _)| *sum)
            .collect();
        omitted.add_total(name, &hidden);
    }
    let rows = rows.into_iter().map(|(_, row)| row).collect();
    List { rows: Value::Array(rows), numbers, shown, is_cut }
}
