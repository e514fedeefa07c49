//! Lists of campaigns, line items and accounts: which rows are kept, their order, and their counts
//! by status. No data access.

use serde_json::{Value, json};

use crate::{
    args::{ListRequest, Order, StatusFilter},
    money::Ratio,
    pace::Status,
    standing::Standing,
};

/// The most rows that are ordered by share if the request has no order; longer lists are ordered by
/// spend.
const SHARES: usize = 30;

/// The properties of a row by which a list is filtered and ordered.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) spend: i64,
    pub(crate) budget: Option<i64>,
    /// The spend as a part of a budget.
    pub(crate) share: Option<Ratio>,
    pub(crate) status: Status,
    pub(crate) is_overspending: bool,
    /// In percent of the planned spend. None if nothing was planned.
    pub(crate) variance: Option<Ratio>,
    /// The expected spend at the end minus the budget.
    pub(crate) at_stake: Option<Ratio>,
}

impl Key {
    pub(crate) fn of(name: &str, standing: &Standing) -> Self {
        let pace = &standing.pace;
        Self {
            name: name.to_lowercase(),
            spend: standing.sum.spend,
            budget: standing.budget,
            share: share(standing.sum.spend, standing.budget),
            status: standing.status(),
            is_overspending: standing.is_overspending(),
            variance: has_variance(standing.status()).then_some(pace.variance_percent),
            at_stake: standing.at_stake(),
        }
    }
}

/// Whether a status is a verdict on the difference from the plan.
pub(crate) fn has_variance(status: Status) -> bool {
    !matches!(status, Status::NotStarted | Status::NoBasis)
}

/// Rows with the numbers that belong to them.
pub(crate) struct Listed {
    /// Indexes of the rows in the order of the list, from the offset on, up to the limit.
    pub(crate) rows: Vec<usize>,
    pub(crate) total: usize,
    pub(crate) matching: usize,
    pub(crate) counts: Value,
}

/// Returns the rows that fit, in order. `limit` counts if the request has none.
pub(crate) fn list(keys: &[Key], request: &ListRequest, limit: usize) -> Listed {
    let mut rows: Vec<usize> =
        (0..keys.len()).filter(|at| is_wanted(&keys[*at], request.status)).collect();
    let matching = rows.len();
    let order = match (request.order, request.status) {
        (None, Some(_)) => Some(Order::Worst),
        (order, _) => order.or((matching > SHARES).then_some(Order::Spend)),
    };
    if let Some(order) = order {
        sort(&mut rows, keys, order, request.status);
    } else {
        // By share of the budget, largest first; rows without a budget by spend.
        rows.sort_by(|x, y| {
            descending(keys[*x].share, keys[*y].share).then(keys[*y].spend.cmp(&keys[*x].spend))
        });
    }
    let rows = rows.into_iter().skip(request.offset).take(request.limit.unwrap_or(limit)).collect();
    Listed { rows, total: keys.len(), matching, counts: counts(keys) }
}

fn is_wanted(key: &Key, filter: Option<StatusFilter>) -> bool {
    match filter {
        None => true,
        Some(StatusFilter::Behind) => is_behind(key.status),
        Some(StatusFilter::Ahead) => key.status == Status::Ahead,
        Some(StatusFilter::OnTrack) => key.status == Status::OnTrack,
        Some(StatusFilter::Overspending) => key.is_overspending,
    }
}

/// Whether a status is slightly behind or worse.
pub(crate) fn is_behind(status: Status) -> bool {
    matches!(status, Status::SlightlyBehind | Status::Behind | Status::AtRisk)
}

/// Returns the spend as a part of a budget. None without a budget.
pub(crate) fn share(spend: i64, budget: Option<i64>) -> Option<Ratio> {
    let budget = budget.filter(|budget| *budget > 0)?;
    Some(Ratio::new(i128::from(spend), i128::from(budget)))
}

fn sort(rows: &mut [usize], keys: &[Key], order: Order, filter: Option<StatusFilter>) {
    let money = |amount: Option<i64>| amount.map(|a| Ratio::new(i128::from(a), 1));
    let by = |value: &dyn Fn(&Key) -> Option<Ratio>, rows: &mut [usize]| {
        rows.sort_by(|x, y| descending(value(&keys[*x]), value(&keys[*y])));
    };
    // Rows that are equal in the order keep the order of their names.
    rows.sort_by(|x, y| keys[*x].name.cmp(&keys[*y].name));
    match order {
        Order::Name => {}
        Order::Spend => by(&|key| money(Some(key.spend)), rows),
        Order::Budget => by(&|key| money(key.budget), rows),
        Order::Remaining => by(&|key| money(key.budget.map(|b| b.saturating_sub(key.spend))), rows),
        Order::Worst => match filter {
            Some(StatusFilter::Overspending) => by(&|key| key.at_stake, rows),
            Some(StatusFilter::Ahead) => by(&|key| key.variance, rows),
            Some(StatusFilter::OnTrack) => by(&|key| key.variance.map(distance), rows),
            Some(StatusFilter::Behind) | None => by(&|key| key.variance.map(negated), rows),
        },
        Order::Best => match filter {
            Some(StatusFilter::Ahead) => by(&|key| key.variance, rows),
            _ => by(&|key| key.variance.map(distance).map(negated), rows),
        },
    }
}

fn negated(value: Ratio) -> Ratio {
    Ratio { num: -value.num, den: value.den }
}

fn distance(value: Ratio) -> Ratio {
    Ratio { num: value.num.abs(), den: value.den }
}

/// Orders the larger value first, and a missing one last.
fn descending(x: Option<Ratio>, y: Option<Ratio>) -> std::cmp::Ordering {
    let order = |x: Ratio, y: Ratio| (y.num * x.den).cmp(&(x.num * y.den));
    match (x, y) {
        (Some(x), Some(y)) => order(x.in_parts(), y.in_parts()),
        (Some(_), None) => std::cmp::Ordering::Less,
        (None, Some(_)) => std::cmp::Ordering::Greater,
        (None, None) => std::cmp::Ordering::Equal,
    }
}

fn counts(keys: &[Key]) -> Value {
    let count = |status: Status| keys.iter().filter(|key| key.status == status).count();
    json!({
        "behind": count(Status::Behind),
        "slightly_behind": count(Status::SlightlyBehind),
        "on_track": count(Status::OnTrack),
        "ahead": count(Status::Ahead),
        "at_risk": count(Status::AtRisk),
        "not_started": count(Status::NotStarted),
        "no_basis": count(Status::NoBasis),
        "overspending": keys.iter().filter(|key| key.is_overspending).count(),
    })
}
