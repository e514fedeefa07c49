//! Reads periods and comparisons.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{PLURALS, Read, UNITS, read_scalars, read_span, span_of};
use crate::{
    members::{Members, Place, read_count, read_day, read_text, read_word, unknown_name},
    metric_query::{CalendarUnit, Compare, CompareAlign, CompareTo, Period, Scalar, Shift},
    text,
};

pub(super) fn read_period(value: &Value, place: &Place) -> Read<Period> {
    if let Value::String(word) = value {
        return read_period_word(word, place);
    }
    // A range without ends is written so.
    if value.as_object().is_some_and(serde_json::Map::is_empty) {
        return Ok(Period::Range { from: None, to: None });
    }
    let mut members = Members::of(value, place)?;
    let from = members.read("from", read_day)?;
    let to = members.read("to", read_day)?;
    let full = members.read("full", |v, p| read_word(v, p, &PLURALS))?;
    let last = match full {
        Some(unit) => members.read("last", read_count)?.map(|count| span_of(unit, count)),
        None => members.read("last", read_span)?,
    };
    let day = members.read("day", read_day)?;
    let found = [
        (from.is_some() || to.is_some()).then_some(Period::Range { from, to }),
        day.map(|day| Period::Range { from: Some(day), to: Some(day) }),
        last.map(Period::Last),
        members.read("last_with_today", read_span)?.map(Period::LastWithToday),
        members.read("this", |v, p| read_word(v, p, &UNITS))?.map(Period::This),
        members.read("to_date", |v, p| read_word(v, p, &UNITS))?.map(Period::ToDate),
        members.read("previous", |v, p| read_word(v, p, &UNITS))?.map(Period::Previous),
        members.read("month", read_text)?.map(Period::Month),
        members.read("quarter", read_text)?.map(Period::Quarter),
        members.read("year", read_year)?.map(Period::Year),
        members.read("week", read_text)?.map(Period::Week),
    ];
    members.finish()?;
    let mut found = found.into_iter().flatten();
    match (found.next(), found.next()) {
        (Some(Period::Range { from: Some(from), to: Some(to) }), None) if from > to => {
            Err(place.problem(text!("The period ends before it begins.")))
        }
        (Some(period), None) => Ok(period),
        (_, _) => Err(place.problem(text!(
            "One period is needed, such as {example}, {second} or {third}.",
            example = "{\"last\": {\"days\": 30}}",
            second = "{\"month\": \"2026-11\"}",
            third = "{\"from\": \"2026-11-01\", \"to\": \"2026-11-30\"}"
        ))),
    }
}

fn read_year(value: &Value, place: &Place) -> Read<i32> {
    let year = value.as_i64().or_else(|| value.as_str()?.parse().ok());
    year.and_then(|year| i32::try_from(year).ok())
        .filter(|year| (1..=9999).contains(year))
        .ok_or_else(|| place.problem(text!("A year such as 2026 is needed.")))
}

fn read_period_word(word: &str, place: &Place) -> Read<Period> {
    let day = CalendarUnit::Day;
    let mut words = vec![
        ("today".to_owned(), Period::This(day)),
        ("yesterday".to_owned(), Period::Previous(day)),
        ("all".to_owned(), Period::Range { from: None, to: None }),
    ];
    for (name, unit) in UNITS.into_iter().skip(1) {
        words.push((format!("this_{name}"), Period::This(unit)));
        words.push((format!("last_{name}"), Period::Previous(unit)));
        words.push((format!("{name}_to_date"), Period::ToDate(unit)));
    }
    let names: Vec<String> = words.iter().map(|(name, _)| name.clone()).collect();
    let found = words.into_iter().find(|(name, _)| name == word);
    found.map(|(_, period)| period).ok_or_else(|| place.problem(unknown_name(word, &names)))
}

const COMPARE_TO: [(&str, CompareTo); 2] =
    [("previous", CompareTo::Previous), ("last_year", CompareTo::LastYear)];

const ALIGNS: [(&str, CompareAlign); 3] = [
    ("full", CompareAlign::Full),
    ("to_date", CompareAlign::ToDate),
    ("weekday", CompareAlign::Weekday),
];

pub(super) fn read_compare(value: &Value, place: &Place) -> Read<Compare> {
    if value.is_string() {
        let to = read_word(value, place, &COMPARE_TO)?;
        return Ok(Compare { to: Some(to), ..Compare::default() });
    }
    let mut members = Members::of(value, place)?;
    let compare = Compare {
        to: members.read("to", |v, p| read_word(v, p, &COMPARE_TO))?,
        period: members.read("period", read_period)?,
        values: members.read("values", read_values)?.unwrap_or_default(),
        align: members.read("align", |v, p| read_word(v, p, &ALIGNS))?,
        shift: members.read("shift", read_shift)?,
    };
    members.finish()?;
    let given = usize::from(compare.to.is_some())
        + usize::from(compare.period.is_some())
        + usize::from(!compare.values.is_empty());
    if given != 1 {
        return Err(place.problem(text!("One of these members is needed: to, period, values.")));
    }
    Ok(compare)
}

fn read_values(value: &Value, place: &Place) -> Read<BTreeMap<String, Vec<Scalar>>> {
    let wrong = || {
        place.problem(text!(
            "One dimension with two values is needed, such as {example}.",
            example = "{\"device\": [\"Mobile\", \"Desktop\"]}"
        ))
    };
    let Value::Object(members) = value else { return Err(wrong()) };
    let mut values = BTreeMap::new();
    for (name, value) in members {
        values.insert(name.clone(), read_scalars(value, &place.at(name))?);
    }
    if values.len() != 1 || values.values().any(|values| values.len() != 2) {
        return Err(wrong());
    }
    Ok(values)
}

fn read_shift(value: &Value, place: &Place) -> Read<Shift> {
    let mut members = Members::of(value, place)?;
    let whole = |value: &Value, place: &Place| {
        let number = value.as_i64().and_then(|number| i32::try_from(number).ok());
        number.ok_or_else(|| place.problem(text!("A whole number is needed.")))
    };
    let days = members.read("days", whole)?.map(Shift::Days);
    let months = members.read("months", whole)?.map(Shift::Months);
    members.finish()?;
    days.or(months)
        .ok_or_else(|| place.problem(text!("One of these members is needed: days, months.")))
}
