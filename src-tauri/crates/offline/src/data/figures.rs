//! Writes the cells of a result for a sentence: figures with their unit, names, and times. From 100 on
//! a figure has no decimals; the table below the answer has them all.

use analytics::SourceModel;
use chrono::{Datelike, NaiveDate};
use contract::{
    metric_query::{ComparedFigure, DataColumn, DataResult, GroupBy, MetricQuery, TimeGrain},
    result::{ColumnRole, ColumnUnit, ValueFormat},
};
use messages::Language;
use serde_json::Value;

use crate::{
    template::{escape_markdown, format_day, format_grouped},
    texts::Text,
};

/// From this size on, figures are written without decimals.
const LARGE: f64 = 100.0;

/// The cells of a result.
#[derive(Clone, Copy)]
pub(super) struct Cells<'a> {
    /// The query.
    pub(super) query: &'a MetricQuery,
    /// The result.
    pub(super) result: &'a DataResult,
    /// The language of the words.
    pub(super) lang: Language,
    /// The source, which may name its values.
    pub(super) source: Option<&'a SourceModel>,
}

impl<'a> Cells<'a> {
    /// Returns the first column whose values name the rows.
    pub(super) fn dimension(result: &DataResult) -> Option<usize> {
        names(result).find(|at| result.columns[*at].role == ColumnRole::Dimension)
    }

    /// Returns the columns whose values name the rows.
    pub(super) fn names(&self) -> Vec<usize> {
        names(self.result).collect()
    }

    /// Returns the columns with figures, without those that they are compared with.
    pub(super) fn figures(&self) -> Vec<usize> {
        let is_own = |column: &DataColumn| {
            column.role == ColumnRole::Measure
                && matches!(column.compared, None | Some(ComparedFigure::Now))
        };
        let columns = self.result.columns.iter().enumerate();
        columns.filter(|(_, column)| is_own(column)).map(|(at, _)| at).collect()
    }

    /// Returns the column of a comparison that belongs to a figure.
    pub(super) fn compared(&self, figure: usize, wanted: ComparedFigure) -> Option<usize> {
        let later = self.result.columns.iter().enumerate().skip(figure + 1);
        later
            .take_while(|(_, column)| !matches!(column.compared, None | Some(ComparedFigure::Now)))
            .find(|(_, column)| column.compared == Some(wanted))
            .map(|(at, _)| at)
    }

    /// Returns the column of this name.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        self.result.columns.iter().position(|column| column.name == name)
    }

    /// Returns the number in a cell.
    pub(super) fn number(&self, row: &[Value], at: usize) -> Option<f64> {
        match row.get(at)? {
            Value::Number(number) => number.as_f64(),
            // Numbers with many digits are texts.
            Value::String(text) => text.parse().ok(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// Returns a figure with its unit. The latest of several days is a figure, too.
    pub(super) fn figure(&self, row: &[Value], at: usize) -> Option<String> {
        if let Some(number) = self.number(row, at) {
            return Some(self.amount(number, row, at));
        }
        let text = row.get(at)?.as_str().filter(|text| !text.is_empty())?;
        let is_moment = self.result.columns[at].format == ValueFormat::Moment;
        Some(match text.parse::<NaiveDate>() {
            Ok(day) => format_day(day, true, self.lang),
            Err(_) if is_moment => escape_markdown(&text.replace('T', " ")),
            Err(_) => escape_markdown(text),
        })
    }

    /// Returns a figure without its sign.
    pub(super) fn size(&self, row: &[Value], at: usize) -> Option<String> {
        Some(self.amount(self.number(row, at)?.abs(), row, at))
    }

    /// Returns a number in the format of a column.
    pub(super) fn amount(&self, number: f64, row: &[Value], at: usize) -> String {
        let column = &self.result.columns[at];
        if column.format == ValueFormat::Percent {
            return self.percent(number, column.compared == Some(ComparedFigure::Change));
        }
        let is_money = column.format == ValueFormat::Money;
        let places = match number.abs() {
            size if size >= LARGE || (!is_money && size.fract() == 0.0) => 0,
            // A price of a click may be less than a cent.
            size if size > 0.0 && size < 0.01 => 4,
            _ => 2,
        };
        let text = format_grouped(number, places, self.lang);
        let text = if is_money { text } else { self.without_zeros(text) };
        match self.unit(row, column) {
            Some(unit) => format!("{text}\u{a0}{}", escape_markdown(&unit)),
            None => text,
        }
    }

    /// Returns a part as a percentage. Differences of percentages are in points.
    pub(super) fn percent(&self, part: f64, is_difference: bool) -> String {
        let number = format_grouped(part * 100.0, 1, self.lang);
        if is_difference {
            return Text::DataPoints.fill(self.lang, &[("points", &number)]);
        }
        messages::fill(self.lang.formats().percent, &[("number", &number)])
    }

    /// Removes zeros behind the decimal sign.
    fn without_zeros(&self, text: String) -> String {
        let point = self.lang.formats().decimal;
        match text.rsplit_once(point) {
            Some((whole, decimals)) if decimals.len() <= 4 && text.matches(point).count() == 1 => {
                let decimals = decimals.trim_end_matches('0');
                let is_whole = decimals.is_empty();
                if is_whole { whole.to_owned() } else { format!("{whole}{point}{decimals}") }
            }
            Some(_) | None => text,
        }
    }

    fn unit(&self, row: &[Value], column: &DataColumn) -> Option<String> {
        match column.unit.as_ref()? {
            ColumnUnit::Fixed(unit) => Some(unit.clone()),
            ColumnUnit::Within(_) => {
                let place = place_of_unit(column)?;
                row.get(place)?.as_str().map(str::to_owned)
            }
        }
    }

    /// Returns the unit of a figure.
    pub(super) fn unit_of(&self, row: &[Value], at: usize) -> Option<String> {
        self.unit(row, &self.result.columns[at])
    }

    /// Returns whether all rows have figures in the same unit.
    pub(super) fn has_one_unit(&self, at: usize) -> bool {
        let column = &self.result.columns[at];
        let mut units = self.result.rows.iter().map(|row| self.unit(row, column));
        let first = units.next();
        units.all(|unit| Some(&unit) == first.as_ref())
    }

    /// Returns the name of a row.
    pub(super) fn name(&self, row: &[Value]) -> String {
        let parts: Vec<String> = self.names().into_iter().map(|at| self.value(row, at)).collect();
        escape_markdown(&parts.join(", "))
    }

    pub(super) fn value(&self, row: &[Value], at: usize) -> String {
        let column = &self.result.columns[at];
        match row.get(at) {
            Some(Value::String(text)) if column.role == ColumnRole::Time => self.time(text),
            Some(Value::String(text)) if !text.is_empty() => self.named(column, text),
            // The number of a weekday says little alone.
            Some(Value::Number(number)) => format!("{} {number}", self.plain_label(at)),
            Some(Value::Bool(value)) => {
                let text = if *value { Text::Yes } else { Text::No };
                format!("{}: {}", self.plain_label(at), text.text(self.lang))
            }
            Some(_) | None => "–".to_owned(),
        }
    }

    /// Returns a value as its dimension names it for people.
    fn named(&self, column: &DataColumn, value: &str) -> String {
        let name = column.of.as_deref().unwrap_or(&column.name);
        let named = self.source.and_then(|source| source.value_name(name, value));
        let own =
            named.map(|named| named.names.get(self.lang.tag()).cloned().unwrap_or(named.text));
        own.unwrap_or_else(|| value.to_owned())
    }

    /// Returns a time in the grain of the query.
    fn time(&self, text: &str) -> String {
        let day = text.get(..10).and_then(|day| day.parse::<NaiveDate>().ok());
        let grain = self.query.by.iter().find_map(|group| match &group.by {
            GroupBy::Time(grain) => Some(*grain),
            GroupBy::Dimension(_) | GroupBy::Define(_) => None,
        });
        let month = |day: NaiveDate| self.lang.formats().months[day.month0() as usize];
        match (day, grain) {
            (Some(day), Some(TimeGrain::Month)) => format!("{} {}", month(day), day.year()),
            (Some(day), Some(TimeGrain::Quarter)) => {
                format!("Q{} {}", day.month0() / 3 + 1, day.year())
            }
            (Some(day), Some(TimeGrain::Year)) => day.year().to_string(),
            (Some(day), Some(TimeGrain::Day | TimeGrain::Week)) => format_day(day, true, self.lang),
            (Some(_) | None, Some(_) | None) => text.replace('T', " "),
        }
    }

    /// Returns the name of a column in the language of the answer.
    pub(super) fn label(&self, at: usize) -> String {
        escape_markdown(&self.plain_label(at))
    }

    fn plain_label(&self, at: usize) -> String {
        let column: &'a DataColumn = &self.result.columns[at];
        let own = column.label.get(self.lang.tag()).cloned();
        own.unwrap_or_else(|| column.name.replace('_', " "))
    }
}

/// Returns the columns that name rows. The column of a currency belongs to the figures.
fn names(result: &DataResult) -> impl Iterator<Item = usize> + '_ {
    let units: Vec<usize> = result.columns.iter().filter_map(place_of_unit).collect();
    let columns = result.columns.iter().enumerate();
    columns
        .filter(move |(at, column)| column.role != ColumnRole::Measure && !units.contains(at))
        .map(|(at, _)| at)
}

/// Returns the place of the column that has the unit of a column.
fn place_of_unit(column: &DataColumn) -> Option<usize> {
    match column.unit.as_ref()? {
        ColumnUnit::Within(place) => place.at.trim_start_matches('/').parse().ok(),
        ColumnUnit::Fixed(_) => None,
    }
}
