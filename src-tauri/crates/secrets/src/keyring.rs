//! The handle that the rest of the app uses. Every call to the keyring runs on a thread of its own with a deadline, so that
//! a keyring that waits for a password can neither block a turn nor the program's end.

use std::collections::BTreeMap;
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};
use std::time::{Duration, Instant};

use contract::{AgentError, ErrorCode, KeyringState};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::oneshot;

use crate::exposed::ExposedSecrets;
use crate::service::{Fault, Service};
use crate::texts::describe;

/// How long a keyring may take to answer.
const TIMEOUT: Duration = Duration::from_secs(3);
/// Service attribute of our items, before the profile.
const SERVICE: &str = "countersign";

/// Why a secret could not be read or kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretsError {
    #[error("the keyring is locked")]
    Locked,
    #[error("no keyring was found")]
    Missing,
    #[error("the keyring did not answer in time")]
    TimedOut,
    #[error("the keyring failed: {0}")]
    Failed(String),
}

impl SecretsError {
    /// What the user can do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Locked => describe(KeyringState::Locked, "en").hint,
            Self::Missing => describe(KeyringState::Missing, "en").hint,
            Self::TimedOut => "Look for a password prompt of the keyring, or enter the key for this run only.",
            Self::Failed(_) => "Restart the keyring, or enter the key for this run only.",
        }
    }

    fn reason(&self) -> &'static str {
        match self {
            Self::Locked => "keyring_locked",
            Self::Missing => "keyring_missing",
            Self::TimedOut => "keyring_timeout",
            Self::Failed(_) => "keyring_failed",
        }
    }
}

impl From<Fault> for SecretsError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::State(KeyringState::Locked) => Self::Locked,
            Fault::State(KeyringState::Missing) => Self::Missing,
            Fault::State(KeyringState::Ready) => Self::Failed("it changed its state".to_owned()),
            Fault::Failed(why) => Self::Failed(why),
        }
    }
}

impl From<SecretsError> for AgentError {
    fn from(error: SecretsError) -> Self {
        let message = format!("The secret cannot be read or kept: {error}.");
        Self::new(ErrorCode::InternalError, message).reason(error.reason()).hint(error.hint()).retryable(true)
    }
}

/// One profile's secrets. Cheap to clone.
#[derive(Clone)]
pub struct Keyring {
    service: Arc<Service>,
    this_run: Arc<Mutex<BTreeMap<String, SecretString>>>,
    /// What went in or out since the start: what must not be repeated to anyone.
    exposed: Arc<Mutex<ExposedSecrets>>,
    /// Values set and deleted since the start.
    changes: Arc<AtomicU64>,
    timeout: Duration,
}

impl std::fmt::Debug for Keyring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keyring").field("this_run_only", &self.this_run_names()).finish_non_exhaustive()
    }
}

impl Keyring {
    /// The secrets of a profile (its id keeps profiles apart). Touches nothing yet.
    pub fn new(profile: &str) -> Self {
        Self::with_timeout(profile, TIMEOUT)
    }

    /// The same with another deadline.
    pub fn with_timeout(profile: &str, timeout: Duration) -> Self {
        Self {
            service: Arc::new(Service::new(format!("{SERVICE}/{profile}"), timeout)),
            this_run: Arc::default(),
            exposed: Arc::default(),
            changes: Arc::default(),
            timeout,
        }
    }

    /// Runs blocking work on its own thread. A thread that hangs is left behind: it ends with the process.
    async fn call<T: Send + 'static>(&self, work: impl FnOnce(&Service) -> T + Send + 'static) -> Result<T, SecretsError> {
        let (done, result) = oneshot::channel();
        let service = Arc::clone(&self.service);
        let run = move || {
            // Nobody may be waiting any more.
            let _ = done.send(work(&service));
        };
        std::thread::Builder::new().name("keyring".into()).spawn(run).map_err(|error| SecretsError::Failed(error.to_string()))?;
        match tokio::time::timeout(self.timeout, result).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(_)) => Err(SecretsError::Failed("the call ended early".to_owned())),
            Err(_) => Err(SecretsError::TimedOut),
        }
    }

    /// The keyring's state now; never remembered from before. A keyring that does not answer counts as locked.
    pub async fn state(&self) -> KeyringState {
        match self.call(Service::state).await {
            Ok(state) => state,
            Err(SecretsError::TimedOut | SecretsError::Locked) => KeyringState::Locked,
            Err(SecretsError::Missing | SecretsError::Failed(_)) => KeyringState::Missing,
        }
    }

    /// The value: the one of this run first, then the keyring's. `None` = there is none; a locked keyring is an error.
    pub async fn get(&self, name: &str) -> Result<Option<SecretString>, SecretsError> {
        if let Some(value) = self.lock_memory().get(name) {
            return Ok(Some(value.clone()));
        }
        let name = name.to_owned();
        let found = self.call(move |service| service.get(&name).map(|value| value.map(SecretString::from))).await??;
        Ok(found.inspect(|value| self.note(value)))
    }

    /// Every kept value whose name `wants` says yes to: what nobody may repeat, even before it is used. Each is noted as soon as it is
    /// read, so that a keyring that answers too slowly still counts as far as it came.
    pub async fn read_all(&self, wants: fn(&str) -> bool) -> Result<Vec<(String, SecretString)>, SecretsError> {
        let exposed = Arc::clone(&self.exposed);
        let read = move |service: &Service| -> Result<Vec<(String, SecretString)>, Fault> {
            let mut found = Vec::new();
            for name in service.names()?.into_iter().filter(|name| wants(name)) {
                // An item that somebody deletes or damages meanwhile is none; the others count.
                let Ok(Some(value)) = service.get(&name) else { continue };
                let value = SecretString::from(value);
                exposed.lock().unwrap_or_else(PoisonError::into_inner).note(&value, None, Instant::now());
                found.push((name, value));
            }
            Ok(found)
        };
        self.call(read).await?.map_err(SecretsError::from)
    }

    /// Keeps the value in the keyring; one for this run only is dropped then.
    pub async fn set(&self, name: &str, value: SecretString) -> Result<(), SecretsError> {
        let key = name.to_owned();
        self.note(&value);
        let set = self.call(move |service| service.set(&key, value.expose_secret())).await;
        // One that was given up may have happened.
        self.count_change();
        set??;
        self.lock_memory().remove(name);
        Ok(())
    }

    /// Keeps the value in memory until the program ends.
    pub fn set_for_this_run(&self, name: &str, value: SecretString) {
        self.note(&value);
        self.lock_memory().insert(name.to_owned(), value);
        self.count_change();
    }

    /// Removes the value from memory and from the keyring. False when there was none. When only memory held it, the
    /// keyring's state does not matter.
    pub async fn delete(&self, name: &str) -> Result<bool, SecretsError> {
        let in_memory = self.lock_memory().remove(name).is_some();
        let key = name.to_owned();
        let deleted = self.call(move |service| service.delete(&key)).await;
        self.count_change();
        match deleted {
            Ok(Ok(in_keyring)) => Ok(in_memory || in_keyring),
            Ok(Err(_)) | Err(_) if in_memory => Ok(true),
            Ok(Err(fault)) => Err(fault.into()),
            Err(error) => Err(error),
        }
    }

    /// Names that have a value, sorted: those of this run, and the keyring's when it is ready.
    pub async fn set_names(&self) -> Vec<String> {
        let mut names = self.this_run_names();
        if let Ok(Ok(kept)) = self.call(Service::names).await {
            names.extend(kept);
        }
        names.sort();
        names.dedup();
        names
    }

    /// Names whose value lives in memory only.
    pub fn this_run_names(&self) -> Vec<String> {
        self.lock_memory().keys().cloned().collect()
    }

    /// `get` for threads that are not asynchronous: for the audit log's outside copy, which is no secret and counts as none.
    pub fn get_blocking(&self, name: &str) -> Result<Option<SecretString>, SecretsError> {
        if let Some(value) = self.lock_memory().get(name) {
            return Ok(Some(value.clone()));
        }
        let name = name.to_owned();
        Ok(self.wait(move |service| service.get(&name))??.map(SecretString::from))
    }

    /// `set` for the same.
    pub fn set_blocking(&self, name: &str, value: SecretString) -> Result<(), SecretsError> {
        let key = name.to_owned();
        self.wait(move |service| service.set(&key, value.expose_secret()))??;
        self.lock_memory().remove(name);
        Ok(())
    }

    /// `state` for threads that are not asynchronous.
    pub fn state_blocking(&self) -> KeyringState {
        match self.wait(Service::state) {
            Ok(state) => state,
            Err(SecretsError::TimedOut | SecretsError::Locked) => KeyringState::Locked,
            Err(SecretsError::Missing | SecretsError::Failed(_)) => KeyringState::Missing,
        }
    }

    fn wait<T: Send + 'static>(&self, work: impl FnOnce(&Service) -> T + Send + 'static) -> Result<T, SecretsError> {
        let (done, result) = std::sync::mpsc::channel();
        let service = Arc::clone(&self.service);
        let run = move || {
            let _ = done.send(work(&service));
        };
        std::thread::Builder::new().name("keyring".into()).spawn(run).map_err(|error| SecretsError::Failed(error.to_string()))?;
        result.recv_timeout(self.timeout).map_err(|_| SecretsError::TimedOut)
    }

    /// Values that went in or out since the start, each once, oldest first, but for those that have ended some time ago.
    pub fn exposed(&self) -> Vec<SecretString> {
        self.lock_exposed().values()
    }

    /// Another number whenever these are others.
    pub fn exposed_generation(&self) -> u64 {
        self.lock_exposed().generation()
    }

    /// How often a value was set or deleted by this program; what was read before the last time may be another now.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    fn count_change(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
    }

    /// Notes a value that must not be repeated to anyone, such as a part of one that is kept here.
    pub fn note(&self, value: &SecretString) {
        self.lock_exposed().note(value, None, Instant::now());
    }

    /// The same of a value that ends by itself after so long.
    pub fn note_for(&self, value: &SecretString, lasts: Duration) {
        let now = Instant::now();
        self.lock_exposed().note(value, now.checked_add(lasts), now);
    }

    fn lock_exposed(&self) -> std::sync::MutexGuard<'_, ExposedSecrets> {
        self.exposed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_memory(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, SecretString>> {
        self.this_run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
