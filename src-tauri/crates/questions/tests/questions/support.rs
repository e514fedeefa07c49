//! The sources and questions of the tests.

use std::{collections::BTreeMap, sync::LazyLock};

use analytics::{Catalog, SourceModel, TableColumn, resolve};
use contract::{
    definitions::read_definitions,
    metric_query::{AsOf, Condition, MetricQuery, read_metric_query},
    sources::ColumnKind,
};
use questions::{FollowUp, Names, Outcome, Reader, Shown, Values, View};
use serde_json::{Value, json};

/// All that questions are read with.
pub struct Fixture {
    /// The reader.
    pub reader: Reader,
    /// The sources.
    pub catalog: Catalog,
    /// The values of their dimensions.
    pub values: Values,
    /// The index of names.
    pub names: Names,
    /// The moment: a Monday.
    pub as_of: AsOf,
}

impl Fixture {
    /// Creates a fixture with some sources.
    pub fn of(catalog: Catalog, values: Values) -> Self {
        let reader = Reader::new().unwrap();
        let names = reader.names(&catalog, &values);
        let moment = "2026-11-30T09:00:00".parse().unwrap();
        let as_of = AsOf { moment, zone: "Europe/Stockholm".to_owned() };
        Self { reader, catalog, values, names, as_of }
    }

    /// Reads a question after an earlier one.
    pub fn read_on(&self, text: &str, before: &MetricQuery, shown: &Shown) -> FollowUp {
        let before = (before, shown);
        self.reader.read_follow_up(text, before, &self.names, &self.catalog, &self.as_of)
    }

    /// Reads a question.
    pub fn read(&self, text: &str) -> Outcome {
        self.reader.read(text, &self.names, &self.catalog, &self.as_of)
    }
}

/// Returns the fixture of all sources, which all tests of a binary share.
pub fn shared() -> &'static Fixture {
    static SHARED: LazyLock<Fixture> = LazyLock::new(fixture);
    &SHARED
}

/// Returns the fixture of all sources.
pub fn fixture() -> Fixture {
    fixture_of(include_str!("../cases/sources.json"))
}

/// Returns a fixture with the sources of a file.
pub fn fixture_of(file: &str) -> Fixture {
    let sources: Value = serde_json::from_str(file).unwrap();
    let (mut catalog, mut values) = (Catalog::default(), Values::new());
    for source in sources.as_array().unwrap() {
        let definitions = read_definitions(&source["definitions"]).unwrap();
        let columns = source["columns"].as_object().unwrap();
        let columns = columns.iter().map(|(name, kind)| TableColumn {
            name: name.clone(),
            kind: kind_of(kind.as_str().unwrap()),
            scale: 2,
            constant: None,
            is_float: false,
        });
        let columns = columns.collect();
        let own: BTreeMap<String, Vec<String>> =
            serde_json::from_value(source["values"].clone()).unwrap();
        values.insert(definitions.source.clone(), own);
        catalog.sources.push(SourceModel::new(definitions, columns));
    }
    Fixture::of(catalog, values)
}

fn kind_of(name: &str) -> ColumnKind {
    match name {
        "day" => ColumnKind::Day,
        "moment" => ColumnKind::Moment,
        "whole" => ColumnKind::Whole,
        "decimal" => ColumnKind::Decimal,
        "flag" => ColumnKind::Flag,
        _ => ColumnKind::Text,
    }
}

/// A question with its reading.
pub struct Expected {
    /// The question.
    pub question: String,
    /// The wanted outcome.
    pub outcome: Wanted,
    /// The words that are corrected.
    pub corrected: Vec<String>,
    /// The wanted form.
    pub view: Option<View>,
}

/// A wanted outcome.
#[derive(Debug)]
pub enum Wanted {
    /// This query.
    Query(Box<MetricQuery>),
    /// These words are left over.
    Partly(Vec<String>),
    /// The question is declined.
    Declined(Box<Value>),
    /// The question is about no source.
    None,
}

/// Returns all questions.
pub fn cases() -> Vec<Expected> {
    let files = [
        include_str!("../cases/search_ads.json"),
        include_str!("../cases/webshop_orders.json"),
        include_str!("../cases/budgetark.json"),
        include_str!("../cases/site_traffic.json"),
        include_str!("../cases/helpdesk.json"),
    ];
    let second = include_str!("../cases/second_round.json");
    let second: Vec<Value> = serde_json::from_str(second).unwrap();
    let first = files.into_iter().map(|file| serde_json::from_str(file).unwrap());
    first.chain(second).flat_map(|file| cases_of(&file)).collect()
}

/// Returns the questions of a file.
pub fn cases_of(file: &Value) -> Vec<Expected> {
    let case = |case: &Value| Expected {
        question: case["q"].as_str().unwrap().to_owned(),
        outcome: wanted(case, &file["source"]),
        corrected: serde_json::from_value(case["corrected"].clone()).unwrap_or_default(),
        view: serde_json::from_value(case["view"].clone()).unwrap_or_default(),
    };
    file["cases"].as_array().unwrap().iter().map(case).collect()
}

fn wanted(case: &Value, source: &Value) -> Wanted {
    if case["declined"].is_string() {
        return Wanted::Declined(Box::new(case["declined"].clone()));
    }
    if case["none"] == json!(true) {
        return Wanted::None;
    }
    if let Ok(words) = serde_json::from_value(case["partly"].clone()) {
        return Wanted::Partly(words);
    }
    let mut query = case["is"].clone();
    query["source"] = source.clone();
    Wanted::Query(Box::new(read_metric_query(&query).unwrap()))
}

/// Whether two queries are the same but for the order of conditions.
pub fn same(one: &MetricQuery, other: &MetricQuery) -> bool {
    let sorted = |query: &MetricQuery| {
        let mut query = query.clone();
        let key = |condition: &Condition| serde_json::to_string(condition).unwrap();
        query.conditions.sort_by_key(key);
        query
    };
    sorted(one) == sorted(other)
}

/// Returns an outcome as a text for people.
pub fn shown(outcome: &Outcome, question: &str) -> String {
    match outcome {
        Outcome::One(reading) => format!(
            "one {} {:?} {:?}",
            serde_json::to_string(&reading.query).unwrap(),
            reading.assumed,
            reading.corrections
        ),
        Outcome::Several(readings) => {
            let queries = readings.iter().map(|reading| {
                format!(
                    "\n      {} {}",
                    reading.score,
                    serde_json::to_string(&reading.query).unwrap()
                )
            });
            format!("several{}", queries.collect::<String>())
        }
        Outcome::Partly { without, nearest } => {
            let words: Vec<&str> = without.iter().map(|at| &question[at.clone()]).collect();
            let query = serde_json::to_string(&nearest.query).unwrap();
            format!("partly without {words:?}: {query}")
        }
        other => format!("{other:?}"),
    }
}

/// Whether a query can be resolved.
pub fn resolves(fixture: &Fixture, query: &MetricQuery) -> bool {
    resolve(query, &fixture.catalog, &fixture.as_of).is_ok()
}

/// Whether the words of a name are within a text.
pub fn is_within(name: &str, text: &str) -> bool {
    let words = |text: &str| {
        let folded = language::fold(text);
        let parts = folded.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect::<Vec<_>>()
    };
    let (name, text) = (words(name), words(text));
    text.windows(name.len()).any(|window| window == name)
}
