//! Makes the query of a rule for one full day, and compares its result with the condition. Pure: it
//! asks nothing.

use std::collections::BTreeMap;

use chrono::{Days, NaiveDate};
use contract::{
    AgentError,
    alerts::{AlertCondition, AlertFigure, AlertGroup, AlertRuleContent, AlertSide},
    metric_query::{
        AsOf, ComparedFigure, Condition, DataColumn, DataResult, DataType, Group, GroupBy,
        MetricQuery, Period, Scalar, Span, Test, TimeGrain,
    },
    result::ColumnRole,
    text,
};
use serde_json::{Value, json};

use super::deciding::{Evaluated, Finding};

/// The most groups of a rule. Each can have an alert, and a record of its own.
const MOST_GROUPS: usize = 1_000;
/// The days before those without data in which a group had some, so that it is expected to have data.
const KNOWN_DAYS: u32 = 30;

/// Returns the query of a rule for a day: its figures when the day is over, without later days.
pub(super) fn query_at(
    content: &AlertRuleContent,
    day: NaiveDate,
    zone: &str,
    has_time: bool,
) -> MetricQuery {
    let mut query = content.query.clone();
    let (period, is_next_day) = period_at(query.period.take(), day, has_time);
    query.period = period;
    if let AlertCondition::NoDataFor { days } = content.condition {
        query.period = Some(Period::Last(Span::Days(days.saturating_add(KNOWN_DAYS))));
        if !query.by.iter().any(is_day) {
            query.by.push(Group::time(TimeGrain::Day));
        }
        (query.compare, query.top, query.limit, query.fill) = (None, None, None, false);
        query.order = Vec::new();
    }
    let moment = if is_next_day {
        day.checked_add_days(Days::new(1)).unwrap_or(day).and_hms_opt(0, 0, 0)
    } else {
        day.and_hms_opt(23, 59, 59)
    };
    query.as_of = Some(AsOf { moment: moment.unwrap_or_default(), zone: zone.to_owned() });
    query
}

/// Whether a group is each day.
pub(super) fn is_day(group: &Group) -> bool {
    group.by == GroupBy::Time(TimeGrain::Day)
}

/// Returns a period that ends with a day, and whether its moment is the next day. "Last 7 days" end
/// before their moment, and "this month" ends with it.
fn period_at(period: Option<Period>, day: NaiveDate, has_time: bool) -> (Option<Period>, bool) {
    match period {
        Some(period @ (Period::Last(_) | Period::Previous(_))) => (Some(period), true),
        Some(period @ (Period::LastWithToday(_) | Period::ToDate(_))) => (Some(period), false),
        Some(Period::This(unit)) => (Some(Period::ToDate(unit)), false),
        Some(Period::Range { from, to: None }) => {
            (Some(Period::Range { from, to: Some(day) }), true)
        }
        Some(
            period @ (Period::Month(_)
            | Period::Quarter(_)
            | Period::Year(_)
            | Period::Week(_)
            | Period::Range { .. }),
        ) => (Some(period), true),
        None if has_time => (Some(Period::Range { from: None, to: Some(day) }), true),
        None => (None, true),
    }
}

/// Returns the question that explains an alert: the query of its first day, about its group alone.
pub(super) fn question_of(
    content: &AlertRuleContent,
    group: &[AlertGroup],
    since: NaiveDate,
    zone: &str,
    has_time: bool,
) -> MetricQuery {
    let mut query = query_at(content, since, zone, has_time);
    for one in group {
        let is_own = |own: &Group| own.by == GroupBy::Dimension(one.dimension.clone());
        if query.by.iter().any(is_own) {
            let test = Test::OneOf(vec![scalar(&one.value)]);
            query.conditions.push(Condition::Is { name: one.dimension.clone(), test });
        }
    }
    query
}

fn scalar(value: &Value) -> Scalar {
    match value {
        Value::Null => Scalar::Null,
        Value::Bool(flag) => Scalar::Flag(*flag),
        Value::Number(number) => Scalar::Number(number.clone()),
        Value::String(text) => Scalar::Text(text.clone()),
        Value::Array(_) | Value::Object(_) => Scalar::Text(value.to_string()),
    }
}

/// The columns of a result by their use in a rule.
struct Uses<'a> {
    columns: &'a [DataColumn],
    /// The places of the columns that tell groups apart.
    groups: Vec<usize>,
    /// The place of the figure.
    figure: Option<usize>,
}

impl<'a> Uses<'a> {
    fn of(content: &AlertRuleContent, columns: &'a [DataColumn]) -> Self {
        let status = match &content.condition {
            AlertCondition::StatusChanged { dimension } => Some(dimension.as_str()),
            AlertCondition::Changed { .. }
            | AlertCondition::Beyond { .. }
            | AlertCondition::NoDataFor { .. }
            | AlertCondition::RunsOutWithin { .. } => None,
        };
        let is_without_data = matches!(content.condition, AlertCondition::NoDataFor { .. });
        let is_status = |column: &DataColumn| {
            status.is_some()
                && (Some(column.name.as_str()) == status || column.of.as_deref() == status)
        };
        let is_group = |column: &DataColumn| match column.role {
            ColumnRole::Dimension => !is_status(column),
            ColumnRole::Time => !is_without_data,
            ColumnRole::Measure => false,
        };
        let is_figure = |column: &DataColumn| match status {
            Some(_) => is_status(column),
            None => {
                column.role == ColumnRole::Measure
                    && column.compared.is_none_or(|place| place == ComparedFigure::Now)
            }
        };
        let places = columns.iter().enumerate();
        let groups = places.filter(|(_, one)| is_group(one)).map(|(at, _)| at).collect();
        let figure = columns.iter().position(is_figure);
        Self { columns, groups, figure }
    }

    fn group(&self, row: &[Value]) -> Vec<AlertGroup> {
        let group = |at: &usize| {
            let column = self.columns.get(*at)?;
            let dimension = column.of.clone().unwrap_or_else(|| column.name.clone());
            Some(AlertGroup { dimension, value: row.get(*at).cloned().unwrap_or_default() })
        };
        self.groups.iter().filter_map(group).collect()
    }

    fn figures(&self, row: &[Value]) -> Vec<AlertFigure> {
        let is_other = |at: &usize| !self.groups.contains(at);
        let figure = |(at, column): (usize, &DataColumn)| {
            let value = row.get(at).cloned().unwrap_or_default();
            is_other(&at).then(|| AlertFigure { column: column.clone(), value })
        };
        self.columns.iter().enumerate().filter_map(figure).collect()
    }
}

/// Compares the result of a day with the condition of a rule.
pub(super) fn evaluate(
    content: &AlertRuleContent,
    day: NaiveDate,
    result: &DataResult,
) -> Result<Vec<Evaluated>, AgentError> {
    if result.more.is_some() {
        return Err(too_many_groups());
    }
    let uses = Uses::of(content, &result.columns);
    let figure = uses.figure.ok_or_else(|| no_figure(content))?;
    let mut groups: BTreeMap<String, (Vec<AlertGroup>, Vec<&[Value]>)> = BTreeMap::new();
    if uses.groups.is_empty() {
        // Without groups, no row at all is a finding, too.
        groups.insert(json!([]).to_string(), (Vec::new(), Vec::new()));
    }
    for row in &result.rows {
        let group = uses.group(row);
        let entry = groups.entry(json!(group).to_string()).or_insert((group, Vec::new()));
        entry.1.push(row);
    }
    if groups.len() > MOST_GROUPS {
        return Err(too_many_groups());
    }
    let reader = Reader { content, day, uses: &uses, figure };
    Ok(groups.into_values().filter_map(|(group, rows)| reader.evaluate(group, &rows)).collect())
}

fn too_many_groups() -> AgentError {
    AgentError::invalid("The rule has too many groups to be checked.")
        .reason("too_many_groups")
        .hint("Add a filter, or group by another dimension.")
}

fn no_figure(content: &AlertRuleContent) -> AgentError {
    let error = match &content.condition {
        AlertCondition::StatusChanged { dimension } => AgentError::invalid(text!(
            "The query of the rule has no column {name}.",
            name = dimension
        )),
        AlertCondition::Changed { .. }
        | AlertCondition::Beyond { .. }
        | AlertCondition::NoDataFor { .. }
        | AlertCondition::RunsOutWithin { .. } => {
            AgentError::invalid("The query of the rule has no figure.")
        }
    };
    error.reason("no_figure").hint("Choose another measure or dimension in the rule.")
}

struct Reader<'a> {
    content: &'a AlertRuleContent,
    day: NaiveDate,
    uses: &'a Uses<'a>,
    figure: usize,
}

impl Reader<'_> {
    /// Returns the finding about a group. None if its rows say nothing.
    fn evaluate(&self, group: Vec<AlertGroup>, rows: &[&[Value]]) -> Option<Evaluated> {
        let finding = match &self.content.condition {
            AlertCondition::Changed { percent, amount } => {
                Finding::Holds(rows.iter().any(|row| self.has_changed(row, *percent, *amount)))
            }
            AlertCondition::Beyond { side, value } => {
                let is_beyond = |figure: f64| match side {
                    AlertSide::Above => figure > *value,
                    AlertSide::Below => figure < *value,
                };
                let figures = rows.iter().filter_map(|row| self.known(row.get(self.figure)));
                let without_rows = rows.is_empty().then(|| self.known(None)).flatten();
                Finding::Holds(figures.chain(without_rows).any(is_beyond))
            }
            AlertCondition::NoDataFor { days } => Finding::Holds(self.has_no_data(rows, *days)),
            AlertCondition::RunsOutWithin { days } => {
                let left = |row: &&[Value]| {
                    self.days_left(row).is_some_and(|left| left <= f64::from(*days))
                };
                Finding::Holds(rows.iter().any(left))
            }
            AlertCondition::StatusChanged { .. } => {
                let mut values: Vec<String> = rows.iter().map(|row| self.text(row)).collect();
                values.sort();
                values.dedup();
                if values.is_empty() {
                    return None;
                }
                Finding::Value(values.join(", "))
            }
        };
        let figures = match &self.content.condition {
            AlertCondition::NoDataFor { .. } => self.last_figures(rows),
            AlertCondition::Changed { .. }
            | AlertCondition::Beyond { .. }
            | AlertCondition::RunsOutWithin { .. }
            | AlertCondition::StatusChanged { .. } => {
                rows.first().map(|row| self.uses.figures(row)).unwrap_or_default()
            }
        };
        Some(Evaluated { group, finding, figures })
    }

    fn text(&self, row: &[Value]) -> String {
        match row.get(self.figure) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        }
    }

    /// Returns a figure for a comparison. Its last digits do not matter, because it is only compared.
    fn number(&self, row: &[Value]) -> Option<f64> {
        number(row.get(self.figure)?)
    }

    /// Returns a figure for a comparison. A missing sum is 0; a missing ratio is not known.
    fn known(&self, value: Option<&Value>) -> Option<f64> {
        let column = self.uses.columns.get(self.figure);
        let adds_up = column.is_some_and(|column| column.adds_up);
        value.and_then(number).or(adds_up.then_some(0.0))
    }

    /// Whether the figure differs from the compared one by both the percent and the amount.
    fn has_changed(&self, row: &[Value], percent: f64, amount: f64) -> bool {
        let is_before = |column: &DataColumn| column.compared == Some(ComparedFigure::Before);
        let mut columns = self.uses.columns.iter().enumerate().skip(self.figure);
        let before = columns.find(|(_, column)| is_before(column)).map(|(at, _)| at);
        let now = self.known(row.get(self.figure));
        let before = self.known(before.and_then(|at| row.get(at)));
        let (Some(now), Some(before)) = (now, before) else { return false };
        let change = (now - before).abs();
        change > 0.0 && change >= amount && change * 100.0 >= percent * before.abs()
    }

    /// Returns the day of a row that has a figure other than 0.
    fn day_with_data(&self, row: &[Value]) -> Option<NaiveDate> {
        let is_time = |column: &DataColumn| column.role == ColumnRole::Time;
        let at = self.uses.columns.iter().position(is_time)?;
        let has_data = match row.get(self.figure)? {
            Value::Null => false,
            value => number(value) != Some(0.0),
        };
        has_data.then(|| day_of(row.get(at)?)).flatten()
    }

    fn has_no_data(&self, rows: &[&[Value]], days: u32) -> bool {
        let last = rows.iter().filter_map(|row| self.day_with_data(row)).max();
        last.is_none_or(|last| (self.day - last).num_days() >= i64::from(days))
    }

    /// Returns the figures of the last day that had some.
    fn last_figures(&self, rows: &[&[Value]]) -> Vec<AlertFigure> {
        let dated = rows.iter().filter_map(|row| Some((self.day_with_data(row)?, *row)));
        let last = dated.max_by_key(|(day, _)| *day);
        last.map(|(_, row)| self.uses.figures(row)).unwrap_or_default()
    }

    /// Returns the days that are left after the checked day.
    fn days_left(&self, row: &[Value]) -> Option<f64> {
        let column = self.uses.columns.get(self.figure)?;
        match column.kind {
            DataType::Day | DataType::Moment => {
                let days = (day_of(row.get(self.figure)?)? - self.day).num_days();
                i32::try_from(days).ok().map(f64::from)
            }
            DataType::Text
            | DataType::Whole
            | DataType::Decimal
            | DataType::Float
            | DataType::Flag => self.number(row),
        }
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        // Numbers of many digits are texts.
        Value::String(text) => text.parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn day_of(value: &Value) -> Option<NaiveDate> {
    value.as_str()?.get(..10)?.parse().ok()
}

#[cfg(test)]
mod tests;
