//! Parameters and answers of the commands about sources of data. The types that other parts share
//! are in `sources`, `definitions` and `metric_query`.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{SourceName, Text, metric_query::MetricQuery};
pub use crate::{
    definitions::{DefinitionView, Definitions},
    metric_query::{DataResult, MeasureParams},
    sources::{
        ColumnChoice, RowOrder, SourceAddParams, SourceJob, SourceJobView, SourceParams,
        SourceProfile, SourceView, SourcesResponse,
    },
};

/// The data of a source that models on other computers get.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ModelAccess {
    /// Definitions, figures and rows.
    #[default]
    All,
    /// Definitions and figures of groups. Rows stay on this computer.
    Aggregates,
    /// Only the names of measures and dimensions.
    Nothing,
}

/// The question whose result is written as a Parquet file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ExportParams {
    /// A metric query.
    Query(Box<MetricQuery>),
    /// One SELECT that a person wrote.
    Sql(String),
}

wire! {
    /// A source with the meaning and sample values of its columns.
    struct SourceDescription {
        /// The source.
        source: SourceView,
        /// The definitions.
        definitions: Definitions,
        /// The text of the definitions file.
        text: String,
        /// The SHA-256 of the definitions. An approval names it, so that a person approves only the
        /// definitions that were shown.
        definitions_hash: String,
        /// Each definition with its state, by name.
        states: Vec<DefinitionView>,
        /// The errors in the definitions file. If there is an error, the last version without
        /// errors is used.
        faults: Vec<DefinitionFault>,
        /// Some of the most frequent values of each column.
        samples: BTreeMap<String, Vec<String>>,
        /// The data of the source that models on other computers get.
        models_get: ModelAccess,
        /// The definitions as a semantic model for other tools. None if they cannot be written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        ossie: Option<SemanticModel>,
        /// How its rows are divided step by step. None: in any order.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        path: Option<DrillPath>,
    }

    /// How the rows of a source are divided step by step.
    struct DrillPath {
        /// The dimensions with things that lie within one another, from the largest to the smallest.
        things: Vec<String>,
        /// The one of them that verdicts are on if a question names none.
        level: String,
        /// The dimensions with verdicts on the things that a question names, and not on single rows.
        verdicts: Vec<String>,
    }

    /// Definitions as a semantic model of Apache Ossie.
    struct SemanticModel {
        /// The model, as JSON.
        text: String,
        /// The parts that other tools do not get, one line each.
        lost: Vec<Text>,
    }

    /// An error in a definitions file.
    struct DefinitionFault {
        /// The line. 0 if the error concerns the whole file.
        line: u64,
        /// The error and its remedy.
        text: Text,
    }

    /// Changes the definitions of a source's columns. The person who sends the change approves the
    /// changed definitions.
    struct SourceDefineParams {
        /// The source.
        name: SourceName,
        /// The whole text of the definitions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        text: Option<String>,
        /// The whole definitions as data, in place of `text`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        definitions: Option<Definitions>,
        /// Corrections of columns, by name. New definitions are made for these columns, unless
        /// `definitions` is present. Corrections are applied after `text`.
        #[serde(default)]
        columns: BTreeMap<String, ColumnChoice>,
        /// The data that models on other computers get. Absent: no change.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        models_get: Option<ModelAccess>,
    }

    /// Approves definitions of a source, as they were shown. If they changed since, none is approved.
    struct SourceApproveParams {
        /// The source.
        name: SourceName,
        /// The `definitions_hash` of the description that was shown.
        definitions_hash: String,
        /// The hashes of the definitions to approve. Empty: all of the source.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(optional, as = "Option<Vec<String>>")]
        only: Vec<String>,
    }

    /// Runs one SELECT that a person wrote. Each source is a table with the name of the source.
    struct SourceQueryParams {
        /// The SELECT.
        sql: String,
        /// The value of `more` in the previous page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        cursor: Option<String>,
        /// The maximum number of rows in the answer; 0 means 1000.
        #[serde(default)]
        limit: u64,
    }

    /// A result in a Parquet file. The caller takes the file away.
    struct ExportResponse {
        /// The absolute path of the file, in the data folder.
        file: String,
        /// The result without its rows.
        result: DataResult,
    }

    /// Reads rows of a source as they are stored.
    struct RowsParams {
        /// The source.
        name: SourceName,
        /// The columns. Empty for all.
        #[serde(default)]
        columns: Vec<String>,
        /// The order. Absent: the order in which the rows are stored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        order: Option<RowOrder>,
        /// The number of rows to skip.
        #[serde(default)]
        offset: u64,
        /// The maximum number of rows in the answer; 0 means 200.
        #[serde(default)]
        limit: u64,
    }

    /// Asks for figures about the values of columns.
    struct SourceProfileParams {
        /// The source.
        name: SourceName,
        /// The columns. Empty for all. A response may leave the last ones out; it names them.
        #[serde(default)]
        columns: Vec<String>,
    }

    /// Names a record of the log whose figures are computed again.
    struct VerifyParams {
        /// The number of the record.
        record: u64,
    }

    /// The comparison of recorded figures with figures that were computed again.
    struct FigureCheck {
        /// The number of the record.
        record: u64,
        /// Whether the figures could be computed again.
        is_repeated: bool,
        /// Whether the recorded and the new figures are equal. The value is `false` if the figures
        /// could not be computed again.
        agrees: bool,
        /// The result in words.
        text: Text,
        /// The data version of the record.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        data_version: Option<String>,
        /// The new figures.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        result: Option<DataResult>,
    }

    /// Allows imports without a person from a folder, or takes the permission back.
    struct FolderParams {
        /// The absolute path of the folder.
        folder: String,
        /// Whether imports without a person may read files in the folder.
        allowed: bool,
    }

    /// The folders from which imports without a person may read files.
    struct FoldersResponse {
        /// The folders.
        folders: Vec<AllowedFolder>,
    }

    /// A folder from which imports without a person may read files.
    struct AllowedFolder {
        /// The absolute path.
        folder: String,
        /// The time at which a person allowed the folder.
        at: DateTime<Utc>,
    }
}
