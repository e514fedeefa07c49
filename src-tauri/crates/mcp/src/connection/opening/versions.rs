//! The versions of the older protocol to ask a server for. A server should answer an unknown
//! version with a version that it knows, but some servers refuse, stop answering or end. The module
//! knows no connection.

use rmcp::model::{ErrorCode, ErrorData, ProtocolVersion};

use crate::words::words_of;

/// The versions that were not asked for yet, newest first.
pub(super) struct Versions(Vec<ProtocolVersion>);

impl Default for Versions {
    /// The newest version is asked for first.
    fn default() -> Self {
        let known = ProtocolVersion::KNOWN_VERSIONS.iter().rev();
        let is_next = |version: &&ProtocolVersion| {
            version.has_initialize() && **version != ProtocolVersion::LATEST_WITH_INITIALIZE
        };
        Self(known.filter(is_next).cloned().collect())
    }
}

impl Versions {
    /// Returns the version to ask for after a refusal: a version that the server names, or the next
    /// one. Returns None if no version can help.
    pub(super) fn after(&mut self, refusal: &ErrorData) -> Option<ProtocolVersion> {
        if refusal.code == ErrorCode::METHOD_NOT_FOUND || self.0.is_empty() {
            return None;
        }
        let words = words_of(refusal);
        let named = self.0.iter().position(|version| words.contains(version.as_str()));
        Some(self.0.remove(named.unwrap_or_default()))
    }

    /// Returns the version that most servers know.
    pub(super) fn oldest(&mut self) -> Option<ProtocolVersion> {
        self.0.pop()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_protocol_version_named_by_the_server_is_tried_first() {
        let mut versions = Versions::default();
        let mut after = |data| {
            let refusal = ErrorData::invalid_params("Unsupported version 2025-11-25", data);
            versions.after(&refusal).map(|version| version.to_string())
        };
        let named = json!({"supported": ["2024-11-05", "2025-03-26"]});
        assert_eq!(after(Some(named)).as_deref(), Some("2025-03-26"));
        assert_eq!(after(None).as_deref(), Some("2025-06-18"));
        assert_eq!(after(None).as_deref(), Some("2024-11-05"));
        assert_eq!(after(None), None);
        let unknown = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "unknown", None);
        assert_eq!(Versions::default().after(&unknown), None);
        assert_eq!(Versions::default().oldest(), Some(ProtocolVersion::V_2024_11_05));
    }
}
