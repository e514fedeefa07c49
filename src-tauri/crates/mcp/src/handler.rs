//! Handles what a server sends during a connection. A question for the user is passed to the asker;
//! all other requests are refused.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use contract::PackId;
use rmcp::{
    ClientHandler, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
        ElicitationCapability, ErrorData, FormElicitationCapability, Implementation,
        UrlElicitationCapability,
    },
    service::{NotificationContext, RequestContext},
};
use serde_json::Value;
use tokio::sync::Notify;

use crate::{Asker, Question, Reply, RequestedInput};

/// The client as one server sees it.
#[derive(Clone)]
pub(crate) struct Handler {
    pack: PackId,
    server: String,
    asker: Option<Arc<dyn Asker>>,
    /// Notified when the server's tools have changed.
    changed: Arc<Notify>,
    /// How many questions are open.
    asking: Arc<AtomicU32>,
}

/// Counts a question as open until it is dropped.
struct Open(Arc<AtomicU32>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Handler {
    pub(crate) fn new(pack: PackId, server: String, asker: Option<Arc<dyn Asker>>) -> Self {
        Self { pack, server, asker, changed: Arc::default(), asking: Arc::default() }
    }

    /// Whether a question to the user is open. Meanwhile the time limit of the call is suspended.
    pub(crate) fn is_asking(&self) -> bool {
        self.asking.load(Ordering::SeqCst) > 0
    }

    pub(crate) fn changed(&self) -> Arc<Notify> {
        Arc::clone(&self.changed)
    }

    /// Passes a question to the asker, and returns the answer.
    pub(crate) async fn ask(&self, request: ElicitRequestParams) -> ElicitResult {
        let Some(asker) = &self.asker else { return ElicitResult::new(ElicitationAction::Decline) };
        let (message, asks) = match request {
            ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => (
                message,
                RequestedInput::Form {
                    schema: serde_json::to_value(requested_schema).unwrap_or(Value::Null),
                },
            ),
            ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
                (message, RequestedInput::Url { url })
            }
            _ => return ElicitResult::new(ElicitationAction::Decline),
        };
        self.asking.fetch_add(1, Ordering::SeqCst);
        let _open = Open(Arc::clone(&self.asking));
        match asker
            .ask(Question { pack: self.pack.clone(), server: self.server.clone(), message, asks })
            .await
        {
            Reply::Accept(Some(values)) => {
                ElicitResult::new(ElicitationAction::Accept).with_content(values)
            }
            Reply::Accept(None) => ElicitResult::new(ElicitationAction::Accept),
            Reply::Decline => ElicitResult::new(ElicitationAction::Decline),
            Reply::Cancel => ElicitResult::new(ElicitationAction::Cancel),
        }
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if self.asker.is_some() {
            capabilities.elicitation = Some(
                ElicitationCapability::new()
                    .with_form(FormElicitationCapability::new())
                    .with_url(UrlElicitationCapability::new()),
            );
        }
        ClientConfig::new(
            capabilities,
            Implementation::new("countersign", env!("CARGO_PKG_VERSION")),
        )
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(self.ask(request).await)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}
