//! Keys of models, packs and servers: their entries in the keyring, where each key may be sent, and
//! all values that no model may see. Must not know packs beyond their manifests, nor the caller.

mod cache;
mod credentials;
mod destination;
mod entries;
mod known_secrets;
mod names;
mod own_keys;

use std::{collections::BTreeSet, sync::Arc};

use contract::{AgentError, PackId};
use engine::ports::Clock;
use secrets::Keyring;

pub(crate) use cache::CacheStamp;
pub(crate) use credentials::Credentials;
pub(crate) use destination::{
    Declared, Destination, check_may_carry_key, credential_of_tool, credentials_of_server,
    destination_at, entered_variables, is_shared, needed_credential,
};
pub(crate) use entries::Entries;
use known_secrets::{KnownSecrets, environment_variables};
pub(crate) use known_secrets::{is_credential_name, note_tokens, read_secrets, secret_parts};
pub(crate) use names::{API_KEY, entry_name, is_app_key, tokens_entry};
pub(crate) use own_keys::OwnKeys;

/// The keys of an open profile.
#[derive(Clone)]
pub(crate) struct Keys {
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) credentials: Arc<Credentials>,
}

impl Keys {
    /// Opens the keys of an installation. If `from_environment` is true, credentials may also come
    /// from the environment.
    pub(crate) fn open(installation: &str, clock: Arc<dyn Clock>, from_environment: bool) -> Self {
        let keyring = Arc::new(Keyring::new(installation));
        let credentials = Arc::new(Credentials::new(Arc::clone(&keyring), clock, from_environment));
        Self { keyring, credentials }
    }

    /// Reads the stored keys, so that they are known as secrets before any input is accepted. A
    /// locked or silent keyring only delays this by its timeout.
    pub(crate) async fn learn_secrets(&self) {
        if let Err(error) = read_secrets(&self.keyring).await {
            tracing::info!(%error, "stored keys are not known yet; they are looked for again before each message");
        }
    }

    /// Returns all values that must never reach a model. `declared` are the variables that packs
    /// declare as credentials.
    pub(crate) fn known_secrets(
        &self,
        clock: Arc<dyn Clock>,
        declared: &BTreeSet<String>,
    ) -> KnownSecrets {
        KnownSecrets::new(Arc::clone(&self.keyring), clock, declared, environment_variables())
    }

    /// Deletes a key of a pack for every destination for which the key was entered, including
    /// addresses that are no longer configured.
    pub(crate) async fn delete_pack_key(
        &self,
        pack: &str,
        variable: &str,
    ) -> Result<(), AgentError> {
        let name = entry_name(pack, variable);
        let at = format!("{name}@");
        let mut names = self.keyring.set_names().await;
        names.retain(|known| *known == name || known.starts_with(&at));
        for name in names {
            self.keyring.delete(&name).await?;
        }
        Ok(())
    }

    /// Deletes the tokens of a server for every address that it ever had.
    pub(crate) async fn delete_tokens(
        &self,
        pack: &PackId,
        server: &str,
    ) -> Result<(), AgentError> {
        let entry = tokens_entry(pack, server);
        let at_a_server = format!("{entry}@");
        self.keyring.delete(&entry).await?;
        let names = self.keyring.set_names().await;
        for name in names.into_iter().filter(|name| name.starts_with(&at_a_server)) {
            self.keyring.delete(&name).await?;
        }
        Ok(())
    }
}
