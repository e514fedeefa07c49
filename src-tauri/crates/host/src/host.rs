//! The open profile: its parts and its shutdown. `start` opens it, and `commands` answers its
//! commands.

use std::{
    fs::File,
    ops::Deref,
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use audit::Log;
use chrono::{DateTime, Utc};
use contract::{AgentError, ErrorCode, Push, Reason, RecordType, StartNotice, Text, text};
use engine::{
    Engine,
    ports::{AuditLog as _, Durability, Profile as _, RecordDraft, SharedSessions},
};
use parking_lot::Mutex;
use secrets::Keyring;
use store::SqliteStore;
use tokio::sync::{OnceCell, broadcast};

use crate::{
    clients::{Confirmations, Hub},
    commands::pin_first_definitions,
    log::{Ledger, make_daily},
    models::{HostModels, offline_packs},
    packs::{HostTools, Imports, missing_packs_error},
    profile::{LiveProfile, MemoryFolder, Options, Paths},
    servers::Trials,
};

/// How long a shutdown waits for cancelled turns.
const TURNS_END_WITHIN: Duration = Duration::from_secs(4);

/// A profile that is open in this process.
///
/// Its parts are behind a trait object, which is `Send` and `Sync` by declaration. Without it the
/// compiler looks through all of them again for each command whose future holds the host, and checks
/// this crate in 260 seconds instead of 35.
pub struct Host(Box<dyn HasParts + Send + Sync>);

impl Host {
    pub(crate) fn new(parts: Parts) -> Self {
        Self(Box::new(parts))
    }
}

impl Deref for Host {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        self.0.parts()
    }
}

trait HasParts {
    fn parts(&self) -> &Parts;
}

impl HasParts for Parts {
    fn parts(&self) -> &Parts {
        self
    }
}

/// The parts of an open profile.
pub struct Parts {
    /// The engine for the profile's owner, with all packs.
    pub(crate) local_engine: Arc<Engine>,
    /// The engine for remote callers, possibly with fewer packs.
    pub(crate) for_callers: Arc<Engine>,
    pub(crate) paths: Paths,
    pub(crate) options: Options,
    pub(crate) profile: Arc<LiveProfile>,
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) log: Arc<Log>,
    pub(crate) tools: Arc<HostTools>,
    pub(crate) models: Arc<HostModels>,
    pub(crate) keyring: Arc<Keyring>,
    /// The record, outside the data folder, of which log belongs to it. Thus a log that is missing
    /// or was replaced is noticed.
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) opened_at: DateTime<Utc>,
    /// The same moment, by which the time since then is measured.
    pub(crate) opened: Instant,
    /// The number of records after the start was recorded.
    pub(crate) started_with: u64,
    /// The verification that a person asked for last.
    pub(crate) verification: Mutex<Option<Arc<audit::VerifyWatch>>>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) imports: Imports,
    /// Notices about this start for the user.
    pub(crate) notices: Mutex<Vec<StartNotice>>,
    /// The folder of the database if sessions are kept in memory. It is deleted after the store is
    /// closed.
    pub(crate) memory: Mutex<Option<MemoryFolder>>,
    /// Set once the preparations that only socket clients need are complete.
    pub(crate) clients: OnceCell<()>,
    /// Settings changes that wait for confirmation in the approval window.
    pub(crate) confirmations: Confirmations,
    /// The tests and first starts of the user's servers that run now.
    pub(crate) trials: Trials,
    /// The lock held while new settings are compared with the current ones and written.
    pub(crate) changing: tokio::sync::Mutex<()>,
    /// Whether the local socket is being served.
    pub(crate) served: AtomicBool,
    /// The lock file of the profile. It is held until the process ends, so that only one process
    /// has the profile open.
    pub(crate) _lock: Arc<File>,
}

impl Host {
    /// Opens a profile. If another process has it open, `details.reason` is `profile_in_use`.
    pub async fn open(options: Options) -> Result<Arc<Self>, AgentError> {
        crate::start::open(options).await
    }

    /// Returns a receiver of all pushes from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<Push> {
        self.hub.subscribe()
    }

    /// Returns the engine for remote callers' turns. It has the packs that `callers_packs` names.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.for_callers
    }

    /// Returns the label of the named model, or of the current one.
    pub fn model_label(&self, model: Option<&str>) -> String {
        engine::ports::Models::current(self.models.as_ref(), model).label()
    }

    /// Returns the error for missing packs, with the places searched and a remedy. The error is
    /// about all packs or about those that ship. Returns None if no packs are missing.
    pub fn missing_packs_error(&self) -> Option<AgentError> {
        missing_packs_error(&self.tools, &self.options, self.paths.packs())
    }

    /// Prepares what socket clients need in addition to remote callers: the names in all packs'
    /// data, and the tools that servers offer. The first client waits for it, so that the start
    /// does not.
    pub(crate) async fn prepare_for_clients(&self) {
        if self.options.callers_packs.is_empty() || self.ledger.alarm().is_some() {
            return;
        }
        let ready = async {
            if self.tools.enable_names() {
                self.models.set_offline_packs(offline_packs(&self.tools));
            }
            pin_first_definitions(&self.tools).await;
        };
        self.clients.get_or_init(|| ready).await;
    }

    /// Returns the store of shared sessions, if sessions are shared with other processes.
    pub fn shared_sessions(&self) -> Option<&Arc<dyn SharedSessions>> {
        self.options.sessions.shared_sessions()
    }

    /// Returns the paths of the profile's files.
    pub fn paths(&self) -> &Paths {
        &self.paths
    }

    /// Returns a picture that a pack's server draws, by the path in results (`/img/1001.svg`).
    pub async fn read_image(&self, path: &str) -> Result<Vec<u8>, AgentError> {
        self.tools.read_picture(path).await
    }

    /// Shuts down in order: turns, servers, the log with its last checkpoint, the store.
    pub async fn stop(&self) {
        self.local_engine.cancel_all();
        if tokio::time::timeout(TURNS_END_WITHIN, self.local_engine.wait_until_idle())
            .await
            .is_err()
        {
            tracing::warn!(running = self.local_engine.running(), "turns did not end in time");
        }
        self.tools.servers.shut_down().await;
        if let Err(error) = self.expire_values().await {
            tracing::warn!(message = error.message, "old values could not be erased");
        }
        self.record_stop().await;
        if let Err(error) = self.log.close().await {
            tracing::warn!(%error, "the last checkpoint could not be written");
        }
        let (store, log) = (Arc::clone(&self.store), Arc::clone(&self.log));
        let (paths, now) = (self.paths.clone(), self.options.clock.now());
        // A log that does not verify replaces no copy of a good one.
        let verifies = self.alarm().is_none();
        let closing = move || {
            store.close();
            if verifies {
                make_daily(&log, &paths, now);
            }
        };
        let _ = tokio::task::spawn_blocking(closing).await;
        self.memory.lock().take();
    }

    /// Records the end of this process if it recorded anything since its start. A command that only
    /// reads leaves no more than the record of its start.
    async fn record_stop(&self) {
        // Queued records count, too. A failure shows when the log is closed.
        let _ = self.log.flush().await;
        if self.log.total() <= self.started_with || self.ledger.alarm().is_some() {
            return;
        }
        let draft = RecordDraft::new(RecordType::AppStopped);
        if let Err(error) = self.log.append(draft, Durability::Grouped).await {
            tracing::warn!(%error, "the end could not be recorded");
        }
    }

    /// Deletes the data that a temporary profile has stored outside its folder. Must be called
    /// after `stop`.
    pub(crate) async fn delete_outside_data(&self) {
        crate::log::delete_signing_key(&self.keyring).await;
        self.ledger.delete_entry();
        let id = files::read_text(&self.paths.installation(), files::NAME).unwrap_or_default();
        let id = id.trim();
        for entry in std::fs::read_dir(&self.paths.state).into_iter().flatten().flatten() {
            if !id.is_empty() && entry.file_name().to_string_lossy().contains(id) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    /// Returns why the settings cannot be used, if they cannot.
    pub fn settings_fault(&self) -> Option<AgentError> {
        self.profile.settings_fault()
    }

    pub(crate) fn start_notices(&self) -> Vec<StartNotice> {
        let alarm =
            self.alarm().map(|alarm| crate::commands::start_notice("audit_alarm", &alarm.text()));
        let settings = self.settings_fault().map(|fault| {
            let text = Text::join([Some(fault.text()), fault.hint_as_text()].into_iter().flatten());
            crate::commands::start_notice(Reason::SettingsUnreadable.name(), &text)
        });
        alarm.into_iter().chain(settings).chain(self.notices.lock().clone()).collect()
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
