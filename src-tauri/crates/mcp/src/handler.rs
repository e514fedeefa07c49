//! Handles the requests and notifications of a server. A question for the user is passed to the
//! asker; all other requests are refused.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use contract::PackId;
use parking_lot::Mutex;
use rmcp::{
    ClientHandler, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, CustomNotification, ElicitRequestParams, ElicitResult,
        ElicitationAction, ElicitationCapability, ErrorData, FormElicitationCapability,
        Implementation, ProgressNotificationParam, ProgressToken, ProtocolVersion,
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
    /// The version of the older protocol that the server is asked for.
    version: ProtocolVersion,
    /// Notified when the server's tools have changed.
    changed: Arc<Notify>,
    /// How many questions are open.
    asking: Arc<AtomicU32>,
    /// The calls whose progress is followed, by their progress token.
    followed: Arc<Mutex<BTreeMap<String, Arc<Notify>>>>,
}

/// Follows the progress of one call until the value is dropped.
pub(crate) struct Followed {
    token: String,
    progress: Arc<Notify>,
    all: Arc<Mutex<BTreeMap<String, Arc<Notify>>>>,
}

impl Followed {
    /// Waits for the next progress report.
    pub(crate) async fn progressed(&self) {
        self.progress.notified().await;
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        self.all.lock().remove(&self.token);
    }
}

/// Counts a question as open until the value is dropped.
struct Open(Arc<AtomicU32>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Handler {
    pub(crate) fn new(pack: PackId, server: String, asker: Option<Arc<dyn Asker>>) -> Self {
        let (changed, asking, followed) = (Arc::default(), Arc::default(), Arc::default());
        // This version is only used in `initialize`, which the newest version does not have.
        let version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        Self { pack, server, asker, version, changed, asking, followed }
    }

    pub(crate) fn with_version(mut self, version: ProtocolVersion) -> Self {
        self.version = version;
        self
    }

    /// Follows the progress of the call with this token.
    pub(crate) fn follow(&self, token: &ProgressToken) -> Followed {
        let (token, progress) = (token.0.to_string(), Arc::<Notify>::default());
        self.followed.lock().insert(token.clone(), Arc::clone(&progress));
        Followed { token, progress, all: Arc::clone(&self.followed) }
    }

    fn note_progress(&self, token: &str) {
        if let Some(call) = self.followed.lock().get(token) {
            call.notify_one();
        }
    }

    /// Whether a question to the user is open. The time limit of the call is suspended in the
    /// meantime.
    pub(crate) fn is_asking(&self) -> bool {
        self.asking.load(Ordering::SeqCst) > 0
    }

    pub(crate) fn changed(&self) -> Arc<Notify> {
        Arc::clone(&self.changed)
    }

    /// Passes a question to the asker. Returns the answer.
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
        .with_protocol_version(self.version.clone())
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(self.ask(request).await)
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.note_progress(&progress.progress_token.0.to_string());
    }

    /// A progress report without a number, or with a text instead, is still a progress report.
    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        _: NotificationContext<RoleClient>,
    ) {
        if notification.method != "notifications/progress" {
            return;
        }
        match notification.params.as_ref().map(|params| &params["progressToken"]) {
            Some(Value::String(token)) => self.note_progress(token),
            Some(token) => self.note_progress(&token.to_string()),
            None => {}
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}
