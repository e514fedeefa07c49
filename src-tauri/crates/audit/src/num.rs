//! Record numbers and sizes in SQL. SQLite's integers are signed, but the log's numbers are
//! unsigned.

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};

/// A number of the log as an SQL value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Num(pub(crate) u64);

impl FromSql for Num {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let number = value.as_i64()?;
        u64::try_from(number).map(Self).map_err(|_| FromSqlError::OutOfRange(number))
    }
}

impl ToSql for Num {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let number = i64::try_from(self.0)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        Ok(ToSqlOutput::from(number))
    }
}
