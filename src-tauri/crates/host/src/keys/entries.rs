//! Names the keyring entries of keys for servers. An entry contains the server's origin, so that a
//! key is never sent to a changed address. Entries of version 0.1, named after the host alone or
//! without a server, are renamed if they certainly belong to the server.

use contract::address::Origin;
use secrecy::SecretString;
use secrets::{Keyring, SecretsError};

/// How an entry of version 0.1 is used. The entry's name contains no server, so the entry belongs
/// only to the address in the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstVersion {
    /// The entry is ignored, because it belongs to another server.
    Ignored,
    Moved,
    /// The entry is read and kept, because the pack also uses the key for other servers.
    Shared,
}

/// The names of the keyring entries of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entries {
    /// The current entry names of the key. The first entry is read.
    names: Vec<String>,
    /// The names of the entries in version 0.1.
    legacy: Vec<String>,
    /// Whether an entry of version 0.1 is kept after reading.
    keeps_legacy: bool,
}

/// Returns the entry name of a key for a server.
pub(crate) fn entry_name(name: &str, server: &Origin) -> String {
    format!("{name}@{server}")
}

impl Entries {
    /// Returns the entries of a pack's key for its own program. `name` is the entry of version 0.1,
    /// which a server of the pack may still use.
    pub(crate) fn of_program(name: String) -> Self {
        Self { names: vec![format!("{name}@program")], legacy: vec![name], keeps_legacy: true }
    }

    /// Returns the entries of a pack's key for these servers. `name` is the entry of version 0.1.
    pub(crate) fn of_servers(
        name: String,
        servers: &[Origin],
        first_version: FirstVersion,
    ) -> Self {
        let servers: Vec<String> = servers.iter().map(ToString::to_string).collect();
        let names = vec![format!("{name}@{}", servers.join(" "))];
        let legacy = if first_version == FirstVersion::Ignored { Vec::new() } else { vec![name] };
        Self { names, legacy, keeps_legacy: first_version == FirstVersion::Shared }
    }

    /// Joins the entries of a key that has several destinations.
    pub(crate) fn join(all: impl Iterator<Item = Self>) -> Option<Self> {
        all.reduce(|mut all, one| {
            all.names.extend(one.names);
            all.legacy.extend(one.legacy);
            all.names.dedup();
            let names = &all.names;
            all.legacy.retain(|old| !names.contains(old));
            all
        })
    }

    /// Returns the entries of a model server's key. `typed` is the address as it is written in the
    /// settings.
    pub(crate) fn of_server(key: &str, server: &Origin, typed: &str) -> Self {
        let typed = typed.trim().split_once("://").map_or(typed, |(_, rest)| rest);
        let typed = typed.split(['/', '?']).next().unwrap_or(typed).to_lowercase();
        let host = server.host_and_port();
        let mut legacy: Vec<String> = Vec::new();
        for name in [format!("{host}:443"), format!("{host}:80"), typed, host] {
            if server.had_legacy_name(&name) {
                legacy.push(format!("{key}@{name}"));
            }
        }
        legacy.sort();
        legacy.dedup();
        Self { names: vec![entry_name(key, server)], legacy, keeps_legacy: false }
    }

    /// Reads the key, and renames its entry if the entry has an old name.
    pub(crate) async fn get(
        &self,
        keyring: &Keyring,
    ) -> Result<Option<SecretString>, SecretsError> {
        let Some(name) = self.names.first() else { return Ok(None) };
        if let Some(value) = keyring.get(name).await? {
            return Ok(Some(value));
        }
        for old in &self.legacy {
            let Some(value) = keyring.get(old).await? else { continue };
            // If the keyring cannot store the entry now, the next read tries again.
            if keyring.set(name, value.clone()).await.is_ok() && !self.keeps_legacy {
                let _ = keyring.delete(old).await;
            }
            return Ok(Some(value));
        }
        Ok(None)
    }

    /// Stores the key under every current name, and deletes the old entries.
    pub(crate) async fn set(
        &self,
        keyring: &Keyring,
        value: &SecretString,
    ) -> Result<(), SecretsError> {
        for name in &self.names {
            keyring.set(name, value.clone()).await?;
        }
        for old in &self.legacy {
            let _ = keyring.delete(old).await;
        }
        Ok(())
    }

    /// Keeps the key in memory until the program ends.
    pub(crate) fn set_for_this_run(&self, keyring: &Keyring, value: &SecretString) {
        for name in &self.names {
            keyring.set_for_this_run(name, value.clone());
        }
    }

    /// Deletes the key under every name.
    pub(crate) async fn delete(&self, keyring: &Keyring) -> Result<(), SecretsError> {
        for name in self.names.iter().chain(&self.legacy) {
            keyring.delete(name).await?;
        }
        Ok(())
    }

    /// Whether the key is stored under one of these entry names.
    pub(crate) fn is_among(&self, kept: &[String]) -> bool {
        self.names.iter().chain(&self.legacy).any(|name| kept.contains(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keyring_entries_are_named_after_the_origin_that_requests_reach() {
        let of = |text: &str| {
            let entries = Entries::of_server("KEY", &Origin::parse(text).unwrap(), text);
            (entries.names.join(" "), entries.legacy.join(" "))
        };
        let both = |new: &str, old: &str| (new.to_owned(), old.to_owned());
        assert_eq!(
            of("https://API.example.com/v1"),
            both("KEY@https://api.example.com", "KEY@api.example.com KEY@api.example.com:443")
        );
        assert_eq!(
            of("http://127.0.0.1:1234/v1"),
            both("KEY@http://127.0.0.1:1234", "KEY@127.0.0.1:1234")
        );
        assert_eq!(
            of("http:127.0.0.1:1234/x://api.example.com/v1"),
            both("KEY@http://127.0.0.1:1234", "KEY@127.0.0.1:1234")
        );
        assert_eq!(of("http://gpu.example:8000/v1"), both("KEY@http://gpu.example:8000", ""));
        assert_eq!(
            of("https://b\u{fc}cher.example").1,
            "KEY@b\u{fc}cher.example KEY@xn--bcher-kva.example KEY@xn--bcher-kva.example:443"
        );
    }
}
