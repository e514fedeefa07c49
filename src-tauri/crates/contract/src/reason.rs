//! The reasons of errors on which code acts. Other reasons are only for people and logs, and are
//! plain strings.

macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal,)+) => {
        /// A reason (`details.reason`) on which code acts. Serialised as a string.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Reason {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Reason {
            /// Every reason on which code acts.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Returns the serialised form of the reason.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }

            /// Returns the reason with this name, or none if no code acts on it.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|reason| reason.name() == name)
            }
        }
    };
}

reasons! {
    // The profile
    /// Another process uses the data folder.
    ProfileInUse = "profile_in_use",
    /// The data folder is not writable.
    DataDirUnwritable = "data_dir_unwritable",
    /// The settings file has an error, so none of its settings is used.
    SettingsUnreadable = "settings_unreadable",
    /// A pack's data file is damaged.
    DataDamaged = "data_damaged",
    /// The verification of the audit log failed, and nobody has accepted a new log.
    AuditAlarm = "audit_alarm",
    /// The audit log could not store a record.
    AuditUnavailable = "audit_unavailable",
    /// The shared store of sessions does not answer.
    SessionsAway = "sessions_away",
    /// The session, action or other thing does not exist.
    NotFound = "not_found",
    /// The value does not match the form that was shown.
    Validation = "validation",

    /// A list of tools, an effect, definitions or a board have changed since they were shown to a
    /// person.
    Changed = "changed",

    // Versions of messages
    /// The session has no versions of its messages.
    NoVersions = "no_versions",
    /// Another version of the message is shown.
    NotShown = "not_shown",
    /// An action of the messages waits for a decision.
    ActionPending = "action_pending",

    // Approvals
    /// The action has already been decided.
    NotPending = "not_pending",
    /// A person rejected the action.
    Rejected = "rejected",
    /// The action expired without a decision.
    Expired = "expired",
    /// The action was refused by the check right before the call.
    Denied = "denied",
    /// A rule or a switch forbids the action.
    SideEffectDisallowed = "side_effect_disallowed",
    /// A proposal of this caller is already pending.
    OneAtATime = "one_at_a_time",

    // Models
    /// The spending limit or the time limit of a turn is exhausted.
    BudgetExceeded = "budget_exceeded",
    /// The provider's rate limit was reached.
    ProviderRateLimit = "provider_rate_limit",
    /// The provider refuses the request.
    ProviderRefused = "provider_refused",
    /// The provider cannot be reached or does not answer.
    ProviderUnavailable = "provider_unavailable",
    /// The request is longer than the model can read.
    ProviderTooLong = "provider_too_long",

    // Servers of tools
    /// The answer cannot be understood.
    InvalidResponse = "invalid_response",
    /// The output does not fit the tool's schema.
    InvalidOutput = "invalid_output",
    /// A web service's rate limit was reached.
    UpstreamRateLimit = "upstream_rate_limit",
    /// The tool itself reports a failure.
    McpToolError = "mcp_tool_error",
    /// The server answers with an HTTP status of failure.
    McpHttpStatus = "mcp_http_status",
    /// The server requires a sign-in.
    McpUnauthorized = "mcp_unauthorized",
    /// The user is not signed in to the server.
    McpSignIn = "mcp_sign_in",
    /// The token for the server could not be fetched.
    McpToken = "mcp_token",
    /// The server cannot be reached or started.
    McpNotConnected = "mcp_not_connected",
    /// The server ended the connection, or refused the call with a protocol error code
    /// (`details.code`).
    McpException = "mcp_exception",
    /// The server did not open a session.
    McpInitFailed = "mcp_init_failed",
    /// The server did not answer in time.
    McpTimeout = "mcp_timeout",

    // Imports
    /// A decision names a column that the file does not have.
    NoColumn = "no_column",
    /// A decision names a sheet or table that the file does not have, or it has none.
    NoTable = "no_table",

    // Databases
    /// The database cannot be reached.
    DatabaseUnreachable = "database_unreachable",
    /// The database refused the sign-in.
    DatabasePassword = "database_password",
    /// The database ended the connection before it answered.
    DatabaseGone = "database_gone",
    /// The database has no table as the source describes it.
    TableChanged = "table_changed",
}

impl AsRef<str> for Reason {
    fn as_ref(&self) -> &str {
        self.name()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::AgentError;

    #[test]
    fn each_reason_has_a_unique_name_by_which_it_is_found() {
        let names: BTreeSet<&str> = Reason::ALL.iter().map(|reason| reason.name()).collect();
        assert_eq!(names.len(), Reason::ALL.len());
        for reason in Reason::ALL {
            assert_eq!(Reason::named(reason.name()), Some(*reason));
        }
        assert_eq!(Reason::named("for_people_only"), None);
    }

    #[test]
    fn a_reason_is_serialised_as_a_string() {
        let error = AgentError::invalid("No.").reason(Reason::NotFound);
        assert_eq!(
            (error.reason_text(), error.known_reason()),
            (Some("not_found"), Some(Reason::NotFound))
        );
        assert!(error.has_reason(Reason::NotFound) && !error.has_reason(Reason::Denied));
        assert_eq!(error, AgentError::invalid("No.").reason("not_found"));
        assert_eq!(AgentError::invalid("No.").reason("odd").known_reason(), None);
    }
}
