//! Declares names from outside the pack: members that the receiver of a call names differently.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
