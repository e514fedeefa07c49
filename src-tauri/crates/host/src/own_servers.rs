//! The MCP servers that the user adds: reads them from command lines and other clients' settings,
//! tests, adds, switches and removes them while the profile is open. Each becomes a generated pack.
//! Must not know what their tools do.

use std::{collections::BTreeSet, fs, path::PathBuf};

use contract::{
    AgentError, Effect, ErrorCode, NewServer, OwnServerView, PackId, ReadServer, RecordType,
    ServerAddParams, ServerTestResponse, ServersReadResponse, SettingChange, Text, text,
};
use engine::ports::{RecordDraft, Tools as _};
use mcp::ServerConfig;
use packs::LoadedPack;
use secrecy::SecretString;
use serde_json::json;

use crate::{
    Host, Paths, definitions,
    key_destination::Destination,
    key_names, pack_keys,
    paths::SERVER_TEST,
    servers::{self, ServerDeps},
};

mod client_json;
mod command_line;
mod storage;
mod trial;
mod trials;

pub use command_line::quote_word;
use storage::{KeyValues, StoredServer};
pub(crate) use trials::{Trial, Trials};

/// Reads the servers of a text: JSON of another client, an address, or a command line.
pub(crate) fn read_servers(text: &str) -> Result<ServersReadResponse, AgentError> {
    let found = if text.trim_start().starts_with(['{', '[', '/']) && text.contains('{') {
        client_json::read_client_json(text)?
    } else {
        vec![(command_line::parse_command_line(text)?, None)]
    };
    let mut servers: Vec<ReadServer> = found.into_iter().map(read_server).collect();
    servers.sort_by(|a, b| a.server.name.cmp(&b.server.name));
    Ok(ServersReadResponse { servers })
}

fn read_server((server, problem): (NewServer, Option<Text>)) -> ReadServer {
    match storage::separate_keys(&server) {
        Ok((stored, _)) => ReadServer { runs: stored.command_or_url(), server, problem },
        Err(error) => {
            let runs = if server.url.is_empty() {
                command_line::show_command(server.command.as_ref(), &server.args)
            } else {
                server.url.clone()
            };
            ReadServer { server, runs, problem: problem.or_else(|| Some(error.text())) }
        }
    }
}

/// Deletes what tests of servers have left that were not added: files of their programs, and
/// folders of tests that ended with the process. Call it when no test runs.
pub(crate) fn delete_leftovers(paths: &Paths, known: &BTreeSet<PackId>) {
    let entries = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
    let name = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let tests = entries(paths.data.clone()).filter(|entry| name(entry).starts_with(SERVER_TEST));
    let files = entries(paths.pack_data("")).filter(|entry| {
        let server = name(entry).strip_prefix(storage::OWN).map(str::to_owned);
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
        }
    }

    /// Returns the configuration of the server in a generated pack.
    fn config_of(&self, loaded: &LoadedPack) -> Result<ServerConfig, AgentError> {
        let faults = || {
            let fault = loaded.view.faults.first().map(|fault| fault.problem.clone());
            AgentError::invalid(text!(
                "The server cannot be used: {problem}.",
                problem = fault.unwrap_or_default()
            ))
        };
        servers::server_configs(loaded, &self.server_deps()).into_iter().next().ok_or_else(faults)
    }

    /// Describes the server that is about to be started, for a person's confirmation.
    pub(crate) fn server_change(&self, server: &NewServer) -> Result<SettingChange, AgentError> {
        let stored = self.resolve_server(server)?.0;
        Ok(SettingChange {
            setting: format!("servers.{}", stored.name),
            before: String::new(),
            after: stored.command_or_url(),
        })
    }

    /// Describes the server that is about to be added and the confirmed effects.
    pub(crate) fn server_changes(
        &self,
        params: &ServerAddParams,
    ) -> Result<Vec<SettingChange>, AgentError> {
        let name = &params.server.name;
        let effect = |(tool, effect): (&String, &Effect)| SettingChange {
            setting: format!("servers.{name}.{tool}"),
            before: String::new(),
            after: json!(effect).as_str().unwrap_or_default().to_owned(),
        };
        let server = std::iter::once(self.server_change(&params.server)?);
        Ok(server.chain(params.effects.iter().map(effect)).collect())
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
        storage::separate_keys(server).map(|(stored, values)| (stored, Some(values)))
    }

    /// Starts a server once and lists its tools. If it does not start and was not added, its files
    /// are deleted.
    pub(crate) async fn test_server(
        &self,
        server: &NewServer,
        trial: &Trial<'_>,
    ) -> Result<ServerTestResponse, AgentError> {
        let (stored, values) = self.resolve_server(server)?;
        let (name, pack) = (stored.name.clone(), stored.pack_id());
        let tested = self.test_stored(stored, values, trial).await;
        if !tested.as_ref().is_ok_and(|tested| tested.ok) && !self.is_name_taken(&name, &pack) {
            self.delete_files(&pack);
        }
        tested
    }

    async fn test_stored(
        &self,
        mut stored: StoredServer,
        values: Option<KeyValues>,
        trial: &Trial<'_>,
    ) -> Result<ServerTestResponse, AgentError> {
        stored.enabled = true;
        let folder =
            tempfile::Builder::new().prefix(SERVER_TEST).tempdir_in(&self.paths.data).map_err(
                |error| crate::paths::unusable_file(&self.paths.data, &self.paths.data, &error),
            )?;
        stored.save_server(folder.path())?;
        let config = self.config_of(&packs::check_folder(folder.path()))?;
        let config = match values {
            Some(values) => trial::with_entered_keys(config, values),
            None => config,
        };
        trial::run_trial(config, stored.command_or_url(), trial).await
    }

    /// Deletes the files that a server's program has written to its own folder.
    fn delete_files(&self, pack: &PackId) {
        if let Err(error) = fs::remove_dir_all(self.paths.pack_data(pack.as_str()))
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "the data of a server could not be deleted");
        }
    }

    /// Adds a server and starts it. A server that cannot be started is not added.
    pub(crate) async fn add_server(
        &self,
        params: ServerAddParams,
        trial: &Trial<'_>,
    ) -> Result<OwnServerView, AgentError> {
        let (stored, values) = storage::separate_keys(&params.server)?;
        let (name, pack) = (stored.name.clone(), stored.pack_id());
        if self.is_name_taken(&name, &pack) {
            return Err(AgentError::invalid(text!("There is already a server {name}.", name))
                .reason("exists")
                .hint("Choose another name, or remove that server first."));
        }
        self.record_server(&stored, "added").await?;
        let added = self.store_server(&stored, values, params.this_run_only).await;
        let started = match added {
            Ok(()) => self.start_new_server(&stored, trial).await,
            Err(error) => Err(error),
        };
        if let Err(error) = started {
            if let Err(undoing) = self.remove_server(&name).await {
                tracing::warn!(error = %undoing.message, "a server that did not start was not removed");
            }
            return Err(error);
        }
        for (tool, effect) in &params.effects {
            self.tools.pins.set_effect(&pack, &name, tool, *effect)?;
        }
        Ok(self.own_view(&stored))
    }

    async fn store_server(
        &self,
        stored: &StoredServer,
        values: KeyValues,
        this_run_only: bool,
    ) -> Result<(), AgentError> {
        let (folder, pack) = (self.own_folder(&stored.name), stored.pack_id());
        stored.save_server(&folder)?;
        if stored.is_private() {
            self.allow_private_network(&pack, true)?;
        }
        let loaded = packs::check_folder(&folder);
        for (name, value) in values {
            self.keep_key(&loaded, &name, value.into(), this_run_only).await?;
        }
        self.tools.reload_folder(&self.paths.own_servers());
        self.tools.servers.put(self.config_of(&loaded)?).await;
        Ok(())
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
        let Some(entries) = to.entries_for(key_names::entry_name(loaded.view.id.as_str(), name))
        else {
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
            why = failure.error.text()
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
            self.record_server(&stored, if enabled { "enabled" } else { "disabled" }).await?;
            stored.enabled = enabled;
            stored.save_server(&self.own_folder(name))?;
            self.tools.servers.remove(&key).await;
            self.tools.reload_folder(&self.paths.own_servers());
            if enabled {
                let loaded = packs::check_folder(&self.own_folder(name));
                self.tools.servers.put(self.config_of(&loaded)?).await;
                self.tools.servers.start(&key);
            }
        }
        Ok(self.own_view(&stored))
    }

    /// Removes an added server with its files, keys, tokens and accepted tools.
    pub(crate) async fn remove_server(&self, name: &str) -> Result<(), AgentError> {
        let stored = self.own_server(name)?;
        let (pack, folder) = (stored.pack_id(), self.own_folder(name));
        self.record_server(&stored, "removed").await?;
        self.tools.servers.remove(&definitions::server_key(&pack, name)).await;
        fs::remove_dir_all(&folder)
            .map_err(|error| crate::paths::unusable_file(&self.paths.data, &folder, &error))?;
        self.delete_files(&pack);
        self.tools.reload_folder(&self.paths.own_servers());
        self.tools.pins.forget_server(&pack, name)?;
        for key in stored.key_names() {
            pack_keys::delete_keys(&self.keyring, pack.as_str(), &key).await?;
        }
        if stored.signs_in() {
            servers::forget_tokens(&pack, name, &self.keyring).await?;
        }
        self.allow_private_network(&pack, false)
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
        let draft = RecordDraft::new(RecordType::SettingChanged)
            .field("setting", "server")
            .field("server", stored.name.as_str())
            .field("action", action)
            .commit("runs", stored.command_or_url());
        self.record(draft).await
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
            pack,
        }
    }
}
