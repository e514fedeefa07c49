//! Narrows a query by the filters and the period of its board: merges what reaches it, and says what
//! does not. It must not know how boards are stored.

use contract::{
    Text,
    metric_query::{AsOf, Compare, Condition, MetricQuery, Period},
    text,
};

use crate::{Catalog, Dialect, Problem, SourceModel, compile, resolve, resolve::find_source};

/// A query with the filters and the period of its board.
#[derive(Clone, Debug, PartialEq)]
pub struct Narrowed {
    /// The query, in its relative form.
    pub query: MetricQuery,
    /// The filters that do not reach it, and whether the period does not, one line each.
    pub unreached: Vec<Text>,
}

/// Merges filters and a period into a query. A filter reaches the query if the source has its
/// dimensions, and so have the other sources whose measures the query has. The period takes the place
/// of the query's own if the source has a time column. Fails if the source cannot be found.
pub fn narrow(
    query: &MetricQuery,
    filters: &[Condition],
    period: Option<&Period>,
    catalog: &Catalog,
    as_of: &AsOf,
) -> Result<Narrowed, Problem> {
    let source = &catalog.sources[find_source(query, catalog)?];
    let narrowing = Narrowing { source, catalog, as_of };
    let mut narrowed = MetricQuery { as_of: None, ..query.clone() };
    let mut unreached = Vec::new();
    if let Some(period) = period {
        match narrowing.with_period(&narrowed, period) {
            Ok(with) => narrowed = with,
            Err(why) => unreached.push(why),
        }
    }
    for filter in filters {
        match narrowing.with_filter(&narrowed, filter) {
            Ok(with) => narrowed = with,
            Err(why) => unreached.push(why),
        }
    }
    Ok(Narrowed { query: narrowed, unreached })
}

/// The source of a query, and what decides whether a changed query can be computed.
struct Narrowing<'a> {
    source: &'a SourceModel,
    catalog: &'a Catalog,
    as_of: &'a AsOf,
}

impl Narrowing<'_> {
    /// Returns a query with another period, or why the period does not reach it.
    fn with_period(&self, query: &MetricQuery, period: &Period) -> Result<MetricQuery, Text> {
        let source = self.source.name();
        if self.source.time_column().is_err() {
            return Err(text!(
                "The period of the board does not reach this tile: {source} has no time column.",
                source
            ));
        }
        let is_fixed = |compare: &Compare| compare.period.is_some() || compare.shift.is_some();
        if query.compare.as_ref().is_some_and(is_fixed) {
            return Err(text!(
                "The period of the board does not reach this tile: it is compared with a period of its own."
            ));
        }
        let with = MetricQuery { period: Some(period.clone()), ..query.clone() };
        match self.new_fault(query, &with) {
            None => Ok(with),
            Some(why) => Err(text!("The period of the board does not reach this tile: {why}", why)),
        }
    }

    /// Returns a query with one more condition, or why the condition does not reach it.
    fn with_filter(&self, query: &MetricQuery, filter: &Condition) -> Result<MetricQuery, Text> {
        let mut names = Vec::new();
        collect_names(filter, &mut names);
        names.dedup();
        let shown = names.join(", ");
        if !names.iter().all(|name| self.has_dimension(name)) {
            return Err(text!(
                "The filter on {names} does not reach this tile: {source} has no such column.",
                names = shown,
                source = self.source.name()
            ));
        }
        let mut with = query.clone();
        with.conditions.push(filter.clone());
        match self.new_fault(query, &with) {
            None => Ok(with),
            Some(why) => Err(text!(
                "The filter on {names} does not reach this tile: {why}",
                names = shown,
                why
            )),
        }
    }

    /// Whether the source has a dimension or column, itself or by a join. A measure is none, because a
    /// condition on it would be one on the figures of the result.
    fn has_dimension(&self, name: &str) -> bool {
        let definitions = &self.source.definitions;
        if definitions.measures.contains_key(name) && !definitions.dimensions.contains_key(name) {
            return false;
        }
        let by_join = || {
            let (other, of) = self.source.split_lookup(name)?;
            let place = self.catalog.place(&other.into()).ok()?;
            self.catalog.sources[place].find_dimension(of)
        };
        self.source.find_dimension(name).or_else(by_join).is_some()
    }

    /// Returns the fault of a changed query that the query before did not have. A query's own fault is
    /// told when it is computed.
    fn new_fault(&self, before: &MetricQuery, after: &MetricQuery) -> Option<Text> {
        let fault = self.fault_of(after)?;
        self.fault_of(before).is_none().then_some(fault)
    }

    fn fault_of(&self, query: &MetricQuery) -> Option<Text> {
        let compiled = resolve(query, self.catalog, self.as_of).and_then(|resolved| {
            // Whether all sources of a query know a name does not depend on the database.
            compile(&resolved, self.catalog, Dialect::DuckDb)
        });
        compiled.err().map(|problem| problem.message)
    }
}

/// Collects the names that a condition is about.
fn collect_names<'c>(condition: &'c Condition, names: &mut Vec<&'c str>) {
    match condition {
        Condition::And(parts) | Condition::Or(parts) => {
            parts.iter().for_each(|part| collect_names(part, names));
        }
        Condition::Not(part) => collect_names(part, names),
        Condition::Is { name, .. } => names.push(name),
    }
}

#[cfg(test)]
mod tests {
    use contract::metric_query::read_metric_query;
    use serde_json::{Value, json};

    use super::*;
    use crate::reference::{as_of, catalog};

    fn narrowed(query: &Value, filters: &Value, period: Option<Value>) -> Narrowed {
        let query = read_metric_query(query).unwrap();
        let filters: Vec<Condition> = serde_json::from_value(filters.clone()).unwrap();
        let period: Option<Period> = period.map(|period| serde_json::from_value(period).unwrap());
        narrow(&query, &filters, period.as_ref(), &catalog(), &as_of()).unwrap()
    }

    fn told(narrowed: &Narrowed) -> Vec<&str> {
        narrowed.unreached.iter().map(|text| text.as_str()).collect()
    }

    #[test]
    fn a_filter_reaches_a_query_whose_source_has_its_dimension() {
        let query =
            json!({"source": "ads", "measures": ["clicks"], "where": {"device": ["Mobile"]}});
        let filters = json!([{"campaign": ["A"]}, {"clients.Team": ["North"]}, {"Active": [true]}]);
        let found = narrowed(&query, &filters, None);
        assert_eq!(told(&found), [""; 0]);
        assert_eq!(found.query.conditions.len(), 4, "its own condition stays");
    }

    #[test]
    fn a_filter_that_does_not_reach_a_query_is_said_and_the_others_count() {
        let query = json!({"source": "orders", "measures": ["revenue"]});
        let filters = json!([
            {"channel": ["web"]},
            {"device": ["Mobile"]},
            {"or": [{"channel": ["shop"]}, {"campaign": ["A"]}]},
            // A measure is no dimension.
            {"revenue": {">": 5}}
        ]);
        let found = narrowed(&query, &filters, None);
        assert_eq!(found.query.conditions.len(), 1);
        assert_eq!(
            told(&found),
            [
                "The filter on device does not reach this tile: orders has no such column.",
                "The filter on channel, campaign does not reach this tile: orders has no such column.",
                "The filter on revenue does not reach this tile: orders has no such column.",
            ]
        );
    }

    #[test]
    fn a_filter_must_reach_all_sources_of_a_query() {
        let query =
            json!({"source": "ads", "measures": ["clicks", "budgets.planned"], "by": ["campaign"]});
        let found = narrowed(&query, &json!([{"device": ["Mobile"]}]), None);
        assert_eq!(found.query.conditions.len(), 0);
        let [why] = told(&found)[..] else { panic!("{found:?}") };
        assert!(why.starts_with("The filter on device does not reach this tile: budgets"), "{why}");
    }

    #[test]
    fn the_period_of_the_board_takes_the_place_of_that_of_the_query_and_stays_relative() {
        let query = json!({
            "source": "ads",
            "measures": ["clicks"],
            "period": {"month": "2026-01"},
            "as_of": {"moment": "2026-01-20T09:00:00", "zone": "UTC"}
        });
        let last = json!({"last": {"days": 7}});
        let found = narrowed(&query, &json!([]), Some(last.clone()));
        assert_eq!(serde_json::to_value(&found.query.period).unwrap(), last);
        assert_eq!((found.query.as_of, found.unreached), (None, Vec::new()));

        let query = json!({"source": "clients", "measures": ["rows"]});
        let found = narrowed(&query, &json!([]), Some(last));
        assert_eq!(found.query.period, None);
        assert_eq!(
            told(&found),
            ["The period of the board does not reach this tile: clients has no time column."]
        );
    }

    #[test]
    fn a_comparison_with_a_period_of_its_own_keeps_both_periods_and_other_comparisons_move() {
        let with = |compare: &Value| {
            json!({
                "source": "ads", "measures": ["clicks"], "period": {"month": "2026-02"},
                "compare": compare
            })
        };
        let last = json!({"last": {"days": 7}});
        for compare in [
            json!({"period": {"month": "2025-12"}}),
            json!({"to": "previous", "shift": {"days": 28}}),
        ] {
            let found = narrowed(&with(&compare), &json!([]), Some(last.clone()));
            assert_eq!(found.query, read_metric_query(&with(&compare)).unwrap());
            assert_eq!(
                told(&found),
                [
                    "The period of the board does not reach this tile: it is compared with a period of its own."
                ]
            );
        }
        for (compare, words) in [
            (json!("previous"), "compared with the period before (24 Feb – 2 Mar 2026)"),
            (json!("last_year"), "compared with the year before (3–9 Mar 2025)"),
            (
                json!({"values": {"device": ["Mobile", "Desktop"]}}),
                "compared: Device: Mobile / Desktop",
            ),
        ] {
            let found = narrowed(&with(&compare), &json!([]), Some(last.clone()));
            assert_eq!(told(&found), [""; 0]);
            assert_eq!(serde_json::to_value(&found.query.period).unwrap(), last);
            let said = crate::paraphrase(&found.query, &catalog(), &as_of()).unwrap().parts;
            let said: Vec<&str> = said.iter().map(|part| part.text.as_str()).collect();
            assert!(said.contains(&words), "{said:?}");
        }
    }

    #[test]
    fn a_query_with_a_fault_of_its_own_is_narrowed_and_tells_the_fault_later() {
        let query = json!({"source": "ads", "measures": ["nothing"]});
        let found = narrowed(&query, &json!([{"device": ["Mobile"]}]), None);
        assert_eq!((found.query.conditions.len(), told(&found).len()), (1, 0));
        let query = read_metric_query(&json!({"source": "gone", "measures": ["x"]})).unwrap();
        narrow(&query, &[], None, &catalog(), &as_of()).unwrap_err();
    }
}
