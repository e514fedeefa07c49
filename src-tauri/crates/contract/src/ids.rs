//! Identifiers as newtypes, so that they are plain strings when serialised but cannot be confused
//! in code.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

macro_rules! id_type {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, TS)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// Wraps text as this kind of id.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }
            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl crate::ToParam for $name {
            fn to_param(&self) -> crate::Param {
                self.0.to_param()
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }
    )+};
}

id_type! {
    /// The id of a conversation, unique across all applications of a profile:
    /// `applicationId:sessionId`.
    SessionId,
    /// The id of a user message and its answer.
    TurnId,
    /// The id of an item of a turn.
    ItemId,
    /// The id that the host gives a tool call. Providers' own call ids never leave `models`.
    CallId,
    /// The id of a pending action.
    ApprovalId,
    /// The id of a permission that a user gave.
    GrantId,
    /// The id of a long-term memory.
    MemoryId,
    /// The id of a tool from its manifest, qualified with the pack only if several packs have the
    /// id.
    ToolId,
    /// The id of a pack, which is its folder's name.
    PackId,
    /// The id of a specialist from its pack.
    AgentId,
    /// A source of data, which is also the name of its table in a query.
    SourceName,
    /// The id of a board.
    BoardId,
    /// The id of a tile, unique within its board.
    TileId,
    /// The id of a rule of alerts.
    AlertRuleId,
    /// The id of an alert.
    AlertId,
}

/// The application of the desktop's own conversations.
pub const DESKTOP: &str = "desktop";

impl SessionId {
    /// Returns the id of an application's session. Both names may contain a colon, so colons in the
    /// first are escaped.
    pub fn of(application: &str, session: &str) -> Self {
        Self(format!("{}:{session}", application.replace('%', "%25").replace(':', "%3A")))
    }

    /// Returns the application that owns the conversation.
    pub fn application(&self) -> String {
        self.0.split_once(':').map_or_else(
            || DESKTOP.to_owned(),
            |(application, _)| application.replace("%3A", ":").replace("%25", "%"),
        )
    }
}

impl PackId {
    /// The prefix of the pack ids of servers that the user added. No pack in a folder may have such
    /// an id.
    pub const ADDED_SERVER: &str = "own-";

    /// Returns the id of the pack of an added server.
    pub fn of_added_server(name: &str) -> Self {
        Self(format!("{}{name}", Self::ADDED_SERVER))
    }

    /// Whether this is the id of the pack of an added server.
    pub fn is_of_added_server(&self) -> bool {
        self.0.starts_with(Self::ADDED_SERVER)
    }
}

impl ToolId {
    /// Returns the id of a tool whose name another pack also has. Names in manifests contain no
    /// colon, so no other tool has this id.
    pub fn qualified(pack: &PackId, tool: &Self) -> Self {
        Self(format!("{pack}:{tool}"))
    }
}

#[cfg(test)]
mod tests {
    use super::SessionId;

    #[test]
    fn a_session_id_contains_its_application_unambiguously() {
        for (application, session) in [("web", "a:b"), ("a:b", "c"), ("50%", "x"), ("%3A", "x")] {
            assert_eq!(SessionId::of(application, session).application(), application);
        }
        assert_ne!(SessionId::of("a", "b:c"), SessionId::of("a:b", "c"));
        assert_eq!(SessionId::new("session_1").application(), "desktop");
    }
}
