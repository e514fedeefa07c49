//! The table of a source: the union of its parts, without rows that later imports replaced.

use std::collections::BTreeMap;

use contract::{
    Text,
    sources::{ColumnKind, Exclusion, ImportScope, PartRef, StoredColumn},
    text,
};

use crate::sql::{identifier, literal};

/// The table of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartTable {
    /// The SELECT that has its rows, in the order of the parts.
    pub sql: String,
    /// Columns whose type differs between parts, for the person.
    pub notes: Vec<Text>,
}

/// Writes the SELECT of a source. `columns` are those that the table has; a column that a part lacks
/// is empty in its rows.
pub fn table(folder: &str, parts: &[PartRef], columns: &[StoredColumn]) -> PartTable {
    let columns = if columns.is_empty() { union_of(parts) } else { columns.to_vec() };
    let mut notes = Vec::new();
    for column in &columns {
        let kinds = parts.iter().filter_map(|part| find(&part.columns, &column.name));
        if kinds.clone().any(|found| found.kind != column.kind) {
            notes.push(text!(
                "The column {column} has another type in older imports; its values are read as one type.",
                column = column.name.as_str()
            ));
        }
    }
    let selects: Vec<String> =
        parts.iter().map(|part| part_select(folder, part, &columns)).collect();
    let sql = if selects.is_empty() { empty_select(&columns) } else { selects.join(" UNION ALL ") };
    PartTable { sql, notes }
}

/// Returns the columns of all parts. A type that differs becomes the narrowest one that has all
/// values.
pub fn union_of(parts: &[PartRef]) -> Vec<StoredColumn> {
    let mut columns: Vec<StoredColumn> = Vec::new();
    let mut places = BTreeMap::new();
    for column in parts.iter().flat_map(|part| &part.columns) {
        match places.get(&column.name) {
            None => {
                places.insert(column.name.clone(), columns.len());
                columns.push(column.clone());
            }
            Some(&at) => columns[at] = widened(&columns[at], column),
        }
    }
    columns
}

fn widened(one: &StoredColumn, other: &StoredColumn) -> StoredColumn {
    use ColumnKind::{Decimal, Text, Whole};
    let scale = one.scale.max(other.scale);
    let kind = match (one.kind, other.kind) {
        (a, b) if a == b => a,
        (Whole | Decimal, Whole | Decimal) => Decimal,
        _ => Text,
    };
    let scale = if kind == Decimal { scale } else { 0 };
    StoredColumn { name: one.name.clone(), kind, scale, constant: None }
}

fn find<'a>(columns: &'a [StoredColumn], name: &str) -> Option<&'a StoredColumn> {
    columns.iter().find(|column| column.name == name)
}

/// Returns the type of a column in SQL.
pub fn type_of(column: &StoredColumn) -> String {
    match column.kind {
        ColumnKind::Text => "VARCHAR".to_owned(),
        ColumnKind::Whole => "BIGINT".to_owned(),
        ColumnKind::Decimal => format!("DECIMAL(38, {})", column.scale),
        ColumnKind::Day => "DATE".to_owned(),
        ColumnKind::Moment => "TIMESTAMP".to_owned(),
        ColumnKind::Flag => "BOOLEAN".to_owned(),
    }
}

fn path(folder: &str, file: &str) -> String {
    literal(&format!("{}/{file}", folder.trim_end_matches('/')))
}

fn part_select(folder: &str, part: &PartRef, columns: &[StoredColumn]) -> String {
    let cells = columns.iter().map(|column| {
        let name = identifier(&column.name);
        match find(&part.columns, &column.name) {
            None => format!("CAST(NULL AS {}) AS {name}", type_of(column)),
            Some(found) if found.kind == column.kind && found.scale == column.scale => {
                format!("p.{name}")
            }
            Some(_) => format!("CAST(p.{name} AS {}) AS {name}", type_of(column)),
        }
    });
    let cells: Vec<String> = cells.collect();
    let mut select =
        format!("SELECT {} FROM read_parquet({}) AS p", cells.join(", "), path(folder, &part.file));
    let conditions: Vec<String> =
        part.without.iter().map(|exclusion| exclusion_condition(folder, part, exclusion)).collect();
    if !conditions.is_empty() {
        select.push_str(" WHERE ");
        select.push_str(&conditions.join(" AND "));
    }
    select
}

fn empty_select(columns: &[StoredColumn]) -> String {
    let cells = columns
        .iter()
        .map(|column| format!("CAST(NULL AS {}) AS {}", type_of(column), identifier(&column.name)));
    let cells: Vec<String> = cells.collect();
    let cells = if cells.is_empty() { "1".to_owned() } else { cells.join(", ") };
    format!("SELECT {cells} WHERE false")
}

fn exclusion_condition(folder: &str, part: &PartRef, exclusion: &Exclusion) -> String {
    match exclusion {
        Exclusion::Scope { scope, time } => {
            format!("NOT ({})", scope_condition("p", &part.columns, scope, time.as_deref()))
        }
        Exclusion::Keys { of, columns } => {
            let equal: Vec<String> = columns
                .iter()
                .map(|column| {
                    let name = identifier(column);
                    // A part from before the column existed has an empty key.
                    let own = if find(&part.columns, column).is_some() {
                        format!("CAST(p.{name} AS VARCHAR)")
                    } else {
                        "CAST(NULL AS VARCHAR)".to_owned()
                    };
                    format!("CAST(l.{name} AS VARCHAR) IS NOT DISTINCT FROM {own}")
                })
                .collect();
            format!(
                "NOT EXISTS (SELECT 1 FROM read_parquet({}) AS l WHERE {})",
                path(folder, of),
                equal.join(" AND ")
            )
        }
    }
}

/// Writes the condition of the rows of a scope. It is never NULL.
fn scope_condition(
    alias: &str,
    columns: &[StoredColumn],
    scope: &ImportScope,
    time: Option<&str>,
) -> String {
    let mut conditions = Vec::new();
    for (column, values) in &scope.values {
        let cell = match find(columns, column) {
            Some(_) => format!("coalesce(CAST({alias}.{} AS VARCHAR), '')", identifier(column)),
            None => "''".to_owned(),
        };
        let values: Vec<String> = values.iter().map(|value| literal(value)).collect();
        if !values.is_empty() {
            conditions.push(format!("{cell} IN ({})", values.join(", ")));
        }
    }
    if let (Some(days), Some(time)) = (scope.days, time) {
        conditions.push(match find(columns, time) {
            Some(_) => format!(
                "coalesce(CAST({alias}.{} AS DATE) BETWEEN DATE '{}' AND DATE '{}', false)",
                identifier(time),
                days.first,
                days.last
            ),
            // Rows without a day are on none of the days.
            None => "false".to_owned(),
        });
    }
    if conditions.is_empty() { "true".to_owned() } else { conditions.join(" AND ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::sources::DayRange;

    fn column(name: &str, kind: ColumnKind, scale: u8) -> StoredColumn {
        StoredColumn { name: name.to_owned(), kind, scale, constant: None }
    }

    fn part(file: &str, columns: &[StoredColumn]) -> PartRef {
        PartRef {
            file: file.to_owned(),
            rows: 1,
            hash: String::new(),
            columns: columns.to_vec(),
            without: Vec::new(),
        }
    }

    #[test]
    fn a_kind_that_differs_is_widened_and_said() {
        let parts = [
            part(
                "a.parquet",
                &[column("n", ColumnKind::Whole, 0), column("t", ColumnKind::Day, 0)],
            ),
            part(
                "b.parquet",
                &[column("n", ColumnKind::Decimal, 2), column("t", ColumnKind::Text, 0)],
            ),
        ];
        assert_eq!(
            union_of(&parts),
            [column("n", ColumnKind::Decimal, 2), column("t", ColumnKind::Text, 0)]
        );
        let table = table("/d", &parts, &[]);
        assert_eq!(table.notes.len(), 2);
        assert_eq!(
            table.sql,
            "SELECT CAST(p.\"n\" AS DECIMAL(38, 2)) AS \"n\", CAST(p.\"t\" AS VARCHAR) AS \"t\" \
             FROM read_parquet('/d/a.parquet') AS p UNION ALL \
             SELECT p.\"n\", p.\"t\" FROM read_parquet('/d/b.parquet') AS p"
        );
    }

    #[test]
    fn excluded_scopes_count_empty_cells_and_missing_columns() {
        let columns = [column("account", ColumnKind::Text, 0), column("day", ColumnKind::Day, 0)];
        let days = DayRange {
            first: chrono::NaiveDate::from_ymd_opt(2026, 11, 1).unwrap(),
            last: chrono::NaiveDate::from_ymd_opt(2026, 11, 30).unwrap(),
        };
        let scope = ImportScope {
            values: [("account".to_owned(), vec!["a'b".to_owned(), String::new()])].into(),
            days: Some(days),
            is_range_stated: true,
        };
        assert_eq!(
            scope_condition("p", &columns, &scope, Some("day")),
            "coalesce(CAST(p.\"account\" AS VARCHAR), '') IN ('a''b', '') AND \
             coalesce(CAST(p.\"day\" AS DATE) BETWEEN DATE '2026-11-01' AND DATE '2026-11-30', false)"
        );
        assert_eq!(scope_condition("p", &[], &ImportScope::default(), None), "true");
        let dated = ImportScope { days: Some(days), ..ImportScope::default() };
        assert_eq!(scope_condition("p", &columns[..1], &dated, Some("day")), "false");
    }
}
