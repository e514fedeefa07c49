//! Makes the results of questions: columns with role and format, a page of rows, hashes.

use std::{collections::BTreeMap, sync::Arc};

use contract::{
    SourceName, Text,
    metric_query::{DataColumn, DataResult, DataType, DataVersion},
    result::{ColumnRole, ValueFormat},
    sources::{AskLimits, AskedSource},
    text,
};
use sha2::{Digest as _, Sha256};

use crate::{DataError, cells::Column, kept::Table};

/// Returns the SHA-256 of a text in hexadecimal digits.
pub fn hash_of(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the version of the data of a call.
pub fn version_of(sources: &[AskedSource]) -> DataVersion {
    let version = |source: &AskedSource| source.version.clone();
    match sources {
        [one] => DataVersion::One(version(one).unwrap_or_default()),
        several => {
            let each: BTreeMap<SourceName, Option<String>> =
                several.iter().map(|source| (source.name.clone(), version(source))).collect();
            DataVersion::Each(each)
        }
    }
}

/// Returns the columns of a query that nobody described: numbers are measures, the rest names.
pub fn plain_columns(columns: &[Column]) -> Vec<DataColumn> {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    columns
        .iter()
        .map(|column| {
            let count = seen.entry(column.name.clone()).or_default();
            *count += 1;
            let name = if *count == 1 {
                column.name.clone()
            } else {
                format!("{} ({count})", column.name)
            };
            let (role, format) = match column.kind {
                DataType::Text => (ColumnRole::Dimension, ValueFormat::Text),
                DataType::Whole | DataType::Decimal | DataType::Float => {
                    (ColumnRole::Measure, ValueFormat::Number)
                }
                DataType::Day => (ColumnRole::Time, ValueFormat::Day),
                DataType::Moment => (ColumnRole::Time, ValueFormat::Moment),
                DataType::Flag => (ColumnRole::Dimension, ValueFormat::Flag),
            };
            DataColumn::new(name, column.kind, role, format)
        })
        .collect()
}

/// The place of a page in the result of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The number of rows before it.
    pub offset: u64,
}

impl Place {
    /// Reads the place from a cursor, which belongs to one query over one state of the data.
    pub fn read(cursor: Option<&str>, key: &str) -> Result<Self, DataError> {
        let Some(cursor) = cursor else { return Ok(Self { offset: 0 }) };
        let fits = |cursor: &str| -> Option<u64> {
            let (of, offset) = cursor.split_once(':')?;
            (of == key).then(|| offset.parse().ok())?
        };
        fits(cursor).map(|offset| Self { offset }).ok_or_else(|| {
            DataError::Arguments(
                "the cursor belongs to another query or another state of the data".to_owned(),
            )
        })
    }
}

/// Puts a page of a table into a result. The result has query, columns and notes already.
pub fn fill(
    mut result: DataResult,
    table: &Arc<Table>,
    key: &str,
    place: Place,
    limits: &AskLimits,
) -> Result<DataResult, DataError> {
    let page = table.page(place.offset, limits.rows, limits.bytes)?;
    result.row_count = table.rows;
    result.more = page.next.map(|next| format!("{key}:{next}"));
    result.rows = page.rows;
    if table.is_cut {
        result.notes.push(cut_note(table.rows));
    }
    Ok(result)
}

fn cut_note(rows: u64) -> Text {
    text!("The result has more rows; only the first {count} are shown.", count = rows)
}
