//! Finds rows that cover more than a day, such as weeks and months: their amounts would all fall on
//! one day.

use chrono::{Datelike as _, NaiveDate};
use contract::{
    definitions::Covers,
    sources::{DayRange, ImportDecisions, ImportQuestion, QuestionChoice},
    text,
};

use super::{
    column::Reading,
    plan::Plan,
    scan::Findings,
    words::{self, Period},
};

/// Days from which on a regular distance between them is no chance.
const REGULAR: usize = 4;

/// Returns the question about rows that cover more than a day.
pub(crate) fn ask(
    plan: &Plan,
    findings: &Findings,
    decisions: &ImportDecisions,
) -> Option<ImportQuestion> {
    if decisions.answers.contains_key("period_rows") || !has_delivery(plan) {
        return None;
    }
    let time = plan.time?;
    let heading = plan.columns[time].name.clone();
    let lines = &findings.long_rows;
    let is_span = plan.span.is_some_and(|(first, last)| time == first || time == last);
    let found = if is_span && lines.count > 0 {
        text!(
            "Each line covers up to {days} days, such as {sample} in line {line}. Its amounts belong to no single day.",
            days = findings.longest,
            sample = lines.sample.clone(),
            line = lines.lines.first().copied().unwrap_or(0),
        )
    } else if let Some(period) = named_period(plan, findings, time) {
        match period {
            Period::Week => text!(
                "The column {heading} has weeks. Amounts of a week belong to no single day.",
                heading
            ),
            Period::Month => text!(
                "The column {heading} has months. Amounts of a month belong to no single day.",
                heading
            ),
            Period::Quarter => text!(
                "The column {heading} has quarters. Amounts of a quarter belong to no single day.",
                heading
            ),
        }
    } else {
        return None;
    };
    let remedy = text!("In the platform, choose the breakdown by day, and export again.");
    let keep = text!(
        "Store the rows on the first day of each period. Figures are right for whole periods only."
    );
    Some(ImportQuestion {
        id: "period_rows".to_owned(),
        text: found.append(remedy),
        choices: vec![QuestionChoice { value: "keep".to_owned(), label: keep }],
        option: "--answer period_rows=keep".to_owned(),
    })
}

/// Returns the days that each row covers, if a person decided to keep such rows.
pub(crate) fn covers(
    plan: &Plan,
    findings: &Findings,
    decisions: &ImportDecisions,
) -> Option<Covers> {
    if !decisions.answers.contains_key("period_rows") || !has_delivery(plan) {
        return None;
    }
    let time = plan.time?;
    if let Some((first, last)) = plan.span
        && (time == first || time == last)
        && findings.long_rows.count > 0
    {
        let other = if time == first { last } else { first };
        return Some(Covers::Until(plan.columns[other].name.clone()));
    }
    let is_end = plan.columns[time].heading.to_lowercase().contains("ending");
    named_period(plan, findings, time).map(|period| match period {
        Period::Week if is_end => Covers::WeekEnding,
        Period::Week => Covers::Week,
        Period::Month => Covers::Month,
        Period::Quarter => Covers::Quarter,
    })
}

/// Returns the days from the first to the last one that rows of several days cover.
pub(crate) fn range(
    plan: &Plan,
    findings: &Findings,
    decisions: &ImportDecisions,
) -> Option<DayRange> {
    let (first, last) = plan.span?;
    match covers(plan, findings, decisions)? {
        Covers::Until(_) => Some(DayRange {
            first: findings.columns[first].days.set.days().next()?,
            last: findings.columns[last].days.set.days().last()?,
        }),
        Covers::Week | Covers::WeekEnding | Covers::Month | Covers::Quarter => None,
    }
}

/// Whether the table has numbers of what was delivered or sold, unlike a plan with budgets.
fn has_delivery(plan: &Plan) -> bool {
    plan.columns.iter().any(|column| {
        matches!(column.reading, Reading::Number { .. })
            && (words::is_delivery(&column.heading) || column.hint.is_none())
    })
}

/// Returns the period that the heading of the time column names, or that its days show.
fn named_period(plan: &Plan, findings: &Findings, time: usize) -> Option<Period> {
    let days: Vec<NaiveDate> = findings.columns[time].days.set.days().take(400).collect();
    if let Some(period) = words::period_of(&plan.columns[time].heading) {
        return Some(period);
    }
    if days.len() < REGULAR {
        return None;
    }
    let distance = |days: i64| move |pair: &[NaiveDate]| (pair[1] - pair[0]).num_days() % days == 0;
    if days.iter().all(|day| day.day() == 1) {
        Some(Period::Month)
    } else if days.windows(2).all(distance(7)) {
        Some(Period::Week)
    } else {
        None
    }
}
