//! Conditions as SQL. A condition with an empty value is not fulfilled, and its opposite is.

use contract::{
    metric_query::{Bounds, Condition, GroupBy, MetricQuery, Scalar, Test},
    sources::ColumnKind,
    text,
};

use super::{Value, compile_query, row_scope::RowScope};
use crate::{Dialect, Problem};

impl RowScope<'_> {
    /// Returns all conditions as one, or None if there is none.
    pub fn conditions(&mut self, conditions: &[Condition]) -> Result<Option<String>, Problem> {
        let parts: Vec<String> = conditions
            .iter()
            .map(|condition| self.condition(condition))
            .collect::<Result<_, _>>()?;
        Ok(join_conditions(parts))
    }

    /// Returns a condition. It may be NULL in place of false.
    pub fn condition(&mut self, condition: &Condition) -> Result<String, Problem> {
        match condition {
            Condition::And(parts) => {
                Ok(self.conditions(parts)?.unwrap_or_else(|| "TRUE".to_owned()))
            }
            Condition::Or(parts) => {
                let parts: Vec<String> =
                    parts.iter().map(|part| self.condition(part)).collect::<Result<_, _>>()?;
                Ok(either(parts))
            }
            Condition::Not(part) => Ok(format!("NOT coalesce({}, FALSE)", self.condition(part)?)),
            Condition::Is { name, test } => self.named_test(name, test),
        }
    }

    fn named_test(&mut self, name: &str, test: &Test) -> Result<String, Problem> {
        if let Some(joined) = self.joined_test(name, test)? {
            return Ok(joined);
        }
        let dimension = self.dimension(name)?;
        match (&dimension.key, test) {
            (Some(key), Test::In(query) | Test::NotIn(query)) if has_key(query, self) => {
                let value = self.column(key)?;
                self.test(&value, test, name)
            }
            // A thing is found by each name that it ever had.
            (Some(key), Test::OneOf(_) | Test::Contains(_) | Test::Starts(_) | Test::Ends(_)) => {
                self.keyed_test(&dimension.kind, key, test, name)
            }
            (Some(key), Test::NoneOf(values)) => {
                let positive = Test::OneOf(values.clone());
                let sql = self.keyed_test(&dimension.kind, key, &positive, name)?;
                Ok(format!("NOT coalesce({sql}, FALSE)"))
            }
            (Some(key), Test::NotContains(texts)) => {
                let positive = Test::Contains(texts.clone());
                let sql = self.keyed_test(&dimension.kind, key, &positive, name)?;
                Ok(format!("NOT coalesce({sql}, FALSE)"))
            }
            (_, _) => {
                let value = self.dimension_value(&dimension)?;
                self.test(&value, test, name)
            }
        }
    }

    /// Returns the test of a dimension that this source has as the key of the first source only. The
    /// names of the keys are in the first source.
    fn joined_test(&mut self, name: &str, test: &Test) -> Result<Option<String>, Problem> {
        let is_own = self.source.name() == self.primary.name()
            || self.source.definitions.dimensions.contains_key(name);
        let (Some(key), false) = (self.key_column(name), is_own) else { return Ok(None) };
        let key = self.column(&key)?.sql;
        let positive = match test {
            Test::Empty(true) => return Ok(Some(format!("{key} IS NULL"))),
            Test::Empty(false) => return Ok(Some(format!("{key} IS NOT NULL"))),
            Test::NoneOf(values) => Some(Test::OneOf(values.clone())),
            Test::NotContains(texts) => Some(Test::Contains(texts.clone())),
            Test::NotIn(query) => Some(Test::In(query.clone())),
            Test::OneOf(_)
            | Test::Contains(_)
            | Test::Starts(_)
            | Test::Ends(_)
            | Test::Bounds(_)
            | Test::In(_) => None,
        };
        let mut joins = Vec::new();
        let mut first = RowScope {
            dialect: self.dialect,
            catalog: self.catalog,
            source: self.primary,
            primary: self.primary,
            ctes: &mut *self.ctes,
            joins: &mut joins,
        };
        let own_key = first.key_column(name).unwrap_or_default();
        let own_key = first.column(&own_key)?.sql;
        let inner = first.named_test(name, positive.as_ref().unwrap_or(test))?;
        let table = first.table()?;
        let joins: String = joins.iter().map(|join| format!(" {join}")).collect();
        let sql = format!(
            "CAST({key} AS VARCHAR) IN (SELECT CAST({own_key} AS VARCHAR) FROM {table}{joins} WHERE {inner} AND {own_key} IS NOT NULL)"
        );
        Ok(Some(match positive {
            Some(_) => format!("NOT coalesce({sql}, FALSE)"),
            None => sql,
        }))
    }

    fn keyed_test(
        &mut self,
        kind: &contract::definitions::DimensionKind,
        key: &str,
        test: &Test,
        name: &str,
    ) -> Result<String, Problem> {
        let own = contract::definitions::Dimension::of_kind(kind.clone());
        let value = self.dimension_value(&own)?;
        let test = self.test(&value, test, name)?;
        let key = self.column(key)?.sql;
        let table = self.table()?;
        Ok(format!(
            "({key} IN (SELECT {key} FROM {table} WHERE {test} AND {key} IS NOT NULL) OR {key} IS NULL AND {test})"
        ))
    }

    /// Returns the test of a value.
    pub fn test(&mut self, value: &Value, test: &Test, name: &str) -> Result<String, Problem> {
        let sql = &value.sql;
        match test {
            Test::In(query) => Ok(format!("{sql} IN ({})", self.inner(query, name)?)),
            Test::NotIn(query) => {
                Ok(format!("({sql} IS NULL OR {sql} NOT IN ({}))", self.inner(query, name)?))
            }
            other => simple_test(self.dialect, value, other, name),
        }
    }

    /// Returns the values of the only dimension of another query.
    fn inner(&mut self, query: &MetricQuery, name: &str) -> Result<String, Problem> {
        let compiled = compile_query(query, self.catalog, self.dialect)?;
        let [group] = query.by.as_slice() else {
            return Err(Problem::new(text!(
                "The query inside the condition on {name} needs exactly one dimension in \"by\".",
                name
            )));
        };
        let key = match &group.by {
            GroupBy::Dimension(_) if has_key(query, self) => compiled
                .columns
                .iter()
                .find(|column| column.purpose == super::Purpose::Key)
                .map(|column| column.column.name.clone()),
            GroupBy::Dimension(_) | GroupBy::Time(_) | GroupBy::Define(_) => None,
        };
        let column = match (key, compiled.columns.first()) {
            (Some(key), _) => key,
            (None, Some(first)) => first.column.name.clone(),
            (None, None) => return Err(Problem::new(text!("The inner query has no column."))),
        };
        let column = self.dialect.identifier(&column)?;
        Ok(format!(
            "SELECT {column} FROM (\n{}\n) AS _inner WHERE {column} IS NOT NULL",
            compiled.sql
        ))
    }
}

/// Whether the only dimension of an inner query has a key in this source.
fn has_key(query: &MetricQuery, scope: &RowScope<'_>) -> bool {
    let is_same = query.source.as_ref() == Some(scope.source.name());
    let keyed = |name: &String| {
        scope.source.definitions.dimensions.get(name).is_some_and(|found| found.key.is_some())
    };
    is_same
        && query.by.iter().any(|group| match &group.by {
            GroupBy::Dimension(name) => keyed(name),
            GroupBy::Time(_) | GroupBy::Define(_) => false,
        })
}

/// Joins conditions that all hold.
pub(crate) fn join_conditions(mut parts: Vec<String>) -> Option<String> {
    match parts.len() {
        0 => None,
        1 => Some(parts.remove(0)),
        _ => Some(format!("({})", parts.join(" AND "))),
    }
}

fn either(mut parts: Vec<String>) -> String {
    match parts.len() {
        0 => "FALSE".to_owned(),
        1 => parts.remove(0),
        _ => format!("({})", parts.join(" OR ")),
    }
}

/// Returns the test of a value that needs no other query.
pub(crate) fn simple_test(
    dialect: Dialect,
    value: &Value,
    test: &Test,
    name: &str,
) -> Result<String, Problem> {
    let sql = &value.sql;
    match test {
        Test::OneOf(values) => {
            let (list, has_null) = list(dialect, value, values, name)?;
            Ok(match (list, has_null) {
                (Some(list), false) => format!("{sql} IN ({list})"),
                (Some(list), true) => format!("({sql} IN ({list}) OR {sql} IS NULL)"),
                (None, true) => format!("{sql} IS NULL"),
                (None, false) => "FALSE".to_owned(),
            })
        }
        Test::NoneOf(values) => {
            let (list, has_null) = list(dialect, value, values, name)?;
            Ok(match (list, has_null) {
                (Some(list), false) => format!("({sql} IS NULL OR {sql} NOT IN ({list}))"),
                (Some(list), true) => format!("{sql} NOT IN ({list})"),
                (None, true) => format!("{sql} IS NOT NULL"),
                (None, false) => "TRUE".to_owned(),
            })
        }
        Test::Contains(texts) => any_text(dialect, value, texts, name, TextTest::Contains),
        Test::Starts(texts) => any_text(dialect, value, texts, name, TextTest::Starts),
        Test::Ends(texts) => any_text(dialect, value, texts, name, TextTest::Ends),
        Test::NotContains(texts) => {
            let contains = any_text(dialect, value, texts, name, TextTest::Contains)?;
            Ok(format!("({sql} IS NULL OR NOT {contains})"))
        }
        Test::Empty(true) => Ok(format!("{sql} IS NULL")),
        Test::Empty(false) => Ok(format!("{sql} IS NOT NULL")),
        Test::Bounds(bounds) => bounds_test(dialect, value, bounds, name),
        Test::In(_) | Test::NotIn(_) => {
            Err(Problem::new(text!("The condition on {name} cannot have a query here.", name)))
        }
    }
}

fn list(
    dialect: Dialect,
    value: &Value,
    values: &[Scalar],
    name: &str,
) -> Result<(Option<String>, bool), Problem> {
    let has_null = values.contains(&Scalar::Null);
    let mut found: Vec<String> = Vec::new();
    for one in values.iter().filter(|one| **one != Scalar::Null) {
        let written = scalar(dialect, value, one, name)?;
        if !found.contains(&written) {
            found.push(written);
        }
    }
    Ok(((!found.is_empty()).then(|| found.join(", ")), has_null))
}

fn bounds_test(
    dialect: Dialect,
    value: &Value,
    bounds: &Bounds,
    name: &str,
) -> Result<String, Problem> {
    let collation = if value.kind == ColumnKind::Text { dialect.binary() } else { "" };
    let signs =
        [(">", &bounds.above), (">=", &bounds.from), ("<", &bounds.below), ("<=", &bounds.to)];
    let mut parts = Vec::new();
    for (sign, bound) in signs {
        if let Some(bound) = bound {
            let bound = scalar(dialect, value, bound, name)?;
            parts.push(format!("{}{collation} {sign} {bound}", value.sql));
        }
    }
    Ok(join_conditions(parts).unwrap_or_else(|| "TRUE".to_owned()))
}

/// Writes a value of a condition with the type of the value that it is compared with.
fn scalar(dialect: Dialect, value: &Value, scalar: &Scalar, name: &str) -> Result<String, Problem> {
    let wrong = |needed: &str| {
        let written = serde_json::Value::from(scalar).to_string();
        Problem::new(text!(
            "{name} cannot be compared with {written}: {needed}.",
            name,
            written,
            needed
        ))
    };
    match (value.kind, scalar) {
        (ColumnKind::Text, Scalar::Text(text)) => dialect.literal(text),
        (ColumnKind::Text, Scalar::Number(number)) => dialect.literal(&number.to_string()),
        (ColumnKind::Whole | ColumnKind::Decimal, Scalar::Number(number)) => {
            dialect.number(&number.to_string())
        }
        (ColumnKind::Whole | ColumnKind::Decimal, Scalar::Text(text)) => {
            dialect.number(text).map_err(|_| wrong("it has numbers"))
        }
        (ColumnKind::Day, Scalar::Text(text)) => {
            let day = text.parse().map_err(|_| wrong("it has days such as 2026-11-30"))?;
            Ok(dialect.day(day))
        }
        (ColumnKind::Moment, Scalar::Text(text)) => {
            let moment = text.parse::<chrono::NaiveDateTime>().ok().or_else(|| {
                let day = text.parse::<chrono::NaiveDate>().ok()?;
                day.and_hms_opt(0, 0, 0)
            });
            let moment =
                moment.ok_or_else(|| wrong("it has moments such as 2026-11-30T09:00:00"))?;
            Ok(dialect.moment(moment))
        }
        (ColumnKind::Flag, Scalar::Flag(flag)) => {
            Ok(if *flag { "TRUE" } else { "FALSE" }.to_owned())
        }
        (ColumnKind::Text, _) => Err(wrong("it has texts")),
        (ColumnKind::Whole | ColumnKind::Decimal, _) => Err(wrong("it has numbers")),
        (ColumnKind::Day, _) => Err(wrong("it has days such as 2026-11-30")),
        (ColumnKind::Moment, _) => Err(wrong("it has moments such as 2026-11-30T09:00:00")),
        (ColumnKind::Flag, _) => Err(wrong("it is true or false")),
    }
}

/// A test of a text.
#[derive(Clone, Copy)]
enum TextTest {
    Contains,
    Starts,
    Ends,
}

fn any_text(
    dialect: Dialect,
    value: &Value,
    texts: &[String],
    name: &str,
    test: TextTest,
) -> Result<String, Problem> {
    if value.kind != ColumnKind::Text {
        return Err(Problem::new(text!("{name} has no texts, so it contains none.", name)));
    }
    let sql = &value.sql;
    let mut parts = Vec::new();
    for text in texts {
        let literal = dialect.literal(text)?;
        parts.push(match test {
            TextTest::Contains => format!("strpos(lower({sql}), lower({literal})) > 0"),
            TextTest::Starts => format!("starts_with(lower({sql}), lower({literal}))"),
            TextTest::Ends => {
                let length = text.to_lowercase().chars().count();
                format!("right(lower({sql}), {length}) = lower({literal})")
            }
        });
    }
    Ok(either(parts))
}
