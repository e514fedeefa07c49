//! The client of a server behind an address that keeps one session for each conversation and that
//! requires the calling application's name. The client sends one request at a time, uses tokens of
//! the app itself, and does not retry calls that may have taken effect. The client knows no tools,
//! policy or stores.

mod call_error;
mod tokens;
mod visits;
mod wire;

use std::{fmt, sync::Arc, time::Duration};

use contract::{SessionId, Text, text};
use engine::ports::{Random, ToolFailure};
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::{Access, failure, http, result::text_value};
use call_error::CallError;
use tokens::Tokens;
use visits::Visits;
use wire::{Wire, WireRequest};

pub use visits::{KeptVisits, Open};

/// The protocol version that every server of this kind understands. Newer servers answer in this
/// version.
const PROTOCOL: &str = "2024-11-05";
/// The maximum number of bytes of a picture.
const PICTURE: usize = 2 * 1024 * 1024;

/// Time limits and the number of retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// The timeout of one request to the server.
    pub call: Duration,
    /// The timeout of one token request.
    pub token: Duration,
    /// How many times a repeatable call is retried.
    pub retries: u32,
    /// The wait before the first retry, which doubles before each further retry.
    pub base: Duration,
    /// The maximum random addition to a wait.
    pub jitter: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            call: Duration::from_secs(10),
            token: Duration::from_secs(5),
            retries: 2,
            base: Duration::from_millis(500),
            jitter: Duration::from_millis(200),
        }
    }
}

impl Patience {
    /// Returns a duration that no call exceeds, including the opening of a session, new tokens and
    /// all retries.
    pub fn longest(&self) -> Duration {
        let waits: Duration = (0..self.retries).map(|n| self.wait(n, 1.0)).sum();
        // The sum covers three token requests (one at first and two renewals), each attempt of the
        // call, and the opening and reopening of a session with its notification.
        self.token * 3 + self.call * (self.retries + 7) + waits + Duration::from_secs(1)
    }

    fn wait(&self, tried: u32, chance: f64) -> Duration {
        self.base.saturating_mul(1_u32.checked_shl(tried).unwrap_or(u32::MAX))
            + self.jitter.mul_f64(chance.clamp(0.0, 1.0))
    }
}

/// The configuration of one such server.
pub struct PerSessionConfig {
    /// The name of the server in failures.
    pub name: String,
    /// The URL that calls are posted to.
    pub url: String,
    pub token_url: String,
    pub client_id: String,
    /// The name of the credential that contains the client's secret.
    pub client_secret: String,
    pub scope: String,
    pub patience: Patience,
    pub access: Arc<dyn Access>,
    /// Whether the server may be on this computer or in the local network.
    pub private: bool,
    pub chance: Arc<dyn Random>,
    /// Stores open sessions with their conversations.
    pub kept: Arc<dyn KeptVisits>,
}

/// The client of one such server.
pub struct PerSession {
    name: String,
    patience: Patience,
    chance: Arc<dyn Random>,
    wire: Wire,
    tokens: Tokens,
    visits: Visits,
}

impl fmt::Debug for PerSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerSession")
            .field("name", &self.name)
            .field("url", &self.wire.url().as_str())
            .finish_non_exhaustive()
    }
}

/// One call of a tool.
#[derive(Clone, Debug)]
pub struct PerSessionCall<'a> {
    pub session: &'a SessionId,
    pub tool: &'a str,
    pub arguments: Value,
    /// Whether the tool changes nothing, so that the call may be retried.
    pub reads: bool,
}

impl PerSession {
    /// Creates a client without sending any request. Returns a sentence if the address cannot be
    /// used.
    pub fn new(config: PerSessionConfig) -> Result<Self, Text> {
        let address = |text: &str| {
            let url = Url::parse(text)
                .map_err(|_| text!("{address} is not a web address.", address = text))?;
            http::check(&url, config.private)?;
            http::check_key(&url).map(|()| url)
        };
        let (url, token_url) = (address(&config.url)?, address(&config.token_url)?);
        let client = http::client(config.private, false)?;
        let tokens = Tokens::new(client.clone(), token_url, &config);
        Ok(Self {
            visits: Visits::new(format!("{} {}", config.name, config.url), config.kept),
            name: config.name,
            patience: config.patience,
            chance: config.chance,
            wire: Wire::new(client, url, config.patience.call),
            tokens,
        })
    }

    /// Returns the URL that calls are posted to.
    pub fn url(&self) -> &Url {
        self.wire.url()
    }

    /// Returns the time limits.
    pub fn patience(&self) -> Patience {
        self.patience
    }

    /// Calls a tool.
    pub async fn call(
        &self,
        call: PerSessionCall<'_>,
        cancel: CancellationToken,
    ) -> Result<Value, ToolFailure> {
        tokio::select! {
            done = self.call_with_retries(&call) => done.map_err(|lost| {
                tracing::warn!(server = self.name, tool = call.tool, why = %lost, "a call failed");
                lost.into_failure(&self.name, self.patience)
            }),
            () = cancel.cancelled() => Err(failure::cancelled(&self.name, true)),
        }
    }

    /// Calls the tool, and retries if that is allowed.
    async fn call_with_retries(&self, call: &PerSessionCall<'_>) -> Result<Value, CallError> {
        let application = call.session.application();
        let mut tried = 0;
        loop {
            let lost = match self.call_once(call, &application).await {
                Ok(value) => return Ok(value),
                Err(lost) => lost,
            };
            if tried >= self.patience.retries || !lost.may_retry(call.reads) {
                return Err(lost);
            }
            // The wait has a random part, so that many callers do not retry at the same moment.
            sleep(self.patience.wait(tried, self.chance.random_fraction())).await;
            tried += 1;
        }
    }

    /// Makes one attempt of a call. A refused token is renewed once, and a session that the server
    /// has forgotten is opened again once; in both cases, the call has had no effect yet. Many
    /// servers answer 400 for a forgotten session.
    async fn call_once(
        &self,
        call: &PerSessionCall<'_>,
        application: &str,
    ) -> Result<Value, CallError> {
        let (mut renewed, mut reopened) = (false, false);
        loop {
            // The session is looked up in each round, because it may have been dropped and opened
            // again.
            let (visit, rpc) =
                self.visits.ensure_session(call.session, || self.open(application)).await?;
            let params = json!({"name": call.tool, "arguments": call.arguments});
            let token = self.tokens.get(application).await?;
            let asked = WireRequest {
                id: Some(rpc),
                method: "tools/call",
                params,
                token: &token,
                application,
                session: visit.as_deref(),
            };
            match self.wire.ask(asked).await {
                Ok(answer) => return value(answer.result),
                Err(CallError::Status(401)) if !renewed => {
                    renewed = true;
                    self.tokens.drop_refused(application, &token).await;
                }
                Err(CallError::Status(400 | 404)) if visit.is_some() && !reopened => {
                    reopened = true;
                    self.visits.drop_lost(call.session, visit.as_deref()).await;
                }
                Err(lost) => return Err(lost),
            }
        }
    }

    /// Opens a session. Returns the server's name for the session, if the server returns one.
    async fn open(&self, application: &str) -> Result<Option<String>, CallError> {
        self.open_session(application).await.map_err(CallError::at_opening)
    }

    async fn open_session(&self, application: &str) -> Result<Option<String>, CallError> {
        let params = json!({
            "protocolVersion": PROTOCOL,
            "capabilities": {},
            "clientInfo": {"name": "countersign", "version": env!("CARGO_PKG_VERSION")},
        });
        let mut token = self.tokens.get(application).await?;
        let mut renewed = false;
        let session = loop {
            let asked = WireRequest {
                id: Some(visits::FIRST),
                method: "initialize",
                params: params.clone(),
                token: &token,
                application,
                session: None,
            };
            match self.wire.ask(asked).await {
                Ok(answer) => break answer.session,
                Err(CallError::Status(401)) if !renewed => {
                    renewed = true;
                    self.tokens.drop_refused(application, &token).await;
                    token = self.tokens.get(application).await?;
                }
                Err(lost) => return Err(lost),
            }
        };
        let ready = WireRequest {
            id: None,
            method: "notifications/initialized",
            params: Value::Null,
            token: &token,
            application,
            session: session.as_deref(),
        };
        // Some servers refuse calls in a session before they get this notification.
        self.wire.notify(ready).await?;
        Ok(session)
    }

    /// Fetches a picture that a result refers to, from the same server. Pictures are public, so the
    /// request does not name the application.
    pub async fn picture(&self, reference: &str) -> Result<Vec<u8>, ToolFailure> {
        self.wire
            .picture(reference, PICTURE)
            .await
            .map_err(|lost| lost.into_failure(&self.name, self.patience))
    }
}

/// Returns the value of a finished call. If there are several texts, this is the last text that is
/// JSON.
fn value(result: Value) -> Result<Value, CallError> {
    text_value(result).map_err(|refused| match refused {
        Some(words) => CallError::Tool(words),
        None => CallError::Odd("no text of the result is JSON"),
    })
}

/// A secret that only `wire` and `tokens` read.
type Token = SecretString;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chat_api_17_the_retry_wait_doubles_for_each_attempt_plus_jitter() {
        let patience = Patience {
            base: Duration::from_millis(100),
            jitter: Duration::from_millis(40),
            ..Patience::default()
        };
        for (tried, chance, waits) in [
            (0, 0.0, 100),
            (1, 0.0, 200),
            (2, 0.0, 400),
            (3, 0.0, 800),
            (0, 0.5, 120),
            (1, 0.25, 210),
            (2, 1.0, 440),
            // A random value outside its range makes a wait neither shorter than the base nor
            // longer than base plus jitter.
            (0, -1.0, 100),
            (0, 7.0, 140),
        ] {
            assert_eq!(
                patience.wait(tried, chance),
                Duration::from_millis(waits),
                "after {tried} with {chance}"
            );
        }
        let usual = Patience::default();
        assert_eq!(
            (usual.retries, usual.wait(0, 0.0), usual.wait(1, 1.0)),
            (2, Duration::from_millis(500), Duration::from_millis(1_200))
        );
        assert!(usual.wait(40, 0.0) >= usual.wait(31, 0.0), "it does not restart");
    }
}
