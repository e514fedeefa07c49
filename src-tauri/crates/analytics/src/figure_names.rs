//! The names of the figures of a result.

use contract::metric_query::{CalendarUnit, MeasureUse, MetricQuery};

/// Returns the name of a measure in the result.
pub(crate) fn name_of_measure(used: &MeasureUse) -> String {
    let own = used.measure.as_deref().unwrap_or("figure");
    let own = own.rsplit_once('.').map_or(own, |(_, name)| name);
    let unit = |unit: CalendarUnit| match unit {
        CalendarUnit::Day => "day",
        CalendarUnit::Week => "week",
        CalendarUnit::Month => "month",
        CalendarUnit::Quarter => "quarter",
        CalendarUnit::Year => "year",
    };
    match &used.name {
        Some(name) => name.clone(),
        None if !used.share_of.is_empty() => format!("{own}_share"),
        None if used.running => format!("{own}_running"),
        None if used.rolling.is_some() => format!("{own}_rolling"),
        None => match used.per {
            Some(per) => format!("{own}_per_{}", unit(per)),
            None => own.to_owned(),
        },
    }
}

/// Returns the names of the figures of a result, with those of a comparison.
pub(crate) fn names_of_figures(query: &MetricQuery) -> Vec<String> {
    let mut names = Vec::new();
    for name in query.measures.iter().map(name_of_measure) {
        if let Some(compare) = &query.compare {
            let former = if compare.values.is_empty() { "before" } else { "compared" };
            names.extend([former, "change", "growth"].map(|word| format!("{name}_{word}")));
        }
        names.push(name);
    }
    names
}
