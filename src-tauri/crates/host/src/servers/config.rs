//! Configures packs' servers for the MCP client: their addresses or programs, and their
//! credentials. Tokens are stored only in the keyring, or in memory for this run.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use contract::{
    AgentError, PackId,
    manifest::{PackManifest, ServerEntry, ServerHttp},
    text,
};
use engine::ports::Profile as _;
use mcp::{Access, Address, FileChanges, Program, ProgramKeys, ServerConfig};
use packs::LoadedPack;
use secrecy::SecretString;

use super::{
    definitions::{Pins, server_key},
    search_path,
    veil::{FindPrograms, ServerVeil},
};
use crate::{
    keys::{self, Destination, Entries, Keys, note_tokens, tokens_entry},
    profile::{LiveProfile, create_private_folder},
};

/// The dependencies of servers in the host.
pub(crate) struct ServerDeps {
    pub(crate) profile: Arc<LiveProfile>,
    pub(crate) keys: Keys,
    /// The folder of the app's programs.
    pub(crate) program_dir: PathBuf,
    /// Folders that no server can change.
    pub(crate) read_only: Vec<PathBuf>,
    pub(crate) find_programs: FindPrograms,
}

impl ServerDeps {
    /// Gives a server access to its keys, identified by pack, server name and destination.
    pub(crate) fn make_access(
        &self,
        pack: &PackId,
        server: &str,
        to: Destination,
    ) -> Arc<dyn Access> {
        Arc::new(ServerAccess {
            pack: pack.clone(),
            server: server.to_owned(),
            to,
            keys: self.keys.clone(),
            profile: Arc::clone(&self.profile),
        })
    }

    /// Returns the restrictions of a server's program: of all profiles, the program sees only
    /// `pack`, which it cannot change, and `own`, which is its data folder. `program` stays
    /// reachable.
    pub(crate) fn hide_profiles(
        &self,
        pack: Option<&Path>,
        own: Option<&Path>,
        program: Option<&Path>,
    ) -> ServerVeil {
        ServerVeil {
            paths: self.profile.paths().clone(),
            read_only: self.read_only.clone(),
            find_programs: self.find_programs,
            pack: pack.map(Path::to_owned),
            own: own.map(Path::to_owned),
            program: program.map(Path::to_owned),
            added: None,
            named: Vec::new(),
            given: Vec::new(),
        }
    }

    /// Returns a pack's data folder. Creates the folder if it does not exist.
    pub(crate) fn make_data_folder(&self, pack: &PackId) -> PathBuf {
        let folder = self.profile.paths().pack_data(pack.as_str());
        if let Err(error) = create_private_folder(&folder) {
            tracing::warn!(%error, "a pack's data folder could not be made");
        }
        folder
    }
}

/// The variable that contains the path of a program's data folder.
pub(crate) const PACK_DATA: &str = "COUNTERSIGN_PACK_DATA";

/// Returns the server configurations of a pack in a folder.
pub(crate) fn server_configs(loaded: &LoadedPack, deps: &ServerDeps) -> Vec<ServerConfig> {
    let Some(pack) = &loaded.pack else { return Vec::new() };
    let of = |server: &ServerEntry| {
        let reach = match &server.http {
            Some(declared) => {
                mcp::Reach::Http(server_address(&pack.manifest, server, declared, deps))
            }
            None => mcp::Reach::Program(server_program(loaded, server, deps)),
        };
        make_config(&pack.manifest.id, server, reach)
    };
    pack.manifest.servers.iter().map(of).collect()
}

/// Makes the configuration of a server that is reached in this way.
pub(crate) fn make_config(pack: &PackId, server: &ServerEntry, reach: mcp::Reach) -> ServerConfig {
    let start = server
        .timeouts
        .as_ref()
        .filter(|timeouts| timeouts.start_ms > 0)
        .map(|timeouts| Duration::from_millis(timeouts.start_ms));
    ServerConfig { name: server.name.clone(), pack: pack.clone(), reach, start }
}

/// Returns how a server behind an address is reached, under the current settings.
pub(crate) fn server_address(
    manifest: &PackManifest,
    server: &ServerEntry,
    declared: &ServerHttp,
    deps: &ServerDeps,
) -> Address {
    let settings = deps.profile.settings();
    let chosen = settings
        .packs
        .get(manifest.id.as_str())
        .map(|choice| choice.settings.clone())
        .unwrap_or_default();
    let mut http = declared.clone();
    // An invalid address is only reported when the server is called.
    http.url = packs::address_with(&http.url, &manifest.settings, &chosen).unwrap_or(http.url);
    let to = Destination::of_server(manifest, declared, &http.url);
    let access = deps.make_access(&manifest.id, &server.name, to);
    Address { http, keyed_url: None, access }
}

fn server_program(loaded: &LoadedPack, server: &ServerEntry, deps: &ServerDeps) -> Program {
    // A program that cannot be found is shown as a failed server with the reason.
    let program = mcp::resolve_program(&server.command, &loaded.folder, &deps.program_dir)
        .inspect_err(|problem| tracing::warn!(%problem, server = server.name, "a server's program cannot be used"));
    let given = server.env.iter().filter(|name| !deps.keys.credentials.is_app_key(name));
    let mut env: BTreeMap<String, String> =
        given.filter_map(|name| Some((name.clone(), std::env::var(name).ok()?))).collect();
    let own = server.data_dir.then(|| deps.make_data_folder(&loaded.view.id));
    if let Some(own) = &own {
        env.insert(PACK_DATA.into(), own.display().to_string());
    }
    // Other servers could put programs and libraries into the user's search path, so pack servers
    // get another path.
    env.insert("PATH".into(), search_path::pack_path());
    env.insert("PYTHONNOUSERSITE".into(), "1".into());
    let hidden = ServerVeil {
        given: server.env.clone(),
        ..deps.hide_profiles(Some(&loaded.folder), own.as_deref(), program.as_deref().ok())
    };
    let variables: BTreeMap<String, String> =
        keys::entered_variables(server).map(|name| (name.to_owned(), name.to_owned())).collect();
    let keys = (!variables.is_empty()).then(|| ProgramKeys {
        variables,
        access: deps.make_access(&loaded.view.id, &server.name, Destination::Program),
    });
    Program {
        program,
        args: server.args.iter().map(|arg| arg.as_str().into()).collect(),
        env,
        keys,
        cwd: loaded.folder.clone(),
        hidden: Arc::new(hidden),
        changes: if own.is_some() { FileChanges::OpenFiles } else { FileChanges::Times },
        network: true,
    }
}

/// Returns the keys of servers that are programs of the app itself.
pub(crate) fn built_in_server_keys(packs: &[LoadedPack]) -> BTreeSet<String> {
    let all = packs
        .iter()
        .filter_map(|loaded| loaded.pack.as_ref())
        .flat_map(|pack| pack.manifest.servers.iter().map(move |s| (&pack.manifest.id, s)));
    all.filter(|(_, server)| server.http.is_none() && !server.command.contains('/'))
        .map(|(pack, server)| server_key(pack, &server.name))
        .collect()
}

/// Pins the manifest of a pack that has a server.
pub(crate) fn pin_manifest(pins: &Pins, loaded: &LoadedPack) {
    if let Some(pack) = loaded.pack.as_ref().filter(|pack| !pack.manifest.servers.is_empty()) {
        pins.record_manifest(&pack.manifest.id, &loaded.manifest);
    }
}

/// Gives a server access to its credentials.
struct ServerAccess {
    pack: PackId,
    server: String,
    to: Destination,
    keys: Keys,
    profile: Arc<LiveProfile>,
}

impl ServerAccess {
    /// Returns the keyring entries of a server's tokens. Like keys, tokens belong to the server's
    /// address.
    fn token_entries(&self) -> Result<Entries, AgentError> {
        let server = &self.server;
        let no_address = || {
            AgentError::internal(
                "tool_config_error",
                text!("The address of {server} is not a web address.", server),
            )
        };
        self.to.entries_for(tokens_entry(&self.pack, server)).ok_or_else(no_address)
    }
}

#[async_trait]
impl Access for ServerAccess {
    async fn credential(&self, name: &str) -> Result<SecretString, AgentError> {
        self.keys
            .credentials
            .find_credential(self.pack.as_str(), name, &self.to, &self.server)
            .await
    }

    async fn tokens(&self) -> Result<Option<SecretString>, AgentError> {
        let found =
            self.token_entries()?.get(&self.keys.keyring).await.map_err(AgentError::from)?;
        if let Some(tokens) = &found {
            note_tokens(&self.keys.keyring, tokens);
        }
        Ok(found)
    }

    async fn keep_tokens(&self, tokens: Option<SecretString>) -> Result<(), AgentError> {
        let entries = self.token_entries()?;
        let Some(tokens) = tokens else {
            return entries.delete(&self.keys.keyring).await.map_err(AgentError::from);
        };
        note_tokens(&self.keys.keyring, &tokens);
        if let Err(error) = entries.set(&self.keys.keyring, &tokens).await {
            tracing::warn!(%error, server = self.server, "tokens are kept for this run only");
            entries.set_for_this_run(&self.keys.keyring, &tokens);
        }
        Ok(())
    }

    fn note(&self, token: &SecretString, lasts: Duration) {
        self.keys.keyring.note_for(token, lasts);
    }

    fn private_network(&self) -> bool {
        self.profile
            .settings()
            .packs
            .get(self.pack.as_str())
            .is_some_and(|choice| choice.private_network)
    }
}
