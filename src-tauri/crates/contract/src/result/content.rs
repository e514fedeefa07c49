//! Reads rows and columns from a result, as its view declares them. Each client draws these rows
//! and columns, so that window, terminal and programs show the same values.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::{
    ChartKind, ColumnRole, ColumnUnit, Columns, Layout, ResultColumn, ResultView, ValueFormat,
};
use crate::{
    Text,
    definitions::{Better, DefinitionState},
    manifest::Localised,
    metric_query::{AskedQuestion, ComparedFigure, DataColumn, DataVersion},
};

/// The most rows that are read. The complete result is still available.
pub const MAX_ROWS: usize = 500;
/// The most columns that are read.
const MAX_COLUMNS: usize = 60;
/// The most characters of a cell.
const MAX_TEXT: usize = 2_000;

/// The rows and columns of a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct ResultContent {
    /// The heading, by language. If absent, the tool's title is used.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(optional, as = "Option<Localised<String>>")]
    pub title: Localised<String>,
    /// The kind of chart, if the view or the result says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub chart: Option<ChartKind>,
    /// The columns.
    pub columns: Vec<ContentColumn>,
    /// The first rows, each with a cell for each column.
    pub rows: Vec<Vec<ResultCell>>,
    /// The number of all rows.
    pub total: u64,
    /// The figures of all rows together, if the query asked for them: one row, or one for each
    /// currency, each with a cell for each column.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<Vec<ResultCell>>>")]
    pub totals: Vec<Vec<ResultCell>>,
    /// The number of all columns, if only the first ones were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub all_columns: Option<u64>,
    /// With what the figures of a query were computed. None for other results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub state: Option<DefinitionState>,
    /// The query that a model wrote, in SQL or as a metric query. A reader sees it before the figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub query: Option<String>,
    /// How figures were computed, with the question that can be asked again in another way. None for
    /// other results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub computed: Option<Computation>,
}

/// How the figures of a result were computed. Each member is that of the result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Computation {
    /// The question.
    pub asked: AskedQuestion,
    /// The SQL that was run.
    pub sql: String,
    /// The SHA-256 of each definition that was used, by `SOURCE.NAME`.
    #[serde(default)]
    pub definitions: BTreeMap<String, String>,
    /// The hash of the data.
    #[serde(default)]
    pub data_version: DataVersion,
    /// The number of all rows of the result.
    pub row_count: u64,
    /// Notes for a person, such as a period that is not over.
    #[serde(default)]
    pub notes: Vec<Text>,
    /// The number of the record of the log, if the result has a record of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub record: Option<u64>,
}

/// A column to draw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct ContentColumn {
    /// The name in the query. None for other results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub name: Option<String>,
    /// The heading, by language.
    pub label: Localised<String>,
    /// The role of the column.
    pub role: ColumnRole,
    /// The format of the values.
    pub format: ValueFormat,
    /// The number of decimal places.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub digits: Option<u8>,
    /// Whether the values of several rows add up to a figure of all of them. Those of ratios and
    /// averages do not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub adds_up: bool,
    /// Which values are good, if they are changes of a measure that says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub better: Option<Better>,
    /// The place of the column in a comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub compared: Option<ComparedFigure>,
}

/// A value of a row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct ResultCell {
    /// A text, a number, true, false, or null for no value.
    #[ts(type = "string | number | boolean | null")]
    pub value: Value,
    /// The unit of the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub unit: Option<String>,
}

/// The language that replaces a missing language.
const FALLBACK: &str = "en";

impl ContentColumn {
    /// Returns the heading in a language.
    pub fn label_in(&self, language: &str) -> &str {
        words_in(&self.label, language).unwrap_or_default()
    }
}

/// Returns the text in a language, or in the language that replaces it.
pub(super) fn words_in<'w>(words: &'w Localised<String>, language: &str) -> Option<&'w str> {
    let found = words.get(language).or_else(|| words.get(FALLBACK));
    found.or_else(|| words.values().next()).map(String::as_str)
}

impl ResultContent {
    /// Returns the heading in a language, if the view declares one.
    pub fn title_in(&self, language: &str) -> Option<&str> {
        words_in(&self.title, language)
    }
}

/// Reads the rows of a result. Returns None if the view has no rows, or if the result does not have
/// the declared structure.
pub fn read_content(view: &ResultView, data: &Value) -> Option<ResultContent> {
    let layout = view.shape.layout()?;
    let columns = read_columns(layout, data)?;
    let place = data.pointer(&layout.rows)?;
    let rows = match place {
        Value::Array(rows) => rows.as_slice(),
        Value::Object(_) => std::slice::from_ref(place),
        _ => return None,
    };
    let (state, query) = read_query(layout, data).unzip();
    let all = all_columns(layout, data).map_or(0, |columns| columns.len());
    let is_cut = all > columns.len();
    Some(ResultContent {
        state,
        query: query.flatten(),
        title: layout.title.clone(),
        chart: layout.chart.or_else(|| read_kind(layout, data)),
        rows: rows.iter().take(MAX_ROWS).map(|row| read_row(&columns, row, data)).collect(),
        total: u64::try_from(rows.len()).unwrap_or(u64::MAX),
        totals: read_totals(&columns, layout, data),
        all_columns: is_cut.then(|| u64::try_from(all).unwrap_or(u64::MAX)),
        columns: content_columns(&columns, layout, data),
        computed: result_of(layout, data).and_then(|result| Computation::deserialize(result).ok()),
    })
}

/// Reads the totals of a result of a query. Empty for other results.
fn read_totals(columns: &[ResultColumn], layout: &Layout, data: &Value) -> Vec<Vec<ResultCell>> {
    let totals = result_of(layout, data).and_then(|result| result.get("totals")?.as_array());
    let rows = totals.into_iter().flatten().take(MAX_ROWS);
    rows.map(|row| read_row(columns, row, data)).collect()
}

/// Returns the result that has the columns. Only results of queries have their own.
fn result_of<'d>(layout: &Layout, data: &'d Value) -> Option<&'d Value> {
    let Columns::InResult(columns) = &layout.columns else { return None };
    data.pointer(columns.rsplit_once('/')?.0)
}

/// Reads the kind of chart that a result says beside its rows.
fn read_kind(layout: &Layout, data: &Value) -> Option<ChartKind> {
    let Columns::InResult(_) = &layout.columns else { return None };
    ChartKind::deserialize(data.pointer("/chart/kind")?).ok()
}

/// Reads with what figures were computed, and the query if a model wrote it. Only results of queries
/// say so, beside their columns.
fn read_query(layout: &Layout, data: &Value) -> Option<(DefinitionState, Option<String>)> {
    let result = result_of(layout, data)?;
    let state = DefinitionState::deserialize(result.get("definition_state")?).ok()?;
    if state != DefinitionState::WrittenByModel {
        return Some((state, None));
    }
    let asked = result.get("asked");
    let member = |name: &str| asked.and_then(|asked| asked.get(name)).filter(|one| !one.is_null());
    let sql = member("sql").or_else(|| result.get("sql")).and_then(Value::as_str);
    let query = member("query").map(Value::to_string).or_else(|| sql.map(str::to_owned));
    Some((state, query.map(|query| shorten(&query))))
}

fn read_columns(layout: &Layout, data: &Value) -> Option<Vec<ResultColumn>> {
    let mut columns = all_columns(layout, data)?;
    columns.truncate(MAX_COLUMNS);
    (!columns.is_empty()).then_some(columns)
}

fn all_columns(layout: &Layout, data: &Value) -> Option<Vec<ResultColumn>> {
    match &layout.columns {
        Columns::Declared(columns) => Some(columns.clone()),
        Columns::InResult(pointer) => read_columns_of_result(data.pointer(pointer)?),
    }
}

/// Reads the columns of a result: those of a metric query, or such as a view declares.
fn read_columns_of_result(columns: &Value) -> Option<Vec<ResultColumn>> {
    let of_data = Vec::<DataColumn>::deserialize(columns).ok();
    let columns_of_data = of_data.map(|columns| columns.into_iter().map(from_data).collect());
    columns_of_data.or_else(|| serde_json::from_value(columns.clone()).ok())
}

fn from_data(column: DataColumn) -> ResultColumn {
    ResultColumn {
        field: column.name,
        label: column.label,
        role: column.role,
        unit: column.unit,
        format: Some(column.format),
        digits: None,
    }
}

/// Returns the columns to draw, with what the definitions of a figure say.
fn content_columns(columns: &[ResultColumn], layout: &Layout, data: &Value) -> Vec<ContentColumn> {
    let own = match &layout.columns {
        Columns::InResult(pointer) => data.pointer(pointer),
        Columns::Declared(_) => None,
    };
    let own = own.and_then(|own| Vec::<DataColumn>::deserialize(own).ok()).unwrap_or_default();
    let mut drawn: Vec<ContentColumn> = columns.iter().map(content_column).collect();
    for (column, own) in drawn.iter_mut().zip(own) {
        (column.better, column.compared) = (own.better, own.compared);
        column.adds_up = own.adds_up;
        column.name = Some(own.name);
    }
    drawn
}

fn content_column(column: &ResultColumn) -> ContentColumn {
    let mut label = column.label.clone();
    if label.is_empty() {
        label.insert(FALLBACK.to_owned(), column.field.trim_start_matches('/').to_owned());
    }
    ContentColumn {
        name: None,
        label,
        role: column.role,
        format: column.value_format(),
        digits: column.digits,
        adds_up: false,
        better: None,
        compared: None,
    }
}

fn read_row(columns: &[ResultColumn], row: &Value, data: &Value) -> Vec<ResultCell> {
    columns.iter().enumerate().map(|(at, column)| read_cell(column, at, row, data)).collect()
}

fn read_cell(column: &ResultColumn, at: usize, row: &Value, data: &Value) -> ResultCell {
    let found = match row {
        Value::Array(cells) => cells.get(at),
        Value::Object(_) if column.field.starts_with('/') => row.pointer(&column.field),
        Value::Object(members) => members.get(&column.field),
        // A list of plain values has one column.
        _ => (at == 0).then_some(row),
    };
    let unit = column.unit.as_ref().and_then(|unit| match unit {
        ColumnUnit::Fixed(unit) => Some(unit.clone()),
        ColumnUnit::Within(place) => {
            let unit = row.pointer(&place.at).or_else(|| data.pointer(&place.at))?;
            unit.as_str().filter(|unit| !unit.is_empty()).map(str::to_owned)
        }
    });
    ResultCell { value: found.map_or(Value::Null, |value| simplify(value, column)), unit }
}

/// Converts a value to a value of a cell. Numbers that arrive as text, such as decimal columns of
/// databases, become numbers if the format requires numbers.
fn simplify(value: &Value, column: &ResultColumn) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(text) => {
            let number = || text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
            match column.value_format().is_number().then(number).flatten() {
                Some(number) => Value::from(number),
                None => Value::from(shorten(text)),
            }
        }
        Value::Array(values) if values.iter().all(is_scalar) => {
            let texts: Vec<String> = values.iter().map(scalar_text).collect();
            Value::from(shorten(&texts.join(", ")))
        }
        Value::Array(_) | Value::Object(_) => Value::from(shorten(&value.to_string())),
    }
}

fn is_scalar(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

fn scalar_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
