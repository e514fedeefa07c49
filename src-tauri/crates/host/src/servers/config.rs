//! Configures packs' servers for the MCP client: their addresses or programs, their credentials,
//! and the tools that they offer beyond the manifest. Tokens are stored only in the keyring, or in
//! memory for this run.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use contract::{
    AgentError, DefinitionState, PackId, Reach, ResultView, ServerTool, ToolId, ToolSpec,
    ToolTarget,
    manifest::{
        Backoff, IdempotencyStrategy, Kind, Latency, OutputTrust, PackManifest, ServerEntry,
        ServerHttp,
    },
    text,
};
use engine::ports::Profile as _;
use mcp::{Access, Address, FileChanges, Program, ProgramKeys, ServerConfig};
use packs::LoadedPack;
use secrecy::SecretString;
use secrets::Keyring;
use serde_json::json;

use super::{
    definitions::{Pin, Pins, effect_or_default, server_key},
    search_path,
    veil::{FindPrograms, ServerVeil},
};
use crate::{
    keys::{self, Credentials, Destination, Entries, note_tokens, tokens_entry},
    profile::{LiveProfile, Paths, create_private_folder},
};

/// The time limit of a tool without a manifest entry, in milliseconds.
const CALL_MS: u64 = 30_000;
/// The highest number of characters of a server's own tool description that a model gets.
const DESCRIPTION: usize = 2_000;

/// The parts of the host that servers need.
pub(crate) struct ServerDeps<'a> {
    pub(crate) paths: &'a Paths,
    /// The folder of the app's programs.
    pub(crate) program_dir: &'a Path,
    pub(crate) keyring: &'a Arc<Keyring>,
    pub(crate) credentials: &'a Arc<Credentials>,
    pub(crate) profile: &'a Arc<LiveProfile>,
    /// Folders that no server can change.
    pub(crate) read_only: &'a [PathBuf],
    pub(crate) find_programs: FindPrograms,
}

impl ServerDeps<'_> {
    pub(crate) fn make_access(
        &self,
        pack: &PackId,
        server: &str,
        to: Destination,
    ) -> Arc<dyn Access> {
        server_access(pack, server, to, self.keyring, self.credentials, self.profile)
    }

    /// Returns the restrictions of a server's program: it sees of all profiles only `pack`, which it
    /// cannot change, and `own`, which is its data folder. `program` stays reachable.
    pub(crate) fn hide_profiles(
        &self,
        pack: Option<&Path>,
        own: Option<&Path>,
        program: Option<&Path>,
    ) -> ServerVeil {
        ServerVeil {
            paths: self.paths.clone(),
            read_only: self.read_only.to_vec(),
            find_programs: self.find_programs,
            pack: pack.map(Path::to_owned),
            own: own.map(Path::to_owned),
            program: program.map(Path::to_owned),
            added: None,
            named: Vec::new(),
            given: Vec::new(),
        }
    }

    /// Returns a pack's data folder, which is made if it does not exist.
    pub(crate) fn make_data_folder(&self, pack: &PackId) -> PathBuf {
        let folder = self.paths.pack_data(pack.as_str());
        if let Err(error) = create_private_folder(&folder) {
            tracing::warn!(%error, "a pack's data folder could not be made");
        }
        folder
    }
}

/// The variable with the path of a program's data folder.
pub(crate) const PACK_DATA: &str = "COUNTERSIGN_PACK_DATA";

/// Returns the server configurations of a pack in a folder.
pub(crate) fn server_configs(loaded: &LoadedPack, around: &ServerDeps<'_>) -> Vec<ServerConfig> {
    let Some(pack) = &loaded.pack else { return Vec::new() };
    let of = |server: &ServerEntry| {
        let reach = match &server.http {
            Some(declared) => {
                mcp::Reach::Http(server_address(&pack.manifest, server, declared, around))
            }
            None => mcp::Reach::Program(server_program(loaded, server, around)),
        };
        make_config(&pack.manifest.id, server, reach)
    };
    pack.manifest.servers.iter().map(of).collect()
}

/// Makes the configuration of a server that is reached like this.
pub(crate) fn make_config(pack: &PackId, server: &ServerEntry, reach: mcp::Reach) -> ServerConfig {
    let start = server
        .timeouts
        .as_ref()
        .filter(|timeouts| timeouts.start_ms > 0)
        .map(|timeouts| Duration::from_millis(timeouts.start_ms));
    ServerConfig { name: server.name.clone(), pack: pack.clone(), reach, start }
}

/// Returns how a server behind an address is reached, under the present settings.
pub(crate) fn server_address(
    manifest: &PackManifest,
    server: &ServerEntry,
    declared: &ServerHttp,
    around: &ServerDeps<'_>,
) -> Address {
    let settings = around.profile.settings();
    let chosen = settings
        .packs
        .get(manifest.id.as_str())
        .map(|choice| choice.settings.clone())
        .unwrap_or_default();
    let mut http = declared.clone();
    // An invalid address is reported when the server is called.
    http.url = packs::address_with(&http.url, &manifest.settings, &chosen).unwrap_or(http.url);
    let to = Destination::of_server(manifest, declared, &http.url);
    let access = around.make_access(&manifest.id, &server.name, to);
    Address { http, keyed_url: None, access }
}

fn server_program(loaded: &LoadedPack, server: &ServerEntry, around: &ServerDeps<'_>) -> Program {
    // A program that cannot be found is shown as a failed server with the reason.
    let program = mcp::resolve_program(&server.command, &loaded.folder, around.program_dir)
        .inspect_err(|problem| tracing::warn!(%problem, server = server.name, "a server's program cannot be used"));
    let given = server.env.iter().filter(|name| !around.credentials.is_app_key(name));
    let mut env: BTreeMap<String, String> =
        given.filter_map(|name| Some((name.clone(), std::env::var(name).ok()?))).collect();
    let own = server.data_dir.then(|| around.make_data_folder(&loaded.view.id));
    if let Some(own) = &own {
        env.insert(PACK_DATA.into(), own.display().to_string());
    }
    // Other servers may put programs and libraries where those of the user are searched.
    env.insert("PATH".into(), search_path::pack_path());
    env.insert("PYTHONNOUSERSITE".into(), "1".into());
    let hidden = ServerVeil {
        given: server.env.clone(),
        ..around.hide_profiles(Some(&loaded.folder), own.as_deref(), program.as_deref().ok())
    };
    let variables: BTreeMap<String, String> =
        keys::entered_variables(server).map(|name| (name.to_owned(), name.to_owned())).collect();
    let keys = (!variables.is_empty()).then(|| ProgramKeys {
        variables,
        access: around.make_access(&loaded.view.id, &server.name, Destination::Program),
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

/// Whether a tool is switched off until a person accepts its definition.
pub(crate) fn needs_acceptance(tool: &ServerTool) -> bool {
    match tool.state {
        DefinitionState::Changed | DefinitionState::New => true,
        DefinitionState::Accepted | DefinitionState::Gone => false,
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

/// Returns the servers that offer more tools than their manifest declares.
pub(crate) fn servers_with_undeclared_tools(
    packs: &[LoadedPack],
) -> impl Iterator<Item = (&LoadedPack, &ServerEntry)> {
    let usable = packs.iter().filter_map(|loaded| loaded.pack.as_ref().map(|pack| (loaded, pack)));
    usable.flat_map(|(loaded, pack)| {
        pack.manifest
            .servers
            .iter()
            .filter(|server| server.offer_all)
            .map(move |server| (loaded, server))
    })
}

/// Returns the accepted tools that a server offers beyond its manifest.
pub(crate) fn offered_tools(
    loaded: &LoadedPack,
    server: &ServerEntry,
    pins: &Pins,
    reach: Reach,
) -> Vec<ToolSpec> {
    let Some(pack) = &loaded.pack else { return Vec::new() };
    let declared: BTreeSet<&str> = pack
        .manifest
        .tools
        .tools
        .iter()
        .filter_map(|tool| tool.mcp.as_ref())
        .filter(|mcp| mcp.server == server.name)
        .map(|mcp| mcp.tool.as_str())
        .collect();
    let extra = pins
        .usable_pins(&pack.manifest.id, &server.name)
        .into_iter()
        .filter(|pin| !declared.contains(pin.definition.name.as_str()));
    extra.map(|pin| tool_spec(&pack.manifest.id, server, &pin, reach)).collect()
}

/// Returns the part of a tool's id that is made from its name. Two names never give the same part,
/// and it does not depend on which other tools the server lists: rules and permissions name tools by
/// their ids, and a server could otherwise pass the id of one tool to another.
fn encode_name(name: &str) -> String {
    const LONGEST: usize = 100;
    let mut encoded = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-') {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    if encoded.len() > LONGEST {
        // `%%` stands in no encoded name.
        encoded.truncate(LONGEST);
        encoded.push_str("%%");
        encoded.push_str(&engine::sha256_hex(name.as_bytes()));
    }
    encoded
}

fn tool_spec(pack: &PackId, server: &ServerEntry, pin: &Pin, reach: Reach) -> ToolSpec {
    let definition = &pin.definition;
    let id = format!("{}.{}", server.name, encode_name(&definition.name));
    let effect = effect_or_default(definition, pin.effect);
    let annotated =
        definition.annotations.as_ref().and_then(|a| a.get("title")?.as_str().map(str::to_owned));
    let described = definition.description.as_deref().unwrap_or_default();
    ToolSpec {
        model_name: packs::model_name(&id),
        id: ToolId(id),
        pack: pack.clone(),
        title: definition.title.clone().or(annotated).unwrap_or_else(|| definition.name.clone()),
        description: described.chars().take(DESCRIPTION).collect(),
        use_when: Vec::new(),
        do_not_use_when: Vec::new(),
        kind: Kind::McpServer,
        effect,
        // The server does not say whether its tool reads data from outside, so it counts as open-world.
        open_world: true,
        reach,
        is_description_accepted: pin.is_by_person(),
        output_trust: OutputTrust::Untrusted,
        grantable: false,
        human_required: false,
        latency: Latency::Fast,
        input_schema: definition.input_schema.clone(),
        full_input_schema: definition.input_schema.clone(),
        output_schema: definition.output_schema.clone().unwrap_or_else(|| json!({})),
        error_schema: json!({}),
        caller_owned: Vec::new(),
        timeout_ms: server
            .timeouts
            .as_ref()
            .map(|timeouts| timeouts.call_ms)
            .filter(|ms| *ms > 0)
            .unwrap_or(CALL_MS),
        max_attempts: 1,
        backoff: Backoff::Fixed,
        idempotency: IdempotencyStrategy::None,
        idempotency_key_ref: None,
        auth: None,
        audit_required: true,
        view: ResultView::default(),
        preview: None,
        session_values: Vec::new(),
        as_of: None,
        target: ToolTarget::Mcp { server: server.name.clone(), tool: definition.name.clone() },
        definition_hash: packs::hash_of(
            &json!({"pin": pin.hash, "effect": effect, "server": server}),
        ),
    }
}

/// Gives a server access to its credentials.
struct ServerAccess {
    pack: PackId,
    server: String,
    to: Destination,
    keyring: Arc<Keyring>,
    credentials: Arc<Credentials>,
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

/// Deletes the tokens of a server for every address that it ever had.
pub(crate) async fn forget_tokens(
    pack: &PackId,
    server: &str,
    keyring: &Keyring,
) -> Result<(), AgentError> {
    let entry = tokens_entry(pack, server);
    let at_a_server = format!("{entry}@");
    keyring.delete(&entry).await.map_err(AgentError::from)?;
    for name in keyring.set_names().await.into_iter().filter(|name| name.starts_with(&at_a_server))
    {
        keyring.delete(&name).await.map_err(AgentError::from)?;
    }
    Ok(())
}

/// Gives a server access to its keys, identified by pack, name and destination.
pub(crate) fn server_access(
    pack: &PackId,
    server: &str,
    to: Destination,
    keyring: &Arc<Keyring>,
    credentials: &Arc<Credentials>,
    profile: &Arc<LiveProfile>,
) -> Arc<dyn Access> {
    let (keyring, credentials, profile) =
        (Arc::clone(keyring), Arc::clone(credentials), Arc::clone(profile));
    Arc::new(ServerAccess {
        pack: pack.clone(),
        server: server.to_owned(),
        to,
        keyring,
        credentials,
        profile,
    })
}

#[async_trait]
impl Access for ServerAccess {
    async fn credential(&self, name: &str) -> Result<SecretString, AgentError> {
        self.credentials.find_credential(self.pack.as_str(), name, &self.to, &self.server).await
    }

    async fn tokens(&self) -> Result<Option<SecretString>, AgentError> {
        let found = self.token_entries()?.get(&self.keyring).await.map_err(AgentError::from)?;
        if let Some(tokens) = &found {
            note_tokens(&self.keyring, tokens);
        }
        Ok(found)
    }

    async fn keep_tokens(&self, tokens: Option<SecretString>) -> Result<(), AgentError> {
        let entries = self.token_entries()?;
        let Some(tokens) = tokens else {
            return entries.delete(&self.keyring).await.map_err(AgentError::from);
        };
        note_tokens(&self.keyring, &tokens);
        if let Err(error) = entries.set(&self.keyring, &tokens).await {
            tracing::warn!(%error, server = self.server, "tokens are kept for this run only");
            entries.set_for_this_run(&self.keyring, &tokens);
        }
        Ok(())
    }

    fn note(&self, token: &SecretString, lasts: Duration) {
        self.keyring.note_for(token, lasts);
    }

    fn private_network(&self) -> bool {
        self.profile
            .settings()
            .packs
            .get(self.pack.as_str())
            .is_some_and(|choice| choice.private_network)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_tools_depend_on_their_names_alone() {
        let long = "x".repeat(100);
        let names = [
            "add_note",
            "add/note",
            "add note",
            "add%2Fnote",
            "add%note",
            "",
            "%",
            "%%",
            "å",
            long.as_str(),
            &format!("{long}a"),
            &format!("{long}b"),
            &format!("{}/", &long[1..]),
        ]
        .map(str::to_owned);
        let ids: std::collections::BTreeSet<String> =
            names.iter().map(|name| encode_name(name)).collect();
        assert_eq!(ids.len(), names.len(), "{ids:?}");
        assert_eq!(encode_name("add_note-1.b"), "add_note-1.b");
        assert_eq!(encode_name("add/note"), "add%2Fnote");
        assert!(ids.iter().all(|id| id.len() < 200));
    }
}
