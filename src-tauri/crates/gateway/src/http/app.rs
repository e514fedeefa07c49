//! The state that all routes share: the chat service, the limits, and the token that callers must
//! send.

use std::sync::Arc;

use axum::http::HeaderMap;
use contract::AgentError;
use host::Host;
use serde_json::{Value, json};

use crate::{
    chat::service::ChatService,
    config::Config,
    fault::Fault,
    http::{auth::FileToken, limits::Limits, origin},
};

pub(crate) struct App {
    pub(crate) chat: Arc<ChatService>,
    pub(crate) limits: Limits,
    /// The token that every chat and debug route requires. None if tokens are turned off.
    pub(crate) token: Option<FileToken>,
}

impl App {
    pub(crate) fn open(host: Arc<Host>, config: Config) -> Result<Self, AgentError> {
        let token = config.token_file.as_deref().map(FileToken::open).transpose()?;
        Ok(Self {
            limits: Limits::new(&config.rates),
            token,
            chat: Arc::new(ChatService::new(host, config)),
        })
    }

    /// Returns the caller's correlation id, unless it contains a stored key.
    pub(crate) fn correlation(&self, headers: &HeaderMap) -> Option<String> {
        origin::correlation(headers)
            .filter(|id| !self.chat.host.engine().secrets.holds_secret(&id.as_str().into()))
    }

    /// Refuses a request whose ids or context contain a stored key, because ids and context are
    /// stored unchanged. A message is redacted instead.
    pub(crate) async fn check_for_secrets(&self, body: &Value) -> Result<(), Fault> {
        let kept = json!([body["applicationId"], body["sessionId"], body["context"]]);
        let checked = self.chat.host.engine().secrets.check_keepable(&kept).await;
        checked.map_err(|_| Fault::invalid("An id or the context contains a key of this server."))
    }
}
