//! Example questions about sources, made from definitions and values in use. Each of them is read as
//! the query that it was made from.

use analytics::{Catalog, SourceModel};
use chrono::NaiveDate;
use contract::metric_query::{
    AsOf, CalendarUnit, Compare, CompareTo, Condition, Group, MeasureUse, MetricQuery, Order,
    Period, TimeGrain,
};

use crate::{
    Names, Outcome, Reader, Values,
    central::{main_dimension, main_measure},
    lexicon::Lexicon,
};

impl Reader {
    /// Returns questions that can be asked, each of which has one reading. They are about all sources
    /// in turn.
    pub fn suggest(
        &self,
        catalog: &Catalog,
        values: &Values,
        language: &str,
        most: usize,
    ) -> Vec<String> {
        let names = self.names(catalog, values);
        let mut queries: Vec<_> = catalog
            .sources
            .iter()
            .map(|source| typical(source, values, &self.lexicon).into_iter())
            .collect();
        let mut found: Vec<String> = Vec::new();
        let mut is_more = true;
        while is_more && found.len() < most {
            is_more = false;
            for own in &mut queries {
                let Some(query) = own.next() else { continue };
                is_more = true;
                let text = self.question(&query, &names, catalog, language);
                found.extend(text.filter(|text| !found.contains(text)));
            }
        }
        found.truncate(most);
        found
    }

    /// Returns a query as a question that is read as the same query, without the name of its source if
    /// it is clear.
    fn question(
        &self,
        query: &MetricQuery,
        names: &Names,
        catalog: &Catalog,
        language: &str,
    ) -> Option<String> {
        // No question that is suggested depends on the day.
        let moment = NaiveDate::from_ymd_opt(2020, 6, 17)?.and_hms_opt(9, 0, 0)?;
        let as_of = AsOf { moment, zone: "UTC".to_owned() };
        let full = self.say(query, catalog, language)?;
        let source = query.source.as_ref()?.as_str().replace('_', " ");
        let short = full.strip_suffix(&source).and_then(|text| text.trim_end().rsplit_once(' '));
        let short = short.map(|(text, _)| text.to_owned());
        let is_same = |text: &String| {
            let found = self.read(text, names, catalog, &as_of);
            matches!(found, Outcome::One(reading) if reading.query == *query)
        };
        [short, Some(full)].into_iter().flatten().find(is_same).map(begin_large)
    }
}

/// Returns a text with a capital letter at its beginning.
fn begin_large(text: String) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => text,
    }
}

/// Returns queries that are often asked about a source.
fn typical(source: &SourceModel, values: &Values, lexicon: &Lexicon) -> Vec<MetricQuery> {
    let Some(main) = main_measure(source, lexicon) else { return Vec::new() };
    let plain = MetricQuery {
        source: Some(source.name().clone()),
        measures: vec![MeasureUse::named(&main)],
        ..MetricQuery::default()
    };
    let has_time = source.definitions.time.is_some();
    let last_month = has_time.then_some(Period::Previous(CalendarUnit::Month));
    let recent = MetricQuery { period: last_month, ..plain.clone() };
    let mut queries = vec![recent.clone()];
    let dimension = main_dimension(source);
    if let Some(name) = &dimension {
        let by = vec![Group::dimension(name)];
        let order = vec![Order { by: main.clone(), descending: true }];
        queries.push(MetricQuery { by, order, limit: Some(5), ..recent.clone() });
    }
    if has_time {
        let by = vec![Group::time(TimeGrain::Week)];
        queries.push(MetricQuery { by, ..plain.clone() });
        let before = Compare { to: Some(CompareTo::Previous), ..Compare::default() };
        queries.push(MetricQuery { compare: Some(before), ..recent.clone() });
    }
    let own = values.get(source.name());
    if let Some((name, value)) =
        dimension.and_then(|name| Some((name.clone(), own?.get(&name)?.iter().min()?.clone())))
    {
        let conditions = vec![Condition::one_of(name, [value])];
        queries.push(MetricQuery { conditions, ..recent });
    }
    queries
}
