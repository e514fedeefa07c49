//! The figures of one campaign or line item in its own days: its pace, the money at stake at the
//! end, and the day on which its budget runs out. No data access, no rounding.

use chrono::NaiveDate;

use crate::{
    money::Ratio,
    pace::{Facts, Pace, Status, Thresholds, Window, pace},
    rollup::Sum,
    time::{LocalNow, add_days},
};

/// The figures of a campaign or line item, compared with its budget.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    /// The days of the flight in the window.
    pub(crate) span: Window,
    /// The budget. None if it is unknown.
    pub(crate) budget: Option<i64>,
    pub(crate) sum: Sum,
    pub(crate) pace: Pace,
    pub(crate) runs_out_on: Option<NaiveDate>,
}

/// The clock and limits of a question, and the last day with data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Basis<'a> {
    pub(crate) now: &'a LocalNow,
    pub(crate) last: Option<NaiveDate>,
    pub(crate) limits: &'a Thresholds,
}

impl Standing {
    /// Computes the figures. `days` contains the spend of each day, in any order.
    pub(crate) fn new(
        span: Window,
        budget: Option<i64>,
        sum: Sum,
        days: &[(NaiveDate, i64)],
        basis: Basis<'_>,
    ) -> Self {
        let facts = Facts {
            spend: sum.spend,
            budget: budget.unwrap_or(0),
            window: span,
            sums: None,
            last: basis.last.filter(|day| *day >= span.start),
        };
        let pace = pace(&facts, basis.now, basis.limits);
        let runs_out_on = budget.and_then(|budget| {
            let rate = rate_from_now(&pace);
            budget_end_day(budget, sum.spend, days, span, &pace, |_| rate)
        });
        Self { span, budget, sum, pace, runs_out_on }
    }

    pub(crate) fn status(&self) -> Status {
        self.pace.status
    }

    /// Returns the projected spend at the end minus the budget. None without a budget.
    pub(crate) fn at_stake(&self) -> Option<Ratio> {
        at_stake(self.budget, &self.pace)
    }

    /// Whether the spend exceeds the budget, or is projected to exceed it by more than half a
    /// percent.
    pub(crate) fn is_overspending(&self) -> bool {
        let projection = self.pace.projection;
        self.budget.is_some_and(|budget| {
            let is_over = 1_000 * projection.num > 1_005 * i128::from(budget) * projection.den;
            self.sum.spend > budget || (budget > 0 && is_over)
        })
    }
}

/// Returns the projected spend at the end minus the budget. None without a budget.
pub(crate) fn at_stake(budget: Option<i64>, pace: &Pace) -> Option<Ratio> {
    let (budget, projection) = (i128::from(budget?), pace.projection);
    Some(Ratio::new(projection.num - budget * projection.den, projection.den))
}

/// Returns the spend per day from now on if nothing changes: the projected remaining spend over the
/// remaining days.
pub(crate) fn rate_from_now(pace: &Pace) -> f64 {
    match pace.left {
        left if left.num > 0 => {
            let (projection, spend) = (as_f64(pace.projection), as_f64(pace.spend));
            (projection - spend) / as_f64(left)
        }
        _ => 0.0,
    }
}

#[expect(clippy::cast_precision_loss, reason = "used for a day and not for an amount")]
pub(crate) fn as_f64(ratio: Ratio) -> f64 {
    ratio.num as f64 / ratio.den as f64
}

/// Half a hundredth of a currency unit. Amounts that differ by less count as equal.
const TOLERANCE: f64 = 5_000.0;

/// Returns the day on which the budget is used up: the past day on which it was, or else the future
/// day at the expected rates. None if the budget lasts to the end.
pub(crate) fn budget_end_day(
    budget: i64,
    spend: i64,
    days: &[(NaiveDate, i64)],
    span: Window,
    pace: &Pace,
    rate: impl Fn(NaiveDate) -> f64,
) -> Option<NaiveDate> {
    if budget <= 0 {
        return None;
    }
    if spend > budget {
        return crossed(budget, days);
    }
    if pace.left.num <= 0 {
        return None;
    }
    let rest = amount(budget) - amount(spend);
    let elapsed = pace.elapsed.num.div_euclid(pace.elapsed.den.max(1));
    let mut day = add_days(span.start, i64::try_from(elapsed).unwrap_or(0));
    let passed = as_f64(pace.elapsed);
    let mut part = 1.0 - (passed - passed.floor());
    let mut used = 0.0;
    while day <= span.end {
        used += part * rate(day);
        let (is_used, is_exceeded) = (used >= rest - TOLERANCE, used > rest + TOLERANCE);
        if is_exceeded || (is_used && day < span.end) {
            return Some(day);
        }
        part = 1.0;
        day = add_days(day, 1);
    }
    None
}

#[expect(clippy::cast_precision_loss, reason = "used for a day and not for an amount")]
fn amount(micros: i64) -> f64 {
    micros as f64
}

/// Returns the day on which the spend exceeded the budget.
fn crossed(budget: i64, days: &[(NaiveDate, i64)]) -> Option<NaiveDate> {
    let mut days = days.to_vec();
    days.sort_unstable();
    let mut sum = 0_i64;
    days.into_iter().find_map(|(day, spend)| {
        sum = sum.saturating_add(spend);
        (sum > budget).then_some(day)
    })
}
