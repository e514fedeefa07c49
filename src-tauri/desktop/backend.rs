//! The host behind the windows. It is opened beside the first window, so that the page loads while files are checked;
//! commands wait for it.

use std::{path::PathBuf, sync::Arc};

use contract::AgentError;
use host::Host;
use tokio::sync::watch;

type Opened = Option<Result<Arc<Host>, AgentError>>;

/// A host that is open, is being opened, or could not be opened.
#[derive(Clone)]
pub(crate) struct Backend(watch::Receiver<Opened>);

impl Backend {
    /// Starts to open the host for a data folder (the user's own when `None`).
    pub(crate) fn open(data_dir: Option<PathBuf>) -> Self {
        let (send, receive) = watch::channel(None);
        tauri::async_runtime::spawn(async move {
            let opened = Host::open(host::Options { data_dir, warm_up: true, ..host::Options::default() }).await;
            if let Err(error) = &opened {
                tracing::error!(%error, "the host could not be opened");
            }
            let _ = send.send(Some(opened));
        });
        Self(receive)
    }

    /// The host, once it is open.
    pub(crate) async fn host(&self) -> Result<Arc<Host>, AgentError> {
        let mut receive = self.0.clone();
        match receive.wait_for(Option::is_some).await {
            Ok(opened) => opened.clone().unwrap_or_else(|| Err(gone())),
            Err(_) => Err(gone()),
        }
    }
}

fn gone() -> AgentError {
    AgentError::internal("host_gone", "The app is closing.")
}
