//! Budgets and targets of campaigns within a window: only the budget for the days of the flight
//! inside the window is used, and no target lies before a flight starts or after it ends. No data
//! access.

use chrono::NaiveDate;

use crate::{
    data::Campaign,
    money::{PARTS, Ratio, round_div},
    pace::Window,
    time::count_days,
};

/// Returns the days of a flight inside the window; 0 if there are none.
pub(crate) fn overlap((start, end): (NaiveDate, NaiveDate), window: Window) -> i64 {
    count_days(start.max(window.start), end.min(window.end)).max(0)
}

/// Returns the days over which a campaign runs in the window. A campaign without a flight in the
/// window runs on all of its days.
pub(crate) fn span(flight: Option<(NaiveDate, NaiveDate)>, window: Window) -> Window {
    match flight.filter(|flight| overlap(*flight, window) > 0) {
        Some((start, end)) => Window { start: start.max(window.start), end: end.min(window.end) },
        None => window,
    }
}

/// Returns the part of a campaign's budget for the days of its flight inside the window. None if
/// the campaign has no budget.
pub(crate) fn budget_in(campaign: &Campaign, window: Window) -> Option<i64> {
    let budget = campaign.budget?;
    let Some(flight) = campaign.flight else { return Some(budget) };
    let days = count_days(flight.0, flight.1);
    if days <= 0 {
        return Some(budget);
    }
    i64::try_from(round_div(
        i128::from(budget) * i128::from(overlap(flight, window)),
        i128::from(days),
    ))
    .ok()
}

/// Returns the shortest window that contains all given windows. None if there are none.
pub(crate) fn hull(windows: impl Iterator<Item = Window>) -> Option<Window> {
    windows.reduce(|a, b| Window { start: a.start.min(b.start), end: a.end.max(b.end) })
}

/// The planned spend of each day of a window.
#[derive(Clone, Debug)]
pub(crate) struct DayTargets {
    start: NaiveDate,
    /// The target of each day, in 1/`PARTS` of a micro-unit.
    days: Vec<i128>,
    /// The exact target, if all days of this span have the same target.
    even: Option<(Window, Ratio)>,
}

impl DayTargets {
    /// Spreads one budget evenly over a span of the window.
    pub(crate) fn spread_evenly(budget: i64, span: Window) -> Self {
        let target = Ratio::new(i128::from(budget), i128::from(span.days()));
        Self { start: span.start, days: Vec::new(), even: Some((span, target)) }
    }

    /// Adds up the budgets of campaigns, each spread evenly over its own span.
    pub(crate) fn of(window: Window, plans: &[(Window, i64)]) -> Self {
        if let [(first, _), rest @ ..] = plans
            && rest.iter().all(|(span, _)| span == first)
        {
            let sum = plans.iter().fold(0_i64, |sum, (_, budget)| sum.saturating_add(*budget));
            return Self::spread_evenly(sum, *first);
        }
        let length = usize::try_from(window.days()).unwrap_or(0);
        let mut steps = vec![0_i128; length + 1];
        let at = |day: NaiveDate| usize::try_from((day - window.start).num_days()).unwrap_or(0);
        for (span, budget) in plans {
            let target = round_div(i128::from(*budget) * PARTS, i128::from(span.days()));
            if let Some(step) = steps.get_mut(at(span.start)) {
                *step += target;
            }
            if let Some(step) = steps.get_mut(at(span.end) + 1) {
                *step -= target;
            }
        }
        let mut sum = 0;
        let days = steps.into_iter().take(length).map(|step| {
            sum += step;
            sum
        });
        Self { start: window.start, days: days.collect(), even: None }
    }

    /// Returns the target of a day; 0 outside of all spans.
    pub(crate) fn target_on(&self, day: NaiveDate) -> Ratio {
        if let Some((span, target)) = self.even {
            return if span.contains(day) { target } else { Ratio::new(0, 1) };
        }
        let at = usize::try_from((day - self.start).num_days()).ok();
        Ratio::new(at.and_then(|at| self.days.get(at)).copied().unwrap_or(0), PARTS)
    }
}

/// Adds amounts in parts of a micro-unit.
pub(crate) fn sum(amounts: impl Iterator<Item = Ratio>) -> Ratio {
    Ratio::new(amounts.map(|amount| amount.in_parts().num).sum(), PARTS)
}
