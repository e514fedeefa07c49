//! Reads definitions from JSON values, with errors that name the place and what is possible.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    Better, Bins, Calculation, Covers, CurrencyOf, Definitions, Dimension, DimensionKind,
    FirstValue, Grain, Groups, Join, LastValue, Lookup, Measure, NameRule, Percentile, Rates,
    Split, Spread, SpreadDays, SpreadMonths, Synonyms, TimeColumn, Unit, Unmatched, WeekDay,
    WeightedAverage,
};
use crate::{
    SourceName,
    members::{
        Members, Place, ShapeProblem, kind_of, read_count, read_list, read_text, read_texts,
        read_word,
    },
    metric_query::{read_condition, read_conditions, read_test},
    text,
};

mod pacing;

type Read<T> = Result<T, ShapeProblem>;

/// Reads the definitions of a source.
pub fn read_definitions(value: &Value) -> Read<Definitions> {
    let mut members = Members::of(value, &Place::default())?;
    let source = members.need("source", read_text)?;
    let definitions = Definitions {
        source: SourceName::new(source),
        rows: members.read("rows", read_grain)?.unwrap_or_default(),
        time: members.read("time", read_time)?,
        spread: members.read("spread", read_spread)?,
        pacing: members.read("pacing", pacing::read_pacing)?,
        dimensions: members
            .read("dimensions", |v, p| read_map(v, p, read_dimension))?
            .unwrap_or_default(),
        measures: members
            .read("measures", |v, p| read_map(v, p, read_measure))?
            .unwrap_or_default(),
        joins: members.read("joins", |v, p| read_map(v, p, read_join))?.unwrap_or_default(),
        rates: members.read("rates", read_rates)?,
    };
    members.finish()?;
    Ok(definitions)
}

fn read_map<T>(
    value: &Value,
    place: &Place,
    read: impl Fn(&Value, &Place) -> Read<T>,
) -> Read<BTreeMap<String, T>> {
    match value {
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| Ok((name.clone(), read(value, &place.at(name))?)))
            .collect(),
        other => Err(place.problem(text!(
            "An object with members is needed, not {found}.",
            found = kind_of(other)
        ))),
    }
}

fn read_grain(value: &Value, place: &Place) -> Read<Grain> {
    let mut members = Members::of(value, place)?;
    let one_per = members.need("one_per", read_texts)?;
    members.finish()?;
    Ok(Grain { one_per })
}

const WEEK_DAYS: [(&str, WeekDay); 7] = [
    ("monday", WeekDay::Monday),
    ("tuesday", WeekDay::Tuesday),
    ("wednesday", WeekDay::Wednesday),
    ("thursday", WeekDay::Thursday),
    ("friday", WeekDay::Friday),
    ("saturday", WeekDay::Saturday),
    ("sunday", WeekDay::Sunday),
];

fn read_time(value: &Value, place: &Place) -> Read<TimeColumn> {
    let mut members = Members::of(value, place)?;
    let time = TimeColumn {
        column: members.need("column", read_text)?,
        zone: members.read("zone", read_text)?,
        week: members.read("week", |v, p| read_word(v, p, &WEEK_DAYS))?.unwrap_or_default(),
        year_starts: members.read("year_starts", read_year_start)?.unwrap_or(1),
        covers: members.read("covers", read_covers)?,
    };
    members.finish()?;
    Ok(time)
}

fn read_covers(value: &Value, place: &Place) -> Read<Covers> {
    if value.is_string() {
        let words = [
            ("week", Covers::Week),
            ("week_ending", Covers::WeekEnding),
            ("month", Covers::Month),
            ("quarter", Covers::Quarter),
        ];
        let written = read_text(value, place)?;
        let found = words.iter().find(|(word, _)| *word == written);
        return found.map(|(_, covers)| covers.clone()).ok_or_else(|| {
            place.problem(text!(
                "Rows cover week, week_ending, month or quarter, or the days until that of a column, written as {example}.",
                example = "{until: COLUMN}"
            ))
        });
    }
    let mut members = Members::of(value, place)?;
    let until = members.need("until", read_text)?;
    members.finish()?;
    Ok(Covers::Until(until))
}

fn read_spread(value: &Value, place: &Place) -> Read<Spread> {
    let mut members = Members::of(value, place)?;
    if members.has("months") {
        let months = SpreadMonths {
            months: members.need("months", |v, p| read_map(v, p, read_text))?,
            name: members.need("as", read_text)?,
        };
        members.finish()?;
        return Ok(Spread::Months(months));
    }
    let days = SpreadDays {
        until: members.need("until", read_text)?,
        total: members.read("total", read_texts)?.unwrap_or_default(),
        daily: members.read("daily", read_texts)?.unwrap_or_default(),
    };
    members.finish()?;
    Ok(Spread::Days(days))
}

fn read_year_start(value: &Value, place: &Place) -> Read<u32> {
    let written = read_text(value, place)?;
    let month = written.strip_suffix("-01").and_then(|month| month.parse().ok());
    month.filter(|month| (1..=12).contains(month)).ok_or_else(|| {
        place.problem(text!(
            "A year begins with the first day of a month, written as \"04-01\", not {written}.",
            written
        ))
    })
}

/// Reads a dimension.
pub fn read_dimension(value: &Value, place: &Place) -> Read<Dimension> {
    let mut members = Members::of(value, place)?;
    let dimension = Dimension {
        kind: read_dimension_kind(&mut members)?,
        key: members.read("key", read_text)?,
        name: members.read("name", |v, p| read_word(v, p, &[("latest", NameRule::Latest)]))?,
        synonyms: members.read("synonyms", read_synonyms)?.unwrap_or_default(),
        values: members.read("values", |v, p| read_map(v, p, read_synonyms))?.unwrap_or_default(),
        order: members.read("order", read_texts)?.unwrap_or_default(),
    };
    members.finish()?;
    if dimension.key.is_some() && !matches!(dimension.kind, DimensionKind::Column(_)) {
        return Err(place.problem(text!("Only a dimension of a column can have a key.")));
    }
    Ok(dimension)
}

/// Reads the one member that says where the values of a dimension come from.
pub(crate) fn read_dimension_kind(members: &mut Members<'_>) -> Read<DimensionKind> {
    let kinds = [
        members.read("column", read_text)?.map(DimensionKind::Column),
        members.read("when", read_condition)?.map(DimensionKind::When),
        members.read("groups", read_groups)?.map(DimensionKind::Groups),
        members.read("split", read_split)?.map(DimensionKind::Split),
        members.read("bins", read_bins)?.map(DimensionKind::Bins),
        members.read("first", read_first)?.map(DimensionKind::First),
        members.read("lookup", read_lookup)?.map(DimensionKind::Lookup),
    ];
    only_one(kinds, &members.place, "column, when, groups, split, bins, first, lookup")
}

fn only_one<T>(found: impl IntoIterator<Item = Option<T>>, place: &Place, names: &str) -> Read<T> {
    let mut found = found.into_iter().flatten();
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (None, _) => Err(place.problem(text!("One of these members is needed: {names}.", names))),
        (Some(_), Some(_)) => {
            Err(place.problem(text!("Only one of these members is possible: {names}.", names)))
        }
    }
}

fn read_synonyms(value: &Value, place: &Place) -> Read<Synonyms> {
    read_map(value, place, read_texts)
}

fn read_groups(value: &Value, place: &Place) -> Read<Groups> {
    let mut members = Members::of(value, place)?;
    let groups = Groups {
        of: members.need("of", read_text)?,
        groups: members.need("groups", |v, p| read_map(v, p, read_test))?,
        other: members.read("other", read_text)?,
    };
    members.finish()?;
    Ok(groups)
}

fn read_split(value: &Value, place: &Place) -> Read<Split> {
    let mut members = Members::of(value, place)?;
    let split = Split {
        of: members.need("of", read_text)?,
        by: members.need("by", read_text)?,
        part: members.need("part", read_count)?,
    };
    members.finish()?;
    Ok(split)
}

fn read_bins(value: &Value, place: &Place) -> Read<Bins> {
    let mut members = Members::of(value, place)?;
    let edges_place = place.at("edges");
    let bins = Bins {
        of: members.need("of", read_text)?,
        edges: members.need("edges", |v, p| read_list(v, p, read_whole))?,
    };
    members.finish()?;
    if bins.edges.is_empty() || bins.edges.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(edges_place.problem(text!("The edges must be ascending whole numbers.")));
    }
    Ok(bins)
}

fn read_whole(value: &Value, place: &Place) -> Read<i64> {
    value.as_i64().ok_or_else(|| place.problem(text!("A whole number is needed.")))
}

fn read_first(value: &Value, place: &Place) -> Read<FirstValue> {
    let mut members = Members::of(value, place)?;
    let first =
        FirstValue { of: members.need("of", read_text)?, per: members.need("per", read_text)? };
    members.finish()?;
    Ok(first)
}

fn read_lookup(value: &Value, place: &Place) -> Read<Lookup> {
    let mut members = Members::of(value, place)?;
    let lookup = Lookup {
        source: SourceName::new(members.need("source", read_text)?),
        of: members.need("of", read_text)?,
    };
    members.finish()?;
    Ok(lookup)
}

/// Reads a measure.
pub fn read_measure(value: &Value, place: &Place) -> Read<Measure> {
    let mut members = Members::of(value, place)?;
    let better = [("higher", Better::Higher), ("lower", Better::Lower)];
    let measure = Measure {
        calculation: read_calculation(&mut members)?.ok_or_else(|| {
            place.problem(text!("One of these members is needed: {names}.", names = CALCULATIONS))
        })?,
        conditions: members.read("where", read_conditions)?.unwrap_or_default(),
        unit: members.read("unit", read_text)?.map(Unit::from),
        currency: members.read("currency", read_currency)?,
        better: members.read("better", |v, p| read_word(v, p, &better))?,
        settles_after: members.read("settles_after", read_days)?,
        title: members.read("title", |v, p| read_map(v, p, read_text))?.unwrap_or_default(),
        synonyms: members.read("synonyms", read_synonyms)?.unwrap_or_default(),
    };
    members.finish()?;
    Ok(measure)
}

const CALCULATIONS: &str = "sum, count, distinct, average, weighted, last, least, greatest, \
                            median, percentile, single, ratio, plus, minus, of";

/// Reads the member that says what is computed. Returns None if there is none.
pub fn read_calculation(members: &mut Members<'_>) -> Read<Option<Calculation>> {
    let found = [
        members.read("sum", read_text)?.map(Calculation::Sum),
        members.read("count", read_text)?.map(Calculation::Count),
        members.read("distinct", read_text)?.map(Calculation::Distinct),
        members.read("average", read_text)?.map(Calculation::Average),
        members.read("weighted", read_weighted)?.map(Calculation::Weighted),
        members.read("last", read_last)?.map(Calculation::Last),
        members.read("least", read_text)?.map(Calculation::Least),
        members.read("greatest", read_text)?.map(Calculation::Greatest),
        members.read("median", read_text)?.map(Calculation::Median),
        members.read("percentile", read_percentile)?.map(Calculation::Percentile),
        members.read("single", read_text)?.map(Calculation::Single),
        members.read("ratio", read_pair)?.map(Calculation::Ratio),
        members.read("plus", |v, p| read_list(v, p, read_text))?.map(Calculation::Plus),
        members.read("minus", read_pair)?.map(Calculation::Minus),
        members.read("of", read_text)?.map(Calculation::Of),
    ];
    if found.iter().all(Option::is_none) {
        return Ok(None);
    }
    only_one(found, &members.place, CALCULATIONS).map(Some)
}

fn read_pair(value: &Value, place: &Place) -> Read<[String; 2]> {
    read_list(value, place, read_text)?
        .try_into()
        .map_err(|_| place.problem(text!("A list of two measures is needed.")))
}

fn read_weighted(value: &Value, place: &Place) -> Read<WeightedAverage> {
    let mut members = Members::of(value, place)?;
    let weighted = WeightedAverage {
        column: members.need("column", read_text)?,
        by: members.need("by", read_text)?,
    };
    members.finish()?;
    Ok(weighted)
}

fn read_last(value: &Value, place: &Place) -> Read<LastValue> {
    let mut members = Members::of(value, place)?;
    let last = LastValue {
        column: members.need("column", read_text)?,
        per: members.read("per", read_texts)?.unwrap_or_default(),
    };
    members.finish()?;
    Ok(last)
}

fn read_percentile(value: &Value, place: &Place) -> Read<Percentile> {
    let mut members = Members::of(value, place)?;
    let percentile = Percentile {
        column: members.need("column", read_text)?,
        at: members.need("at", read_count)?,
    };
    members.finish()?;
    if percentile.at > 99 {
        return Err(place.problem(text!("A percentile is a whole number from 1 to 99.")));
    }
    Ok(percentile)
}

fn read_currency(value: &Value, place: &Place) -> Read<CurrencyOf> {
    if let Value::String(code) = value {
        let is_code = code.len() == 3 && code.chars().all(|c| c.is_ascii_uppercase());
        return is_code.then(|| CurrencyOf::Constant(code.clone())).ok_or_else(|| {
            place.problem(text!("A currency code such as EUR is needed, not {code}.", code))
        });
    }
    let mut members = Members::of(value, place)?;
    let column = members.need("column", read_text)?;
    members.finish()?;
    Ok(CurrencyOf::Column { column })
}

fn read_days(value: &Value, place: &Place) -> Read<u32> {
    let written = read_text(value, place)?;
    let days = written.strip_suffix(" days").or_else(|| written.strip_suffix(" day"));
    days.and_then(|days| days.trim().parse().ok()).ok_or_else(|| {
        place.problem(text!(
            "A number of days is needed, written as 30 days, not {written}.",
            written
        ))
    })
}

fn read_join(value: &Value, place: &Place) -> Read<Join> {
    let mut members = Members::of(value, place)?;
    let words = [("show", Unmatched::Show), ("leave_out", Unmatched::LeaveOut)];
    let join = Join {
        on: members.need("on", |v, p| read_map(v, p, read_text))?,
        unmatched: members.read("unmatched", |v, p| read_word(v, p, &words))?.unwrap_or_default(),
    };
    members.finish()?;
    if join.on.is_empty() {
        return Err(place.at("on").problem(text!("At least one pair of columns is needed.")));
    }
    Ok(join)
}

fn read_rates(value: &Value, place: &Place) -> Read<Rates> {
    let mut members = Members::of(value, place)?;
    let rates = Rates {
        source: SourceName::new(members.need("source", read_text)?),
        day: members.need("day", read_text)?,
        from: members.need("from", read_text)?,
        to: members.need("to", read_text)?,
        rate: members.need("rate", read_text)?,
    };
    members.finish()?;
    Ok(rates)
}
