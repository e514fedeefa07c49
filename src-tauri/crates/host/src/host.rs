//! The open profile and its parts. `start` opens and closes the profile, and `commands` implements
//! its commands.

use std::{
    fs::File,
    ops::Deref,
    sync::{Arc, OnceLock, atomic::AtomicBool},
};

use chrono::{DateTime, Utc};
use contract::{AgentError, Push, Reason, StartNotice, Text};
use engine::{
    Engine,
    ports::{Profile as _, SharedSessions},
};
use parking_lot::Mutex;
use tokio::sync::broadcast;

use crate::{
    alerts::Alerts,
    boards::Boards,
    data::Sources,
    keys::Keys,
    log::{AgeJudge, HostLog},
    models::HostModels,
    packs::{HostPacks, missing_packs_error},
    profile::{Database, LiveProfile, Options, Paths},
    pushes::Pushes,
    servers::HostServers,
};

/// A profile that is open in this process.
///
/// The parts are behind a trait object, which is declared as `Send` and `Sync`. Otherwise, the
/// compiler would check all parts again for each command whose future contains the host, and would
/// need 260 seconds for this crate instead of 35.
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

/// The parts of an open profile, one for each module.
pub struct Parts {
    pub(crate) engine: Arc<Engine>,
    pub(crate) profile: Arc<LiveProfile>,
    pub(crate) database: Arc<Database>,
    pub(crate) keys: Keys,
    pub(crate) models: Arc<HostModels>,
    pub(crate) log: HostLog,
    pub(crate) servers: Arc<HostServers>,
    pub(crate) sources: Sources,
    pub(crate) boards: Boards,
    pub(crate) alerts: Arc<Alerts>,
    pub(crate) packs: HostPacks,
    pub(crate) pushes: Pushes,
    pub(crate) process: Process,
}

/// The state that belongs only to this process.
pub(crate) struct Process {
    pub(crate) options: Options,
    /// Notices about this start for the user.
    pub(crate) notices: Mutex<Vec<StartNotice>>,
    /// The number of records after the records of the start.
    started_with: OnceLock<u64>,
    /// Whether the local socket is being served.
    pub(crate) served: AtomicBool,
    /// The lock file of the profile. The file stays locked until the process ends, so that only one
    /// process has the profile open.
    _lock: Arc<File>,
}

impl Process {
    pub(crate) fn new(options: Options, notices: Vec<StartNotice>, lock: Arc<File>) -> Self {
        Self {
            options,
            notices: Mutex::new(notices),
            started_with: OnceLock::new(),
            served: AtomicBool::new(false),
            _lock: lock,
        }
    }

    /// Notes that the start is complete, and how many records the log has then.
    pub(crate) fn note_started(&self, records: u64) {
        let _ = self.started_with.set(records);
    }

    pub(crate) fn started_with(&self) -> u64 {
        self.started_with.get().copied().unwrap_or_default()
    }
}

impl Host {
    /// Returns a receiver of all pushes from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<Push> {
        self.pushes.hub.subscribe()
    }

    /// Returns the engine, for clients whose requests each name the caller.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Returns the label of the named model, or of the current one.
    pub fn model_label(&self, model: Option<&str>) -> String {
        engine::ports::Models::current(self.models.as_ref(), model).label()
    }

    /// Returns the error for missing packs, with the places searched and a remedy. The error is
    /// about all packs or about the shipped packs. Returns None if no packs are missing.
    pub fn missing_packs_error(&self) -> Option<AgentError> {
        missing_packs_error(&self.packs.tools, &self.process.options, self.paths().packs())
    }

    /// Returns the store of shared sessions, if sessions are shared with other processes.
    pub fn shared_sessions(&self) -> Option<&Arc<dyn SharedSessions>> {
        self.process.options.sessions.shared_sessions()
    }

    /// Returns the paths of the profile's files.
    pub fn paths(&self) -> &Paths {
        self.profile.paths()
    }

    /// Returns a picture that a pack's server draws, by the path in results (`/img/1001.svg`).
    pub async fn read_image(&self, path: &str) -> Result<Vec<u8>, AgentError> {
        self.packs.tools.read_picture(path).await
    }

    /// Returns the current time of the profile's clock.
    pub fn now(&self) -> DateTime<Utc> {
        self.log.now()
    }

    /// Returns the judge that decides whether data has expired. If the log cannot be read, data
    /// stored before this start is kept.
    pub async fn age_judge(&self) -> AgeJudge {
        self.log.age_judge().await
    }

    /// Returns the error that explains why no call runs, if there is an alarm.
    pub fn alarm(&self) -> Option<AgentError> {
        self.log.alarm()
    }

    /// Fails if there is an alarm.
    pub(crate) fn check_alarm(&self) -> Result<(), AgentError> {
        self.log.check_alarm()
    }

    /// Whether an import of data runs that would be lost if the program ended now.
    pub fn is_importing(&self) -> bool {
        self.sources.is_importing()
    }

    /// Returns the error in the settings if they cannot be used.
    pub fn settings_fault(&self) -> Option<AgentError> {
        self.profile.settings_fault()
    }

    pub(crate) fn start_notices(&self) -> Vec<StartNotice> {
        let alarm = self.alarm().map(|alarm| start_notice("audit_alarm", &alarm.text()));
        let settings = self.settings_fault().map(|fault| {
            let text = Text::join([Some(fault.text()), fault.hint_as_text()].into_iter().flatten());
            start_notice(Reason::SettingsUnreadable.name(), &text)
        });
        alarm.into_iter().chain(settings).chain(self.process.notices.lock().clone()).collect()
    }
}

/// Makes a notice about a start for the user.
pub(crate) fn start_notice(code: &str, text: &Text) -> StartNotice {
    StartNotice { code: code.to_owned(), text: text.clone() }
}
