//! Identifiers as newtypes: plain strings on the wire, never mixed up in code.

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
    /// A conversation. Unique over all applications of a profile: `applicationId:sessionId`.
    SessionId,
    /// A user message and its answer.
    TurnId,
    /// One item of a turn.
    ItemId,
    /// One tool call, as the host names it (providers' own call ids never leave `models`).
    CallId,
    /// A pending action.
    ApprovalId,
    /// A remembered user permission.
    GrantId,
    /// A long-term memory.
    MemoryId,
    /// A tool as its manifest names it, qualified with the pack only on collision.
    ToolId,
    /// A pack folder's id.
    PackId,
    /// A specialist's profile, as its pack names it.
    AgentId,
}

/// The application of the desktop's own conversations.
pub const DESKTOP: &str = "desktop";

impl SessionId {
    /// Returns the id of an application's session. Both names may contain a colon, so those of the
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
    /// The beginning of the id that belongs to a server that the user added. No pack in a folder
    /// has such an id.
    pub const ADDED_SERVER: &str = "own-";

    /// The id of the pack of an added server.
    pub fn of_added_server(name: &str) -> Self {
        Self(format!("{}{name}", Self::ADDED_SERVER))
    }

    /// Whether it is the id of the pack of an added server.
    pub fn is_of_added_server(&self) -> bool {
        self.0.starts_with(Self::ADDED_SERVER)
    }
}

impl ToolId {
    /// Returns the id of a tool whose name another pack has too. Names in manifests contain no
    /// colon, so no other tool has this id.
    pub fn qualified(pack: &PackId, tool: &Self) -> Self {
        Self(format!("{pack}:{tool}"))
    }
}

#[cfg(test)]
mod tests {
    use super::SessionId;

    #[test]
    fn a_session_names_its_application() {
        for (application, session) in [("web", "a:b"), ("a:b", "c"), ("50%", "x"), ("%3A", "x")] {
            assert_eq!(SessionId::of(application, session).application(), application);
        }
        assert_ne!(SessionId::of("a", "b:c"), SessionId::of("a:b", "c"));
        assert_eq!(SessionId::new("session_1").application(), "desktop");
    }
}
