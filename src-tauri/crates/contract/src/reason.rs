//! The reasons of errors that code acts on. Other reasons are for people and logs only and stay
//! plain strings.

macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal,)+) => {
        /// A reason (`details.reason`) that code acts on. On the wire it is a string.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Reason {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Reason {
            /// Every reason that code acts on.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The reason as it is on the wire.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }

            /// The reason with this name. Returns None if no code acts on it.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|reason| reason.name() == name)
            }
        }
    };
}

reasons! {
    // The profile
    /// Another process holds the data folder.
    ProfileInUse = "profile_in_use",
    /// The data folder cannot be written.
    DataDirUnwritable = "data_dir_unwritable",
    /// The settings file has a fault, so no setting of it is used.
    SettingsUnreadable = "settings_unreadable",
    /// A pack's data file is damaged.
    DataDamaged = "data_damaged",
    /// The audit log does not verify, and nobody has accepted a new one.
    AuditAlarm = "audit_alarm",
    /// The audit log could not take a record.
    AuditUnavailable = "audit_unavailable",
    /// The shared store of sessions does not answer.
    SessionsAway = "sessions_away",
    /// The session, action or other thing does not exist.
    NotFound = "not_found",
    /// The value does not fit the form that was shown.
    Validation = "validation",

    /// A list of tools or an effect is no longer the one that a person saw.
    Changed = "changed",

    // Approvals
    /// The action has been decided already.
    NotPending = "not_pending",
    /// A person rejected the action.
    Rejected = "rejected",
    /// Nobody decided about the action in time.
    Expired = "expired",
    /// The action was refused when it was checked again.
    Denied = "denied",
    /// A rule or a switch forbids the action.
    SideEffectDisallowed = "side_effect_disallowed",
    /// A proposal of this caller waits already.
    OneAtATime = "one_at_a_time",

    // Models
    /// The spending limit or the time of a turn is used up.
    BudgetExceeded = "budget_exceeded",
    /// The provider asks to slow down.
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
    /// A web service asks to slow down.
    UpstreamRateLimit = "upstream_rate_limit",
    /// The tool itself reports a failure.
    McpToolError = "mcp_tool_error",
    /// The server answers with an HTTP status of failure.
    McpHttpStatus = "mcp_http_status",
    /// The server wants a sign-in.
    McpUnauthorized = "mcp_unauthorized",
    /// The user is not signed in to the server.
    McpSignIn = "mcp_sign_in",
    /// The token for the server could not be fetched.
    McpToken = "mcp_token",
    /// The server cannot be reached or started.
    McpNotConnected = "mcp_not_connected",
    /// The server broke off, or refused the call by a code of the protocol (`details.code`).
    McpException = "mcp_exception",
    /// The server did not open a session.
    McpInitFailed = "mcp_init_failed",
    /// The server did not answer in time.
    McpTimeout = "mcp_timeout",
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
    fn each_reason_has_a_name_of_its_own_and_is_found_by_it() {
        let names: BTreeSet<&str> = Reason::ALL.iter().map(|reason| reason.name()).collect();
        assert_eq!(names.len(), Reason::ALL.len());
        for reason in Reason::ALL {
            assert_eq!(Reason::named(reason.name()), Some(*reason));
        }
        assert_eq!(Reason::named("for_people_only"), None);
    }

    #[test]
    fn a_reason_is_a_string_on_the_wire() {
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
