//! Credentials that tools of packs need: from the keyring, else (where a profile allows it) from the environment. Each pack
//! has its own, so that one pack never gets what was entered for another.

use std::sync::{Arc, Mutex, PoisonError};

use contract::{AgentError, CredentialState, CredentialView, ToolSpec, ToolTarget, manifest::ServerEntry};
use engine::ports::Clock;
use packs::LoadedPack;
use secrecy::SecretString;
use secrets::{Keyring, SecretsError};

use crate::{definitions::key, elsewhere, known, moment::Moment};

/// Keys of the app's own in the environment of a terminal.
const OWN: &[&str] = &["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"];

/// How the keyring entries of packs' credentials begin.
pub(crate) const OF_PACKS: &str = "credential/";

/// Where credentials come from.
pub(crate) struct Credentials {
    keyring: Arc<Keyring>,
    /// How a variable is read; `None` where the environment does not count.
    environment: Option<fn(&str) -> Option<String>>,
    clock: Arc<dyn Clock>,
    /// Entries that were there a moment ago.
    there: Mutex<Vec<(String, Moment)>>,
}

/// The variable a tool's credential is named after, when the host itself has to give it.
pub(crate) fn needed(spec: &ToolSpec) -> Option<&str> {
    match spec.target {
        ToolTarget::Http { .. } | ToolTarget::Program { .. } => spec.auth.as_ref()?.env_var.as_deref(),
        ToolTarget::BuiltIn { .. } | ToolTarget::Mcp { .. } => None,
    }
}

/// The keyring entry of a credential.
pub(crate) fn entry(pack: &str, variable: &str) -> String {
    format!("{OF_PACKS}{pack}/{variable}")
}

/// The keyring entry of a credential by the name that the settings page uses (`pack/NAME`), if a pack declares it.
pub(crate) fn entry_of(packs: &[LoadedPack], name: &str) -> Option<String> {
    let (pack, variable) = name.split_once('/')?;
    all(packs, &|_| true).any(|one| one.pack.view.id.as_str() == pack && one.variable == variable).then(|| entry(pack, variable))
}

/// A credential that a pack declares, and who needs it.
struct Declared<'a> {
    pack: &'a LoadedPack,
    variable: &'a str,
    who: &'a str,
    /// Comes from this process's environment, too, in a terminal or not.
    inherited: bool,
}

/// All of them; what a server elsewhere is shown counts only where `stands_in` says so.
fn all<'a>(packs: &'a [LoadedPack], stands_in: &'a dyn Fn(&str) -> bool) -> impl Iterator<Item = Declared<'a>> {
    let elsewhere = elsewhere::declared(packs)
        .filter(move |(pack, server, _)| stands_in(&key(&pack.view.id, &server.name)))
        .map(|(pack, server, other)| Declared { pack, variable: &other.client_secret, who: &server.name, inherited: false });
    let of_tools = tools(packs).filter_map(|(pack, spec)| Some(Declared { pack, variable: needed(spec)?, who: &spec.title, inherited: false }));
    let servers = packs
        .iter()
        .filter_map(|loaded| loaded.pack.as_ref().map(|pack| (loaded, pack)))
        .flat_map(|(loaded, pack)| pack.manifest.servers.iter().map(move |server| (loaded, server)));
    let of_servers = servers.flat_map(|(pack, server)| {
        let variables = of_server(server).map(|variable| (variable, false)).chain(entered(server).map(|variable| (variable, true)));
        variables.map(move |(variable, inherited)| Declared { pack, variable, who: &server.name, inherited })
    });
    of_tools.chain(of_servers).chain(elsewhere)
}

/// Variables of a server's program that can be entered as credentials, as their names say; none of the app's own. It may do without.
pub(crate) fn entered(server: &ServerEntry) -> impl Iterator<Item = &str> {
    server.env.iter().map(String::as_str).filter(|name| known::names_credential(name) && !OWN.contains(name))
}

/// The credentials that a server elsewhere is shown, and cannot be reached without.
pub(crate) fn of_server(server: &ServerEntry) -> impl Iterator<Item = &str> {
    let http = server.http.iter();
    http.flat_map(|http| http.auth.iter().filter_map(|auth| auth.env_var.as_deref()).chain(http.headers.values().map(String::as_str)))
}

fn tools(packs: &[LoadedPack]) -> impl Iterator<Item = (&LoadedPack, &ToolSpec)> {
    packs.iter().flat_map(|loaded| loaded.view.tools.iter().map(move |spec| (loaded, spec)))
}

impl Credentials {
    pub(crate) fn new(keyring: Arc<Keyring>, clock: Arc<dyn Clock>, from_environment: bool) -> Self {
        let process: fn(&str) -> Option<String> = |name| std::env::var(name).ok();
        Self::reading(keyring, clock, from_environment.then_some(process))
    }

    /// With another environment.
    pub(crate) fn reading(keyring: Arc<Keyring>, clock: Arc<dyn Clock>, environment: Option<fn(&str) -> Option<String>>) -> Self {
        Self { keyring, environment, clock, there: Mutex::default() }
    }

    /// What a tool needs. `None` when it needs nothing.
    pub(crate) async fn of(&self, spec: &ToolSpec) -> Result<Option<SecretString>, AgentError> {
        let Some(variable) = needed(spec) else { return Ok(None) };
        self.named(spec.pack.as_str(), variable, &spec.title).await.map(Some)
    }

    /// Says what is missing for `who`, if anything is.
    pub(crate) async fn check(&self, pack: &str, variable: &str, who: &str) -> Result<(), AgentError> {
        let (entry, now) = (entry(pack, variable), Moment::new(self.clock.now(), self.keyring.changes()));
        let there = || self.there.lock().unwrap_or_else(PoisonError::into_inner);
        if there().iter().any(|(known, at)| *known == entry && at.stands(now)) {
            return Ok(());
        }
        self.named(pack, variable, who).await?;
        let mut there = there();
        there.retain(|(known, at)| *known != entry && at.stands(now));
        there.push((entry, now));
        Ok(())
    }

    /// Whether a variable holds a key of the app's own, which no program of a pack is given.
    pub(crate) fn is_secret(&self, variable: &str) -> bool {
        OWN.contains(&variable)
    }

    /// A credential of a pack, by name; `who` needs it.
    pub(crate) async fn named(&self, pack: &str, variable: &str, who: &str) -> Result<SecretString, AgentError> {
        let found = self.keyring.get(&entry(pack, variable)).await;
        let failed = match found {
            Ok(Some(value)) => return Ok(value),
            Ok(None) => None,
            Err(error) => Some(error),
        };
        if let Some(value) = self.variable(variable) {
            return Ok(value);
        }
        // A locked keyring may hold it: then unlocking is what helps.
        if let Some(error @ (SecretsError::Locked | SecretsError::TimedOut)) = failed {
            let hint = error.hint();
            return Err(AgentError::internal("tool_config_error", format!("{who} needs the key {variable}, and {error}.")).hint(hint));
        }
        let hint = if self.environment.is_some() {
            format!("Enter it in the window under Settings, \u{201c}Keys and access of packs\u{201d}, or set the variable {variable}.")
        } else {
            "Enter it in Settings under \u{201c}Keys and access of packs\u{201d}.".to_owned()
        };
        Err(AgentError::internal("tool_config_error", format!("{who} needs the key {variable}, which is not stored.")).hint(hint))
    }

    /// A variable that is no secret, where the environment counts.
    pub(crate) fn plain_variable(&self, name: &str) -> Option<String> {
        self.environment?(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// A secret of the environment, where that counts.
    pub(crate) fn variable(&self, name: &str) -> Option<SecretString> {
        let value = self.environment?(name)?;
        (!value.trim().is_empty()).then(|| SecretString::from(value.trim().to_owned()))
    }

    /// Every credential that a usable pack declares, with where it comes from.
    /// The secret of a server elsewhere is asked for only while that stands in (`stands_in`, by the server's key).
    pub(crate) async fn views(&self, packs: &[LoadedPack], stands_in: &(dyn Fn(&str) -> bool + Sync)) -> Vec<CredentialView> {
        let mut views: Vec<CredentialView> = Vec::new();
        let (kept, this_run) = (self.keyring.set_names().await, self.keyring.this_run_names());
        for Declared { pack: loaded, variable, who, inherited } in all(packs, stands_in) {
            let name = format!("{}/{variable}", loaded.view.id);
            if let Some(known) = views.iter_mut().find(|view| view.name == name) {
                known.tools.push(who.to_owned());
                continue;
            }
            let entry = entry(loaded.view.id.as_str(), variable);
            let state = if this_run.contains(&entry) {
                CredentialState::ThisRun
            } else if kept.contains(&entry) {
                CredentialState::Stored
            } else if self.variable(variable).is_some() || (inherited && std::env::var_os(variable).is_some()) {
                CredentialState::Environment
            } else {
                CredentialState::Missing
            };
            views.push(CredentialView {
                name,
                pack: loaded.view.id.clone(),
                pack_title: loaded.view.title.clone(),
                env_var: variable.to_owned(),
                tools: vec![who.to_owned()],
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

    /// Milliseconds.
    struct Time(AtomicI64);

    impl Clock for Time {
        fn now(&self) -> DateTime<Utc> {
            DateTime::UNIX_EPOCH + TimeDelta::milliseconds(self.0.load(Ordering::SeqCst))
        }
    }

    #[tokio::test]
    async fn what_was_there_a_moment_ago_is_not_looked_for_again_and_what_was_not_is() {
        static LOOKS: AtomicU32 = AtomicU32::new(0);
        let environment: fn(&str) -> Option<String> = |name| {
            LOOKS.fetch_add(1, Ordering::SeqCst);
            (name == "THERE").then(|| "value".to_owned())
        };
        let time = Arc::new(Time(AtomicI64::new(0)));
        // It never answers in time: the environment does.
        let keyring = Arc::new(Keyring::with_timeout("test", Duration::ZERO));
        let credentials = Credentials::reading(Arc::clone(&keyring), Arc::clone(&time) as _, Some(environment));
        let looks = async |name: &str, found: bool| {
            let before = LOOKS.load(Ordering::SeqCst);
            assert_eq!(credentials.check("pack", name, "who").await.is_ok(), found, "{name}");
            LOOKS.load(Ordering::SeqCst) - before
        };
        assert_eq!((looks("THERE", true).await, looks("THERE", true).await), (1, 0));
        assert_eq!((looks("MISSING", false).await, looks("MISSING", false).await), (1, 1));
        time.0.store(1_999, Ordering::SeqCst);
        assert_eq!(looks("THERE", true).await, 0);
        time.0.store(2_000, Ordering::SeqCst);
        assert_eq!((looks("THERE", true).await, looks("THERE", true).await), (1, 0));
        keyring.set_for_this_run("another", SecretString::from("secret"));
        assert_eq!((looks("THERE", true).await, looks("THERE", true).await), (1, 0), "what this program changes counts at once");
    }
}
