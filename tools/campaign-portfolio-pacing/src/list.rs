//! Lists of campaigns, line items and accounts: the rows that are kept, their order, and their
//! counts by status. No data access.

use chrono::{Datelike, NaiveDate};
use serde_json::{Value, json};

use crate::{
    args::{ListRequest, Order, StatusFilter},
    list_request::Bounds,
    money::Ratio,
    pace::Status,
    standing::Standing,
};

/// The most rows that are ordered by share of the budget if the request has no order. Longer lists
/// are ordered by spend.
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
    /// The difference from the planned spend in percent. None if no spend was planned.
    pub(crate) variance: Option<Ratio>,
    /// The expected spend at the end minus the budget.
    pub(crate) at_stake: Option<Ratio>,
    /// Whether the budget is used up before the last day of the period.
    pub(crate) runs_out: bool,
    pub(crate) flight: Option<(NaiveDate, NaiveDate)>,
    pub(crate) today: Option<NaiveDate>,
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
            runs_out: standing.runs_out_on.is_some_and(|day| day < standing.span.end),
            flight: None,
            today: None,
        }
    }

    /// Adds the flight, and the day on which the question is asked.
    pub(crate) fn in_flight(
        self,
        flight: Option<(NaiveDate, NaiveDate)>,
        today: NaiveDate,
    ) -> Self {
        Self { flight, today: Some(today), ..self }
    }

    /// Whether the flight has begun, and whether it is over. None if the flight is not known.
    fn phase(&self) -> Option<(bool, bool)> {
        let (flight, today) = self.flight.zip(self.today)?;
        Some((flight.0 <= today, flight.1 < today))
    }

    fn has_status(&self, filter: StatusFilter) -> bool {
        match filter {
            StatusFilter::Behind => is_behind(self.status),
            StatusFilter::Ahead => self.status == Status::Ahead,
            StatusFilter::OnTrack => self.status == Status::OnTrack,
            StatusFilter::OffTrack => is_behind(self.status) || self.status == Status::Ahead,
            StatusFilter::Overspending => self.is_overspending,
            StatusFilter::NotStarted => {
                self.phase().map_or(self.status == Status::NotStarted, |(has_begun, _)| !has_begun)
            }
            StatusFilter::Ended => self.phase().is_some_and(|(_, is_over)| is_over),
            StatusFilter::Live => {
                self.phase().map_or(self.spend > 0, |(has_begun, is_over)| has_begun && !is_over)
            }
            StatusFilter::NoSpend => self.spend == 0,
            StatusFilter::RunsOut => {
                self.runs_out && !self.phase().is_some_and(|(_, is_over)| is_over)
            }
            StatusFilter::AtRisk => self.status == Status::AtRisk,
        }
    }
}

/// Whether the status is based on the difference from the planned spend.
pub(crate) fn has_variance(status: Status) -> bool {
    !matches!(status, Status::NotStarted | Status::NoBasis)
}

/// The kept rows and the counts of the list.
pub(crate) struct Listed {
    /// Indexes of the rows in the order of the list, from the offset on, up to the limit.
    pub(crate) rows: Vec<usize>,
    pub(crate) total: usize,
    pub(crate) matching: usize,
    pub(crate) counts: Value,
}

/// Returns the rows that match, in order. `limit` is used if the request has no limit.
pub(crate) fn list(keys: &[Key], request: &ListRequest, limit: usize) -> Listed {
    let mut rows: Vec<usize> =
        (0..keys.len()).filter(|at| is_wanted(&keys[*at], request)).collect();
    let matching = rows.len();
    let order = request.order.or_else(|| default_order(request, matching));
    if let Some(order) = order {
        sort(&mut rows, keys, order, request);
    } else {
        // The rows are ordered by share of the budget, largest first; rows without a budget by
        // spend.
        rows.sort_by(|x, y| {
            descending(keys[*x].share, keys[*y].share).then(keys[*y].spend.cmp(&keys[*x].spend))
        });
    }
    let rows = rows.into_iter().skip(request.offset).take(request.limit.unwrap_or(limit)).collect();
    Listed { rows, total: keys.len(), matching, counts: counts(keys) }
}

fn is_wanted(key: &Key, request: &ListRequest) -> bool {
    // Spend in percent of the plan is 100 more than the difference in percent.
    let pace = key.variance.map(|v| Ratio { num: v.num + 100 * v.den, den: v.den });
    let used = key.share.map(|share| Ratio { num: 100 * share.num, den: share.den });
    request.status.is_none_or(|status| key.has_status(status))
        && request.exclude.is_none_or(|status| !key.has_status(status))
        && is_within(pace, request.pace)
        && is_within(used, request.used)
        && request.ends.holds(key.flight.map(|flight| flight.1))
        && request.starts.holds(key.flight.map(|flight| flight.0))
}

/// Whether a percentage lies within bounds in hundredths of a percent. Only without bounds may the
/// percentage be missing.
fn is_within(percent: Option<Ratio>, bounds: Bounds<i64>) -> bool {
    let Some(percent) = percent else { return !bounds.is_set() };
    let (value, unit) = (100 * percent.num, percent.den);
    bounds.least.is_none_or(|least| value >= i128::from(least) * unit)
        && bounds.most.is_none_or(|most| value <= i128::from(most) * unit)
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

/// Returns the default order for the kept rows. None for an order by share.
fn default_order(request: &ListRequest, matching: usize) -> Option<Order> {
    match request.status {
        Some(StatusFilter::NotStarted | StatusFilter::Ended | StatusFilter::Live) => {
            Some(Order::Ends)
        }
        Some(StatusFilter::OffTrack) => Some(Order::Furthest),
        Some(_) => Some(Order::Worst),
        None if request.ends.is_set() || request.starts.is_set() => Some(Order::Ends),
        None => (matching > SHARES).then_some(Order::Spend),
    }
}

fn sort(rows: &mut [usize], keys: &[Key], order: Order, request: &ListRequest) {
    let money = |amount: Option<i64>| amount.map(|a| Ratio::new(i128::from(a), 1));
    let by = |value: &dyn Fn(&Key) -> Option<Ratio>, rows: &mut [usize]| {
        let value = |at: usize| {
            let value = value(&keys[at]);
            if request.is_reversed { value.map(negated) } else { value }
        };
        rows.sort_by(|x, y| descending(value(*x), value(*y)));
    };
    // Rows that are equal are ordered by name.
    rows.sort_by(|x, y| keys[*x].name.cmp(&keys[*y].name));
    match order {
        Order::Name => {
            if request.is_reversed {
                rows.reverse();
            }
        }
        Order::Spend => by(&|key| money(Some(key.spend)), rows),
        Order::Budget => by(&|key| money(key.budget), rows),
        Order::Remaining => by(&|key| money(key.budget.map(|b| b.saturating_sub(key.spend))), rows),
        Order::Furthest => by(&|key| key.variance.map(distance), rows),
        Order::Ends => {
            by(&|key| money(key.flight.map(|f| -i64::from(f.1.num_days_from_ce()))), rows)
        }
        Order::Worst => match request.status {
            Some(StatusFilter::Overspending | StatusFilter::RunsOut) => {
                by(&|key| key.at_stake, rows)
            }
            Some(StatusFilter::Ahead) => by(&|key| key.variance, rows),
            Some(StatusFilter::OnTrack | StatusFilter::OffTrack) => {
                by(&|key| key.variance.map(distance), rows);
            }
            _ => by(&|key| key.variance.map(negated), rows),
        },
        Order::Best => match request.status {
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

/// Orders the larger value first. A missing value comes last.
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
