//! Tokens for the app itself, one for each application. A token is kept while it is valid, and
//! requested once for all waiting callers. A failure is reported to the callers that waited, and
//! then forgotten.

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use reqwest::{Client, header};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use tokio::time::{Instant, timeout};
use url::{Url, form_urlencoded};

use super::{
    PerSessionConfig, Token,
    call_error::CallError,
    wire::{read, request_error},
};
use crate::Access;

/// The minimum remaining lifetime of a token that is still used.
const SPARE: Duration = Duration::from_secs(60);
/// The maximum number of bytes of an answer from the token endpoint.
const LARGEST: usize = 64 * 1024;
/// The number of applications with tokens above which expired tokens are removed.
const MAX_TOKENS: usize = 1_024;

struct CachedToken {
    token: Token,
    got: Instant,
    ends: Instant,
}

impl CachedToken {
    /// Whether a call that asked for a token at `asked` may use this token. A call that waited for
    /// the token may use it even if it expires soon.
    fn is_usable(&self, asked: Instant) -> bool {
        let now = Instant::now();
        self.ends > now + SPARE || (self.got >= asked && self.ends > now)
    }
}

#[derive(Default)]
struct Slot {
    token: Option<CachedToken>,
    failed: Option<(CallError, Instant)>,
}

pub(super) struct Tokens {
    client: Client,
    url: Url,
    id: String,
    secret: String,
    scope: String,
    patience: Duration,
    access: Arc<dyn Access>,
    slots: Mutex<HashMap<String, Arc<tokio::sync::Mutex<Slot>>>>,
}

impl Tokens {
    pub(super) fn new(client: Client, url: Url, config: &PerSessionConfig) -> Self {
        Self {
            client,
            url,
            id: config.client_id.clone(),
            secret: config.client_secret.clone(),
            scope: config.scope.clone(),
            patience: config.patience.token,
            access: Arc::clone(&config.access),
            slots: Mutex::default(),
        }
    }

    /// Returns the application's token. Requests a new token if no token is valid.
    pub(super) async fn get(&self, application: &str) -> Result<Token, CallError> {
        let asked = Instant::now();
        let slot = self.slot(application);
        // The first caller sends the request; the others wait here for its result.
        let mut slot = slot.lock().await;
        if let Some(kept) = slot.token.as_ref().filter(|kept| kept.is_usable(asked)) {
            return Ok(kept.token.clone());
        }
        if let Some((lost, at)) = &slot.failed
            // A failure from before this call is outdated, because the endpoint may be reachable
            // again.
            && *at >= asked
        {
            return Err(lost.clone());
        }
        match timeout(self.patience, self.fetch())
            .await
            .unwrap_or_else(|_| Err(CallError::Token("no answer in time".into())))
        {
            Ok((token, lasts)) => {
                // The token is noted before its first use, so that it is removed from everything
                // that the server returns.
                self.access.note(&token, lasts);
                let got = Instant::now();
                *slot = Slot {
                    token: Some(CachedToken { token: token.clone(), got, ends: got + lasts }),
                    failed: None,
                };
                Ok(token)
            }
            Err(lost) => {
                *slot = Slot { token: None, failed: Some((lost.clone(), Instant::now())) };
                Err(lost)
            }
        }
    }

    /// Drops a token that the server refused, unless the token has been replaced in the meantime.
    pub(super) async fn drop_refused(&self, application: &str, token: &Token) {
        let slot = self.slot(application);
        let mut slot = slot.lock().await;
        if slot
            .token
            .as_ref()
            .is_some_and(|kept| kept.token.expose_secret() == token.expose_secret())
        {
            slot.token = None;
        }
    }

    fn slot(&self, application: &str) -> Arc<tokio::sync::Mutex<Slot>> {
        let mut slots = self.slots.lock();
        if slots.len() >= MAX_TOKENS && !slots.contains_key(application) {
            let now = Instant::now();
            let lasts = |slot: &Slot| slot.token.as_ref().is_some_and(|kept| kept.ends > now);
            // Callers choose the names of applications, so there may be many.
            slots.retain(|_, slot| {
                Arc::strong_count(slot) > 1 || slot.try_lock().is_ok_and(|slot| lasts(&slot))
            });
            if slots.len() >= MAX_TOKENS {
                slots.retain(|_, slot| Arc::strong_count(slot) > 1);
            }
        }
        Arc::clone(slots.entry(application.to_owned()).or_default())
    }

    async fn fetch(&self) -> Result<(Token, Duration), CallError> {
        let secret = self.access.credential(&self.secret).await.map_err(CallError::Secret)?;
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("grant_type", "client_credentials")
            .append_pair("client_id", &self.id)
            .append_pair("client_secret", secret.expose_secret())
            .append_pair("scope", &self.scope)
            .finish();
        let request = self
            .client
            .post(self.url.clone())
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(header::ACCEPT, "application/json")
            .body(form);
        let response = request.send().await.map_err(|error| match request_error(&error) {
            CallError::Private => CallError::Private,
            other => CallError::Token(other.to_string()),
        })?;
        let status = response.status();
        if !status.is_success() {
            return Err(CallError::Token(format!("status {}", status.as_u16())));
        }
        let odd = |what: &str| CallError::Token(what.to_owned());
        let body =
            read(response, LARGEST).await.map_err(|_| odd("an answer that cannot be read"))?;
        let answer: Value =
            serde_json::from_slice(&body).map_err(|_| odd("an answer that is no JSON"))?;
        let token = answer["access_token"]
            .as_str()
            .filter(|token| !token.is_empty())
            .ok_or_else(|| odd("an answer without a token"))?;
        let lasts = answer["expires_in"]
            .as_f64()
            .filter(|seconds| *seconds >= 0.0)
            .ok_or_else(|| odd("an answer without a time"))?;
        Ok((
            SecretString::from(token.to_owned()),
            Duration::from_secs_f64(lasts.min(86_400.0 * 365.0)),
        ))
    }
}
