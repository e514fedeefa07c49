//! The MCP servers that the user adds: adds, enables and removes them while the profile is open.
//! Must not know what the servers' tools do.

use std::{fs, path::PathBuf};

use contract::{
    AgentError, OwnServerView, PackId, Reason, RecordType, ServerLimitParams, ServerReadsParams,
    text,
};
use engine::ports::{RecordDraft, Tools as _};
use mcp::ServerConfig;
use packs::LoadedPack;
use secrecy::SecretString;
use serde_json::json;

use crate::{
    host::Host,
    keys::{Destination, entry_name},
    profile::unusable_file,
    servers::{
        added::{
            Downloads, load_added, server_config, slug,
            storage::{self, StoredServer},
            working_folder,
        },
        pin_manifest, server_key,
    },
};

mod adding;
mod confirming;
mod moving;

/// The maximum number of seconds for one call of a server that a person can set.
const LONGEST_CALL_S: u32 = 3_600;

impl Host {
    fn own_folder(&self, name: &str) -> PathBuf {
        self.profile.paths().own_servers().join(name)
    }

    /// Whether there is a server of this name, or another pack with its id.
    fn is_name_taken(&self, name: &str, pack: &PackId) -> bool {
        self.own_folder(name).exists()
            || self.packs.tools.loaded_packs().iter().any(|loaded| loaded.view.id == *pack)
    }

    /// Returns the added server of this name.
    fn own_server(&self, name: &str) -> Result<StoredServer, AgentError> {
        let found =
            (slug(name) == name).then(|| storage::read_one(&self.own_folder(name))).flatten();
        found.ok_or_else(|| {
            AgentError::invalid(text!("There is no added server {name}.", name))
                .reason(Reason::NotFound)
                .hint("`csign servers list` shows all of them.")
        })
    }

    /// Returns the configuration of an added server.
    fn config_of(
        &self,
        stored: &StoredServer,
        loaded: &LoadedPack,
    ) -> Result<ServerConfig, AgentError> {
        server_config(stored, loaded, &self.servers.deps).ok_or_else(|| {
            let fault = loaded.view.faults.first().map(|fault| fault.problem.clone());
            AgentError::invalid(text!(
                "The server cannot be used: {problem}.",
                problem = fault.unwrap_or_default()
            ))
        })
    }

    /// Makes the pack of an added server.
    fn pack_of(&self, stored: &StoredServer) -> LoadedPack {
        stored.make_pack(&self.own_folder(&stored.name))
    }

    /// Deletes the files that a server's program has written to its data folder.
    fn delete_files(&self, pack: &PackId) {
        if let Err(error) = fs::remove_dir_all(self.profile.paths().pack_data(pack.as_str()))
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "the data of a server could not be deleted");
        }
    }

    /// Writes a server's file. The file is pinned, unless it was changed outside the app before and
    /// no person has accepted that change.
    fn save_server(&self, stored: &StoredServer, is_accepted: bool) -> Result<(), AgentError> {
        stored.save_server(&self.own_folder(&stored.name))?;
        let (pins, pack, file) = (&self.servers.pins, stored.pack_id(), stored.file());
        if is_accepted {
            return pins.pin_server_file(&pack, &file);
        }
        pins.record_manifest(&pack, &file);
        Ok(())
    }

    /// Whether the server's file was written by the app or accepted by a person.
    fn is_file_accepted(&self, stored: &StoredServer) -> bool {
        let (pins, pack) = (&self.servers.pins, stored.pack_id());
        pins.record_manifest(&pack, &stored.file());
        pins.is_manifest_accepted(&pack)
    }

    /// Reads the added servers again, after a server has changed.
    fn reload_added(&self) {
        let added = load_added(&self.servers.deps);
        added.iter().for_each(|one| pin_manifest(&self.servers.pins, &one.loaded));
        self.packs
            .tools
            .replace_added(added.into_iter().map(|one| (one.loaded, one.reach)).collect());
    }

    async fn keep_key(
        &self,
        loaded: &LoadedPack,
        name: &str,
        value: SecretString,
        this_run_only: bool,
    ) -> Result<(), AgentError> {
        let to = loaded.pack.as_ref().map_or(Destination::Nowhere, |pack| {
            let http = pack.manifest.servers.first().and_then(|server| server.http.as_ref());
            http.map_or(Destination::Program, |http| {
                Destination::of_server(&pack.manifest, http, &http.url)
            })
        });
        to.check_storable()?;
        let Some(entries) = to.entries_for(entry_name(loaded.view.id.as_str(), name)) else {
            return Ok(());
        };
        if this_run_only {
            entries.set_for_this_run(&self.keys.keyring, &value);
            return Ok(());
        }
        entries.set(&self.keys.keyring, &value).await.map_err(AgentError::from)
    }

    /// Enables or disables an added server.
    pub(crate) async fn enable_server(
        &self,
        name: &str,
        enabled: bool,
    ) -> Result<OwnServerView, AgentError> {
        let mut stored = self.own_server(name)?;
        let key = server_key(&stored.pack_id(), name);
        if stored.enabled != enabled {
            let is_accepted = self.is_file_accepted(&stored);
            self.record_server(&stored, if enabled { "enabled" } else { "disabled" }).await?;
            stored.enabled = enabled;
            self.save_server(&stored, is_accepted)?;
            self.servers.connections.remove(&key).await;
            self.reload_added();
            if enabled {
                let config = self.config_of(&stored, &self.pack_of(&stored))?;
                self.servers.connections.put(config).await;
            }
            if enabled && is_accepted {
                self.servers.connections.start(&key);
            }
        }
        Ok(self.own_view(&stored))
    }

    /// Sets whether the reads of an added server may run without asking.
    pub(crate) async fn set_reads(
        &self,
        params: &ServerReadsParams,
    ) -> Result<OwnServerView, AgentError> {
        let mut stored = self.own_server(&params.name)?;
        if stored.reads_may_run != params.may_run {
            let is_accepted = self.is_file_accepted(&stored);
            stored.reads_may_run = params.may_run;
            let action = if params.may_run { "reads_allowed" } else { "reads_ask" };
            self.record_server(&stored, action).await?;
            self.save_server(&stored, is_accepted)?;
            self.reload_added();
        }
        Ok(self.own_view(&stored))
    }

    /// Sets the maximum duration of one call of an added server.
    pub(crate) async fn set_limit(
        &self,
        params: &ServerLimitParams,
    ) -> Result<OwnServerView, AgentError> {
        if !(1..=LONGEST_CALL_S).contains(&params.seconds) {
            return Err(AgentError::invalid(text!(
                "A call may take from 1 to {most} seconds.",
                most = LONGEST_CALL_S
            )));
        }
        let mut stored = self.own_server(&params.name)?;
        if stored.call_s() != params.seconds {
            let is_accepted = self.is_file_accepted(&stored);
            stored.call_s = Some(params.seconds);
            self.record_server(&stored, "call_limit").await?;
            self.save_server(&stored, is_accepted)?;
            self.reload_added();
        }
        Ok(self.own_view(&stored))
    }

    /// Removes an added server with its files, keys, tokens and accepted tools.
    pub(crate) async fn remove_server(&self, name: &str) -> Result<(), AgentError> {
        self.remove(name, false).await
    }

    async fn remove(&self, name: &str, keeps_downloads: bool) -> Result<(), AgentError> {
        let stored = self.own_server(name)?;
        let (pack, folder) = (stored.pack_id(), self.own_folder(name));
        self.record_server(&stored, "removed").await?;
        self.revoke_reads(&pack, name).await?;
        self.servers.connections.remove(&server_key(&pack, name)).await;
        fs::remove_dir_all(&folder)
            .map_err(|error| unusable_file(&self.profile.paths().data, &folder, &error))?;
        if keeps_downloads {
            Downloads::of(self.profile.paths(), &stored).keep();
        }
        self.delete_files(&pack);
        self.reload_added();
        self.servers.pins.forget_server(&pack, name)?;
        for key in stored.key_names() {
            self.keys.delete_pack_key(pack.as_str(), &key).await?;
        }
        if stored.signs_in() {
            self.keys.delete_tokens(&pack, name).await?;
        }
        self.allow_private_network(&pack, false)
    }

    /// Revokes the permissions for reads of a server, so that another server with the same name
    /// does not inherit them.
    async fn revoke_reads(&self, pack: &PackId, name: &str) -> Result<(), AgentError> {
        let server = policy::server_destination(pack, name);
        for allowance in self.engine.allowances.list().await? {
            if allowance.destination == server {
                self.engine.allowances.revoke(&server, allowance.session.as_ref()).await?;
            }
        }
        Ok(())
    }

    /// Sets whether a server's pack may reach this computer and the local network.
    fn allow_private_network(&self, pack: &PackId, allowed: bool) -> Result<(), AgentError> {
        let mut settings = self.profile.stored_settings();
        if settings.packs.contains_key(pack.as_str()) == allowed {
            return Ok(());
        }
        if allowed {
            settings.packs.entry(pack.as_str().into()).or_default().private_network = true;
        } else {
            settings.packs.remove(pack.as_str());
        }
        self.profile.write_settings(settings)?;
        self.push_settings();
        Ok(())
    }

    async fn record_server(&self, stored: &StoredServer, action: &str) -> Result<(), AgentError> {
        self.record(self.server_record(stored, action)).await
    }

    fn server_record(&self, stored: &StoredServer, action: &str) -> RecordDraft {
        RecordDraft::new(RecordType::SettingChanged)
            .field("setting", "server")
            .field("server", stored.name.as_str())
            .field("action", action)
            .field("network", stored.network)
            .field("reads_may_run", stored.reads_may_run)
            .field("manifest", self.pack_of(stored).view.manifest_hash.unwrap_or_default())
            .field("keys", stored.key_names())
            .field("key_variables", stored.keys.keys().cloned().collect::<Vec<_>>())
            .commit("runs", stored.command_or_url())
            .commit("folder", working_folder(stored, self.profile.paths()))
            .commit("variables", json!(stored.env))
    }

    /// Returns all added servers.
    pub(crate) fn own_servers(&self) -> Vec<OwnServerView> {
        let stored = storage::read_all(&self.profile.paths().own_servers());
        stored.iter().map(|stored| self.own_view(stored)).collect()
    }

    fn own_view(&self, stored: &StoredServer) -> OwnServerView {
        let pack = stored.pack_id();
        let tools = self.packs.tools.specs().iter().filter(|spec| spec.pack == pack).count();
        OwnServerView {
            name: stored.name.clone(),
            runs: stored.command_or_url(),
            enabled: stored.enabled,
            keys: stored.key_names(),
            tools: u32::try_from(tools).unwrap_or(u32::MAX),
            network: stored.network,
            reads_may_run: stored.reads_may_run,
            call_s: stored.call_s(),
            numbers_may_change: self
                .servers
                .pins
                .may_change_numbers(&server_key(&pack, &stored.name)),
            manifest_hash: self.pack_of(stored).view.manifest_hash.unwrap_or_default(),
            pack,
        }
    }
}
