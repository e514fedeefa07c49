//! Reads the credentials of packs' tools from the keyring or, if the profile allows it, from the
//! environment. Each pack and each of its servers has its own credentials, so that a credential
//! reaches neither another pack nor a changed address.

use std::sync::Arc;

use contract::{AgentError, CredentialState, CredentialView, PackId, text};
use engine::ports::Clock;
use parking_lot::Mutex;
use secrecy::SecretString;
use secrets::{Keyring, SecretsError};

use super::{
    cache::CacheStamp,
    destination::{Declared, Destination},
    names::{entry_name, is_app_key},
};

/// The sources of credentials.
pub(crate) struct Credentials {
    keyring: Arc<Keyring>,
    /// The function that reads an environment variable. None if the environment must not be used.
    environment: Option<fn(&str) -> Option<String>>,
    clock: Arc<dyn Clock>,
    /// The keyring entries that were recently found, with the time of the check.
    there: Mutex<Vec<(String, CacheStamp)>>,
}

impl Credentials {
    pub(crate) fn new(
        keyring: Arc<Keyring>,
        clock: Arc<dyn Clock>,
        from_environment: bool,
    ) -> Self {
        let process: fn(&str) -> Option<String> = |name| std::env::var(name).ok();
        Self::with_environment(keyring, clock, from_environment.then_some(process))
    }

    /// Makes the sources, with the given function to read the environment.
    pub(crate) fn with_environment(
        keyring: Arc<Keyring>,
        clock: Arc<dyn Clock>,
        environment: Option<fn(&str) -> Option<String>>,
    ) -> Self {
        Self { keyring, environment, clock, there: Mutex::default() }
    }

    /// Checks that a credential exists. The error names the missing credential and the tool or
    /// server `who` that needs it.
    pub(crate) async fn check_credential(
        &self,
        pack: &str,
        variable: &str,
        to: &Destination,
        who: &str,
    ) -> Result<(), AgentError> {
        let entry = format!("{} {to:?}", entry_name(pack, variable));
        let now = CacheStamp::new(self.clock.now(), self.keyring.changes());
        let there = || self.there.lock();
        if there().iter().any(|(known, at)| *known == entry && at.is_valid_at(now)) {
            return Ok(());
        }
        self.find_credential(pack, variable, to, who).await?;
        let mut there = there();
        there.retain(|(known, at)| *known != entry && at.is_valid_at(now));
        there.push((entry, now));
        Ok(())
    }

    /// Whether a variable contains a key of the app itself. Programs of packs never get such a
    /// variable.
    pub(crate) fn is_app_key(&self, variable: &str) -> bool {
        is_app_key(variable)
    }

    /// Returns a pack's credential by name, for its destination. `who` is the tool or server that
    /// needs it. A stored credential is sent only to the servers for which it was entered. An
    /// environment variable names no server, so its value is sent to the configured address.
    pub(crate) async fn find_credential(
        &self,
        pack: &str,
        variable: &str,
        to: &Destination,
        who: &str,
    ) -> Result<SecretString, AgentError> {
        let found = match to.entries_for(entry_name(pack, variable)) {
            Some(entries) => entries.get(&self.keyring).await,
            None => Ok(None),
        };
        let failed = match found {
            Ok(Some(value)) => return Ok(value),
            Ok(None) => None,
            Err(error) => Some(error),
        };
        // An added server gets only keys that were entered for it, and no variable of this process.
        let is_added = PackId::from(pack).is_of_added_server();
        if !is_added && let Some(value) = self.read_variable(variable) {
            return Ok(value);
        }
        // A locked keyring may contain the credential. The error then asks the user to unlock the
        // keyring.
        if let Some(error @ (SecretsError::Locked | SecretsError::TimedOut)) = failed {
            let hint = error.hint();
            return Err(AgentError::internal(
                "tool_config_error",
                text!("{who} needs the key {variable}, and {error}.", who, variable, error),
            )
            .hint(hint));
        }
        let hint = if self.environment.is_some() && !is_added {
            text!(
                "Enter it in the window under Settings, \u{201c}Keys and access of packs\u{201d}, or set the variable {variable}.",
                variable
            )
        } else {
            "Enter it in Settings under \u{201c}Keys and access of packs\u{201d}.".into()
        };
        Err(AgentError::internal(
            "tool_config_error",
            text!("{who} needs the key {variable}, which is not stored.", who, variable),
        )
        .hint(hint))
    }

    /// Returns the value of a non-secret environment variable, or `None` if the variable is unset
    /// or blank, or if the environment must not be used.
    pub(crate) fn plain_variable(&self, name: &str) -> Option<String> {
        self.environment?(name)
            .map(|value| value.trim().to_owned())
            .filter(|value| !value.is_empty())
    }

    /// Returns a secret from an environment variable, or `None` if the variable is unset or blank,
    /// or if the environment must not be used.
    pub(crate) fn read_variable(&self, name: &str) -> Option<SecretString> {
        let value = self.environment?(name)?;
        (!value.trim().is_empty()).then(|| SecretString::from(value.trim().to_owned()))
    }

    /// Returns the declared credentials with their sources. A credential for several destinations
    /// counts as set if every destination has it.
    pub(crate) async fn list_views(&self, declared: &[Declared<'_>]) -> Vec<CredentialView> {
        let mut views: Vec<CredentialView> = Vec::new();
        let (kept, this_run) = (self.keyring.set_names().await, self.keyring.this_run_names());
        for Declared { pack: loaded, variable, who, destination, inherited, .. } in declared {
            let name = format!("{}/{variable}", loaded.view.id);
            let entries = destination.entries_for(entry_name(loaded.view.id.as_str(), variable));
            let is_among =
                |names: &[String]| entries.as_ref().is_some_and(|entries| entries.is_among(names));
            let state = if is_among(&this_run) {
                CredentialState::ThisRun
            } else if is_among(&kept) {
                CredentialState::Stored
            } else if !loaded.view.id.is_of_added_server()
                && (self.read_variable(variable).is_some()
                    || (*inherited && std::env::var_os(variable).is_some()))
            {
                CredentialState::Environment
            } else {
                CredentialState::Missing
            };
            if let Some(known) = views.iter_mut().find(|view| view.name == name) {
                known.tools.push((*who).to_owned());
                if state == CredentialState::Missing {
                    known.state = state;
                }
                continue;
            }
            views.push(CredentialView {
                name,
                pack: loaded.view.id.clone(),
                pack_title: loaded.view.title.clone(),
                env_var: (*variable).to_owned(),
                tools: vec![(*who).to_owned()],
                state,
            });
        }
        views
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicI64, AtomicU32, Ordering},
        time::Duration,
    };

    use chrono::{DateTime, TimeDelta, Utc};

    use super::*;

    /// The time in milliseconds.
    struct Time(AtomicI64);

    impl Clock for Time {
        fn now(&self) -> DateTime<Utc> {
            DateTime::UNIX_EPOCH + TimeDelta::milliseconds(self.0.load(Ordering::SeqCst))
        }
    }

    #[tokio::test]
    async fn a_found_key_is_cached_briefly_and_a_missing_key_is_not() {
        static LOOKS: AtomicU32 = AtomicU32::new(0);
        let environment: fn(&str) -> Option<String> = |name| {
            LOOKS.fetch_add(1, Ordering::SeqCst);
            (name == "THERE").then(|| "value".to_owned())
        };
        let time = Arc::new(Time(AtomicI64::new(0)));
        // This keyring never answers in time, so the environment is used.
        let keyring = Arc::new(Keyring::with_timeout("test", Duration::ZERO));
        let credentials = Credentials::with_environment(
            Arc::clone(&keyring),
            Arc::clone(&time) as _,
            Some(environment),
        );
        let looks = async |name: &str, found: bool| {
            let before = LOOKS.load(Ordering::SeqCst);
            assert_eq!(
                credentials
                    .check_credential("pack", name, &Destination::Program, "who")
                    .await
                    .is_ok(),
                found,
                "{name}"
            );
            LOOKS.load(Ordering::SeqCst) - before
        };
        assert_eq!((looks("THERE", true).await, looks("THERE", true).await), (1, 0));
        assert_eq!((looks("MISSING", false).await, looks("MISSING", false).await), (1, 1));
        time.0.store(1_999, Ordering::SeqCst);
        assert_eq!(looks("THERE", true).await, 0);
        time.0.store(2_000, Ordering::SeqCst);
        assert_eq!((looks("THERE", true).await, looks("THERE", true).await), (1, 0));
        keyring.set_for_this_run("another", SecretString::from("secret"));
        assert_eq!(
            (looks("THERE", true).await, looks("THERE", true).await),
            (1, 0),
            "what this program changes counts at once"
        );
    }
}
