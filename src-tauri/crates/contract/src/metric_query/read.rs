//! Reads metric queries from JSON values, with errors that name the place and what is possible.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::{
    AsOf, Bounds, CalendarUnit, Condition, Explain, Group, GroupBy, MeasureUse, MetricQuery, Order,
    Period, Scalar, SecondStep, Span, StepCalculation, StepMeasure, Test, TimeGrain, Top,
};
use crate::{
    SourceName,
    definitions::{Calculation, DimensionKind, read_calculation, read_dimension},
    members::{
        Members, Place, ShapeProblem, kind_of, read_count, read_flag, read_list, read_text,
        read_texts, read_word,
    },
    text,
};

mod periods;
mod what_if;

use periods::{read_compare, read_period};

type Read<T> = Result<T, ShapeProblem>;

/// Reads a metric query.
pub fn read_metric_query(value: &Value) -> Read<MetricQuery> {
    read_query(value, &Place::default())
}

impl<'de> Deserialize<'de> for Condition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        read_condition(&value, &Place::default()).map_err(serde::de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Period {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        read_period(&value, &Place::default()).map_err(serde::de::Error::custom)
    }
}

/// The names of questions that cannot be asked.
const DECLINED: [&str; 12] = [
    "forecast",
    "predict",
    "prediction",
    "trend",
    "cause",
    "why",
    "correlation",
    "significance",
    "funnel",
    "cohort",
    "cohorts",
    "retention",
];

fn read_query(value: &Value, place: &Place) -> Read<MetricQuery> {
    let mut members = Members::of(value, place)?;
    if let Some(name) = DECLINED.iter().find(|name| members.has(name)) {
        return Err(place.problem(text!(
            "There is no {name} in a metric query: forecasts, causes, significance, funnels and cohorts are not computed.",
            name = *name
        )));
    }
    let query = MetricQuery {
        source: members.read("source", read_text)?.map(SourceName::new),
        measures: members.read("measures", read_measures)?.unwrap_or_default(),
        by: members.read("by", read_groups)?.unwrap_or_default(),
        conditions: members.read("where", read_conditions)?.unwrap_or_default(),
        period: members.read("period", read_period)?,
        compare: members.read("compare", read_compare)?,
        order: members.read("order", read_order)?.unwrap_or_default(),
        limit: members.read("limit", read_count)?,
        top: members.read("top", read_top)?,
        totals: members.read("totals", read_flag)?.unwrap_or_default(),
        rows: members.read("rows", read_flag)?.unwrap_or_default(),
        columns: members.read("columns", read_texts)?.unwrap_or_default(),
        pivot: members.read("pivot", read_text)?,
        fill: members.read("fill", read_flag)?.unwrap_or_default(),
        then: members.read("then", read_second_step)?,
        explain: members.read("explain", read_explain)?,
        in_currency: members.read("in_currency", read_text)?,
        what_if: members
            .read("what_if", |v, p| one_or_list(v, p, what_if::read_what_if))?
            .unwrap_or_default(),
        as_of: members.read("as_of", read_as_of)?,
    };
    members.finish()?;
    if query.measures.is_empty() && !query.rows && query.explain.is_none() && query.by.is_empty() {
        return Err(place.problem(text!(
            "The member measures is missing. Without measures, \"rows\": true lists single rows."
        )));
    }
    if !query.columns.is_empty() && !query.rows {
        return Err(place.problem(text!(
            "The member columns is for single rows. Add \"rows\": true, or leave it out."
        )));
    }
    Ok(query)
}

fn one_or_list<T>(
    value: &Value,
    place: &Place,
    read: impl Fn(&Value, &Place) -> Read<T>,
) -> Read<Vec<T>> {
    match value {
        Value::Array(_) => read_list(value, place, read),
        one => Ok(vec![read(one, place)?]),
    }
}

fn read_measures(value: &Value, place: &Place) -> Read<Vec<MeasureUse>> {
    one_or_list(value, place, read_measure_use)
}

fn read_measure_use(value: &Value, place: &Place) -> Read<MeasureUse> {
    if value.is_string() {
        return Ok(MeasureUse::named(read_text(value, place)?));
    }
    let mut members = Members::of(value, place)?;
    let used = MeasureUse {
        measure: members.read("measure", read_text)?,
        calculation: read_own_calculation(&mut members)?,
        name: members.read("as", read_text)?,
        conditions: members.read("where", read_conditions)?.unwrap_or_default(),
        share_of: members.read("share_of", read_texts)?.unwrap_or_default(),
        running: members.read("running", read_flag)?.unwrap_or_default(),
        rolling: members.read("rolling", read_span)?,
        per: members.read("per", |v, p| read_word(v, p, &UNITS))?,
    };
    members.finish()?;
    if used.measure.is_some() == used.calculation.is_some() {
        return Err(place.problem(text!(
            "Either measure names a measure, or one member such as sum, ratio or distinct says what is computed."
        )));
    }
    if used.calculation.is_some() && used.name.is_none() {
        return Err(place.problem(text!("The member as is missing, the name in the result.")));
    }
    Ok(used)
}

fn read_own_calculation(members: &mut Members<'_>) -> Read<Option<Calculation>> {
    let defined = members.read("define", |value, place| {
        let mut inner = Members::of(value, place)?;
        let calculation = read_calculation(&mut inner)?;
        inner.finish()?;
        Ok(calculation)
    })?;
    Ok(read_calculation(members)?.or(defined.flatten()))
}

const UNITS: [(&str, CalendarUnit); 5] = [
    ("day", CalendarUnit::Day),
    ("week", CalendarUnit::Week),
    ("month", CalendarUnit::Month),
    ("quarter", CalendarUnit::Quarter),
    ("year", CalendarUnit::Year),
];

const PLURALS: [(&str, CalendarUnit); 5] = [
    ("days", CalendarUnit::Day),
    ("weeks", CalendarUnit::Week),
    ("months", CalendarUnit::Month),
    ("quarters", CalendarUnit::Quarter),
    ("years", CalendarUnit::Year),
];

const GRAINS: [(&str, TimeGrain); 10] = [
    ("hour", TimeGrain::Hour),
    ("day", TimeGrain::Day),
    ("week", TimeGrain::Week),
    ("month", TimeGrain::Month),
    ("quarter", TimeGrain::Quarter),
    ("year", TimeGrain::Year),
    ("weekday", TimeGrain::Weekday),
    ("hour_of_day", TimeGrain::HourOfDay),
    ("month_of_year", TimeGrain::MonthOfYear),
    ("part_of_day", TimeGrain::PartOfDay),
];

fn span_of(unit: CalendarUnit, count: u32) -> Span {
    match unit {
        CalendarUnit::Day => Span::Days(count),
        CalendarUnit::Week => Span::Weeks(count),
        CalendarUnit::Month => Span::Months(count),
        CalendarUnit::Quarter => Span::Quarters(count),
        CalendarUnit::Year => Span::Years(count),
    }
}

fn read_span(value: &Value, place: &Place) -> Read<Span> {
    let mut members = Members::of(value, place)?;
    let mut found = None;
    for (name, unit) in PLURALS {
        if let Some(count) = members.read(name, read_count)? {
            found = Some(span_of(unit, count));
        }
    }
    members.finish()?;
    found.ok_or_else(|| {
        place.problem(text!("A length such as {example} is needed.", example = "{\"days\": 7}"))
    })
}

fn read_groups(value: &Value, place: &Place) -> Read<Vec<Group>> {
    one_or_list(value, place, read_group)
}

fn read_group(value: &Value, place: &Place) -> Read<Group> {
    if value.is_string() {
        return Ok(Group::dimension(read_text(value, place)?));
    }
    let mut members = Members::of(value, place)?;
    let dimension = members.read("dimension", read_text)?.map(GroupBy::Dimension);
    let time = members.read("time", |v, p| read_word(v, p, &GRAINS))?.map(GroupBy::Time);
    let define = members.read("define", read_definition)?.map(GroupBy::Define);
    let name = members.read("as", read_text)?;
    members.finish()?;
    let mut found = [dimension, time, define].into_iter().flatten();
    match (found.next(), found.next()) {
        (Some(GroupBy::Define(_)), None) if name.is_none() => {
            Err(place.problem(text!("The member as is missing, the name in the result.")))
        }
        (Some(by), None) => Ok(Group { by, name }),
        (_, _) => Err(place.problem(text!(
            "One of these members is needed: dimension, time, define. A text alone is a dimension."
        ))),
    }
}

fn read_definition(value: &Value, place: &Place) -> Read<DimensionKind> {
    let dimension = read_dimension(value, place)?;
    if dimension.key.is_some() {
        return Err(place.problem(text!("A dimension without definition cannot have a key.")));
    }
    Ok(dimension.kind)
}

/// Reads a list of conditions, or one alone.
pub fn read_conditions(value: &Value, place: &Place) -> Read<Vec<Condition>> {
    match value {
        Value::Array(_) => read_list(value, place, read_condition),
        one => match read_condition(one, place)? {
            Condition::And(parts) => Ok(parts),
            other => Ok(vec![other]),
        },
    }
}

/// Reads a condition. Several members of one object must all hold.
pub fn read_condition(value: &Value, place: &Place) -> Read<Condition> {
    let Value::Object(members) = value else {
        return Err(place.problem(text!(
            "A condition such as {example} is needed, not {found}.",
            example = "{\"campaign\": [\"A\"]}",
            found = kind_of(value)
        )));
    };
    let mut parts = Vec::new();
    for (name, value) in members {
        let place = place.at(name);
        parts.push(match name.as_str() {
            "and" => Condition::And(read_list(value, &place, read_condition)?),
            "or" => Condition::Or(read_list(value, &place, read_condition)?),
            "not" => Condition::Not(Box::new(read_condition(value, &place)?)),
            _ => Condition::Is { name: name.clone(), test: read_test(value, &place)? },
        });
    }
    match parts.len() {
        0 => Err(place.problem(text!("A condition without members says nothing. Leave it out."))),
        1 => Ok(parts.remove(0)),
        _ => Ok(Condition::And(parts)),
    }
}

fn read_scalar(value: &Value, place: &Place) -> Read<Scalar> {
    match value {
        Value::Null => Ok(Scalar::Null),
        Value::Bool(flag) => Ok(Scalar::Flag(*flag)),
        Value::Number(number) => Ok(Scalar::Number(number.clone())),
        Value::String(text) => Ok(Scalar::Text(text.clone())),
        other => Err(place.problem(text!(
            "A text, a number, true, false or null is needed, not {found}.",
            found = kind_of(other)
        ))),
    }
}

fn read_scalars(value: &Value, place: &Place) -> Read<Vec<Scalar>> {
    one_or_list(value, place, read_scalar)
}

const TESTS: &str = "contains, not_contains, starts, ends, empty, not, in, not_in, >, >=, <, <=";

/// Reads the test of a condition.
pub fn read_test(value: &Value, place: &Place) -> Read<Test> {
    if !value.is_object() {
        return read_scalars(value, place).map(Test::OneOf);
    }
    let mut members = Members::of(value, place)?;
    let bounds = Bounds {
        above: members.read(">", read_scalar)?,
        from: members.read(">=", read_scalar)?,
        below: members.read("<", read_scalar)?,
        to: members.read("<=", read_scalar)?,
    };
    let has_bounds = bounds != Bounds::default();
    let found = [
        has_bounds.then_some(Test::Bounds(bounds)),
        members.read("contains", read_texts)?.map(Test::Contains),
        members.read("not_contains", read_texts)?.map(Test::NotContains),
        members.read("starts", read_texts)?.map(Test::Starts),
        members.read("ends", read_texts)?.map(Test::Ends),
        members.read("empty", read_flag)?.map(Test::Empty),
        members.read("not", read_scalars)?.map(Test::NoneOf),
        members.read("in", read_inner)?,
        members.read("not_in", read_inner)?.map(negated),
    ];
    members.finish()?;
    let mut found = found.into_iter().flatten();
    match (found.next(), found.next()) {
        (Some(test), None) => Ok(test),
        (_, _) => {
            Err(place.problem(text!("One of these members is needed: {names}.", names = TESTS)))
        }
    }
}

/// Reads a list of values, or the query that finds them.
fn read_inner(value: &Value, place: &Place) -> Read<Test> {
    match value {
        Value::Object(_) => Ok(Test::In(Box::new(read_query(value, place)?))),
        values => Ok(Test::OneOf(read_scalars(values, place)?)),
    }
}

fn negated(test: Test) -> Test {
    match test {
        Test::In(query) => Test::NotIn(query),
        Test::OneOf(values) => Test::NoneOf(values),
        other => other,
    }
}

fn read_order(value: &Value, place: &Place) -> Read<Vec<Order>> {
    one_or_list(value, place, |value, place| {
        if value.is_string() {
            return Ok(Order { by: read_text(value, place)?, descending: false });
        }
        let mut members = Members::of(value, place)?;
        let order = Order {
            by: members.need("by", read_text)?,
            descending: members.read("descending", read_flag)?.unwrap_or_default(),
        };
        members.finish()?;
        Ok(order)
    })
}

fn read_top(value: &Value, place: &Place) -> Read<Top> {
    let mut members = Members::of(value, place)?;
    let top = Top {
        n: members.need("n", read_count)?,
        of: members.read("of", read_text)?,
        per: members.read("per", read_texts)?.unwrap_or_default(),
        by: members.read("by", read_text)?,
        lowest: members.read("lowest", read_flag)?.unwrap_or_default(),
        others: members.read("others", read_flag)?.unwrap_or_default(),
    };
    members.finish()?;
    Ok(top)
}

fn read_second_step(value: &Value, place: &Place) -> Read<SecondStep> {
    let mut members = Members::of(value, place)?;
    let step = SecondStep {
        measures: members.need("measures", |v, p| one_or_list(v, p, read_step_measure))?,
        by: members.read("by", read_texts)?.unwrap_or_default(),
    };
    members.finish()?;
    Ok(step)
}

fn read_step_measure(value: &Value, place: &Place) -> Read<StepMeasure> {
    let mut members = Members::of(value, place)?;
    let found = [
        members.read("sum", read_text)?.map(StepCalculation::Sum),
        members.read("average", read_text)?.map(StepCalculation::Average),
        members.read("least", read_text)?.map(StepCalculation::Least),
        members.read("greatest", read_text)?.map(StepCalculation::Greatest),
        members.read("median", read_text)?.map(StepCalculation::Median),
        members.read("count", read_text)?.map(StepCalculation::Count),
    ];
    let name = members.read("as", read_text)?;
    members.finish()?;
    let mut found = found.into_iter().flatten();
    match (found.next(), found.next()) {
        (Some(calculation), None) => Ok(StepMeasure { calculation, name }),
        (_, _) => Err(place.problem(text!(
            "One of these members is needed: {names}.",
            names = "sum, average, least, greatest, median, count"
        ))),
    }
}

fn read_explain(value: &Value, place: &Place) -> Read<Explain> {
    let mut members = Members::of(value, place)?;
    let explain = Explain {
        measure: members.need("measure", read_text)?,
        by: members.need("by", read_texts)?,
    };
    members.finish()?;
    Ok(explain)
}

fn read_as_of(value: &Value, place: &Place) -> Read<AsOf> {
    serde_json::from_value(value.clone()).map_err(|_| {
        place.problem(text!(
            "The moment is written as {example}.",
            example = "{\"moment\": \"2026-11-30T09:00:00\", \"zone\": \"Europe/Stockholm\"}"
        ))
    })
}
