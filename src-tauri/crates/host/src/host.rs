//! The host itself: what it holds, how it stops. How it comes to be is in `startup`, what it
//! answers in `commands`.

use std::{
    fs::File,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use audit::Log;
use contract::{AgentError, ErrorCode, Push, Reason, StartNotice, text};
use engine::{Engine, ports::SharedSessions};
use parking_lot::Mutex;
use secrets::Keyring;
use store::SqliteStore;
use tokio::sync::{OnceCell, broadcast};

use crate::{
    Options, Paths,
    confirmations::Confirmations,
    imports::Imports,
    ledger::Ledger,
    models::{HostModels, offline_packs},
    places::missing_packs,
    profile::LiveProfile,
    pushes::Hub,
    recovery::pin_first_definitions,
    sessions::MemoryFolder,
    tools::HostTools,
};

/// How long a shutdown waits for cancelled turns to end.
const TURNS_END_WITHIN: Duration = Duration::from_secs(4);

/// A profile that is open in this process.
pub struct Host {
    /// The engine of the person whose profile this is. It reaches all packs.
    pub(crate) local_engine: Arc<Engine>,
    /// The engine for remote callers, who may have access to fewer packs.
    pub(crate) for_callers: Arc<Engine>,
    pub(crate) paths: Paths,
    pub(crate) options: Options,
    pub(crate) profile: Arc<LiveProfile>,
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) log: Arc<Log>,
    pub(crate) tools: Arc<HostTools>,
    pub(crate) models: Arc<HostModels>,
    pub(crate) keyring: Arc<Keyring>,
    /// The marks of this folder's log that are stored outside of it.
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) imports: Imports,
    /// Notices about this start for the user.
    pub(crate) notices: Mutex<Vec<StartNotice>>,
    /// The database lies here when sessions end with the process. Taken away behind the store.
    pub(crate) memory: Mutex<Option<MemoryFolder>>,
    /// Filled once what only clients of the socket want is ready.
    pub(crate) clients: OnceCell<()>,
    /// Changes of settings that wait for the approval window.
    pub(crate) confirmations: Confirmations,
    /// Held while settings are compared with those in force and then written.
    pub(crate) changing: tokio::sync::Mutex<()>,
    /// Whether the local socket is served.
    pub(crate) served: AtomicBool,
    /// Held until the process ends: one process per profile.
    pub(crate) _lock: File,
}

impl Host {
    /// Opens a profile. `details.reason` is `profile_in_use` when another process holds it.
    pub async fn open(options: Options) -> Result<Arc<Self>, AgentError> {
        crate::startup::open(options).await
    }

    /// Everything that happens from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<Push> {
        self.hub.subscribe()
    }

    /// The engine for clients that carry turns of callers elsewhere. It reaches the packs that
    /// `callers_packs` names.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.for_callers
    }

    /// Keys in the keyring or environment have been found for another model than the offline one.
    pub fn model_label(&self, model: Option<&str>) -> String {
        engine::ports::Models::current(self.models.as_ref(), model).label()
    }

    /// The error for packs that were not found, with the places that were looked at and what to do:
    /// for all packs, or for those that come with Countersign. Returns None if they are there.
    pub fn missing_packs(&self) -> Option<AgentError> {
        missing_packs(&self.tools, &self.options, self.paths.packs())
    }

    /// Makes ready what clients of the socket want beyond the callers' packs: names in the data,
    /// and the tools that servers offer. The first client waits for it, so that a start does not.
    pub(crate) async fn ready_for_clients(&self) {
        if self.options.callers_packs.is_empty() || self.ledger.alarm().is_some() {
            return;
        }
        let ready = async {
            if self.tools.want_names() {
                self.models.renew_offline(offline_packs(&self.tools));
            }
            pin_first_definitions(&self.tools).await;
        };
        self.clients.get_or_init(|| ready).await;
    }

    /// Where sessions are shared with other processes, if they are.
    pub fn shared(&self) -> Option<&Arc<dyn SharedSessions>> {
        self.options.sessions.shared()
    }

    /// Where this profile keeps its files.
    pub fn paths(&self) -> &Paths {
        &self.paths
    }

    /// A picture that a server draws, by the path that results name (`/img/1001.svg`).
    pub async fn image(&self, path: &str) -> Result<Vec<u8>, AgentError> {
        self.tools.picture(path).await
    }

    /// Ends everything in order: turns, servers, log (with its last checkpoint), store.
    pub async fn stop(&self) {
        self.local_engine.cancel_all();
        if tokio::time::timeout(TURNS_END_WITHIN, self.local_engine.idle()).await.is_err() {
            tracing::warn!(running = self.local_engine.running(), "turns did not end in time");
        }
        self.tools.servers.shut_down().await;
        if let Err(error) = self.log.close().await {
            tracing::warn!(%error, "the last checkpoint could not be written");
        }
        let store = Arc::clone(&self.store);
        let _ = tokio::task::spawn_blocking(move || store.close()).await;
        self.memory.lock().take();
    }

    /// Takes back what a throwaway profile left outside its folder. To be called after `stop`.
    pub(crate) async fn forget(&self) {
        crate::keys::forget(&self.keyring).await;
        self.ledger.forget();
        let id = std::fs::read_to_string(self.paths.installation()).unwrap_or_default();
        let id = id.trim();
        for entry in std::fs::read_dir(&self.paths.state).into_iter().flatten().flatten() {
            if !id.is_empty() && entry.file_name().to_string_lossy().contains(id) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    pub(crate) fn notices(&self) -> Vec<StartNotice> {
        let alarm = self.alarm().map(|alarm| crate::recovery::notice("audit_alarm", &alarm.text()));
        alarm.into_iter().chain(self.notices.lock().clone()).collect()
    }

    pub(crate) fn audit_error(error: &engine::ports::AuditUnavailable) -> AgentError {
        AgentError::new(
            ErrorCode::InternalError,
            text!("The audit log cannot be written: {error}.", error = error.0),
        )
        .reason(Reason::AuditUnavailable)
        .hint("Run `csign doctor` to see why.")
    }
}
