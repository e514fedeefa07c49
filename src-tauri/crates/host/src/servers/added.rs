//! The MCP servers that the user adds: tests, adds, switches and removes them while the profile is
//! open. Each becomes a pack whose manifest is made in memory. Must not know what their tools do.

use std::{collections::BTreeSet, fs, path::PathBuf, time::Duration};

use contract::{
    AgentError, ErrorCode, NewServer, OwnServerView, PackId, Reach, Reason, RecordType,
    ServerAddParams, ServerLimitParams, ServerReadsParams, ServerTestResponse, Text, text,
};
use engine::ports::{RecordDraft, Tools as _};
use mcp::ServerConfig;
use packs::LoadedPack;
use secrecy::SecretString;
use serde_json::json;

use super::{
    config::{self, ServerDeps},
    definitions::{self, Pins},
};
use crate::{
    Host,
    keys::{Destination, entry_name},
    packs::delete_keys,
    profile::{Paths, SERVER_TEST},
};

mod client_json;
mod command_line;
mod confirming;
mod downloads;
mod entry;
mod keys;
mod moving;
mod of_client;
mod placeholders;
mod program;
mod programs;
mod reading;
mod storage;
mod trial;
mod trials;
mod variables;

pub use command_line::quote_word;
use downloads::{Downloads, hash_of_command};
use keys::KeyValues;
pub(crate) use programs::find_programs;
use storage::{Separated, StoredServer};
pub(crate) use trials::{Trial, Trials};

/// How often and how long a part of the accepted tools is waited for.
const LIST_ATTEMPTS: u32 = 15;
const LIST_WAIT: Duration = Duration::from_millis(100);

/// The most seconds that a person may give to one call of a server.
const LONGEST_CALL_S: u32 = 3_600;

/// An added server that is switched on.
pub(crate) struct AddedServer {
    pub(crate) loaded: LoadedPack,
    /// Where its tools can send data.
    pub(crate) reach: Reach,
    /// None if its manifest has faults.
    pub(crate) config: Option<ServerConfig>,
}

/// Returns the added servers that are switched on.
pub(crate) fn load_added(paths: &Paths, around: &ServerDeps<'_>) -> Vec<AddedServer> {
    let make = |stored: StoredServer| {
        let loaded = stored.make_pack(&paths.own_servers().join(&stored.name));
        let config = program::server_config(&stored, &loaded, around);
        AddedServer { loaded, reach: stored.reach(), config }
    };
    let stored = storage::read_all(&paths.own_servers());
    stored.into_iter().filter(|stored| stored.enabled).map(make).collect()
}

/// Compares the file of each added server with the pinned one, also if the server is switched off.
pub(crate) fn check_files(paths: &Paths, pins: &Pins) {
    for stored in storage::read_all(&paths.own_servers()) {
        pins.record_manifest(&stored.pack_id(), &stored.file());
    }
}

/// Deletes what tests of servers have left that were not added, and what earlier versions made for
/// them. Call it when no test runs.
pub(crate) fn delete_leftovers(paths: &Paths, known: &BTreeSet<PackId>) {
    storage::delete_generated_files(&paths.own_servers());
    downloads::delete_old(paths);
    let entries = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
    let name = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let tests = entries(paths.data.clone()).filter(|entry| name(entry).starts_with(SERVER_TEST));
    let files = entries(paths.pack_data("")).filter(|entry| {
        let server = name(entry).strip_prefix(PackId::ADDED_SERVER).map(str::to_owned);
        !known.contains(&PackId(name(entry)))
            && server.is_some_and(|server| !paths.own_servers().join(server).exists())
    });
    for left in tests.chain(files).map(|entry| entry.path()) {
        if let Err(error) = fs::remove_dir_all(&left) {
            tracing::warn!(%error, folder = %left.display(), "what a test of a server left could not be deleted");
        }
    }
}

impl Host {
    fn own_folder(&self, name: &str) -> PathBuf {
        self.paths.own_servers().join(name)
    }

    /// Whether there is a server of this name, or another pack with its id.
    fn is_name_taken(&self, name: &str, pack: &PackId) -> bool {
        self.own_folder(name).exists()
            || self.tools.loaded_packs().iter().any(|loaded| loaded.view.id == *pack)
    }

    /// Returns the added server of this name.
    fn own_server(&self, name: &str) -> Result<StoredServer, AgentError> {
        let found = (command_line::slug(name) == name)
            .then(|| storage::read_one(&self.own_folder(name)))
            .flatten();
        found.ok_or_else(|| {
            AgentError::invalid(text!("There is no added server {name}.", name))
                .reason("not_found")
                .hint("`csign servers list` shows all of them.")
        })
    }

    fn server_deps(&self) -> ServerDeps<'_> {
        ServerDeps {
            paths: &self.paths,
            program_dir: &self.options.program_dir,
            keyring: &self.keyring,
            credentials: &self.tools.credentials,
            profile: &self.profile,
            read_only: &self.tools.read_only,
            find_programs,
        }
    }

    /// Returns the configuration of an added server.
    fn config_of(
        &self,
        stored: &StoredServer,
        loaded: &LoadedPack,
    ) -> Result<ServerConfig, AgentError> {
        program::server_config(stored, loaded, &self.server_deps()).ok_or_else(|| {
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

    /// Returns a server with the values of its keys. One with only a name is the added one, whose
    /// keys are stored.
    fn resolve_server(
        &self,
        server: &NewServer,
    ) -> Result<(StoredServer, Option<KeyValues>), AgentError> {
        if server.command.is_empty() && server.url.is_empty() {
            return Ok((self.own_server(&server.name)?, None));
        }
        let Separated { stored, values, .. } = storage::separate_keys(server)?;
        Ok((stored, Some(values)))
    }

    /// Starts a server once and lists its tools, and tries whether one that is new does so without
    /// network, too. If it does not start and was not added, its files are deleted.
    pub(crate) async fn test_server(
        &self,
        server: &NewServer,
        trial: &Trial<'_>,
    ) -> Result<ServerTestResponse, AgentError> {
        let (stored, values) = self.resolve_server(server)?;
        let (name, pack) = (stored.name.clone(), stored.pack_id());
        let is_new = !self.is_name_taken(&name, &pack);
        if is_new {
            // Another program may have been tested under this name.
            trial.note_passed(&name, None);
            self.delete_files(&pack);
            Downloads::of(&self.paths, &stored).take();
        }
        let config_of = |stored: &StoredServer| -> Result<ServerConfig, AgentError> {
            let config = self.config_of(stored, &self.pack_of(stored))?;
            Ok(match values.clone() {
                Some(values) => trial::with_entered_keys(config, values),
                None => config,
            })
        };
        let runs = stored.command_or_url();
        let mut tested = trial::run_trial(config_of(&stored)?, runs, trial).await;
        if let Ok(tested) = &mut tested
            && tested.ok
            && values.is_some()
            && stored.network
            && stored.is_program()
        {
            let near = StoredServer { network: false, ..stored.clone() };
            tested.works_without_network =
                trial::works_without_network(config_of(&near)?, &tested.tools, trial).await?;
        }
        if is_new && tested.as_ref().is_ok_and(|tested| tested.ok) {
            trial.note_passed(&name, Some(hash_of_command(&stored)));
        } else if is_new {
            Downloads::of(&self.paths, &stored).keep();
            self.delete_files(&pack);
        }
        if let Ok(ServerTestResponse { ok: false, message: Some(message), .. }) = &mut tested {
            *message = say_without_network(&stored, std::mem::take(message));
        }
        tested
    }

    /// Deletes the files that a server's program has written to its own folder.
    fn delete_files(&self, pack: &PackId) {
        if let Err(error) = fs::remove_dir_all(self.paths.pack_data(pack.as_str()))
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "the data of a server could not be deleted");
        }
    }

    /// Adds a server and starts it. A server that cannot be started, or that lists other tools than
    /// those that were accepted, is not added. One that is switched off is not started; its tools are
    /// accepted when it is switched on.
    pub(crate) async fn add_server(
        &self,
        params: ServerAddParams,
        trial: &Trial<'_>,
    ) -> Result<OwnServerView, AgentError> {
        let Separated { mut stored, values, .. } = storage::separate_keys(&params.server)?;
        stored.reads_may_run = params.reads_may_run;
        let (name, pack) = (stored.name.clone(), stored.pack_id());
        if self.is_name_taken(&name, &pack) {
            return Err(AgentError::invalid(text!("There is already a server {name}.", name))
                .reason("exists")
                .hint("Choose another name, or remove that server first."));
        }
        if !trial.has_passed(&name, &hash_of_command(&stored)) {
            // It would inherit what the test of another command has left.
            self.delete_files(&pack);
        }
        Downloads::of(&self.paths, &stored).take();
        let draft = self.server_record(&stored, "added");
        self.record(
            draft
                .field("numbers_may_change", params.numbers_may_change)
                .field("tools", json!(params.accepted)),
        )
        .await?;
        let added = self.store_server(&stored, values, params.this_run_only).await;
        let started = match added {
            Ok(()) if stored.enabled => self.start_new_server(&stored, trial).await,
            done => done,
        };
        let accepted = match started {
            Ok(()) if stored.enabled => self.accept_tools(&stored, &params).await,
            done => done,
        };
        if let Err(error) = accepted {
            if let Err(undoing) = self.remove(&name, true).await {
                tracing::warn!(error = %undoing.message, "a server that did not start was not removed");
            }
            return Err(error);
        }
        Ok(self.own_view(&stored))
    }

    /// Accepts the tools of a new server as the person saw them. The tools of a server with a
    /// sign-in are not known yet; they are accepted later, in the approval window.
    async fn accept_tools(
        &self,
        stored: &StoredServer,
        params: &ServerAddParams,
    ) -> Result<(), AgentError> {
        if stored.signs_in() && params.accepted.is_empty() {
            return Ok(());
        }
        let (pack, name) = (stored.pack_id(), stored.name.as_str());
        for attempt in 1.. {
            let numbers = params.numbers_may_change;
            let done = self.tools.pins.accept_list(&pack, name, &params.accepted, numbers)?;
            let Err(listed) = done else {
                return Ok(());
            };
            // Some servers list a part of their tools first, and the rest a moment later.
            let is_known = |tool: &mcp::Definition| {
                let shown = params.accepted.get(&tool.name);
                shown.is_some_and(|shown| {
                    shown.hash == definitions::shown_hash(tool, &pack, name, numbers)
                })
            };
            if attempt < LIST_ATTEMPTS && listed.iter().all(is_known) {
                tokio::time::sleep(LIST_WAIT).await;
                continue;
            }
            let tools: Vec<_> =
                listed.iter().map(|tool| trial::tested_tool(&pack, name, tool)).collect();
            return Err(AgentError::invalid(
                "The server was not added, because it lists other tools than those that you saw.",
            )
            .reason(Reason::ListChanged)
            .hint("Look at its tools again before you add it.")
            .with("tools", json!(tools)));
        }
        Ok(())
    }

    async fn store_server(
        &self,
        stored: &StoredServer,
        values: KeyValues,
        this_run_only: bool,
    ) -> Result<(), AgentError> {
        self.save_server(stored, true)?;
        if stored.is_private() {
            self.allow_private_network(&stored.pack_id(), true)?;
        }
        let loaded = self.pack_of(stored);
        for (name, value) in values {
            self.keep_key(&loaded, &name, value.into(), this_run_only).await?;
        }
        let config = self.config_of(stored, &loaded)?;
        self.reload_added();
        if stored.is_program() {
            // Those that run could still change what it is started from.
            self.tools.servers.restart_programs().await;
        }
        if stored.enabled {
            self.tools.servers.put(config).await;
        }
        Ok(())
    }

    /// Writes a server's file. It is pinned, unless it had changed outside the app and no person has
    /// accepted that.
    fn save_server(&self, stored: &StoredServer, is_accepted: bool) -> Result<(), AgentError> {
        stored.save_server(&self.own_folder(&stored.name))?;
        let (pins, pack, file) = (&self.tools.pins, stored.pack_id(), stored.file());
        if is_accepted {
            return pins.pin_server_file(&pack, &file);
        }
        pins.record_manifest(&pack, &file);
        Ok(())
    }

    /// Whether the server's file is the one that the app wrote or a person accepted.
    fn is_file_accepted(&self, stored: &StoredServer) -> bool {
        let (pins, pack) = (&self.tools.pins, stored.pack_id());
        pins.record_manifest(&pack, &stored.file());
        pins.is_manifest_accepted(&pack)
    }

    /// Reads the added servers again, after one has changed.
    fn reload_added(&self) {
        let added = load_added(&self.paths, &self.server_deps());
        added.iter().for_each(|one| config::pin_manifest(&self.tools.pins, &one.loaded));
        self.tools.replace_added(added.into_iter().map(|one| (one.loaded, one.reach)).collect());
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
            entries.set_for_this_run(&self.keyring, &value);
            return Ok(());
        }
        entries.set(&self.keyring, &value).await.map_err(AgentError::from)
    }

    /// Starts a new server and waits for its tools. The error has the last lines of its error
    /// output.
    async fn start_new_server(
        &self,
        stored: &StoredServer,
        trial: &Trial<'_>,
    ) -> Result<(), AgentError> {
        let key = definitions::server_key(&stored.pack_id(), &stored.name);
        let started = self.tools.servers.wait_until_ready(&key, trial::PATIENCE);
        let Err(failure) = trial.run_unless_stopped(started).await? else {
            return Ok(());
        };
        if stored.signs_in() {
            return Ok(());
        }
        let log = trial::last_error_lines(&self.tools.servers, &key).await;
        let message = text!(
            "The server was not added, because it did not start. {why}",
            why = say_without_network(stored, failure.error.text())
        );
        Err(AgentError::new(ErrorCode::ToolHttpError, message)
            .reason("server_not_started")
            .hint("Read the last lines of its log, correct the command or its variables, and try again.")
            .with("log", json!(log)))
    }

    /// Switches an added server on or off.
    pub(crate) async fn enable_server(
        &self,
        name: &str,
        enabled: bool,
    ) -> Result<OwnServerView, AgentError> {
        let mut stored = self.own_server(name)?;
        let key = definitions::server_key(&stored.pack_id(), name);
        if stored.enabled != enabled {
            let is_accepted = self.is_file_accepted(&stored);
            self.record_server(&stored, if enabled { "enabled" } else { "disabled" }).await?;
            stored.enabled = enabled;
            self.save_server(&stored, is_accepted)?;
            self.tools.servers.remove(&key).await;
            self.reload_added();
            if enabled {
                let config = self.config_of(&stored, &self.pack_of(&stored))?;
                self.tools.servers.put(config).await;
            }
            if enabled && is_accepted {
                self.tools.servers.start(&key);
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

    /// Sets how long one call of an added server may take.
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
        self.tools.servers.remove(&definitions::server_key(&pack, name)).await;
        fs::remove_dir_all(&folder)
            .map_err(|error| crate::profile::unusable_file(&self.paths.data, &folder, &error))?;
        if keeps_downloads {
            Downloads::of(&self.paths, &stored).keep();
        }
        self.delete_files(&pack);
        self.reload_added();
        self.tools.pins.forget_server(&pack, name)?;
        for key in stored.key_names() {
            delete_keys(&self.keyring, pack.as_str(), &key).await?;
        }
        if stored.signs_in() {
            config::forget_tokens(&pack, name, &self.keyring).await?;
        }
        self.allow_private_network(&pack, false)
    }

    /// Takes back what was allowed for reads of a server, so that another server of its name does not
    /// get it.
    async fn revoke_reads(&self, pack: &PackId, name: &str) -> Result<(), AgentError> {
        let server = policy::server_destination(pack, name);
        for allowance in self.local_engine.allowances().await? {
            if allowance.destination == server {
                self.local_engine.allowance_revoke(&server, allowance.session.as_ref()).await?;
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
            .commit("folder", self.working_folder(stored))
            .commit("variables", json!(stored.env))
    }

    /// Returns all added servers.
    pub(crate) fn own_servers(&self) -> Vec<OwnServerView> {
        let stored = storage::read_all(&self.paths.own_servers());
        stored.iter().map(|stored| self.own_view(stored)).collect()
    }

    fn own_view(&self, stored: &StoredServer) -> OwnServerView {
        let pack = stored.pack_id();
        let tools = self.tools.specs().iter().filter(|spec| spec.pack == pack).count();
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
                .tools
                .pins
                .may_change_numbers(&definitions::server_key(&pack, &stored.name)),
            manifest_hash: self.pack_of(stored).view.manifest_hash.unwrap_or_default(),
            pack,
        }
    }
}

/// Adds to the reason why a server without network did not start that it downloads nothing.
fn say_without_network(stored: &StoredServer, why: Text) -> Text {
    if stored.network {
        return why;
    }
    text!(
        "{why} It runs without network: if its package must be downloaded first, install it, or allow the network.",
        why
    )
}
