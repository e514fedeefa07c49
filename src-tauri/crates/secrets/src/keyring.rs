//! The handle to the keyring for the rest of the app. Every call runs on a separate thread with a
//! deadline, so that a keyring that waits for a password blocks neither a turn nor the end of the
//! program.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use std::time::{Duration, Instant};

use contract::{AgentError, ErrorCode, KeyringState, Param, Text, ToParam, text};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::oneshot;

use crate::exposed::ExposedSecrets;
use crate::service::{Fault, Service};
use crate::texts::describe;

/// The maximum time that a keyring may take to answer.
const TIMEOUT: Duration = Duration::from_secs(3);
/// The service attribute of the app's items, before the profile.
const SERVICE: &str = "countersign";

/// Why a secret could not be read or stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
pub enum SecretsError {
    Locked,
    Missing,
    TimedOut,
    Failed(String),
}

impl SecretsError {
    /// Returns what is wrong, as a part of a sentence.
    pub fn text(&self) -> Text {
        match self {
            Self::Locked => "the keyring is locked".into(),
            Self::Missing => "no keyring was found".into(),
            Self::TimedOut => "the keyring did not answer in time".into(),
            Self::Failed(why) => text!("the keyring failed: {why}", why),
        }
    }

    /// Returns what the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Locked => describe(KeyringState::Locked, "en").hint,
            Self::Missing => describe(KeyringState::Missing, "en").hint,
            Self::TimedOut => {
                "Look for a password prompt of the keyring, or enter the key for this run only."
            }
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

impl ToParam for SecretsError {
    fn to_param(&self) -> Param {
        self.text().to_param()
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
        let message = text!("The secret cannot be read or kept: {error}.", error);
        Self::new(ErrorCode::InternalError, message)
            .reason(error.reason())
            .hint(error.hint())
            .retryable(true)
    }
}

/// The secrets of one profile. Cheap to clone.
#[derive(Clone)]
pub struct Keyring {
    service: Arc<Service>,
    this_run: Arc<Mutex<BTreeMap<String, SecretString>>>,
    /// The secrets read or stored since the program started, which must never be shown.
    exposed: Arc<Mutex<ExposedSecrets>>,
    /// How many values were set or deleted since the program started.
    changes: Arc<AtomicU64>,
    timeout: Duration,
}

impl std::fmt::Debug for Keyring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keyring")
            .field("this_run_only", &self.this_run_names())
            .finish_non_exhaustive()
    }
}

impl Keyring {
    /// Creates the handle to a profile's secrets. `profile` is its id, which keeps profiles apart.
    /// Does not access the keyring.
    pub fn new(profile: &str) -> Self {
        Self::with_timeout(profile, TIMEOUT)
    }

    /// Does the same as `new`, with another timeout.
    pub fn with_timeout(profile: &str, timeout: Duration) -> Self {
        Self {
            service: Arc::new(Service::new(format!("{SERVICE}/{profile}"), timeout)),
            this_run: Arc::default(),
            exposed: Arc::default(),
            changes: Arc::default(),
            timeout,
        }
    }

    /// Runs blocking work on a separate thread. A thread that hangs is abandoned and ends with the
    /// process.
    async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Service) -> T + Send + 'static,
    ) -> Result<T, SecretsError> {
        let (done, result) = oneshot::channel();
        let service = Arc::clone(&self.service);
        let run = move || {
            // The send fails if the receiver has given up.
            let _ = done.send(work(&service));
        };
        std::thread::Builder::new()
            .name("keyring".into())
            .spawn(run)
            .map_err(|error| SecretsError::Failed(error.to_string()))?;
        match tokio::time::timeout(self.timeout, result).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(_)) => Err(SecretsError::Failed("the call ended early".to_owned())),
            Err(_) => Err(SecretsError::TimedOut),
        }
    }

    /// Returns the current state of the keyring, which is never cached. A keyring that does not
    /// answer counts as locked.
    pub async fn state(&self) -> KeyringState {
        match self.call(Service::state).await {
            Ok(state) => state,
            Err(SecretsError::TimedOut | SecretsError::Locked) => KeyringState::Locked,
            Err(SecretsError::Missing | SecretsError::Failed(_)) => KeyringState::Missing,
        }
    }

    /// Returns a value: the value that is kept in memory, or else the keyring's value. Returns None
    /// if neither exists, and an error if the keyring is locked.
    pub async fn get(&self, name: &str) -> Result<Option<SecretString>, SecretsError> {
        if let Some(value) = self.lock_memory().get(name) {
            return Ok(Some(value.clone()));
        }
        let name = name.to_owned();
        let found = self
            .call(move |service| service.get(&name).map(|value| value.map(SecretString::from)))
            .await??;
        Ok(found.inspect(|value| self.note(value)))
    }

    /// Reads all stored values whose name `wants` accepts, so that the values are known as secrets
    /// before they are used. Each value is noted as soon as it is read, so that a timeout loses
    /// only the remaining values.
    pub async fn read_all(
        &self,
        wants: fn(&str) -> bool,
    ) -> Result<Vec<(String, SecretString)>, SecretsError> {
        let exposed = Arc::clone(&self.exposed);
        let read = move |service: &Service| -> Result<Vec<(String, SecretString)>, Fault> {
            let mut found = Vec::new();
            for name in service.names()?.into_iter().filter(|name| wants(name)) {
                // An item that was deleted or damaged in the meantime is skipped.
                let Ok(Some(value)) = service.get(&name) else { continue };
                let value = SecretString::from(value);
                exposed.lock().note(&value, None, Instant::now());
                found.push((name, value));
            }
            Ok(found)
        };
        self.call(read).await?.map_err(SecretsError::from)
    }

    /// Stores a value in the keyring, and removes the value that is kept in memory.
    pub async fn set(&self, name: &str, value: SecretString) -> Result<(), SecretsError> {
        let key = name.to_owned();
        self.note(&value);
        let set = self.call(move |service| service.set(&key, value.expose_secret())).await;
        // A call that timed out may still have taken effect.
        self.count_change();
        set??;
        self.lock_memory().remove(name);
        Ok(())
    }

    /// Keeps a value in memory until the program ends.
    pub fn set_for_this_run(&self, name: &str, value: SecretString) {
        self.note(&value);
        self.lock_memory().insert(name.to_owned(), value);
        self.count_change();
    }

    /// Removes a value from memory and from the keyring. Returns false if the value did not exist.
    /// If the value was in memory only, the keyring's state does not matter.
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

    /// Returns the sorted names that have a value: the names in memory and, if the keyring is
    /// ready, the stored names.
    pub async fn set_names(&self) -> Vec<String> {
        let mut names = self.this_run_names();
        if let Ok(Ok(kept)) = self.call(Service::names).await {
            names.extend(kept);
        }
        names.sort();
        names.dedup();
        names
    }

    /// Returns the sorted names whose value is in memory only.
    pub fn this_run_names(&self) -> Vec<String> {
        self.lock_memory().keys().cloned().collect()
    }

    /// Does the same as `get`, but blocks. The audit log uses this function for the copy of its
    /// newest checkpoint, which is not a secret and is not noted as a secret.
    pub fn get_blocking(&self, name: &str) -> Result<Option<SecretString>, SecretsError> {
        if let Some(value) = self.lock_memory().get(name) {
            return Ok(Some(value.clone()));
        }
        let name = name.to_owned();
        Ok(self.wait(move |service| service.get(&name))??.map(SecretString::from))
    }

    /// Does the same as `set`, but blocks. For the audit log's copy, too.
    pub fn set_blocking(&self, name: &str, value: SecretString) -> Result<(), SecretsError> {
        let key = name.to_owned();
        self.wait(move |service| service.set(&key, value.expose_secret()))??;
        self.lock_memory().remove(name);
        Ok(())
    }

    /// Does the same as `state`, but blocks.
    pub fn state_blocking(&self) -> KeyringState {
        match self.wait(Service::state) {
            Ok(state) => state,
            Err(SecretsError::TimedOut | SecretsError::Locked) => KeyringState::Locked,
            Err(SecretsError::Missing | SecretsError::Failed(_)) => KeyringState::Missing,
        }
    }

    fn wait<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Service) -> T + Send + 'static,
    ) -> Result<T, SecretsError> {
        let (done, result) = std::sync::mpsc::channel();
        let service = Arc::clone(&self.service);
        let run = move || {
            let _ = done.send(work(&service));
        };
        std::thread::Builder::new()
            .name("keyring".into())
            .spawn(run)
            .map_err(|error| SecretsError::Failed(error.to_string()))?;
        result.recv_timeout(self.timeout).map_err(|_| SecretsError::TimedOut)
    }

    /// Returns the values read or stored since the program started, each once, oldest first,
    /// excluding values that expired some time ago.
    pub fn exposed(&self) -> Vec<SecretString> {
        self.lock_exposed().values()
    }

    /// Returns a number that changes whenever `exposed` changes.
    pub fn exposed_generation(&self) -> u64 {
        self.lock_exposed().generation()
    }

    /// Returns how often this program set or deleted a value. A value read before the last change
    /// may be outdated.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    fn count_change(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
    }

    /// Notes a value that must never be shown, such as a part of a stored one.
    pub fn note(&self, value: &SecretString) {
        self.lock_exposed().note(value, None, Instant::now());
    }

    /// Does the same as `note`, for a value that expires after `lasts`.
    pub fn note_for(&self, value: &SecretString, lasts: Duration) {
        let now = Instant::now();
        self.lock_exposed().note(value, now.checked_add(lasts), now);
    }

    fn lock_exposed(&self) -> parking_lot::MutexGuard<'_, ExposedSecrets> {
        self.exposed.lock()
    }

    fn lock_memory(&self) -> parking_lot::MutexGuard<'_, BTreeMap<String, SecretString>> {
        self.this_run.lock()
    }
}
