//! Definitions as a semantic model of Apache Ossie 0.2, which other tools read, and back. A list
//! has all that the other form cannot hold. Our own definitions go along in an extension, so that reading
//! what was written here loses nothing.

use contract::{
    Text,
    definitions::{
        Calculation, CurrencyOf, Definitions, Dimension, DimensionKind, Measure, Synonyms,
    },
    metric_query::{Condition, Scalar, Test},
    text,
};
use serde_json::{Value, json};

use crate::Problem;

mod read;

pub use read::{is_ossie, read_ossie};

/// The version that is written.
const VERSION: &str = "0.2.0.dev0";
/// The name of the extension with our own definitions.
const VENDOR: &str = "COUNTERSIGN";
/// The depth at which a measure made of measures is taken for a circle.
const MAX_DEPTH: usize = 16;

/// A semantic model, and what it does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OssieModel {
    /// The model as JSON, which is YAML, too.
    pub text: String,
    /// The parts that other tools do not get, one line each.
    pub lost: Vec<Text>,
}

/// Writes the definitions of sources as one semantic model.
pub fn write_ossie(sources: &[Definitions]) -> Result<OssieModel, Problem> {
    let mut lost = Vec::new();
    let (mut datasets, mut relationships, mut metrics) = (Vec::new(), Vec::new(), Vec::new());
    for source in sources {
        datasets.push(dataset(source, &mut lost)?);
        for (other, join) in &source.joins {
            let is_there = sources.iter().any(|one| one.source.as_str() == other);
            if !is_there {
                lost.push(not_held(source, other));
                continue;
            }
            relationships.push(json!({
                "name": format!("{}_{other}", source.source),
                "from": source.source,
                "to": other,
                "from_columns": join.on.keys().collect::<Vec<_>>(),
                "to_columns": join.on.values().collect::<Vec<_>>(),
            }));
        }
        for (name, measure) in &source.measures {
            match sql_of(source, measure, 0) {
                Some(sql) => {
                    let is_taken = sources
                        .iter()
                        .any(|one| one.source != source.source && one.measures.contains_key(name));
                    let full =
                        if is_taken { format!("{}_{name}", source.source) } else { name.clone() };
                    metrics.push(described(&full, &sql, &measure.synonyms));
                    lost.extend(lost_members(source, name, measure));
                }
                None => lost.push(not_held(source, name)),
            }
        }
    }
    let model = json!({
        "version": VERSION,
        "name": "countersign",
        "datasets": datasets,
        "relationships": relationships,
        "metrics": metrics,
    });
    let text = serde_json::to_string_pretty(&model)
        .map_err(|_| Problem::new(text!("The definitions cannot be written.")))?;
    Ok(OssieModel { text, lost })
}

fn not_held(source: &Definitions, name: &str) -> Text {
    text!("{source}: {name} has no form there.", source = &source.source, name)
}

fn dataset(source: &Definitions, lost: &mut Vec<Text>) -> Result<Value, Problem> {
    let mut fields = Vec::new();
    if let Some(time) = &source.time {
        let mut field = described(&time.column, &identifier(&time.column), &Synonyms::new());
        field["dimension"] = json!({"is_time": true});
        fields.push(field);
    }
    for (name, dimension) in &source.dimensions {
        let DimensionKind::Column(column) = &dimension.kind else {
            lost.push(not_held(source, name));
            continue;
        };
        let mut field = described(name, &identifier(column), &dimension.synonyms);
        field["dimension"] = json!({"is_time": false});
        fields.push(field);
        if let Some(key) = &dimension.key {
            lost.push(text!(
                "{source}: that {key} is the key of {name} is not held.",
                source = &source.source,
                key,
                name
            ));
        }
    }
    for (is_there, member) in [
        (source.rates.is_some(), "rates"),
        (source.spread.is_some(), "spread"),
        (source.pacing.is_some(), "pacing"),
        (source.time.as_ref().is_some_and(|time| time.covers.is_some()), "covers"),
    ] {
        if is_there {
            lost.push(not_held(source, member));
        }
    }
    let own = serde_json::to_string(source)
        .map_err(|_| Problem::new(text!("The definitions cannot be written.")))?;
    let mut dataset = json!({
        "name": source.source,
        "source": source.source,
        "fields": fields,
        "custom_extensions": [{"vendor_name": VENDOR, "data": own}],
    });
    if !source.rows.one_per.is_empty() {
        dataset["primary_key"] = json!(source.rows.one_per);
    }
    Ok(dataset)
}

/// Returns a field or metric with its expression and its synonyms.
fn described(name: &str, sql: &str, synonyms: &Synonyms) -> Value {
    let mut value = json!({
        "name": name,
        "expression": {"dialects": [{"dialect": "ANSI_SQL", "expression": sql}]},
    });
    let all: Vec<&String> = synonyms.values().flatten().collect();
    if !all.is_empty() {
        value["ai_context"] = json!({"synonyms": all});
    }
    value
}

fn lost_members(source: &Definitions, name: &str, measure: &Measure) -> Option<Text> {
    let currency = match &measure.currency {
        Some(CurrencyOf::Constant(code)) => Some(code.clone()),
        Some(CurrencyOf::Column { column }) => Some(column.clone()),
        None => None,
    };
    let members = [
        measure.unit.as_ref().map(|_| "unit".to_owned()),
        currency.map(|_| "currency".to_owned()),
        measure.better.map(|_| "better".to_owned()),
        measure.settles_after.map(|_| "settles_after".to_owned()),
        (!measure.title.is_empty()).then(|| "title".to_owned()),
    ];
    let members: Vec<String> = members.into_iter().flatten().collect();
    (!members.is_empty()).then(|| {
        text!(
            "{source}: {name} loses {members}.",
            source = &source.source,
            name,
            members = members.join(", ")
        )
    })
}

fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns a measure in SQL. None if it has no such form.
fn sql_of(source: &Definitions, measure: &Measure, depth: usize) -> Option<String> {
    if depth > MAX_DEPTH {
        return None;
    }
    let table = identifier(source.source.as_str());
    let column = |name: &String| format!("{table}.{}", identifier(name));
    let conditions: Option<Vec<String>> =
        measure.conditions.iter().map(|one| condition_of(source, one)).collect();
    let conditions = conditions?.join(" AND ");
    let only = |value: String| {
        if conditions.is_empty() {
            value
        } else {
            format!("CASE WHEN {conditions} THEN {value} END")
        }
    };
    let part = |name: &String| sql_of(source, source.measures.get(name)?, depth + 1);
    let is_plain = conditions.is_empty();
    Some(match &measure.calculation {
        Calculation::Sum(of) => format!("SUM({})", only(column(of))),
        Calculation::Count(of) if of == "rows" && is_plain => "COUNT(*)".to_owned(),
        Calculation::Count(of) if of == "rows" => format!("COUNT({})", only("1".to_owned())),
        Calculation::Count(of) => format!("COUNT({})", only(column(of))),
        Calculation::Distinct(of) => {
            let of = match source.dimensions.get(of) {
                None => of,
                Some(Dimension { key: Some(key), .. }) => key,
                Some(Dimension { kind: DimensionKind::Column(own), .. }) => own,
                Some(_) => return None,
            };
            format!("COUNT(DISTINCT {})", only(column(of)))
        }
        Calculation::Average(of) => format!("AVG({})", only(column(of))),
        Calculation::Least(of) => format!("MIN({})", only(column(of))),
        Calculation::Greatest(of) => format!("MAX({})", only(column(of))),
        Calculation::Ratio([above, below]) if is_plain => {
            format!("{} / NULLIF({}, 0)", part(above)?, part(below)?)
        }
        Calculation::Minus([first, second]) if is_plain => {
            format!("{} - {}", part(first)?, part(second)?)
        }
        Calculation::Plus(names) if is_plain => {
            let parts: Option<Vec<String>> = names.iter().map(part).collect();
            parts?.join(" + ")
        }
        Calculation::Of(name) => {
            let mut inner = source.measures.get(name)?.clone();
            inner.conditions.extend(measure.conditions.iter().cloned());
            return sql_of(source, &inner, depth + 1);
        }
        Calculation::Weighted(_)
        | Calculation::Last(_)
        | Calculation::Median(_)
        | Calculation::Percentile(_)
        | Calculation::Single(_)
        | Calculation::Ratio(_)
        | Calculation::Minus(_)
        | Calculation::Plus(_) => return None,
    })
}

/// Returns a condition in SQL: that a column has one of some values.
fn condition_of(source: &Definitions, condition: &Condition) -> Option<String> {
    let Condition::Is { name, test: Test::OneOf(values) } = condition else { return None };
    let column = match source.dimensions.get(name) {
        None => name,
        Some(Dimension { kind: DimensionKind::Column(own), key: None, .. }) => own,
        Some(_) => return None,
    };
    let values: Option<Vec<String>> = values
        .iter()
        .map(|value| match value {
            Scalar::Text(text) => Some(format!("'{}'", text.replace('\'', "''"))),
            Scalar::Number(number) => Some(number.to_string()),
            Scalar::Flag(_) | Scalar::Null => None,
        })
        .collect();
    let table = identifier(source.source.as_str());
    Some(format!("{table}.{} IN ({})", identifier(column), values?.join(", ")))
}
