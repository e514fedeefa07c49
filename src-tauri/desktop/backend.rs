//! The host behind the windows. It is opened in parallel with the first window, so that the page
//! loads while files are checked; commands wait for the host. While the host is open, `csign` calls
//! of the same user connect to it over the local socket.

use std::{path::PathBuf, sync::Arc};

use contract::AgentError;
use host::{Host, SocketServer};
use parking_lot::Mutex;
use tokio::sync::watch;

type OpenedHost = Option<Result<Arc<Host>, AgentError>>;

/// A host that is open, is being opened, or could not be opened.
#[derive(Clone)]
pub(crate) struct Backend {
    opened: watch::Receiver<OpenedHost>,
    /// The local socket while it is served.
    served: Arc<Mutex<Option<SocketServer>>>,
}

impl Backend {
    /// Starts opening the host of a data folder (the user's own if None).
    pub(crate) fn open(data_dir: Option<PathBuf>) -> Self {
        let (send, opened) = watch::channel(None);
        let backend = Self { opened, served: Arc::default() };
        let served = Arc::clone(&backend.served);
        tauri::async_runtime::spawn(async move {
            let (pack_code, when_alarmed) = (shipped_packs::all(), host::WhenAlarmed::Stop);
            let opened = Host::open(host::Options {
                data_dir,
                pack_code,
                warm_up: true,
                when_alarmed,
                ..host::Options::default()
            })
            .await;
            match opened.as_ref().map(host::serve_host) {
                Ok(Ok(socket)) => *served.lock() = Some(socket),
                Ok(Err(error)) => tracing::warn!(%error, "csign calls cannot join this window"),
                Err(error) => tracing::error!(%error, "the host could not be opened"),
            }
            let _ = send.send(Some(opened));
        });
        backend
    }

    /// Returns the host once it is open.
    pub(crate) async fn host(&self) -> Result<Arc<Host>, AgentError> {
        let mut receive = self.opened.clone();
        match receive.wait_for(Option::is_some).await {
            Ok(opened) => opened.clone().unwrap_or_else(|| Err(host_stopped_error())),
            Err(_) => Err(host_stopped_error()),
        }
    }

    /// Whether an import runs that quitting would stop.
    pub(crate) fn is_importing(&self) -> bool {
        matches!(&*self.opened.borrow(), Some(Ok(host)) if host.is_importing())
    }

    /// Stops the host in order: accepts no more clients, then stops turns, servers, log and store.
    pub(crate) async fn stop(&self) {
        drop(self.served.lock().take());
        if let Ok(host) = self.host().await {
            host.stop().await;
        }
    }
}

fn host_stopped_error() -> AgentError {
    AgentError::internal("host_gone", "The app is closing.")
}
