//! The budget of a question: the given budget, or the sum of the campaigns' own. Records the
//! assumptions, and questions a given budget that differs strongly from the figures. No data
//! access.

use contract::text;
use serde_json::Value;

use crate::{
    data::Campaign,
    flights::overlap,
    money::{money, money_text},
    pace::{Pace, Window},
    report::Assumptions,
    rollup::Rollups,
    standing::Standing,
    time::count_days,
};

/// A given budget is questioned if it is larger or smaller by more than this factor.
const FAR: i128 = 10;

/// Returns the sum of the campaigns' own budgets. None if no campaign has one.
pub(crate) fn own(standings: &[Standing]) -> Option<i64> {
    standings.iter().filter_map(|s| s.budget).reduce(i64::saturating_add)
}

/// Records the assumptions behind the budget.
pub(crate) fn record_budget_assumptions(
    given: Option<i64>,
    campaigns: &[Campaign],
    standings: &[Standing],
    window: Window,
    assumptions: &mut Assumptions,
) {
    if given.is_some() {
        return;
    }
    let Some(sum) = own(standings) else {
        assumptions.add(
            "budget_unknown",
            Value::Null,
            "No campaign has a budget and none was given: there is nothing to compare spend with."
                .to_owned(),
        );
        return;
    };
    let count = standings.iter().filter(|s| s.budget.is_some()).count();
    assumptions.add(
        "budget_from_campaigns",
        money(sum),
        text!("No budget was given: the sum of {count} campaign budgets counts.", count),
    );
    let cut = campaigns
        .iter()
        .filter(|c| {
            c.budget.is_some()
                && c.flight.is_some_and(|f| overlap(f, window) < count_days(f.0, f.1))
        })
        .count();
    if cut > 0 {
        let text = match cut {
            1 => "1 campaign runs outside these days too: only the part of its budget for the days of its flight in the window counts.".into(),
            _ => text!("{cut} campaigns run outside these days too: only the part of their budgets for the days of their flight in the window counts.", cut),
        };
        assumptions.add("budget_prorated", Value::from(cut), text);
    }
    let missing = standings.len() - count;
    if missing > 0 {
        let text = match missing {
            1 => "1 campaign has no budget; its spend counts, so the percentages are too high."
                .into(),
            _ => text!(
                "{missing} campaigns have no budget; their spend counts, so the percentages are too high.",
                missing
            ),
        };
        assumptions.add("budget_incomplete", Value::from(missing), text);
    }
    let unflown = campaigns.iter().filter(|c| c.budget.is_some() && c.flight.is_none()).count();
    if unflown > 0 {
        let text = match unflown {
            1 => "1 campaign has no flight dates: its whole budget counts for these days.".into(),
            _ => text!(
                "{unflown} campaigns have no flight dates: their whole budget counts for these days.",
                unflown
            ),
        };
        assumptions.add("flight_unknown", Value::from(unflown), text);
    }
}

/// Returns whether a given budget differs more than tenfold from the spend or from the campaigns'
/// own budgets, and records the question. A large budget is compared with the projection, because
/// the spend of the first days is always small.
pub(crate) fn check_budget_plausibility(
    given: Option<i64>,
    own: Option<i64>,
    rollups: &Rollups,
    pace: &Pace,
    assumptions: &mut Assumptions,
) -> bool {
    let Some(budget) = given else { return false };
    let spend = rollups.portfolio_total.spend;
    let (given, spent) = (i128::from(budget), i128::from(spend));
    let is_far_from_own = own.filter(|own| *own > 0).is_some_and(|own| {
        let own = i128::from(own);
        given > FAR * own || own > FAR * given
    });
    let is_far_from_spend = spent > FAR * given
        || (spent > 0 && given * pace.projection.den > FAR * pace.projection.num);
    if !is_far_from_own && !is_far_from_spend {
        return false;
    }
    let (budget_text, spend_text) = (money_text(budget), money_text(spend));
    let text = match own {
        Some(own) => text!(
            "The given budget of {given} is far from the spend of {spend} and the campaigns' own budgets of {own}. Is the amount right?",
            given = budget_text,
            spend = spend_text,
            own = money_text(own)
        ),
        None => text!(
            "The given budget of {given} is far from the spend of {spend}. Is the amount right?",
            given = budget_text,
            spend = spend_text
        ),
    };
    assumptions.add("budget_questionable", money(budget), text);
    true
}
