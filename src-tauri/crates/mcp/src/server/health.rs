//! The health of a server, judged by the outcomes of its calls: a server that hangs or cannot be
//! reached gets a new connection, and a refused token is replaced with a new token.

use std::sync::Arc;

use contract::{Reason, manifest::OauthGrant};
use engine::ports::ToolFailure;
use parking_lot::MutexGuard;
use tokio_util::sync::CancellationToken;

use super::{Life, Phase, Server, ServerConnection};
use crate::{connection::Limits, failure};

/// After this many missing answers in a row, a server counts as hung and is restarted.
const HUNG_AFTER: u32 = 2;

impl Server {
    /// Updates the server's health with the outcome of a call, if the call used the current
    /// connection.
    pub(crate) fn note_outcome<T>(
        &self,
        reached: &ServerConnection,
        outcome: &Result<T, ToolFailure>,
    ) {
        let mut life = self.lock();
        if !matches!(life.phase, Phase::Ready { attempt, .. } if attempt == reached.attempt) {
            return;
        }
        let reason = match outcome {
            Ok(_) => None,
            Err(failure) => Some((failure.error.known_reason(), &failure.error)),
        };
        let (answered, silent, gone) = match reason {
            // A refusal by the protocol has a code, but a lost connection has none.
            None
            | Some((
                Some(
                    Reason::McpToolError
                    | Reason::InvalidResponse
                    | Reason::UpstreamRateLimit
                    | Reason::McpHttpStatus,
                ),
                _,
            )) => (true, false, false),
            Some((Some(Reason::McpTimeout), _)) => (false, true, false),
            Some((Some(Reason::McpException), error)) if error.details.contains_key("code") => {
                (true, false, false)
            }
            Some((Some(Reason::McpException | Reason::McpNotConnected), _)) => (false, false, true),
            Some((Some(Reason::McpUnauthorized), error)) => {
                let challenge = error
                    .details
                    .get("challenge")
                    .and_then(|words| words.as_str())
                    .map(str::to_owned);
                return self.handle_unauthorized(life, reached.attempt, challenge);
            }
            Some(_) => (false, false, false),
        };
        if answered {
            life.failures = 0;
            life.missing_answers = 0;
            return;
        }
        life.missing_answers += u32::from(silent);
        // Another task detects the end of a process. No task detects that an address is no longer
        // reachable, so this is handled here.
        let lost = gone && reached.connection.pid.is_none();
        if lost || life.missing_answers >= HUNG_AFTER {
            drop(life);
            self.drop_connection(
                reached.attempt,
                if lost {
                    "It cannot be reached any more.".into()
                } else {
                    "It did not answer any more and was ended.".into()
                },
            );
        }
    }

    /// Checks a session after status 400, which many servers use to report a forgotten session.
    /// Listing the tools shows whether the session is forgotten; if so, the next call opens a new
    /// connection.
    pub(crate) fn check_doubtful(self: &Arc<Self>, reached: &ServerConnection) {
        let (server, connection, attempt) =
            (Arc::clone(self), Arc::clone(&reached.connection), reached.attempt);
        tokio::spawn(async move {
            let limits = Limits::new(server.timings.start, CancellationToken::new());
            if !failure::is_bad_request(
                &connection.check_session(&server.config.name, &limits).await,
            ) {
                return;
            }
            server.end_session(attempt);
        });
    }

    /// Ends a session that a server behind an address does not know any more. The next call opens a
    /// new session. Returns false if the server is a program, because programs have no sessions.
    pub(crate) fn forget_session(&self, reached: &ServerConnection) -> bool {
        let has_sessions = reached.connection.pid.is_none();
        if has_sessions {
            self.end_session(reached.attempt);
        }
        has_sessions
    }

    fn end_session(&self, of: u64) {
        let mut life = self.lock();
        if matches!(life.phase, Phase::Ready { attempt, .. } if attempt == of) {
            life.stop.cancel();
            life.phase = Phase::Idle;
            self.publish(life);
        }
    }

    /// Handles a refused token or key.
    fn handle_unauthorized(
        &self,
        mut life: MutexGuard<'_, Life>,
        attempt: u64,
        challenge: Option<String>,
    ) {
        match self.oauth().map(|oauth| oauth.grant) {
            Some(OauthGrant::AuthorizationCode) => {
                drop(life);
                self.require_sign_in(attempt, challenge);
            }
            // A new connection gets new tokens.
            Some(OauthGrant::ClientCredentials) | None => {
                life.stop.cancel();
                life.phase = Phase::Idle;
                self.publish(life);
            }
        }
    }
}
