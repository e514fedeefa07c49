//! The arguments of the tools of a `csign-data` process, as the host sends them. Every call brings
//! the tables and definitions that it is about, so that the process keeps no state of a source and
//! can write none.

use std::{collections::BTreeMap, fmt};

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{DayRange, PartRef, StoredColumn};
use crate::{
    SourceName,
    definitions::Definitions,
    metric_query::{DataColumn, MetricQuery},
};

/// A source as a question needs it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AskedSource {
    /// The name, which is the name of the table in SQL.
    pub name: SourceName,
    /// The columns of the table. A column that a part lacks is empty in its rows.
    pub columns: Vec<StoredColumn>,
    /// Where the rows are.
    pub place: AskedPlace,
    /// The definitions. None if the question needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub definitions: Option<Definitions>,
    /// The hashes of the definitions that a person approved.
    #[serde(default)]
    pub approved: Vec<String>,
    /// The days for which the rows are complete. None: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub covered: Option<DayRange>,
    /// The files that the days come from, the newest import first. Empty for a database, whose rows
    /// are those of now, and if no measure of the definitions settles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exports: Vec<ExportedDays>,
    /// The hash of the present data. None for a database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub version: Option<String>,
}

/// Days of a source whose rows come from one file. Their values are those of the file's day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ExportedDays {
    /// The days.
    pub days: DayRange,
    /// The day on which the file was last changed, or else the day of its import.
    pub on: NaiveDate,
    /// Whether `on` is the day of the file.
    pub is_file_day: bool,
}

/// Where the rows of an asked source are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "at", rename_all = "snake_case")]
pub enum AskedPlace {
    /// In Parquet files. The table is the union of the parts without their excluded rows.
    Parts {
        /// The absolute path of the folder with the files.
        folder: String,
        /// The parts, oldest first.
        parts: Vec<PartRef>,
    },
    /// In a database. Only the database process of the source gets such a place.
    Table {
        /// The table or view, such as `public.orders`.
        table: String,
        /// The driver: a name that ships, such as `postgresql`, or the absolute path of a library
        /// that a person accepted.
        driver: String,
        /// The address without a password. The host name in it is the one that TLS verifies.
        address: String,
        /// Where the process connects instead, such as `127.0.0.1:6432`: a forwarder of the host, which leads to the host and
        /// port of the address. None if the driver connects by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        via: Option<String>,
        /// The password.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        password: Option<Password>,
    },
}

/// A password on its way to a database process. It is not shown by `Debug`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(transparent)]
pub struct Password(pub String);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password")
    }
}

/// The limits of one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default)]
pub struct AskLimits {
    /// The most rows of the answer. `more` then has the cursor of the next page.
    pub rows: u64,
    /// The most bytes of the answer.
    pub bytes: u64,
    /// The most milliseconds.
    pub millis: u64,
}

impl Default for AskLimits {
    fn default() -> Self {
        Self { rows: 10_000, bytes: 8 << 20, millis: 60_000 }
    }
}

/// The arguments of `data.measure`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AskMeasure {
    /// The question. Its `as_of` is set.
    pub query: MetricQuery,
    /// The sources, the first of which is meant if the query names none.
    pub sources: Vec<AskedSource>,
    /// The limits.
    #[serde(default)]
    pub limits: AskLimits,
    /// The `more` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cursor: Option<String>,
}

/// The arguments of `data.query`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AskQuery {
    /// One SELECT. Each source is a table with its name.
    pub sql: String,
    /// The sources.
    pub sources: Vec<AskedSource>,
    /// The limits.
    #[serde(default)]
    pub limits: AskLimits,
    /// The `more` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cursor: Option<String>,
}

/// The arguments of `data.export`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AskExport {
    /// The absolute path of the file with the rows, which the process may read. Each line is a JSON
    /// object whose members are the cells as texts, named by the numbers of their columns from 0.
    pub rows: String,
    /// The columns.
    pub columns: Vec<DataColumn>,
    /// Facts about the result that are stored in the file, such as its query.
    pub about: BTreeMap<String, String>,
    /// The name of the new file in the working folder of the process.
    pub file: String,
    /// The limits, of which only the time counts.
    #[serde(default)]
    pub limits: AskLimits,
}

/// The result of `data.export`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Exported {
    /// The number of rows in the file.
    pub rows: u64,
}

/// The arguments of `data.rows`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AskRows {
    /// The source.
    pub source: AskedSource,
    /// The columns. Empty for all.
    #[serde(default)]
    pub columns: Vec<String>,
    /// The column to sort by. Ties are in the order of all columns. None for the stored order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub order: Option<RowOrder>,
    /// The number of rows to skip.
    #[serde(default)]
    pub offset: u64,
    /// The limits.
    #[serde(default)]
    pub limits: AskLimits,
}

/// The order of rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct RowOrder {
    /// The column.
    pub by: String,
    /// Whether the greatest value comes first. Empty cells always come last.
    #[serde(default)]
    pub descending: bool,
}

/// The arguments of `data.describe`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AskDescribe {
    /// The source.
    pub source: AskedSource,
    /// The most sample values of each column.
    pub samples: u32,
}

/// The result of `data.describe`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Described {
    /// The number of rows.
    pub rows: u64,
    /// The columns as they are. Of a database, its columns with their types.
    pub columns: Vec<StoredColumn>,
    /// The most frequent values of each column, as texts.
    pub samples: BTreeMap<String, Vec<String>>,
    /// The first and last day of the time column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub days: Option<super::DaySpan>,
}
