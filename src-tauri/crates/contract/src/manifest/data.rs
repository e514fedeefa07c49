//! Declares names and files that are not the pack's own: members that its other side calls
//! differently, and the files that the user may import.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Members that the tool's other side calls differently than the schemas.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemberAliases {
    /// Kind `mcp_server`: the name under which a parameter is sent, by parameter. Approvals and
    /// records show what is sent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: BTreeMap<String, String>,
    /// The name that the output schema has for a member, by its name in an answer. Applies to
    /// objects at every depth. A member that is there under its own name stays.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub result: BTreeMap<String, String>,
}

/// The files that the user may import for a pack. A pack with code reads them itself. For any
/// other pack they are copied to `imports` in its data folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct ImportTarget {
    /// The kind of file, as the file dialog shows it.
    #[schemars(length(min = 1))]
    pub label: String,
    /// Endings of the files without a point, such as `csv`.
    #[schemars(length(min = 1), inner(regex(pattern = r"^[a-z0-9]{1,16}$")))]
    pub extensions: Vec<String>,
}
