//! A column of a file that states the types of its columns, and single answers of the database about
//! its rows.

use contract::{AgentError, Text, sources::FoundColumn, text};

use crate::{DataError, link::Link, stop::Stop};

/// A column of the file.
pub(super) struct FileColumn {
    pub(super) found: FoundColumn,
    /// The expression of its values in the part.
    pub(super) value: String,
    /// The condition of rows whose value cannot be stored.
    pub(super) fault: Option<String>,
    /// Whether the file has floats that were rounded.
    pub(super) is_rounded: bool,
    /// The assumption about the numbers.
    pub(super) note: Option<Text>,
}

/// Whether values of a type have several parts: lists, records and maps.
pub(super) fn is_nested(kind: &str) -> bool {
    let starts = ["STRUCT(", "MAP(", "UNION("];
    kind.ends_with(']') || starts.iter().any(|start| kind.starts_with(*start))
}

/// Returns the error of a file that the database cannot read.
pub(super) fn unreadable(error: DataError) -> DataError {
    match error {
        DataError::Query(cause) => {
            AgentError::invalid(text!("The Parquet file cannot be read: {cause}.", cause = cause))
                .reason("parquet_unreadable")
                .hint("Write the file again, without encryption.")
                .into()
        }
        other => other,
    }
}

/// Returns the only number of an answer.
pub(super) fn count(link: &mut Link, query: &str, stop: &Stop) -> Result<u64, DataError> {
    let row = link.row(query, stop).map_err(unreadable)?;
    Ok(row.into_iter().flatten().next().and_then(|text| text.parse().ok()).unwrap_or(0))
}
