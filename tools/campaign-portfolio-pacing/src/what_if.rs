//! Tries out another budget or another spend per day from now on. The actual figures stay
//! unchanged. No data access, no rounding.

use chrono::NaiveDate;
use contract::AgentError;

use crate::{
    args::{Amount, Change},
    money::{Ratio, round_div},
    pace::{Pace, Status, Thresholds, Window, planned_status},
    standing::budget_end_day,
};

/// The figures with the change, and the figures without it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WhatIf {
    pub(crate) budget: Option<i64>,
    pub(crate) budget_before: Option<i64>,
    /// Spend per day from now on. None if no days are left.
    pub(crate) rate: Option<Ratio>,
    pub(crate) rate_before: Option<Ratio>,
    pub(crate) projection: Ratio,
    pub(crate) projection_before: Ratio,
    pub(crate) required: Option<Ratio>,
    pub(crate) runs_out_on: Option<NaiveDate>,
    /// The status at the end of the window.
    pub(crate) status: Status,
    pub(crate) status_before: Status,
    /// The projection minus the budget.
    pub(crate) variance: Option<Ratio>,
}

/// Computes the figures with a change. Returns None if no change is requested.
pub(crate) fn try_out(
    change: &Change,
    budget_before: Option<i64>,
    pace: &Pace,
    span: Window,
    days: &[(NaiveDate, i64)],
    rate_on: &dyn Fn(NaiveDate) -> f64,
    limits: &Thresholds,
) -> Result<Option<WhatIf>, AgentError> {
    if *change == Change::default() {
        return Ok(None);
    }
    let budget = match change.budget {
        None => budget_before,
        Some(amount) => Some(changed_budget(amount, budget_before)?),
    };
    let left = Some(pace.left).filter(|left| left.num > 0);
    if left.is_none() && change.rate.is_some() {
        return Err(AgentError::invalid(
            "The daily rate cannot be changed: no days are left in this period.",
        )
        .reason("window_over")
        .hint("Ask for a period that is not over, or change the budget."));
    }
    let spend = pace.spend;
    let rest = Ratio::new(
        pace.projection.num * spend.den - spend.num * pace.projection.den,
        pace.projection.den * spend.den,
    )
    .in_parts();
    let rate_before =
        left.map(|left| Ratio::new(rest.num * left.den, rest.den * left.num).in_parts());
    let (rate, rest_now) = match (change.rate, left) {
        (Some(Amount::To(rate)), Some(left)) => {
            let rate = Ratio::new(i128::from(rate), 1);
            (Some(rate), Ratio::new(rate.num * left.num, left.den))
        }
        (Some(Amount::Percent(percent)), _) => {
            let factor = |r: Ratio| {
                Ratio::new(r.num * i128::from(10_000 + percent), r.den * 10_000).in_parts()
            };
            (rate_before.map(factor), factor(rest))
        }
        _ => (rate_before, rest),
    };
    let projection = match change.rate {
        None => pace.projection,
        Some(_) => Ratio::new(
            spend.num * rest_now.den + rest_now.num * spend.den,
            spend.den * rest_now.den,
        ),
    };
    let remaining = budget.map(|b| i128::from(b) - spend.num);
    let required = remaining.zip(left).map(|(r, left)| Ratio::new(r * left.den, left.num));
    let status = match budget {
        _ if change.rate.is_none() && budget == budget_before => pace.status,
        Some(budget) if budget > 0 && pace.status != Status::NotStarted => planned_status(
            projection,
            i128::from(budget),
            required,
            rate.unwrap_or(Ratio::new(0, 1)),
            i128::from(budget) - spend.num,
            limits,
        ),
        _ => pace.status,
    };
    let factor = match (change.rate, rate) {
        (Some(Amount::Percent(percent)), _) => Factor::Times(as_factor(percent)),
        (Some(_), Some(rate)) => Factor::Fixed(crate::standing::as_f64(rate)),
        _ => Factor::Times(1.0),
    };
    let runs_out_on = budget.and_then(|budget| {
        let spent = i64::try_from(spend.num).unwrap_or(i64::MAX);
        budget_end_day(budget, spent, days, span, pace, |day| match factor {
            Factor::Times(times) => times * rate_on(day),
            Factor::Fixed(rate) => rate,
        })
    });
    let variance = budget.map(|budget| {
        Ratio::new(projection.num - i128::from(budget) * projection.den, projection.den)
    });
    Ok(Some(WhatIf {
        budget,
        budget_before,
        rate,
        rate_before,
        projection,
        projection_before: pace.projection,
        required,
        runs_out_on,
        status,
        status_before: pace.status,
        variance,
    }))
}

/// The rate of a coming day.
#[derive(Clone, Copy)]
enum Factor {
    Times(f64),
    Fixed(f64),
}

#[expect(clippy::cast_precision_loss, reason = "hundredths of a percent are small")]
fn as_factor(percent: i64) -> f64 {
    1.0 + percent as f64 / 10_000.0
}

fn changed_budget(amount: Amount, before: Option<i64>) -> Result<i64, AgentError> {
    let Some(before) = before else {
        return Err(AgentError::invalid("There is no budget that could be changed.")
            .reason("budget_unknown")
            .hint("Give a budget for these days."));
    };
    let after = match amount {
        Amount::Percent(percent) => {
            let changed = i128::from(before) * i128::from(10_000 + percent);
            i64::try_from(round_div(changed, 10_000)).unwrap_or(i64::MAX)
        }
        Amount::By(amount) => before.saturating_add(amount),
        Amount::To(amount) => amount,
    };
    if after > 0 {
        Ok(after)
    } else {
        Err(AgentError::invalid("The change leaves no budget.")
            .reason("invalid_arguments")
            .hint("Change the budget by a smaller amount."))
    }
}
