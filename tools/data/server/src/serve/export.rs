//! `data.export`: writes rows that the host collected as a Parquet file into the working folder, the
//! only one in which the process may write. The host takes the file from there.

use std::path::Path;

use contract::{
    metric_query::{DataColumn, DataType},
    sources::{AskExport, Exported},
};

use super::{Asker, ask::check_file_name};
use crate::{
    DataError,
    link::Link,
    sql::{identifier, literal},
    stop::Stop,
};

/// The digits that decimals in 8 and in 16 bytes have room for.
const SHORT: u32 = 18;
const LONG: u32 = 38;
/// The most bytes of a row, and of a row in a short file. The library has buffers of twice this size.
const ROW_BYTES: u64 = 32 << 20;
const SHORT_ROW_BYTES: u64 = 1 << 20;

impl Asker {
    /// Writes rows as a Parquet file.
    pub fn export(&self, ask: &AskExport, stop: &Stop) -> Result<Exported, DataError> {
        check_file_name(&ask.file)?;
        if !Path::new(&ask.rows).is_absolute() {
            return Err(DataError::Arguments(format!("{} is no absolute path", ask.rows)));
        }
        let (mut link, _) = self.connect(&[])?;
        let size = std::fs::metadata(&ask.rows).map_err(DataError::file("the rows"))?.len();
        let row_bytes = size.clamp(SHORT_ROW_BYTES, ROW_BYTES);
        let from = from_rows(&ask.rows, ask.columns.len(), row_bytes);
        let types = types_of(&mut link, &from, &ask.columns, stop)?;
        let cells = types.iter().zip(&ask.columns).enumerate().map(|(at, (kind, column))| {
            format!("CAST({} AS {kind}) AS {}", cell(at), identifier(&column.name))
        });
        let cells: Vec<String> = cells.collect();
        let about =
            ask.about.iter().map(|(key, text)| format!("{}: {}", literal(key), literal(text)));
        let about: Vec<String> = about.collect();
        let to = literal(&self.scratch.join(&ask.file).display().to_string());
        let copy = format!(
            "COPY (SELECT {} FROM {from}) TO {to} (FORMAT parquet, COMPRESSION zstd, KV_METADATA {{{}}})",
            cells.join(", "),
            about.join(", ")
        );
        link.run_until(&copy, stop)?;
        let row = link.row(&format!("SELECT count(*) FROM read_parquet({to})"), stop)?;
        let rows = row.first().and_then(Option::as_ref).and_then(|count| count.parse().ok());
        let rows = rows.ok_or_else(|| DataError::Engine("the file has no rows".to_owned()))?;
        Ok(Exported { rows })
    }
}

fn cell(at: usize) -> String {
    identifier(&at.to_string())
}

/// Returns the table of the rows. All cells are texts.
fn from_rows(path: &str, columns: usize, row_bytes: u64) -> String {
    let columns: Vec<String> =
        (0..columns).map(|at| format!("{}: 'VARCHAR'", literal(&at.to_string()))).collect();
    format!(
        "read_json({}, format = 'newline_delimited', records = true, maximum_object_size = {row_bytes}, columns = {{{}}})",
        literal(path),
        columns.join(", ")
    )
}

/// Returns the type of each column in SQL. The digits of numbers are counted over all rows, so that
/// no digit is lost.
fn types_of(
    link: &mut Link,
    from: &str,
    columns: &[DataColumn],
    stop: &Stop,
) -> Result<Vec<String>, DataError> {
    let counts = columns.iter().enumerate().filter(|(_, column)| is_exact(column.kind));
    let counts: Vec<String> = counts.flat_map(|(at, _)| digits_of(&cell(at))).collect();
    let found = if counts.is_empty() {
        Vec::new()
    } else {
        link.row(&format!("SELECT {} FROM {from}", counts.join(", ")), stop)?
    };
    // Without a number in any row, there is nothing to count.
    let mut found =
        found.iter().map(|count| count.as_ref().map_or(Ok(0), |text| text.parse::<u32>()));
    let mut next = || match found.next() {
        Some(Ok(count)) => Ok(count),
        _ => Err(DataError::Engine("the digits of a column were not counted".to_owned())),
    };
    let mut type_of = |column: &DataColumn| {
        if is_exact(column.kind) {
            number_type(column, next()?, next()?)
        } else {
            Ok(plain_type(column.kind).to_owned())
        }
    };
    columns.iter().map(&mut type_of).collect()
}

/// Returns two expressions: the most digits before the point, and the most after it. Small numbers
/// can have an exponent, such as `1e-7`.
fn digits_of(cell: &str) -> [String; 2] {
    let number = format!("split_part({cell}, 'e', 1)");
    let moved = format!("coalesce(TRY_CAST(split_part({cell}, 'e-', 2) AS INTEGER), 0)");
    [
        format!("max(length(ltrim(split_part({number}, '.', 1), '-0')))"),
        format!("max(length(split_part({number}, '.', 2)) + {moved})"),
    ]
}

fn is_exact(kind: DataType) -> bool {
    matches!(kind, DataType::Whole | DataType::Decimal)
}

/// Returns the smallest type that has all digits.
fn number_type(column: &DataColumn, whole: u32, places: u32) -> Result<String, DataError> {
    let digits = whole.saturating_add(places);
    if digits > LONG {
        return Err(DataError::Query(format!(
            "the column {} has numbers of more than {LONG} digits",
            column.name
        )));
    }
    let is_whole = column.kind == DataType::Whole && places == 0;
    Ok(match digits {
        ..=SHORT if is_whole => "BIGINT".to_owned(),
        ..=SHORT => format!("DECIMAL({SHORT}, {places})"),
        _ => format!("DECIMAL({LONG}, {places})"),
    })
}

fn plain_type(kind: DataType) -> &'static str {
    match kind {
        DataType::Text | DataType::Whole | DataType::Decimal => "VARCHAR",
        DataType::Float => "DOUBLE",
        DataType::Day => "DATE",
        DataType::Moment => "TIMESTAMP",
        DataType::Flag => "BOOLEAN",
    }
}
