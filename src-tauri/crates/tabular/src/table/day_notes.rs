//! Notes about the days of a file: the order in which they were read, and the offsets that they
//! state.

use contract::{Text, sources::ImportDecisions, text};

use super::{
    cells::order::DayOrder,
    column::Reading,
    plan::Plan,
    scan::Findings,
    stats::{DayStats, Stats},
};

/// Returns the notes about the columns with days.
pub(crate) fn note_days(
    plan: &Plan,
    findings: &Findings,
    decisions: &ImportDecisions,
) -> Vec<Text> {
    let mut notes = Vec::new();
    for (column, stats) in plan.columns.iter().zip(&findings.columns) {
        let Reading::Day { order } = column.reading else { continue };
        if let Some(sample) = find_open_sample(stats, order) {
            notes.push(note_order(&column.name, sample, order));
        }
        note_offsets(&column.name, &stats.days, decisions, &mut notes);
    }
    notes
}

/// Returns a day that does not show its order. A year that comes first is always told, because
/// few files have it.
fn find_open_sample(stats: &Stats, order: DayOrder) -> Option<String> {
    let days = &stats.days;
    let open = days.open.as_ref().map(|(_, sample)| sample.clone());
    if order == DayOrder::YearMonthDay {
        return open.or_else(|| stats.samples.first().cloned());
    }
    open.filter(|_| days.years.are_open() || days.shown_order().is_none())
}

fn note_order(name: &str, sample: String, order: DayOrder) -> Text {
    let column = name.to_owned();
    match order {
        DayOrder::DayMonthYear => {
            text!("Days such as {sample} in {column} were read with the day first.", sample, column)
        }
        DayOrder::MonthDayYear => text!(
            "Days such as {sample} in {column} were read with the month first.",
            sample,
            column
        ),
        DayOrder::YearMonthDay => text!(
            "Days such as {sample} in {column} were read with the year first.",
            sample,
            column
        ),
    }
}

fn note_offsets(name: &str, days: &DayStats, decisions: &ImportDecisions, notes: &mut Vec<Text>) {
    if days.offsets.is_empty() || !days.has_time {
        return;
    }
    if days.without_offset {
        notes.push(text!(
            "Some moments in {column} state an offset, and others do not. Those without are stored as they are.",
            column = name.to_owned()
        ));
    }
    notes.push(match &decisions.zone {
        Some(zone) => text!(
            "The moments in {column} state their offsets. They are stored in the zone {zone}.",
            column = name.to_owned(),
            zone = zone.clone()
        ),
        None => text!(
            "The moments in {column} state their offsets. They are stored in UTC.",
            column = name.to_owned()
        ),
    });
}
