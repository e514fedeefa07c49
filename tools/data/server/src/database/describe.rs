//! `data.describe` and `data.tables` of a database: its tables, their columns, and samples of values.

use contract::{
    metric_query::DataType,
    sources::{AskDescribe, AskedPlace, ColumnKind, DaySpan, Described, StoredColumn},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    answers::table_name,
    connect::{Databases, Place},
};
use crate::{
    DataError,
    kept::Table,
    link::Link,
    sql::{identifier, literal},
    stop::Stop,
};

/// The rows that samples are taken from.
const SAMPLED_ROWS: u64 = 10_000;
/// The longest sample in characters.
const LONGEST_SAMPLE: usize = 200;
/// The most tables of a list.
const MOST_TABLES: u64 = 5_000;
/// The decimal places of numbers that state none.
const PLACES: u8 = 6;

/// The arguments of `data.tables`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AskTables {
    /// The database. Its table does not count.
    pub place: AskedPlace,
}

/// The result of `data.tables`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tables {
    /// The tables and views that the role may read, such as `public.orders`.
    pub tables: Vec<String>,
}

/// A column of a table in a database.
#[derive(Clone, Debug, PartialEq)]
pub struct TableColumn {
    /// The column.
    pub column: StoredColumn,
    /// Whether its numbers are floats.
    pub is_float: bool,
}

impl Databases {
    /// Lists tables and views.
    pub fn tables(&self, ask: &AskTables, millis: u64, stop: &Stop) -> Result<Tables, DataError> {
        let place = Place::of(&ask.place)?;
        let mut link = self.connect(&place, millis, stop)?;
        if !place.is_postgres() {
            // Where other engines list their tables differs, so the name is typed.
            return Ok(Tables::default());
        }
        let query = format!(
            "SELECT CAST(quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS text) AS t \
             FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema') \
             AND n.nspname NOT LIKE 'pg\\_%' AND pg_catalog.has_table_privilege(c.oid, 'SELECT') \
             ORDER BY 1 LIMIT {MOST_TABLES}"
        );
        Ok(Tables { tables: texts(&mut link, &query, stop)? })
    }

    /// Describes a table.
    pub fn describe(
        &self,
        ask: &AskDescribe,
        millis: u64,
        stop: &Stop,
    ) -> Result<Described, DataError> {
        let place = Place::of(&ask.source.place)?;
        let mut link = self.connect(&place, millis, stop)?;
        let columns = columns(&mut link, &place, stop).map_err(DataError::of_table)?;
        let table = table_name(&place);
        let mut described = Described {
            rows: rows(&mut link, &place, stop).map_err(DataError::of_table)?,
            columns: columns.into_iter().map(|column| column.column).collect(),
            ..Described::default()
        };
        for column in &described.columns {
            let cell = identifier(&column.name);
            // Other engines have other names for texts.
            let value =
                if place.is_postgres() { format!("CAST({cell} AS text)") } else { cell.clone() };
            let query = format!(
                "SELECT v FROM (SELECT {value} AS v FROM {table} WHERE {cell} IS NOT NULL LIMIT {SAMPLED_ROWS}) s \
                 GROUP BY v ORDER BY count(*) DESC, v LIMIT {}",
                ask.samples
            );
            let samples = texts(&mut link, &query, stop)?;
            let samples =
                samples.into_iter().map(|text| text.chars().take(LONGEST_SAMPLE).collect());
            described.samples.insert(column.name.clone(), samples.collect());
        }
        described.days = days(&mut link, &table, ask, &described.columns, stop)?;
        Ok(described)
    }
}

fn texts(link: &mut Link, query: &str, stop: &Stop) -> Result<Vec<String>, DataError> {
    let table = Table::collect(link.ask(query, stop)?, MOST_TABLES)?;
    let page = table.page(0, MOST_TABLES, u64::MAX)?;
    Ok(page.rows.iter().filter_map(|row| row.first().and_then(text_of)).collect())
}

/// Returns a cell as a text. None: it is empty.
fn text_of(cell: &serde_json::Value) -> Option<String> {
    match cell {
        serde_json::Value::Null => None,
        serde_json::Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// Returns the columns of a table, from the catalogue of the database.
pub(super) fn columns(
    link: &mut Link,
    place: &Place<'_>,
    stop: &Stop,
) -> Result<Vec<TableColumn>, DataError> {
    if !place.is_postgres() {
        let query = format!("SELECT * FROM {} WHERE 1 = 0", table_name(place));
        let schema = link.ask(&query, stop)?.schema();
        let columns = crate::cells::columns(&schema)?;
        return Ok(columns.iter().map(of_schema).collect());
    }
    let query = format!(
        "SELECT CAST(a.attname AS text), CAST(pg_catalog.format_type(a.atttypid, a.atttypmod) AS text) \
         FROM pg_catalog.pg_attribute a WHERE a.attrelid = CAST({} AS regclass) AND a.attnum > 0 \
         AND NOT a.attisdropped ORDER BY a.attnum",
        literal(&table_name(place))
    );
    let table = Table::collect(link.ask(&query, stop)?, MOST_TABLES)?;
    let page = table.page(0, MOST_TABLES, u64::MAX)?;
    let text = |row: &[serde_json::Value], at: usize| {
        row.get(at).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
    };
    Ok(page.rows.iter().map(|row| column_of(text(row, 0), &text(row, 1))).collect())
}

fn of_schema(column: &crate::cells::Column) -> TableColumn {
    let (kind, is_float) = match column.kind {
        DataType::Text => (ColumnKind::Text, false),
        DataType::Whole => (ColumnKind::Whole, false),
        DataType::Decimal => (ColumnKind::Decimal, false),
        DataType::Float => (ColumnKind::Decimal, true),
        DataType::Day => (ColumnKind::Day, false),
        DataType::Moment => (ColumnKind::Moment, false),
        DataType::Flag => (ColumnKind::Flag, false),
    };
    let scale = if is_float { PLACES } else { column.scale };
    TableColumn {
        column: StoredColumn { name: column.name.clone(), kind, scale, constant: None },
        is_float,
    }
}

fn column_of(name: String, written: &str) -> TableColumn {
    let (plain, inside) = written
        .split_once('(')
        .map_or((written, ""), |(plain, rest)| (plain, rest.split(')').next().unwrap_or_default()));
    let places = inside.split_once(',').and_then(|(_, scale)| scale.trim().parse().ok());
    let is_float = matches!(plain, "real" | "double precision");
    let (kind, scale) = match plain {
        "smallint" | "integer" | "bigint" => (ColumnKind::Whole, 0),
        "numeric" => match (inside.is_empty(), places) {
            (true, _) => (ColumnKind::Decimal, PLACES),
            (false, None | Some(0)) => (ColumnKind::Whole, 0),
            (false, Some(places)) => (ColumnKind::Decimal, places),
        },
        "real" | "double precision" | "money" => (ColumnKind::Decimal, PLACES),
        "date" => (ColumnKind::Day, 0),
        "boolean" => (ColumnKind::Flag, 0),
        plain if plain.starts_with("timestamp") => (ColumnKind::Moment, 0),
        _ => (ColumnKind::Text, 0),
    };
    TableColumn { column: StoredColumn { name, kind, scale, constant: None }, is_float }
}

/// Returns the number of rows: the estimate of the database for a table that it has analysed, else the
/// count.
fn rows(link: &mut Link, place: &Place<'_>, stop: &Stop) -> Result<u64, DataError> {
    let name = table_name(place);
    if place.is_postgres() {
        let query = format!(
            "SELECT CAST(CAST(c.reltuples AS bigint) AS text) FROM pg_catalog.pg_class c \
             WHERE c.oid = CAST({} AS regclass) AND c.relkind IN ('r', 'm')",
            literal(&name)
        );
        let estimate = texts(link, &query, stop)?.first().and_then(|text| text.parse::<i64>().ok());
        // A table with few rows is counted exactly.
        if let Some(rows @ 1_000_000..) = estimate {
            return Ok(rows.unsigned_abs());
        }
    }
    let count = link.row(&format!("SELECT count(*) FROM {name}"), stop)?;
    Ok(count.into_iter().flatten().next().and_then(|text| text.parse().ok()).unwrap_or(0))
}

fn days(
    link: &mut Link,
    table: &str,
    ask: &AskDescribe,
    columns: &[StoredColumn],
    stop: &Stop,
) -> Result<Option<DaySpan>, DataError> {
    let defined = ask.source.definitions.as_ref().and_then(|known| known.time.as_ref());
    let column = columns.iter().find(|column| {
        matches!(column.kind, ColumnKind::Day | ColumnKind::Moment)
            && defined.is_none_or(|time| time.column == column.name)
    });
    let Some(column) = column else { return Ok(None) };
    let day = format!("CAST({} AS date)", identifier(&column.name));
    let query = format!("SELECT min({day}), max({day}), count(DISTINCT {day}) FROM {table}");
    let row = link.row(&query, stop)?;
    let cell = |at: usize| row.get(at).and_then(Option::as_deref);
    let day = |at: usize| cell(at).and_then(|text| text.parse().ok());
    Ok(match (day(0), day(1)) {
        (Some(first), Some(last)) => {
            let days = cell(2).and_then(|text| text.parse().ok()).unwrap_or(0);
            Some(DaySpan { first, last, days })
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_the_database_become_kinds() {
        let kind = |written: &str| {
            let found = column_of("a".to_owned(), written);
            (found.column.kind, found.column.scale, found.is_float)
        };
        assert_eq!(kind("numeric(12,2)"), (ColumnKind::Decimal, 2, false));
        assert_eq!(kind("numeric(12,0)"), (ColumnKind::Whole, 0, false));
        assert_eq!(kind("numeric"), (ColumnKind::Decimal, 6, false));
        assert_eq!(kind("double precision"), (ColumnKind::Decimal, 6, true));
        assert_eq!(kind("timestamp without time zone"), (ColumnKind::Moment, 0, false));
        assert_eq!(kind("character varying(20)"), (ColumnKind::Text, 0, false));
    }
}
