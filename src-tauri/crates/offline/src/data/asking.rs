//! The calls that answer questions about sources, and the state of each question after its calls. The
//! tools are those that a manifest names. It writes no answer.

use std::{collections::HashSet, sync::Arc};

use contract::{
    SourceName, ToolId,
    manifest::PackOffline,
    metric_query::{DataResult, GroupBy, MetricQuery, read_metric_query},
    result::ChartKind,
};
use questions::{Outcome, Reading, Shown, SpanMeaning, View};
use serde_json::{Map, Value, json};

use super::{
    figures::Cells,
    fits::{names, readings_of},
    part::Part,
};
use crate::{
    book::Book,
    goal::Planned,
    history::{Done, End, Failure},
};

/// The argument that takes the query.
const QUERY: &str = "query";
/// The most rows to which words such as "them" refer.
const SHOWN: usize = 100;

/// The tools that answer metric queries, by their places in the book.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataTools {
    /// The tool that answers metric queries.
    pub(crate) measure: usize,
    /// The tool that draws charts.
    chart: Option<usize>,
    /// The tool that explains changes.
    changes: Option<usize>,
}

impl DataTools {
    /// Returns the tools that a pack names.
    pub(crate) fn of(book: &Book, pack: usize, offline: &PackOffline) -> Option<Self> {
        let place = |id: &Option<ToolId>| book.tool_by_id(pack, id.as_ref()?.as_str());
        Some(Self {
            measure: place(&offline.metric_queries)?,
            chart: place(&offline.charts),
            changes: place(&offline.changes),
        })
    }

    /// Returns all of these tools.
    pub(crate) fn all(self) -> impl Iterator<Item = usize> {
        [Some(self.measure), self.chart, self.changes].into_iter().flatten()
    }

    /// Returns the call that answers a reading.
    pub(super) fn call(&self, reading: &Reading) -> Planned {
        let query = &reading.query;
        let is_drawn = matches!(reading.view, Some(View::Chart | View::Bar | View::Line));
        let own = match query.explain {
            Some(_) => self.changes,
            None => self.chart.filter(|_| is_drawn),
        };
        let mut args = Map::new();
        args.insert(QUERY.to_owned(), written(query));
        if own.is_some() && own == self.chart {
            let kind = chart_kind(reading);
            args.extend(kind.map(|kind| ("kind".to_owned(), json!(kind))));
        }
        Planned { tool: own.unwrap_or(self.measure), args }
    }
}

fn chart_kind(reading: &Reading) -> Option<ChartKind> {
    let is_over_time = reading.query.by.iter().any(|group| matches!(group.by, GroupBy::Time(_)));
    match reading.view? {
        View::Bar if is_over_time => Some(ChartKind::Columns),
        View::Bar => Some(ChartKind::Bars),
        View::Line => Some(ChartKind::Lines),
        View::Chart | View::Table | View::Csv => None,
    }
}

/// Returns a query as an argument. A query about a change has no measures of its own.
fn written(query: &MetricQuery) -> Value {
    let mut value = json!(query);
    if let Some(members) = value.as_object_mut().filter(|_| query.measures.is_empty()) {
        members.remove("measures");
    }
    value
}

/// A question that the next one may go on from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Previous {
    /// The query with its source.
    pub(crate) query: MetricQuery,
    /// The rows of its result, if it was answered.
    pub(crate) shown: Shown,
}

/// The next step of a question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PartStep {
    /// These calls.
    Calls(Vec<Planned>),
    /// The question is finished.
    Done(PartEnd),
}

/// The end of a question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PartEnd {
    /// The result of its call.
    Answer {
        /// The reading.
        reading: Box<Reading>,
        /// The result.
        result: Arc<Value>,
    },
    /// Its readings have different figures.
    Ask(Vec<Reading>),
    /// Its call failed.
    Failed(Failure),
    /// It needs no call.
    Said,
    /// The tool is not among the offered tools.
    NotOffered,
    /// The turn has no calls left.
    Unfinished,
}

/// The planning of the questions of a turn.
pub(crate) struct Asking<'a> {
    /// The packs.
    pub(crate) book: &'a Book,
    /// The tools.
    pub(crate) tools: DataTools,
    /// The calls of the turn so far.
    pub(crate) done: &'a [Done],
    /// The names of the offered tools. None while an earlier turn is replayed.
    pub(crate) offered: Option<&'a HashSet<&'a str>>,
}

impl Asking<'_> {
    /// Returns the next step of a question.
    pub(crate) fn step(&self, part: &Part) -> PartStep {
        match &part.outcome {
            Outcome::One(reading) => self.step_of(std::slice::from_ref(&**reading)),
            Outcome::Several(readings) => self.step_of(readings),
            Outcome::Partly { .. } | Outcome::Declined { .. } | Outcome::None => {
                PartStep::Done(PartEnd::Said)
            }
        }
    }

    /// Returns the next step of a question with these readings. All are computed, because they may
    /// have the same figures.
    fn step_of(&self, readings: &[Reading]) -> PartStep {
        let (mut missing, mut failures) = (Vec::new(), Vec::new());
        let mut answers: Vec<(&Reading, &Arc<Value>)> = Vec::new();
        for reading in readings {
            let call = self.tools.call(reading);
            match self.done_call(&call).map(|done| &done.end) {
                Some(End::Ok(value)) => answers.push((reading, value)),
                Some(End::Failed(failure)) => failures.push(failure),
                None => missing.push(call),
            }
        }
        if !missing.is_empty() {
            return self.check_offered(missing);
        }
        let Some((reading, result)) = answers.first().copied() else {
            let failure = failures.first().map(|failure| (*failure).clone());
            return PartStep::Done(failure.map_or(PartEnd::Unfinished, PartEnd::Failed));
        };
        let is_same = |(_, other): &(&Reading, &Arc<Value>)| have_same_figures(result, other);
        PartStep::Done(if failures.is_empty() && answers.iter().skip(1).all(is_same) {
            PartEnd::Answer { reading: Box::new(reading.clone()), result: Arc::clone(result) }
        } else {
            // A reading without figures may be the one that is meant.
            PartEnd::Ask(readings.to_vec())
        })
    }

    fn done_call(&self, call: &Planned) -> Option<&Done> {
        self.done.iter().find(|done| done.tool == call.tool && done.args == call.args)
    }

    fn check_offered(&self, calls: Vec<Planned>) -> PartStep {
        let Some(offered) = self.offered else { return PartStep::Calls(calls) };
        if offered.is_empty() {
            return PartStep::Done(PartEnd::Unfinished);
        }
        let is_offered =
            |call: &Planned| offered.contains(self.book.tools[call.tool].spec.model_name.as_str());
        match calls.iter().all(is_offered) {
            true => PartStep::Calls(calls),
            false => PartStep::Done(PartEnd::NotOffered),
        }
    }

    /// Returns the questions that the next message may go on from: the readings of the last question, or,
    /// if another model answered or its words are read in another way by now, the last call. None: the
    /// question before it stays.
    pub(crate) fn previous(&self, parts: &[Part]) -> Option<Vec<Previous>> {
        let by_call = || self.done.iter().rev().find_map(|done| self.previous_of(done));
        let answered = parts.iter().rev().find_map(|part| self.previous_of_part(part));
        answered.or_else(|| by_call().map(|one| vec![one])).or_else(|| unanswered(parts.last()?))
    }

    fn previous_of_part(&self, part: &Part) -> Option<Vec<Previous>> {
        match self.step(part) {
            PartStep::Done(PartEnd::Answer { reading, result }) => {
                let shown = shown_in(&reading.query, &result);
                Some(vec![Previous { shown, query: reading.query }])
            }
            PartStep::Done(PartEnd::Ask(readings)) => {
                Some(readings.iter().map(not_shown).collect())
            }
            PartStep::Done(PartEnd::Failed(_)) => unanswered(part),
            PartStep::Done(PartEnd::Said | PartEnd::NotOffered | PartEnd::Unfinished)
            | PartStep::Calls(_) => None,
        }
    }

    fn previous_of(&self, done: &Done) -> Option<Previous> {
        let is_one = self.tools.all().any(|tool| tool == done.tool);
        let result = done.successful_result().filter(|_| is_one)?;
        let mut query = read_metric_query(done.args.get(QUERY)?).ok()?;
        if query.source.is_none() {
            let source = figures_of(result).pointer("/asked/source").and_then(Value::as_str);
            query.source = source.map(SourceName::new);
        }
        Some(Previous { shown: shown_in(&query, result), query })
    }
}

/// Returns the readings of a question without figures. "By week" is about them, and not about an older
/// question. A message that only goes on from an older question leaves that one.
fn unanswered(part: &Part) -> Option<Vec<Previous>> {
    let is_whole = match &part.outcome {
        Outcome::One(_) | Outcome::Several(_) => true,
        Outcome::Partly { nearest, .. } => {
            !part.goes_on && (names(nearest) || names_a_thing(nearest))
        }
        Outcome::Declined { .. } | Outcome::None => false,
    };
    is_whole.then(|| readings_of(part).into_iter().map(not_shown).collect())
}

/// Whether a reading names a dimension: "how is X pacing".
fn names_a_thing(reading: &Reading) -> bool {
    reading.spans.iter().any(|span| matches!(span.means, SpanMeaning::Dimension(_)))
}

fn not_shown(reading: &Reading) -> Previous {
    Previous { query: reading.query.clone(), shown: Shown::default() }
}

/// Returns the figures of a result. A chart has them inside of it.
fn figures_of(result: &Value) -> &Value {
    result.get("result").filter(|inner| inner.is_object()).unwrap_or(result)
}

/// Returns a result of a metric query.
pub(super) fn read_result(result: &Value) -> Option<DataResult> {
    serde_json::from_value(figures_of(result).clone()).ok()
}

/// Whether two results have the same values in the same units. Of rows on later pages that is not known.
fn have_same_figures(one: &Value, other: &Value) -> bool {
    let (one, other) = (figures_of(one), figures_of(other));
    let units = |result: &Value| -> Vec<(Value, Value)> {
        let columns = result["columns"].as_array().into_iter().flatten();
        columns.map(|column| (column["unit"].clone(), column["format"].clone())).collect()
    };
    let is_whole = one["more"].is_null() && other["more"].is_null();
    let members = ["rows", "row_count", "totals"];
    let are_same = members.iter().all(|member| one[*member] == other[*member]);
    is_whole && are_same && units(one) == units(other)
}

/// Returns the names of the rows of a result. "Them" means all rows, so a page of them has no names.
fn shown_in(query: &MetricQuery, result: &Value) -> Shown {
    let Some(result) = read_result(result).filter(|_| query.explain.is_none()) else {
        return Shown::default();
    };
    let is_whole = result.more.is_none() && result.rows.len() <= SHOWN;
    let Some(at) = Cells::dimension(&result).filter(|_| is_whole) else {
        return Shown::default();
    };
    let column = &result.columns[at];
    let mut values: Vec<String> = Vec::new();
    for value in result.rows.iter().filter_map(|row| row.get(at)?.as_str()) {
        if !values.iter().any(|known| known == value) {
            values.push(value.to_owned());
        }
    }
    Shown { dimension: Some(column.of.clone().unwrap_or_else(|| column.name.clone())), values }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_the_rows_is_not_what_them_refers_to() {
        let query = MetricQuery::default();
        let mut result = json!({
            "columns": [{"name": "campaign", "type": "text", "role": "dimension", "format": "text"}],
            "rows": [["Easter"]], "row_count": 1, "query": "", "sql": "",
        });
        assert_eq!(shown_in(&query, &result).values, ["Easter"]);
        (result["more"], result["row_count"]) = (json!("next"), json!(900));
        assert_eq!(shown_in(&query, &result), Shown::default());
    }
}
