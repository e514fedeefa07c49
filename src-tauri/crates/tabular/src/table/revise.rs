//! Corrects a plan by the findings of a scan of all records. A plan only changes in one direction,
//! towards text and towards the formats that cells prove, so that a few scans are enough.

use contract::sources::{ColumnUse, ImportDecisions, NumberSign};

use super::{
    cells::{counted::Counting, currency::Currency, order::DayOrder, value::Tag},
    column::{CellFault, Reading},
    plan::{Plan, guess_reading},
    rows::Cause,
    scan::Findings,
    stats::{DayStats, NumberStats, Stats},
    words,
};

/// Whole numbers from this value on have more digits than amounts and counts.
const LONG: u128 = 1_000_000_000_000_000;

/// Corrects the plan. Returns whether it changed, so that the records must be scanned again.
pub(crate) fn revise(plan: &mut Plan, findings: &Findings, decisions: &ImportDecisions) -> bool {
    let mut is_changed = false;
    for at in 0..plan.columns.len() {
        is_changed |= revise_kind(plan, at, &findings.columns[at]);
    }
    is_changed |= revise_currency(plan, findings);
    is_changed |= revise_signs(plan, findings, decisions);
    is_changed |= revise_stated(plan, findings, decisions);
    if is_changed {
        plan.find_roles();
        return true;
    }
    for at in 0..plan.columns.len() {
        is_changed |= revise_sign(plan, at, findings, decisions);
        is_changed |= revise_order(plan, at, findings, decisions);
        is_changed |= revise_money(plan, at, findings);
    }
    is_changed
}

/// Makes the currency column a dimension if most of its texts are not currencies. If a column has
/// several currencies, each amount needs one.
fn revise_currency(plan: &mut Plan, findings: &Findings) -> bool {
    let mut is_changed = false;
    for slot in 0..plan.currencies.len() {
        let at = plan.currencies[slot];
        let unknown =
            findings.rejected.iter().filter(|(cause, ..)| *cause == Cause::UnknownCurrency(at));
        let unknown: u64 = unknown.map(|(_, _, lines)| lines.count).sum();
        if unknown * 2 > findings.records && plan.columns[at].choice.usage.is_none() {
            plan.columns[at].choice.usage = Some(ColumnUse::Dimension);
            return true;
        }
        let needs = findings.currencies[slot].len() > 1 && findings.without_currency[slot] > 0;
        if needs && !plan.needs_currency[slot] {
            plan.needs_currency[slot] = true;
            is_changed = true;
        }
    }
    is_changed
}

/// The signs in the cells count if a person says so, whatever headings and other columns state.
fn revise_signs(plan: &mut Plan, findings: &Findings, decisions: &ImportDecisions) -> bool {
    let is_decided = decisions.answers.get("currency_sign").is_some_and(|answer| answer == "cells");
    if !is_decided || findings.sign_conflicts.count == 0 {
        return false;
    }
    for (column, stats) in plan.columns.iter_mut().zip(&findings.columns) {
        if !stats.numbers.currencies.is_empty() {
            (column.uses_signs, column.currency) = (true, None);
        }
    }
    true
}

/// A currency that a person answers counts for all amounts, if none of them shows it.
fn revise_stated(plan: &mut Plan, findings: &Findings, decisions: &ImportDecisions) -> bool {
    let answer = decisions.answers.get("currency").and_then(|code| Currency::from_name(code));
    let Some(answer) = answer.filter(|_| !plan.is_currency_decided) else { return false };
    let of_columns = findings.currencies.iter().flatten().map(|(currency, _)| *currency);
    let of_cells = findings.columns.iter().flat_map(|stats| &stats.numbers.currencies);
    let of_headings = plan.columns.iter().filter_map(|column| column.currency);
    let all: Vec<Currency> =
        of_columns.chain(of_cells.map(|seen| seen.currency)).chain(of_headings).collect();
    if all.is_empty() || all.iter().any(|found| found.agrees_with(answer)) {
        return false;
    }
    for (column, stats) in plan.columns.iter_mut().zip(&findings.columns) {
        if column.is_money || !stats.numbers.currencies.is_empty() {
            (column.currency, column.is_money, column.uses_signs) = (Some(answer), true, false);
        }
    }
    plan.is_currency_decided = true;
    true
}

/// Corrects how the cells of a column are read.
fn revise_kind(plan: &mut Plan, at: usize, stats: &Stats) -> bool {
    let column = &mut plan.columns[at];
    if column.is_fixed {
        return false;
    }
    let filled = stats.filled + stats.faults.iter().map(|(_, count, ..)| count).sum::<u64>();
    let next = match column.reading {
        Reading::Open if stats.filled > 0 => {
            let samples = || stats.samples.iter().map(|sample| (sample.as_bytes(), Tag::Plain));
            guess_reading(samples, column, NumberSign::Point, DayOrder::DayMonthYear)
        }
        Reading::Number { sign, is_percent } => {
            let wrong = stats.faults_of(&[CellFault::NotANumber, CellFault::TooLarge]);
            let percent = stats.faults_of(&[CellFault::Percent]);
            let is_code = column.hint.is_none()
                && stats.numbers.is_whole()
                && (stats.numbers.largest >= LONG
                    || stats.numbers.phones * 2 > stats.numbers.count)
                && stats.numbers.currencies.is_empty();
            if stats.faults_of(&[CellFault::Bound, CellFault::LeadingZero]) > 0
                || is_code
                // Names of groups are numbers or texts, but no row of them is wrong.
                || wrong > 0 && column.hint == Some(ColumnUse::Dimension)
                || is_wrong(wrong, filled, column.hint.is_some())
            {
                Reading::Text
            } else if percent * 2 > filled {
                Reading::Number { sign, is_percent: !is_percent }
            } else {
                return false;
            }
        }
        // Later numbers show that the first ones were no moments.
        Reading::Day { .. }
            if column.counting.is_some_and(|counting| {
                counting.is_since_1970() || counting == Counting::Digits
            }) && stats.faults_of(&[CellFault::NotADay]) > 0 =>
        {
            column.counting = None;
            Reading::Number { sign: NumberSign::Point, is_percent: false }
        }
        Reading::Day { order } => {
            let wrong = stats.faults_of(&[CellFault::NotADay]);
            let by_order =
                stats.days.day_first.min(stats.days.month_first) + stats.days.against(order);
            if is_wrong(wrong.saturating_sub(by_order), filled, column.digits_are_days) {
                Reading::Text
            } else {
                return false;
            }
        }
        Reading::Flag if stats.faults_of(&[CellFault::NotAFlag]) > 0 => Reading::Text,
        _ => return false,
    };
    let is_changed = next != column.reading;
    if is_changed && next == Reading::Text && column.reading != Reading::Open {
        let first = stats.faults.first();
        column.spoiled = first.map(|(_, _, line, sample)| (*line, sample.clone()));
    }
    column.reading = next;
    is_changed
}

/// Whether so many cells cannot be read that the column is a text column. A known heading allows
/// more wrong cells, whose rows are rejected and shown to a person.
fn is_wrong(wrong: u64, filled: u64, is_known: bool) -> bool {
    if is_known { wrong * 2 > filled } else { wrong * 5 > filled && (wrong > 1 || filled < 3) }
}

/// Returns the decimal sign of the ambiguous numbers in a column. Returns None if neither the file
/// nor a decision shows it.
pub(crate) fn resolve_sign(
    plan: &Plan,
    at: usize,
    findings: &Findings,
    decisions: &ImportDecisions,
) -> Option<NumberSign> {
    let answer = match decisions.answers.get("decimal").map(String::as_str) {
        Some("point") => Some(NumberSign::Point),
        Some("comma") => Some(NumberSign::Comma),
        _ => None,
    };
    let own = &findings.columns[at].numbers;
    if own.points > 0 && own.commas > 0 {
        return decisions.decimal.or(answer);
    }
    own.shown_sign()
        .or(decisions.decimal)
        .or(answer)
        .or_else(|| sign_of_whole(plan, at, findings))
        .or_else(|| file_sign(plan, findings).filter(|sign| !divides_counts(plan, at, own, *sign)))
}

/// Whether a sign makes decimals of what can be thousands, in a column of counts, which are whole.
fn divides_counts(plan: &Plan, at: usize, own: &NumberStats, sign: NumberSign) -> bool {
    let divided = match sign {
        NumberSign::Point => own.open_points,
        NumberSign::Comma => own.open_commas,
    };
    divided > 0 && words::is_count(&plan.columns[at].heading)
}

/// Returns the decimal sign that the columns of a file show, if the columns agree.
pub(crate) fn file_sign(plan: &Plan, findings: &Findings) -> Option<NumberSign> {
    let mut shown = None;
    for at in 0..plan.columns.len() {
        let own = findings.columns[at].numbers.shown_sign();
        let Some(own) = own.or_else(|| sign_of_whole(plan, at, findings)) else { continue };
        if shown.is_some_and(|shown| shown != own) {
            return None;
        }
        shown = Some(own);
    }
    shown
}

/// Returns the decimal sign of amounts in a currency without decimals, in which each sign separates
/// thousands.
fn sign_of_whole(plan: &Plan, at: usize, findings: &Findings) -> Option<NumberSign> {
    let (column, numbers) = (&plan.columns[at], &findings.columns[at].numbers);
    if !column.is_money
        || !numbers.has_open()
        || numbers.has_fraction && numbers.shown_sign().is_some()
    {
        return None;
    }
    let all: Vec<Currency> = if let Some(currency) = column.currency {
        vec![currency]
    } else if numbers.currencies.is_empty() {
        let slot = column.currency_slot.and_then(|slot| findings.currencies.get(slot));
        slot.into_iter().flatten().map(|(currency, _)| *currency).collect()
    } else {
        numbers.currencies.iter().map(|seen| seen.currency).collect()
    };
    if all.is_empty() || !all.iter().all(|currency| currency.is_whole()) {
        return None;
    }
    match (numbers.open_points > 0, numbers.open_commas > 0) {
        (true, false) => Some(NumberSign::Comma),
        (false, true) => Some(NumberSign::Point),
        _ => None,
    }
}

fn revise_sign(
    plan: &mut Plan,
    at: usize,
    findings: &Findings,
    decisions: &ImportDecisions,
) -> bool {
    let Reading::Number { sign, is_percent } = plan.columns[at].reading else { return false };
    if !findings.columns[at].numbers.has_open() {
        return false;
    }
    match resolve_sign(plan, at, findings, decisions) {
        Some(right) if right != sign => {
            plan.columns[at].reading = Reading::Number { sign: right, is_percent };
            true
        }
        _ => false,
    }
}

/// Returns the order of day, month and year in a column. Returns None if neither the file nor a
/// decision shows it.
pub(crate) fn resolve_order(
    plan: &Plan,
    at: usize,
    findings: &Findings,
    decisions: &ImportDecisions,
) -> Option<DayOrder> {
    let own = &findings.columns[at].days;
    let answer = decisions.answers.get("date_order").map(String::as_str);
    let answer = answer.and_then(DayOrder::from_answer).filter(|order| own.allows(*order));
    let decided = decisions.date_order.map(DayOrder::from).filter(|order| own.allows(*order));
    let of_file = || {
        let others = (0..plan.columns.len()).map(|at| &findings.columns[at].days);
        // Only years of two digits show where other years of two digits are.
        let others = others.filter(|other| !own.years.are_open() || other.years.has_any());
        let mut shown = others.filter_map(DayStats::shown_order).filter(|order| own.allows(*order));
        let first = shown.next()?;
        shown.all(|order| order == first).then_some(first)
    };
    // The order that the days show takes precedence over a decision about an earlier file. A
    // decision takes precedence if no day shows the order alone.
    let shown = own.shown_order();
    let decided = answer.or(decided);
    let found = if own.years.are_open() { decided.or(shown) } else { shown.or(decided) };
    found.or_else(of_file)
}

fn revise_order(
    plan: &mut Plan,
    at: usize,
    findings: &Findings,
    decisions: &ImportDecisions,
) -> bool {
    let Reading::Day { order } = plan.columns[at].reading else { return false };
    match resolve_order(plan, at, findings, decisions) {
        Some(right) if right != order => {
            plan.columns[at].reading = Reading::Day { order: right };
            true
        }
        _ => false,
    }
}

/// Finds amounts of money by the currency signs in their cells, or by a currency column.
fn revise_money(plan: &mut Plan, at: usize, findings: &Findings) -> bool {
    let numbers = &findings.columns[at].numbers;
    let column = &mut plan.columns[at];
    let has_currency = column.currency_slot.is_some();
    if !matches!(column.reading, Reading::Number { .. }) || numbers.count == 0 {
        return false;
    }
    let mut is_changed = false;
    let shows = !numbers.currencies.is_empty();
    // Whole numbers beside several currencies are kept apart, whatever they are.
    let slot = column.currency_slot.and_then(|slot| findings.currencies.get(slot));
    let is_apart = slot.is_some_and(|currencies| currencies.len() > 1);
    let may = column.may_have_amounts() && has_currency && (!numbers.is_whole() || is_apart);
    if !column.is_money && (shows || may) {
        column.is_money = true;
        is_changed = has_currency;
    }
    let is_mixed = numbers.currencies.len() > 1
        && numbers.bare > 0
        && column.currency.is_none()
        && !has_currency
        && column.choice.usage != Some(ColumnUse::Ratio);
    if is_mixed && !column.needs_sign {
        (column.needs_sign, plan.needs_signs) = (true, true);
        is_changed = true;
    }
    is_changed
}
