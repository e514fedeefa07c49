//! The secrets that are known now, with the matcher that finds them in texts and values.

use std::sync::Arc;

use contract::AgentError;
use parking_lot::Mutex;
use redaction::Exact;
use secrecy::ExposeSecret as _;
use serde_json::Value;

use crate::ports::{Secrets, World};

/// The secrets that are known now. The matcher is rebuilt when the secrets change.
pub struct KnownSecrets {
    secrets: Arc<dyn Secrets>,
    /// The matcher, with the generation of its secrets.
    kept: Mutex<Option<(u64, Arc<Exact>)>>,
}

impl KnownSecrets {
    pub(crate) fn new(world: &World) -> Self {
        Self { secrets: Arc::clone(&world.secrets), kept: Mutex::default() }
    }

    /// Loads secrets that another program may have stored.
    pub(crate) async fn reload(&self) {
        self.secrets.reload_secrets().await;
    }

    /// Returns the matcher for all secrets that are known now.
    pub(crate) fn matcher(&self) -> Arc<Exact> {
        self.current().1
    }

    /// Returns the matcher for all secrets that are known now, with their generation.
    pub(crate) fn current(&self) -> (u64, Arc<Exact>) {
        let generation = self.secrets.generation();
        let mut kept = self.kept.lock();
        match &*kept {
            Some((of, exact)) if *of == generation => (generation, Arc::clone(exact)),
            _ => {
                let values = self.secrets.values();
                let exact = Arc::new(Exact::new(values.iter().map(|value| value.expose_secret())));
                *kept = Some((generation, Arc::clone(&exact)));
                (generation, exact)
            }
        }
    }

    /// Refuses arguments that contain a stored key, because arguments are recorded and shown.
    /// Removing the key would change the call.
    pub(crate) fn check_no_secret(&self, arguments: &Value) -> Result<(), AgentError> {
        if !self.holds_secret(arguments) {
            return Ok(());
        }
        Err(AgentError::invalid("The arguments contain a stored key, and arguments are recorded. The tool was not called.")
            .reason("holds_secret")
            .hint("Leave the key out. A tool that needs a key gets it from the keyring: enter it under Settings, \u{201c}Keys and access of packs\u{201d}."))
    }

    /// Whether a value contains a secret that is known now.
    pub fn holds_secret(&self, value: &Value) -> bool {
        let mut scrubbed = value.clone();
        self.matcher().scrub_value(&mut scrubbed);
        scrubbed != *value
    }

    /// Refuses names and ids that contain a stored key, because they are stored unchanged.
    pub(crate) fn check_stored_names(&self, given: &[&str]) -> Result<(), AgentError> {
        if given.iter().any(|text| self.holds_secret(&Value::from(*text))) {
            Err(key_refused_error())
        } else {
            Ok(())
        }
    }

    /// Reads the stored keys again and refuses a value that contains one of them.
    pub async fn check_keepable(&self, value: &Value) -> Result<(), AgentError> {
        self.reload().await;
        if self.holds_secret(value) { Err(key_refused_error()) } else { Ok(()) }
    }
}

/// Returns the error for a stored key in a value that would be stored.
pub fn key_refused_error() -> AgentError {
    AgentError::invalid("The request contains a stored key where a name, an id or a setting belongs. Nothing was done.")
        .reason("holds_secret")
        .hint("Leave the key out. Enter keys only in Settings. If it is not a key, look for an environment variable with this value and rename it.")
}
