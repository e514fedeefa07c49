//! Implements the engine's port for tools over all usable packs: services of the app, MCP servers,
//! and the HTTP requests and programs that `packs` runs.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use contract::{
    AgentError, CredentialView, Effect, PackId, PackView, Reach, ServerTool, ToolId, ToolSpec,
    ToolTarget,
    manifest::{PackManifest, ToolEntry},
    pack_code::PackAdapter,
};
use engine::ports::{Agent, Instructions, Profile as _, Roster, Tools as _};
use offline::OfflinePack;
use packs::{LoadedPack, run::HttpRunner};
use parking_lot::RwLock;
use secrecy::SecretString;
use serde_json::json;

use super::{declared_keys::declared_keys, memory_service::MemoryService};
use crate::{
    data::{Sources, WeakSources},
    keys::{self, Declared, Destination, Keys},
    profile::{LiveProfile, Options},
    servers::{self, HostServers, ServerDeps, definitions},
};

mod calls;

/// The tools of all packs, with the services and servers that run them.
pub(crate) struct HostTools {
    specs: RwLock<Arc<Vec<ToolSpec>>>,
    packs: RwLock<Arc<Vec<LoadedPack>>>,
    pub(crate) memory: MemoryService,
    sources: OnceLock<WeakSources>,
    adapters: Vec<Arc<dyn PackAdapter>>,
    servers: Arc<HostServers>,
    keys: Keys,
    http: HttpRunner,
    profile: Arc<LiveProfile>,
    program_dir: PathBuf,
    /// The folders with packs, starting with the user's folder.
    folders: Vec<PathBuf>,
    /// The destinations that the tools of added servers can send data to.
    reaches: RwLock<BTreeMap<PackId, Reach>>,
    agents: RwLock<Arc<Vec<Agent>>>,
}

impl HostTools {
    /// Makes the tools of packs. `reaches` contains the destinations of added servers.
    pub(crate) fn new(
        packs: Vec<LoadedPack>,
        reaches: BTreeMap<PackId, Reach>,
        servers: &Arc<HostServers>,
        options: &Options,
    ) -> Self {
        let ServerDeps { profile, keys, .. } = &servers.deps;
        let tools = Self {
            specs: RwLock::default(),
            packs: RwLock::new(Arc::new(packs)),
            memory: MemoryService::default(),
            sources: OnceLock::new(),
            adapters: options.pack_code.adapters.clone(),
            keys: keys.clone(),
            http: HttpRunner::default(),
            profile: Arc::clone(profile),
            program_dir: options.program_dir.clone(),
            folders: options.pack_folders(profile.paths().packs()),
            reaches: RwLock::new(reaches),
            agents: RwLock::default(),
            servers: Arc::clone(servers),
        };
        tools.refresh_overrides();
        tools.rebuild_specs();
        tools.rebuild_agents();
        tools
    }

    /// Sets the sources that answer the tools of the pack `data`.
    pub(crate) fn set_sources(&self, sources: &Sources) {
        let _ = self.sources.set(sources.downgrade());
    }

    /// Reads again which remote servers replace programs.
    pub(crate) fn refresh_overrides(&self) {
        if self.servers.refresh_overrides(&self.loaded_packs()) {
            self.rebuild_specs();
            self.rebuild_agents();
        }
    }

    /// Returns the credentials that packs declare and that the current settings need.
    pub(crate) async fn credential_views(&self) -> Vec<CredentialView> {
        let packs = self.loaded_packs();
        let declared = self.credential_keys(&packs, &|key: &str| {
            self.servers.overrides.override_of(key).is_some()
        });
        self.keys.credentials.list_views(&declared).await
    }

    /// Returns the keys that packs declare, for the current addresses.
    pub(crate) fn credential_keys<'a>(
        &self,
        packs: &'a [LoadedPack],
        stands_in: &dyn Fn(&str) -> bool,
    ) -> Vec<Declared<'a>> {
        declared_keys(packs, &self.profile.settings(), &self.keys.credentials, stands_in)
    }

    /// Returns the key that the host sends for a tool.
    async fn key_of(&self, spec: &ToolSpec) -> Result<Option<SecretString>, AgentError> {
        let Some(variable) = keys::needed_credential(spec) else { return Ok(None) };
        let to = Destination::of_tool(spec, &self.loaded_packs());
        self.keys
            .credentials
            .find_credential(spec.pack.as_str(), variable, &to, &spec.title)
            .await
            .map(Some)
    }

    /// Rebuilds the list of usable tools: the manifests' tools, without tools whose definition has
    /// changed, and the tools that servers offer beyond their manifests.
    pub(crate) fn rebuild_specs(&self) {
        let packs = self.loaded_packs();
        let usable =
            packs.iter().filter_map(|loaded| loaded.pack.as_ref()).flat_map(|pack| &pack.tools);
        let usable = usable.filter(|spec| self.servers.pins.is_manifest_accepted(&spec.pack));
        let mut specs: Vec<ToolSpec> = usable.filter_map(|spec| self.accepted_spec(spec)).collect();
        let offering = servers::servers_with_undeclared_tools(&packs);
        for (loaded, server) in
            offering.filter(|(loaded, _)| self.servers.pins.is_manifest_accepted(&loaded.view.id))
        {
            let reach = self.reaches.read().get(&loaded.view.id).copied().unwrap_or_default();
            servers::offered_tools(loaded, server, &self.servers.pins, reach)
                .into_iter()
                .for_each(|spec| add_offered(&mut specs, spec));
        }
        *self.specs.write() = Arc::new(specs);
    }

    /// Returns a manifest's tool, bound to its server's definition. Returns None if the definition
    /// is not the accepted one.
    fn accepted_spec(&self, spec: &ToolSpec) -> Option<ToolSpec> {
        let ToolTarget::Mcp { server, tool } = &spec.target else { return Some(spec.clone()) };
        if let Some(address) =
            self.servers.overrides.address_of(&definitions::server_key(&spec.pack, server))
        {
            return Some(self.with_address(spec, server, &address));
        }
        let looked =
            self.servers.pins.check_tool(&definitions::server_key(&spec.pack, server), tool);
        let mut spec = spec.clone();
        if let Some(pinned) = looked.by_person {
            spec.definition_hash =
                packs::hash_of(&json!({"manifest": spec.definition_hash, "server": pinned}));
        }
        // The server's own statement can only make a read need approval more often, and only if the
        // manifest does not say where reads send data.
        spec.open_world |= looked.open_world
            && spec.effect == Effect::ReadOnly
            && self.is_open_world_unset(&spec.pack, server, tool);
        (!looked.off).then_some(spec)
    }

    /// Whether the manifest does not say where a tool's reads send data.
    fn is_open_world_unset(&self, pack: &PackId, server: &str, tool: &str) -> bool {
        let packs = self.loaded_packs();
        let manifests = packs
            .iter()
            .filter_map(|loaded| loaded.pack.as_ref())
            .filter(|loaded| loaded.manifest.id == *pack);
        let of_it = |entry: &ToolEntry| {
            entry.mcp.as_ref().is_some_and(|mcp| mcp.server == server && mcp.tool == tool)
        };
        manifests
            .flat_map(|loaded| &loaded.manifest.tools.tools)
            .any(|entry| of_it(entry) && entry.open_world.is_none())
    }

    /// Returns a tool for the server that replaces its program. The address becomes part of the
    /// definition, so that an approval for one server is not valid for another. The description is
    /// taken only from the manifest, and the remote client has its own timeouts and retries.
    fn with_address(&self, spec: &ToolSpec, server: &str, address: &str) -> ToolSpec {
        let longest = match self
            .servers
            .overrides
            .override_of(&definitions::server_key(&spec.pack, server))
        {
            Some(Ok(client)) => client.patience().longest(),
            Some(Err(_)) | None => std::time::Duration::from_millis(spec.timeout_ms),
        };
        ToolSpec {
            timeout_ms: u64::try_from(longest.as_millis()).unwrap_or(u64::MAX),
            max_attempts: 1,
            reach: Reach::Configured,
            definition_hash: packs::hash_of(
                &json!({"manifest": spec.definition_hash, "elsewhere": address}),
            ),
            ..spec.clone()
        }
    }

    /// Returns the packs with their usable tools.
    pub(crate) fn packs(&self) -> Vec<PackView> {
        let specs = self.specs();
        let of = |loaded: &LoadedPack| {
            let mut view = loaded.view.clone();
            if loaded.pack.is_some() {
                view.tools = specs.iter().filter(|spec| spec.pack == view.id).cloned().collect();
            }
            view
        };
        self.loaded_packs().iter().map(of).collect()
    }

    /// Returns the tools of servers with the changes of their definitions.
    pub(crate) fn server_tools(&self) -> Vec<ServerTool> {
        let packs = self.loaded_packs();
        let manifests =
            packs.iter().filter_map(|loaded| loaded.pack.as_ref()).flat_map(|pack| &pack.tools);
        let declared: HashMap<(String, &str), Effect> = manifests
            .filter_map(|spec| {
                let (server, tool) = spec.target.tool_of_server()?;
                Some(((definitions::server_key(&spec.pack, server), tool), spec.effect))
            })
            .collect();
        let offered: BTreeSet<String> = servers::servers_with_undeclared_tools(&packs)
            .map(|(loaded, server)| definitions::server_key(&loaded.view.id, &server.name))
            .collect();
        let mut tools = self
            .servers
            .pins
            .list_tools(|server, tool| declared.get(&(server.to_owned(), tool)).copied());
        // A tool that is neither declared nor offered can never be called, so it is not listed.
        tools.retain(|tool| {
            // A manifest is listed as long as a person must accept it.
            if tool.server.is_empty() {
                let is_it =
                    |loaded: &LoadedPack| loaded.pack.is_some() && loaded.view.id == tool.pack;
                return servers::needs_acceptance(tool) && packs.iter().any(is_it);
            }
            tool.declared || offered.contains(&definitions::server_key(&tool.pack, &tool.server))
        });
        tools
    }

    /// Returns the effect that is used for a tool of a server. Returns None for a manifest.
    pub(crate) fn effect_of(&self, pack: &PackId, server: &str, name: &str) -> Option<Effect> {
        let is_it = |tool: &ServerTool| {
            !server.is_empty() && tool.pack == *pack && tool.server == server && tool.name == name
        };
        self.server_tools().into_iter().find(is_it).map(|tool| tool.effect)
    }

    pub(crate) fn loaded_packs(&self) -> Arc<Vec<LoadedPack>> {
        Arc::clone(&self.packs.read())
    }

    /// Replaces the packs of added servers.
    pub(crate) fn replace_added(&self, added: Vec<(LoadedPack, Reach)>) {
        let mut packs: Vec<LoadedPack> = (*self.loaded_packs()).clone();
        packs.retain(|loaded| !loaded.view.id.is_of_added_server());
        *self.reaches.write() =
            added.iter().map(|(loaded, reach)| (loaded.view.id.clone(), *reach)).collect();
        packs.extend(added.into_iter().map(|(loaded, _)| loaded));
        *self.packs.write() = Arc::new(packs);
        self.rebuild_specs();
        self.rebuild_agents();
    }

    /// Makes the specialists again, after the tools have changed.
    pub(crate) fn rebuild_agents(&self) {
        let loaded = self.loaded_packs();
        let usable = loaded
            .iter()
            .filter_map(|loaded| loaded.pack.as_ref())
            .filter(|pack| self.servers.pins.is_manifest_accepted(&pack.manifest.id));
        let specs = self.specs();
        let agents = usable.map(|pack| packs::agent(&pack.manifest, &specs)).collect();
        *self.agents.write() = Arc::new(agents);
    }

    /// Returns the packs for the offline model.
    pub(crate) fn offline_packs(&self) -> Vec<OfflinePack> {
        let packs = self.usable_packs().into_iter();
        packs.map(|(manifest, specs)| OfflinePack::new(manifest, specs)).collect()
    }

    /// Returns the instructions that the folder of a pack has for a tool. `mapping` is the file that
    /// the manifest names.
    fn instructions_in(&self, pack: &PackId, tool: &ToolId, mapping: Option<&str>) -> Instructions {
        let found = packs::instructions(&self.folders, pack, tool, mapping);
        Instructions {
            found: found.text.map(|(place, text)| (place.display().to_string(), text)),
            problems: found.problems,
        }
    }

    /// Returns every usable pack: its manifest and its tools.
    pub(crate) fn usable_packs(&self) -> Vec<(PackManifest, Vec<ToolSpec>)> {
        let loaded = self.loaded_packs();
        let packs = loaded.iter().filter_map(|loaded| loaded.pack.as_ref());
        packs.map(|pack| (pack.manifest.clone(), pack.tools.clone())).collect()
    }
}

/// Adds a tool that a server offers beyond its manifest, under an unused model name. If another
/// pack has a tool with the same id, both ids get the pack's name as a prefix, so that settings of
/// one tool do not apply to the other.
fn add_offered(specs: &mut Vec<ToolSpec>, mut spec: ToolSpec) {
    let is_doubled = |specs: &[ToolSpec], spec: &ToolSpec| {
        specs.iter().any(|other| other.pack == spec.pack && other.plain_id() == spec.plain_id())
    };
    let has_name_of_another = |specs: &[ToolSpec], spec: &ToolSpec| {
        packs::is_reserved(&spec.model_name)
            || specs.iter().any(|other| other.model_name == spec.model_name)
    };
    if is_doubled(specs, &spec) || has_name_of_another(specs, &spec) {
        spec.model_name = packs::model_name(&format!("{}.{}", spec.pack, spec.id));
    }
    if is_doubled(specs, &spec) {
        spec.id.0 = format!("{}.{}", spec.pack, spec.id);
    }
    if has_name_of_another(specs, &spec) {
        // Otherwise, `addNote`, `add_note` and `add.note` would all get the same name.
        spec.model_name = packs::distinct_model_name(&format!("{}.{}", spec.pack, spec.id));
    }
    if is_doubled(specs, &spec) || has_name_of_another(specs, &spec) {
        tracing::error!(tool = %spec.id, pack = %spec.pack, "two tools have the same id; one cannot be used");
        return;
    }
    let plain = spec.plain_id();
    for other in
        specs.iter_mut().filter(|other| other.pack != spec.pack && other.plain_id() == plain)
    {
        other.id = other.qualified_id();
        spec.id = spec.qualified_id();
    }
    specs.push(spec);
}

impl Roster for HostTools {
    fn agents(&self) -> Arc<Vec<Agent>> {
        Arc::clone(&self.agents.read())
    }

    fn instructions(&self, tool: &ToolSpec, agent: Option<&Agent>) -> Instructions {
        let lent = agent.filter(|agent| agent.pack != tool.pack);
        let own = lent.map(|agent| self.instructions_in(&agent.pack, &tool.plain_id(), None));
        if let Some(own) = own.filter(|own| own.found.is_some()) {
            return own;
        }
        let packs = self.loaded_packs();
        let pack = packs
            .iter()
            .filter_map(|loaded| loaded.pack.as_ref())
            .find(|pack| pack.manifest.id == tool.pack);
        let Some(entry) = pack.and_then(|pack| pack.manifest.entry_of(tool)) else {
            return Instructions::default();
        };
        self.instructions_in(&tool.pack, &entry.id, entry.instructions.as_deref())
    }
}
