//! Notes for a person, to read before the figures: periods that are not over, not settled, without
//! data or not covered by data, and times that are not whole.

use chrono::NaiveDate;
use contract::{
    Text,
    definitions::ZONE_BY_ACCOUNT,
    metric_query::{GroupBy, MeasureUse, MetricQuery, Period},
    sources::ExportedDays,
    text,
};

use super::{DayBounds, bounds_of, first_of_windows, owner, primary, used::used_measures};
use crate::{Catalog, Problem, SourceModel, calendar::days_later, compile::times::unit_of};

/// Returns the notes of a resolved query.
pub(super) fn collect_notes(query: &MetricQuery, catalog: &Catalog) -> Result<Vec<Text>, Problem> {
    let mut notes = Vec::new();
    let Some(as_of) = &query.as_of else { return Ok(notes) };
    let today = as_of.moment.date();
    let bounds = bounds_of(query.period.as_ref());
    if let (Some(first), Some(last)) = (bounds.first, bounds.last)
        && last >= today
        && first <= today
    {
        notes.push(text!(
            "The period is not over: it ends on {last}, and today is {today}.",
            last = last.to_string(),
            today = today.to_string()
        ));
        notes.extend(compared_days(query));
    }
    let compared = query.compare.as_ref().and_then(|compare| compare.period.as_ref());
    for source in sources_of(query, catalog)? {
        notes.extend(coverage(query.period.as_ref(), source, today));
        notes.extend(compared.and_then(|period| no_data(Some(period), source)));
    }
    let source = &catalog.sources[primary(query, catalog)?];
    notes.extend(cut_times(query, bounds, source));
    notes.extend(cut_windows(query, source));
    notes.extend(zones_of_accounts(bounds, source, today));
    let last = bounds.last.or_else(|| source.covered_days().map(|days| days.last));
    for (name, measure) in used_measures(query, catalog)? {
        let Some(days) = measure.settles_after else { continue };
        let (own, _) = owner(&name, source, catalog)?;
        let exports = own.exported_days();
        notes.extend(match (exports.is_empty(), last) {
            (false, _) => unsettled_export(&name, days, bounds, &exports),
            (true, Some(last)) => unsettled(&name, days, last, today),
            (true, None) => None,
        });
    }
    Ok(notes)
}

/// Whether a value of a day may still change after another day.
fn may_change(day: NaiveDate, settles_after: u32, on: NaiveDate) -> bool {
    day > days_later(on, -i64::from(settles_after))
}

/// Says that values may still change which are those of today, such as the values of a database.
fn unsettled(name: &str, settles_after: u32, last: NaiveDate, today: NaiveDate) -> Option<Text> {
    may_change(last, settles_after, today).then(|| {
        text!(
            "{name} may still change: the last {days} days are provisional.",
            name,
            days = i64::from(settles_after)
        )
    })
}

/// Says that values may have changed since the file that they come from. They stay provisional until
/// a later file has them.
fn unsettled_export(
    name: &str,
    settles_after: u32,
    bounds: DayBounds,
    exports: &[ExportedDays],
) -> Option<Text> {
    let is_unsettled = |export: &&ExportedDays| {
        let last = bounds.last.map_or(export.days.last, |last| last.min(export.days.last));
        !bounds.is_outside(export.days) && may_change(last, settles_after, export.on)
    };
    let export = exports.iter().find(is_unsettled)?;
    let (days, day) = (i64::from(settles_after), export.on.to_string());
    Some(if export.is_file_day {
        text!(
            "{name} may still change: the {days} days up to {day}, the day of the file, are provisional.",
            name,
            days,
            day
        )
    } else {
        text!(
            "{name} may still change: the {days} days up to {day}, the day of the import, are provisional.",
            name,
            days,
            day
        )
    })
}

/// Says with which days a period that is under way is compared.
fn compared_days(query: &MetricQuery) -> Option<Text> {
    let period = query.compare.as_ref()?.period.as_ref();
    let bounds = bounds_of(period);
    Some(text!(
        "The period is compared with {from} to {to}.",
        from = bounds.first?.to_string(),
        to = bounds.last?.to_string()
    ))
}

/// Says that the first or the last week, month, quarter or year of a result is not whole.
fn cut_times(query: &MetricQuery, bounds: DayBounds, source: &SourceModel) -> Option<Text> {
    let unit = query.by.iter().find_map(|group| match group.by {
        GroupBy::Time(grain) => unit_of(grain),
        GroupBy::Dimension(_) | GroupBy::Define(_) => None,
    })?;
    let covered = source.covered_days();
    let first = bounds.first.or(covered.map(|days| days.first))?;
    let last = bounds.last.or(covered.map(|days| days.last))?;
    let calendar = source.calendar();
    let is_whole = calendar.start(unit, first) == first && calendar.whole(unit, last).1 == last;
    (!is_whole && !query.rows).then(|| {
        text!(
            "The first or the last time listed is not whole: the days are {from} to {to}.",
            from = first.to_string(),
            to = last.to_string()
        )
    })
}

/// Says that the first windows reach days before the data.
fn cut_windows(query: &MetricQuery, source: &SourceModel) -> Option<Text> {
    let begin = source.covered_days()?.first;
    let is_rolling = query.measures.iter().any(|used| used.rolling.is_some());
    let first = first_of_windows(query, source.calendar());
    (is_rolling && first.is_none_or(|first| first < begin)).then(|| {
        text!("The first windows are not whole: the data begin on {day}.", day = begin.to_string())
    })
}

/// Says that the days of accounts do not end together.
fn zones_of_accounts(bounds: DayBounds, source: &SourceModel, today: NaiveDate) -> Option<Text> {
    let zone = source.definitions.time.as_ref()?.zone.as_deref();
    let is_over = bounds.last.is_some_and(|last| last < days_later(today, -1));
    (zone == Some(ZONE_BY_ACCOUNT) && !is_over).then(|| {
        text!("Days are those of each account's time zone, so the last day may not be over everywhere.")
    })
}

/// Returns the sources that figures of a query come from.
fn sources_of<'c>(
    query: &MetricQuery,
    catalog: &'c Catalog,
) -> Result<Vec<&'c SourceModel>, Problem> {
    let first = &catalog.sources[primary(query, catalog)?];
    let mut sources: Vec<&SourceModel> = Vec::new();
    let is_own = |used: &MeasureUse| {
        used.calculation.as_ref().is_some_and(|own| super::parts_of(own).is_empty())
    };
    if query.measures.iter().any(is_own) {
        sources.push(first);
    }
    for (name, measure) in used_measures(query, catalog)? {
        if !super::parts_of(&measure.calculation).is_empty() {
            continue;
        }
        let (source, _) = owner(&name, first, catalog)?;
        if !sources.iter().any(|known| known.name() == source.name()) {
            sources.push(source);
        }
    }
    if sources.is_empty() {
        sources.push(first);
    }
    Ok(sources)
}

/// Returns what must be known of a period: that a source has no data for it, or only for a part.
fn coverage(period: Option<&Period>, source: &SourceModel, today: NaiveDate) -> Option<Text> {
    if let Some(note) = no_data(period, source) {
        return Some(note);
    }
    let (days, bounds) = (source.covered_days()?, bounds_of(period));
    // Days to come need no data.
    let needed = bounds.last.map(|last| last.min(days_later(today, -1)));
    let is_early = bounds.first.is_some_and(|first| first < days.first);
    let is_late = needed.is_some_and(|needed| needed > days.last);
    (is_early || is_late).then(|| {
        text!(
            "The data cover {from} to {to}, not the whole period.",
            from = days.first.to_string(),
            to = days.last.to_string()
        )
    })
}

/// Returns the note about a period that a source has no data for at all.
fn no_data(period: Option<&Period>, source: &SourceModel) -> Option<Text> {
    let days = source.covered_days()?;
    let bounds = bounds_of(period);
    if !bounds.is_outside(days) {
        return None;
    }
    let (from, to) = (days.first.to_string(), days.last.to_string());
    let source = source.name();
    Some(match (bounds.first, bounds.last) {
        (Some(first), Some(last)) if first == last => text!(
            "{source} has no data for {day}. It has days from {from} to {to}.",
            source,
            day = first.to_string(),
            from,
            to
        ),
        (Some(first), Some(last)) => text!(
            "{source} has no data for {first} to {last}. It has days from {from} to {to}.",
            source,
            first = first.to_string(),
            last = last.to_string(),
            from,
            to
        ),
        (_, _) => text!(
            "{source} has no data for the period. It has days from {from} to {to}.",
            source,
            from,
            to
        ),
    })
}
