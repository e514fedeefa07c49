//! Types for checking a recorded figure: asking its question again over the rows of its time, and
//! writing what somebody needs who has only the database library.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AskLimits, AskedSource};
use crate::metric_query::{DataResult, MetricQuery};

/// The maximum number of rows of a result, of which a caller gets pages.
pub const RESULT_ROWS: u64 = 1_000_000;
/// The maximum number of rows of a result from a database.
pub const DATABASE_ROWS: u64 = 100_000;
/// The maximum size of a result in the memory of its process in bytes.
pub const RESULT_BYTES: u64 = 64 << 20;

/// The arguments of `data.verify`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AskVerify {
    /// The sources as they were: with the parts of that state.
    pub sources: Vec<AskedSource>,
    /// The recorded metric query, with its resolved periods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<MetricQuery>,
    /// The recorded query in SQL, if it was no metric query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sql: Option<String>,
    /// The limits.
    #[serde(default)]
    pub limits: AskLimits,
    /// The recorded result: some of its rows.
    pub result: DataResult,
    /// The number of rows of the whole result before the recorded ones.
    #[serde(default)]
    pub first: u64,
}

/// The result of `data.verify`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verified {
    /// The files.
    pub parts: Vec<VerifiedPart>,
    /// Whether all files are as they were and the columns and recorded rows are the same.
    pub equal: bool,
    /// The first recorded row that differs, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differs_at: Option<u64>,
    /// The result of now.
    pub result: DataResult,
}

impl Verified {
    /// Whether all files have the content that they had.
    pub fn is_intact(&self) -> bool {
        self.parts.iter().all(|part| part.intact)
    }
}

/// A file of a part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerifiedPart {
    /// The name of the file.
    pub file: String,
    /// Whether its content has the hash of the manifest.
    pub intact: bool,
}

/// The arguments of `data.prove`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AskProve {
    /// The recorded figure.
    pub figure: AskVerify,
    /// The folder with the parts, as the written statements name it.
    pub folder: String,
    /// The name of the new file in the working folder of the process, with the rows as CSV. The
    /// written statements make a file of the same name.
    pub file: String,
}

/// The result of `data.prove`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Proved {
    /// The result of `data.verify` for the figure.
    pub verified: Verified,
    /// The statements that make the file again from the parts, with any program of the library.
    pub statements: Vec<String>,
}
