//! Property tests: rules that apply to any rows, budgets and times.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on may stop")]

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use chrono_tz::Tz;
use proptest::prelude::*;

use crate::{
    args::{Amount, Change},
    data::Row,
    flights::{self, DayTargets},
    money::{MICROS, Ratio, money, round_div},
    pace::{Facts, Pace, Status, Thresholds, Window, pace},
    rollup::{Rollups, Sum, rollups},
    standing::{as_f64, budget_end_day, rate_from_now},
    time::{self, LocalNow, add_days},
    what_if::try_out,
};

const ITEMS: usize = 6;
/// The index of the campaign of each line item.
const CAMPAIGN_OF: [usize; ITEMS] = [0, 0, 1, 1, 1, 2];

fn day(offset: i64) -> NaiveDate {
    add_days(NaiveDate::from_ymd_opt(2026, 1, 1).unwrap(), offset)
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (0..ITEMS, 0..60_i64, 0..5_000 * MICROS, 0..100_000_i64);
    prop::collection::btree_map((0..ITEMS, 0..60_i64), row, 0..120).prop_map(|cells| {
        cells
            .into_iter()
            .map(|((line_item, d), (_, _, spend, impressions))| Row {
                line_item,
                day: day(d),
                spend,
                impressions,
            })
            .collect()
    })
}

fn sum(parts: impl Iterator<Item = Sum>) -> Sum {
    parts.fold(Sum::default(), |a, b| Sum {
        spend: a.spend + b.spend,
        impressions: a.impressions + b.impressions,
    })
}

fn zone() -> impl Strategy<Value = Tz> {
    prop::sample::select(vec![
        chrono_tz::UTC,
        Tz::America__Los_Angeles,
        Tz::Europe__Stockholm,
        Tz::Africa__Cairo,
        Tz::Asia__Kathmandu,
        Tz::Pacific__Auckland,
    ])
}

fn moment() -> impl Strategy<Value = DateTime<Utc>> {
    (0..400 * 86_400_i64).prop_map(|s| {
        "2025-12-01T00:00:00Z".parse::<DateTime<Utc>>().unwrap() + TimeDelta::seconds(s)
    })
}

prop_compose! {
    fn question()(zone in zone(), moment in moment(), start in -10..380_i64, days in 1..=366_i64,
                  spend in 0..10_000_000 * MICROS, budget in 0..10_000_000 * MICROS, lag in 0..40_i64) -> (Facts, LocalNow) {
        let now = LocalNow::new(zone, moment);
        let window = Window { start: day(start), end: day(start + days - 1) };
        let last = add_days(now.today, -lag).min(window.end);
        (Facts { spend, budget, window, sums: None, last: (last >= window.start).then_some(last) }, now)
    }
}

fn work_out((facts, now): &(Facts, LocalNow)) -> Pace {
    pace(facts, now, &Thresholds::default())
}

fn at_most(a: Ratio, b: Ratio) -> bool {
    a.num * b.den <= b.num * a.den
}

proptest! {
    #[test]
    fn line_items_campaigns_and_portfolio_have_the_same_sums(rows in rows()) {
        let Rollups { line_items_daily, line_items_total, campaigns_daily, campaigns_total, portfolio_daily, portfolio_total } = rollups(&rows, &CAMPAIGN_OF, 3);
        let all = sum(rows.iter().map(|r| Sum { spend: r.spend, impressions: r.impressions }));
        prop_assert_eq!(portfolio_total, all);
        for daily in [&line_items_daily, &campaigns_daily, &portfolio_daily] {
            prop_assert_eq!(sum(daily.iter().map(|d| d.sum)), all);
        }
        for total in [&line_items_total, &campaigns_total] {
            prop_assert_eq!(sum(total.iter().copied()), all);
        }
        for (campaign, total) in campaigns_total.iter().enumerate() {
            let items = line_items_total.iter().zip(CAMPAIGN_OF).filter(|(_, of)| *of == campaign);
            prop_assert_eq!(sum(items.map(|(s, _)| *s)), *total);
            prop_assert_eq!(sum(campaigns_daily.iter().filter(|d| d.of == campaign).map(|d| d.sum)), *total);
        }
        prop_assert!(portfolio_daily.windows(2).all(|w| w[0].day > w[1].day), "newest first");
    }

    #[test]
    fn a_daily_ratio_compares_with_the_previous_calendar_day(rows in rows()) {
        let all = rollups(&rows, &CAMPAIGN_OF, 3);
        for d in &all.portfolio_daily {
            let before = all.portfolio_daily.iter().find(|b| b.day == add_days(d.day, -1)).map(|b| b.sum.spend).filter(|s| *s > 0);
            prop_assert_eq!(d.ratio.is_some(), before.is_some());
        }
    }

    #[test]
    fn elapsed_days_lie_within_the_window(q in question()) {
        let p = work_out(&q);
        let total = Ratio::new(i128::from(p.total_days), 1);
        prop_assert!(p.elapsed.num >= 0 && at_most(p.elapsed, total));
        let left = p.left;
        prop_assert!(left.num >= 0);
        if !p.ended {
            // Elapsed and remaining days add up to the window.
            prop_assert_eq!(left.num * p.elapsed.den + p.elapsed.num * left.den, total.num * left.den * p.elapsed.den);
        }
    }

    #[test]
    fn spent_and_remaining_amount_add_up_to_the_budget(q in question()) {
        let p = work_out(&q);
        let (facts, now) = &q;
        if let Some(required) = p.required {
            let left = p.left;
            prop_assert_eq!(required.num * left.num, i128::from(facts.budget - facts.spend) * required.den * left.den);
        }
        prop_assert_eq!(p.required.is_some(), p.left.num > 0);
        prop_assert_eq!(p.status == Status::NotStarted, now.today < facts.window.start);
        prop_assert!(p.status == Status::NotStarted || (p.status == Status::NoBasis) == (p.due.num == 0));
    }

    #[test]
    fn the_status_follows_the_percentage_difference(q in question()) {
        let p = work_out(&q);
        let percent = p.variance_percent;
        let at_least = |limit: i128| percent.num >= limit * percent.den;
        match p.status {
            Status::Ahead => prop_assert!(at_least(5)),
            Status::OnTrack => prop_assert!(!at_least(5) && percent.num > -5 * percent.den),
            Status::SlightlyBehind => prop_assert!(percent.num <= -5 * percent.den && percent.num > -20 * percent.den),
            Status::Behind => prop_assert!(percent.num <= -20 * percent.den),
            Status::AtRisk => prop_assert!(percent.num <= -5 * percent.den),
            Status::NotStarted | Status::NoBasis => {}
        }
    }

    #[test]
    fn more_spend_never_lowers_the_projection(q in question(), more in 0..1_000_000 * MICROS) {
        let (facts, now) = q;
        let higher = Facts { spend: facts.spend + more, ..facts };
        prop_assert!(at_most(work_out(&(facts, now)).projection, work_out(&(higher, now)).projection));
    }

    #[test]
    fn daily_targets_lie_within_flights_and_add_up_to_the_budgets(plans in prop::collection::vec((0..60_i64, 0..60_i64, 0..5_000_000 * MICROS), 1..12)) {
        let window = Window { start: day(0), end: day(59) };
        let plans: Vec<(Window, i64)> = plans
            .into_iter()
            .map(|(a, b, budget)| (Window { start: day(a.min(b)), end: day(a.max(b)) }, budget))
            .collect();
        let targets = DayTargets::of(window, &plans);
        let sum = flights::sum((0..60).map(|d| targets.target_on(day(d))));
        let budgets: i64 = plans.iter().map(|(_, budget)| budget).sum();
        prop_assert!((as_f64(sum) - budgets as f64).abs() <= 1.0, "{} of {}", as_f64(sum), budgets);
        for d in 0..60 {
            let is_planned = plans.iter().any(|(span, budget)| span.contains(day(d)) && *budget > 60);
            prop_assert_eq!(targets.target_on(day(d)).num > 0, is_planned || plans.iter().any(|(span, budget)| span.contains(day(d)) && *budget > 0));
        }
    }

    #[test]
    fn a_what_if_change_keeps_actual_figures_and_its_projection_adds_up(q in question(), percent in -9_000..30_000_i64, rate in 0..100_000 * MICROS) {
        let (facts, now) = &q;
        let p = work_out(&q);
        let budget = Some(facts.budget).filter(|b| *b > 0);
        let limits = Thresholds::default();
        let of = |change: Change| try_out(&change, budget, &p, facts.window, &[], &|_| rate_from_now(&p), &limits);
        prop_assert!(of(Change::default()).unwrap().is_none());
        for rate in [Amount::Percent(percent), Amount::To(rate)] {
            let Ok(Some(w)) = of(Change { budget: None, rate: Some(rate) }) else {
                prop_assert!(p.left.num == 0, "only a window that is over refuses another rate");
                continue;
            };
            let rest = as_f64(w.rate.unwrap()) * as_f64(p.left);
            prop_assert!((as_f64(w.projection) - facts.spend as f64 - rest).abs() <= 100.0);
            prop_assert_eq!(w.projection_before, p.projection);
            prop_assert_eq!(w.budget, w.budget_before);
        }
        if let Some(before) = budget {
            let w = of(Change { budget: Some(Amount::Percent(percent)), rate: None }).unwrap().unwrap();
            prop_assert_eq!(w.projection, p.projection);
            prop_assert_eq!(w.budget.unwrap() > before, percent > 0 && w.budget.unwrap() != before);
        }
        prop_assert_eq!(work_out(&(*facts, *now)).projection, p.projection);
    }

    #[test]
    fn a_budget_runs_out_within_the_window_and_only_if_it_is_exceeded(q in question()) {
        let (facts, _) = &q;
        let p = work_out(&q);
        let days = [(facts.window.start, facts.spend)];
        let rate = rate_from_now(&p);
        let day = budget_end_day(facts.budget, facts.spend, &days, facts.window, &p, |_| rate);
        if let Some(day) = day {
            prop_assert!(facts.window.contains(day));
            prop_assert!(as_f64(p.projection) + 10_000.0 >= facts.budget as f64, "the projection reaches the budget");
        } else if facts.budget > 0 && !p.ended {
            prop_assert!(as_f64(p.projection) <= facts.budget as f64 + 10_000.0);
        }
    }

    #[test]
    fn the_length_of_a_local_day_follows_its_clock_changes(zone in zone(), moment in moment()) {
        let now = LocalNow::new(zone, moment);
        prop_assert!((22 * 3600..=26 * 3600).contains(&now.length));
        prop_assert!((0..=now.length).contains(&now.elapsed));
        let start = time::start_of(zone, now.today);
        prop_assert!(start <= moment && moment < time::start_of(zone, add_days(now.today, 1)));
    }

    #[test]
    fn rounding_is_never_off_by_more_than_half(num in -1_000_000_000_i128..1_000_000_000, den in 1_i128..10_000) {
        let rounded = round_div(num, den);
        prop_assert!((2 * (rounded * den - num)).abs() <= den);
        prop_assert_eq!(round_div(-num, den), -rounded);
    }

    #[test]
    fn money_shows_at_most_two_decimals(micros in -1_000_000_000_000_000_i64..1_000_000_000_000_000) {
        let text = money(micros).to_string();
        prop_assert!(text.split('.').nth(1).is_none_or(|d| d.len() <= 2), "{}", text);
    }
}
