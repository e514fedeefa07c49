//! Declares names and files from outside the pack: members that the receiver of a call names
//! differently, and the files that the user may import.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Members that the receiver of a call names differently than the schemas.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemberAliases {
    /// Kind `mcp_server`: the name under which each parameter is sent. Approvals and records show
    /// the sent names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: BTreeMap<String, String>,
    /// Maps a member's name in an answer to its name in the output schema. Applies to objects at
    /// every depth. A member with the schema's name is not changed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub result: BTreeMap<String, String>,
}

/// The files that the user may import for a pack. A pack with code reads the files itself. For any
/// other pack, the files are copied to `imports` in the pack's data folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct ImportTarget {
    /// The kind of file, as shown in the file dialog.
    #[schemars(length(min = 1))]
    pub label: String,
    /// The file name extensions without a dot, such as `csv`.
    #[schemars(length(min = 1), inner(regex(pattern = r"^[a-z0-9]{1,16}$")))]
    pub extensions: Vec<String>,
}
